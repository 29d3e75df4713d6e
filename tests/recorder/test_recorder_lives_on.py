"""A session that a crash left goes on; its state can be told; a closed one can be made smaller."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
import threading
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from PIL import Image

from simulator.core.errors import InputError, UsageError
from simulator.core.sizes import parse_size, show_size
from simulator.core.types import SECOND
from simulator.recorder import compact as compacting
from simulator.recorder import machine, opening
from simulator.recorder import recorder as recorder_module
from simulator.recorder.compact import compact
from simulator.recorder.exclusions import Exclusions
from simulator.recorder.frames import Frame
from simulator.recorder.opening import begin
from simulator.recorder.recorder import Recorder
from simulator.recorder.rules import Rule
from simulator.recorder.screener import Screening
from simulator.recorder.shots import Budget
from simulator.recorder.status import Facts, status, write_beat
from simulator.recorder.titles import TitlePolicy
from simulator.screen import pixels
from simulator.session import store
from simulator.session.check import check
from simulator.session.store import Writer
from tests.recorders import ANCHOR, FakeClock, FakeScreen, FakeWindows, plain_frame, record

MINE = Rule("mine", words=("diary",))


def table(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    db = sqlite3.connect(folder / "session.db")
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def written(recorder: Any) -> None:
    """Wait until what was seen before this tick is on disk."""
    done = threading.Event()
    recorder._parts.saver.call(lambda writer: done.set())
    assert done.wait(20)


async def crashed(folder: Path, clock: FakeClock, n_ticks: int = 4, **options: Any) -> None:
    """A session as a killed recorder leaves it: copied before it is closed."""

    def at(tick: int, recorder: Any) -> None:
        if tick == n_ticks - 1:
            recorder._parts.saver.call(lambda writer: shutil.copytree(folder.parent / "live", folder))

    await record(folder.parent / "live", n_ticks, clock=clock, at=at, user="ada", **options)
    shutil.rmtree(folder.parent / "live")


async def test_a_crashed_session_goes_on_by_the_same_clock_and_the_time_between_is_a_gap(tmp_path: Path) -> None:
    clock = FakeClock()
    await crashed(tmp_path / "s", clock)
    clock.now += 6 * SECOND
    clock.wall_ahead += 3600 * SECOND  # the calendar does not matter as long as the machine was not started anew
    done = await record(tmp_path / "s", 14, clock=clock)
    assert done.summary.recovered is not None
    assert "4 rows kept" in done.summary.recovered
    assert done.recorder.user == "ada"
    (gap,) = table(tmp_path / "s", "SELECT from_tick, to_tick, reason, detail FROM gaps")
    assert gap[2:] == ("missing", "the recorder had died")
    assert (gap[0], gap[1]) == (4, done.shots[0].tick - 1)
    assert 9 <= done.shots[0].tick <= 11
    assert all(s.captured_ns == s.tick * SECOND for s in done.shots)
    assert table(tmp_path / "s", "SELECT tick, kind FROM notes WHERE kind = 'resumed'") == [
        (done.shots[0].tick, "resumed")
    ]
    assert [f.kind for f in check(tmp_path / "s") if f.severity != "note"] == []


async def test_after_a_restart_of_the_machine_the_calendar_says_where_a_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    await crashed(tmp_path / "s", clock)
    monkeypatch.setattr(opening, "boot_id", lambda: "another")
    later = FakeClock(now=7 * SECOND)
    later.wall_ahead = ANCHOR + 60 * SECOND - later.now  # a minute after the session began
    done = await record(tmp_path / "s", 64, clock=later)
    assert 59 <= done.shots[0].tick <= 61
    assert table(tmp_path / "s", "SELECT from_tick, to_tick FROM gaps") == [(4, done.shots[0].tick - 1)]


async def test_a_calendar_that_was_set_back_puts_no_row_before_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    await crashed(tmp_path / "s", clock)
    monkeypatch.setattr(opening, "boot_id", lambda: "another")
    done = await record(tmp_path / "s", 8, clock=FakeClock(now=7 * SECOND, wall_ahead=1))
    assert [s.tick for s in done.shots] == [4, 5, 6, 7]
    assert [f.kind for f in check(tmp_path / "s") if f.severity != "note"] == []


async def test_a_session_goes_on_only_with_its_own_period(tmp_path: Path) -> None:
    clock = FakeClock()
    await crashed(tmp_path / "s", clock)
    with pytest.raises(InputError, match="begun with a period of 1s, and goes on only with that"):
        await record(tmp_path / "s", 20, clock=clock, period_ns=2 * SECOND)
    assert status(tmp_path / "s")["state"] == "died", "nothing was changed for the worse"
    await record(tmp_path / "s", 20, clock=clock)
    assert status(tmp_path / "s")["state"] == "recovered"


@pytest.mark.parametrize(
    ("otherwise", "said"),
    [
        ({"user": "bob"}, "'bob': begun as the recording of 'ada', and goes on only as that"),
        ({"rules": None}, "begun with other exclusions, and goes on only with those: give the same --exclude as then"),
        ({"rules": Exclusions(rules=(MINE, MINE))}, "begun with other exclusions"),
    ],
)
async def test_a_session_goes_on_only_as_its_users_and_with_its_exclusions(
    tmp_path: Path, otherwise: dict[str, Any], said: str
) -> None:
    clock = FakeClock()
    await crashed(tmp_path / "s", clock, rules=Exclusions(rules=(MINE,)))
    as_it_was: dict[str, Any] = {"clock": clock, "user": "ada", "rules": Exclusions(rules=(MINE,))}
    with pytest.raises(InputError, match=re.escape(said)):
        await record(tmp_path / "s", 20, **{**as_it_was, **otherwise})
    assert status(tmp_path / "s")["state"] == "died", "and nothing was touched"
    done = await record(tmp_path / "s", 20, **as_it_was)
    assert done.summary.recovered is not None
    assert table(tmp_path / "s", "SELECT value FROM meta WHERE key = 'exclusions'") == [], "gone once it is closed"


def test_the_digest_of_exclusions_differs_where_any_of_them_does(tmp_path: Path) -> None:
    long = "x" * 300  # ``repr`` of a pattern ends before it
    made = [Exclusions(), Exclusions(covered="show"), Exclusions(linger_ns=1), Exclusions(rules=(MINE,)),
            Exclusions(titles=TitlePolicy("none")),
            *(Exclusions(rules=(Rule("mine", titles=(re.compile(long + end),)),)) for end in "ab")]  # fmt: skip
    assert len({rules.digest() for rules in made}) == len(made)
    assert Exclusions.load().digest() == Exclusions.load().digest()


async def test_events_that_a_crash_left_open_are_closed_and_the_next_has_its_own_number(tmp_path: Path) -> None:
    clock = FakeClock()
    await crashed(tmp_path / "s", clock)
    clock.now += 3 * SECOND
    await record(tmp_path / "s", 20, clock=clock)
    events = table(tmp_path / "s", "SELECT id, start_ns, end_ns, app_name FROM events ORDER BY id")
    assert [e[0] for e in events] == [1, 2]
    assert events[0] == (1, 0, 4 * SECOND, "xterm")
    assert events[1][1] > 4 * SECOND


def test_a_recorder_that_died_while_making_the_session_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "session.db.part").write_bytes(b"half")
    begun = begin(tmp_path / "s", "s", "u", SECOND, FakeClock().clocks())
    assert begun.recovered is None
    begun.writer.close()
    begun.lock.release()
    assert not (tmp_path / "s" / "session.db.part").exists()


def test_a_session_without_a_row_goes_on_from_its_beginning(tmp_path: Path) -> None:
    clock = FakeClock()
    first = begin(tmp_path / "s", "s", "u", SECOND, clock.clocks())
    first.writer.abandon()
    first.lock.release()
    clock.now += 5 * SECOND
    second = begin(tmp_path / "s", "s", "u", SECOND, clock.clocks())
    assert (second.first, second.zero) == (5, first.zero)
    second.writer.close()
    second.lock.release()


async def test_status_of_a_running_paused_and_closed_recording(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    clock = FakeClock()

    def at(tick: int, recorder: Any) -> None:
        if tick == 4:
            recorder.pause()
        if tick in (3, 7):
            written(recorder)
            seen.append(status(tmp_path / "s", clock.clocks()))

    await record(tmp_path / "s", 8, clock=clock, at=at)
    running, paused = seen
    assert (running["state"], running["rows"], running["gaps"]) == ("recording", 4, {})
    assert running["last_tick_age_s"] <= 2
    assert running["now"]["n_pictures"] == 1
    assert (paused["state"], paused["trouble"]) == ("paused", "paused")
    assert paused["last_row_age_s"] >= 2
    closed = status(tmp_path / "s")
    assert (closed["state"], closed["last_tick_age_s"], closed["now"]) == ("closed", None, None)
    assert closed["gaps"] == {"paused": 3}
    assert closed["kb_per_s"] > 0


def test_the_age_of_a_dead_recorders_last_tick_goes_on_growing(tmp_path: Path) -> None:
    clock = FakeClock()
    Writer(tmp_path / "s").abandon()
    write_beat(tmp_path / "s", Facts(last_tick_age_s=0.5), clock.clocks())
    clock.now += 100 * SECOND
    told = status(tmp_path / "s", clock.clocks())
    assert told["state"] == "died"
    assert told["last_tick_age_s"] == pytest.approx(100.5)


@pytest.mark.parametrize("junk", ["", "[1]", "{", '{"last_tick_age_s": "x", "boot_ns": []}'])
def test_a_heartbeat_that_is_junk_tells_nothing(tmp_path: Path, junk: str) -> None:
    Writer(tmp_path / "s").abandon()
    (tmp_path / "s" / "status.json").write_text(junk)
    assert status(tmp_path / "s")["last_tick_age_s"] is None


def test_status_of_what_is_no_session_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        status(tmp_path)


async def test_the_heartbeat_holds_nothing_private(tmp_path: Path) -> None:
    beats: list[str] = []

    def at(tick: int, recorder: Any) -> None:
        written(recorder)
        beats.append((tmp_path / "s" / "status.json").read_text())

    await record(tmp_path / "s", 5, at=at)
    assert json.loads(beats[-1])["n_rows"] == 5
    assert "proj: bash" not in "".join(beats)
    assert "xterm" not in "".join(beats)


def photo(n: int) -> list[Frame]:
    """Something that the slow method packs better than the quick one."""
    gradient = Image.radial_gradient("L").resize((64, 48)).rotate(n * 7)
    frame = plain_frame(0)
    frame.raw[:] = Image.merge("RGB", (gradient, gradient, gradient.rotate(90))).tobytes("raw", "BGRX")
    return [frame]


async def test_compacting_changes_no_pixel_and_doing_it_again_does_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    await record(folder, 6, screen=FakeScreen(photo))
    before = {p: pixels.decode(p).tobytes() for p in (folder / "screenshots").rglob("*.webp")}
    for path in list(before)[:3]:  # as the quick method leaves them
        content = store.pack(pixels.decode(path), store.QUICKEST)
        path.write_bytes(content)
        name = path.relative_to(folder).as_posix()
        db = sqlite3.connect(folder / "session.db")
        db.execute("UPDATE screenshots SET file_hash = ? WHERE file_path = ?", (sha256(content).hexdigest(), name))
        db.commit()
        db.close()
    steps: list[tuple[int, int]] = []
    made = compact(folder, lambda done, total: steps.append((done, total)))
    assert made.n_pictures == 6
    assert made.n_smaller >= 3
    assert made.bytes_after < made.bytes_before
    assert steps[-1] == (6, 6)
    assert {p: pixels.decode(p).tobytes() for p in before} == before
    assert [f.kind for f in check(folder) if f.severity != "note"] == []
    assert sorted(p.name for p in folder.iterdir()) == ["screenshots", "session.db"]
    assert compact(folder).n_pictures == 0
    left = {"session", "user", "period_ns", "zone", "state", "codec", "sqlite", "utc_anchor_ns"}
    assert {key for (key,) in table(folder, "SELECT key FROM meta")} == left, "nothing of the machine or of the work"


async def test_compacting_leaves_alone_what_is_said_of_pictures_that_others_made(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    await record(folder, 3, screen=FakeScreen(photo))
    with sqlite3.connect(folder / "session.db") as db:
        db.execute("UPDATE meta SET value = 'as imported' WHERE key = 'codec'")
    db.close()
    assert compact(folder).n_pictures == 3
    assert table(folder, "SELECT value FROM meta WHERE key = 'codec'") == [("as imported",)]


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_compacting_that_is_killed_leaves_a_sound_session_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    folder = tmp_path / "s"
    await record(folder, 4, screen=FakeScreen(photo))
    monkeypatch.setattr(compacting, "_smaller", lambda file, digest: (_longer(file), file.stat().st_size + 100))
    real, n = store.replace_file, 0

    def dies(target: Path, content: bytes) -> None:
        nonlocal n
        n += 1
        if n == 3:
            if moment == "after":
                real(target, content)
            raise KeyboardInterrupt
        real(target, content)

    monkeypatch.setattr(compacting, "replace_file", dies)
    with pytest.raises(KeyboardInterrupt):
        compact(folder)
    assert [f.kind for f in check(folder) if f.severity != "note"] == []
    monkeypatch.setattr(compacting, "replace_file", real)
    assert compact(folder).n_pictures == 2
    assert table(folder, "SELECT COUNT(*) FROM screenshots WHERE file_hash IS NULL") == [(0,)]
    assert [f.kind for f in check(folder) if f.severity != "note"] == []


def _longer(file: Path) -> bytes:
    """The same pixels in other bytes."""
    return store.pack(pixels.decode(file), store.QUICK)


async def test_compacting_closes_what_a_crash_left_and_leaves_damage_alone(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    await crashed(folder, FakeClock())
    made = compact(folder)
    assert made.repaired is not None
    assert status(folder)["state"] == "recovered"
    (picture,) = (folder / "screenshots").rglob("*.webp")
    db = sqlite3.connect(folder / "session.db")
    db.execute("UPDATE meta SET value = 'webp lossless' WHERE key = 'codec'")
    db.commit()
    db.close()
    picture.write_bytes(b"not a picture")
    assert (compact(folder).n_damaged, picture.read_bytes()) == (1, b"not a picture")


async def test_compacting_keeps_away_from_a_session_that_is_being_recorded(tmp_path: Path) -> None:
    said: list[str] = []

    def at(tick: int, recorder: Any) -> None:
        with pytest.raises(UsageError, match="another program has this session open") as error:
            compact(tmp_path / "s")
        said.append(str(error.value))

    await record(tmp_path / "s", 2, at=at)
    assert len(said) == 2


class Judge:
    """A screener that knows one word."""

    closed = False

    async def look(self, image: Image.Image, app: str | None, title: str | None) -> Screening:
        return Screening("high", ("names",), "blur", f"a screen of {image.width}")

    async def close(self) -> None:
        self.closed = True


async def test_a_screeners_opinion_is_in_every_row_of_its_picture(tmp_path: Path) -> None:
    judge = Judge()
    done = await record(
        tmp_path / "s", 6, screener=judge, screen=FakeScreen(lambda n: [plain_frame([5, 5, 6, 6, 5, 5][n])])
    )
    said = table(tmp_path / "s", "SELECT DISTINCT privacy_level, scene_description FROM screenshots")
    assert said == [("high/blur: names", "a screen of 64")]
    assert done.recorder.facts.screened == {"screened": 2}
    assert judge.closed


async def test_stopping_does_not_wait_for_a_screen_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "_GRACE_NS", 0)
    hang, hanging = threading.Event(), threading.Event()

    def show(n: int) -> Sequence[Frame]:
        if n == 2:
            hanging.set()
            hang.wait(20)
        return [plain_frame(4)]

    recorder = Recorder(tmp_path / "s", FakeScreen(show), FakeWindows(), budget=Budget(free_floor=0),
                        period_ns=SECOND // 50)  # fmt: skip
    running = asyncio.create_task(recorder.run())
    assert await asyncio.to_thread(hanging.wait, 20)
    recorder.stop()
    summary = await running
    hang.set()
    assert summary.closed
    assert summary.gaps["display_lost"] >= 1
    assert [f.kind for f in check(tmp_path / "s") if f.severity != "note"] == []


async def test_the_loop_is_never_blocked(tmp_path: Path) -> None:
    with blockbuster_ctx(["simulator"]):
        done = await record(tmp_path / "s", 5, screen=FakeScreen(lambda n: [plain_frame(n + 1)]))
    assert done.summary.n_rows == 5


@pytest.mark.parametrize(
    ("env", "link", "told", "zone"),
    [
        ({"TZ": "Asia/Shanghai"}, None, None, "Asia/Shanghai"),
        ({"TZ": ":Europe/Rome"}, None, None, "Europe/Rome"),
        ({"TZ": "CET-1CEST"}, "Europe/Berlin", None, "Europe/Berlin"),
        ({}, "America/New_York", "Europe/Paris", "America/New_York"),
        ({}, None, "Europe/Paris", "Europe/Paris"),
        ({}, None, "../../etc/passwd", "UTC"),
        ({}, None, None, "UTC"),
    ],
)
def test_the_zone_is_found_where_systems_keep_it(
    tmp_path: Path, env: dict[str, str], link: str | None, told: str | None, zone: str
) -> None:
    (tmp_path / "etc").mkdir()
    if link is not None:
        (tmp_path / "etc" / "localtime").symlink_to(f"/usr/share/zoneinfo/{link}")
    if told is not None:
        (tmp_path / "etc" / "timezone").write_text(told + "\n")
    assert machine.zone(env, tmp_path) == zone


def test_offsets_follow_summer_time() -> None:
    summer, winter = 1_782_900_000 * SECOND, 1_767_225_600 * SECOND
    assert (machine.offset_min(summer, "Europe/Berlin"), machine.offset_min(winter, "Europe/Berlin")) == (120, 60)
    assert machine.offset_min(winter, "Asia/Kolkata") == 330


@pytest.mark.parametrize("text", ["", "10", "MB", "-1MB", "1.5 XB", "1e9B"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size such as"):
        parse_size(text)


def test_sizes_read_and_show() -> None:
    assert (parse_size("2GB"), parse_size("0.5kb")) == (2_000_000_000, 500)
    assert [show_size(n) for n in (999, 1000, 99_950, 2_000_000_000)] == ["999 B", "1.0 KB", "100.0 KB", "2.0 GB"]


async def test_a_screen_that_hangs_is_lost_and_no_busy_machine(tmp_path: Path) -> None:
    clock = FakeClock()
    seen: list[float] = []
    recorders: list[Recorder] = []

    def show(n: int) -> list[Any]:
        if n == 3:
            clock.now += 6 * SECOND
            seen.append(recorders[0].facts.looking_s)
        return [plain_frame(7)]

    def at(tick: int, recorder: Recorder) -> None:
        recorders.append(recorder)

    done = await record(tmp_path / "s", 14, screen=FakeScreen(show), clock=clock, at=at)
    assert seen == [6.0]
    assert done.recorder.facts.looking_s == 0
    assert [(start, reason) for start, _, reason in done.gaps] == [(3 * SECOND, "display_lost")]
    assert "the screen did not answer for 6 s" in str(table(tmp_path / "s", "SELECT detail FROM gaps"))
