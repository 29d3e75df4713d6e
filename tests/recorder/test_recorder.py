"""Recording with a desktop and clocks that do what the test says."""

from __future__ import annotations

import sqlite3
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from simulator.core.errors import UsageError
from simulator.core.types import SECOND
from simulator.recorder.frames import ScreenLost
from simulator.recorder.recorder import Recorder
from simulator.recorder.windows import Window
from simulator.screen import pixels
from simulator.session.check import check
from simulator.session.reader import Reader
from simulator.session.schema import FILE_NAME
from tests.recorders import ANCHOR, FakeClock, FakeScreen, FakeWindows, plain_frame, record


def table(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(folder / FILE_NAME) as db:
        rows = db.execute(sql).fetchall()
    db.close()
    return rows


def whole(folder: Path, n_ticks: int) -> None:
    """Every tick is a row or lies in a gap, once, and the session is sound."""
    ticks = [t for (t,) in table(folder, "SELECT DISTINCT tick FROM screenshots")]
    for first, last in table(folder, "SELECT from_tick, to_tick FROM gaps"):
        ticks += range(first, last + 1)
    assert sorted(ticks) == list(range(n_ticks))
    assert [f for f in check(folder) if f.severity != "note"] == []


async def test_a_row_a_tick_and_one_file_a_distinct_picture(tmp_path: Path) -> None:
    colours = [1, 1, 2, 2, 1, 3]
    done = await record(tmp_path / "s", 6, screen=FakeScreen(lambda n: [plain_frame(colours[n])]))
    assert [s.tick for s in done.shots] == list(range(6))
    assert [s.image is not None for s in done.shots] == [True, False, True, False, True, True]
    assert (done.summary.n_rows, done.summary.n_pictures, done.summary.closed) == (6, 3, True)
    whole(tmp_path / "s", 6)
    assert len([f for f in (tmp_path / "s" / "screenshots").rglob("*") if f.is_file()]) == 3
    with Reader(tmp_path / "s") as reader:
        assert reader.header.utc_anchor_ns == ANCHOR + 20_000_000
        assert reader.header.state == "closed"


async def test_stored_pixels_are_the_captured_ones(tmp_path: Path) -> None:
    done = await record(tmp_path / "s", 3, screen=FakeScreen(lambda n: [plain_frame(0x010203 * (n + 1))]))
    for n, shot in enumerate(done.shots):
        assert shot.path is not None
        assert shot.image is not None
        kept = pixels.decode(tmp_path / "s" / shot.path)
        assert kept.tobytes() == shot.image.tobytes() == plain_frame(0x010203 * (n + 1)).image().tobytes()
        assert pixels.pixels_hash(kept) == shot.pixels_hash


async def test_nothing_but_session_and_pictures_is_left_behind(tmp_path: Path) -> None:
    await record(tmp_path / "s", 2)
    assert sorted(p.name for p in (tmp_path / "s").iterdir()) == ["screenshots", FILE_NAME]


async def test_each_monitor_has_its_row_with_its_own_size(tmp_path: Path) -> None:
    def show(n: int) -> list[Any]:
        second = [] if n == 1 else [plain_frame(n + 9, number=2, size=(32, 20 + n), x=64)]
        return [plain_frame(7), *second]

    done = await record(tmp_path / "s", 3, screen=FakeScreen(show))
    assert [(s.tick, s.monitor, s.width, s.height) for s in done.shots] == [
        (0, 1, 64, 48), (0, 2, 32, 20), (1, 1, 64, 48), (2, 1, 64, 48), (2, 2, 32, 22),
    ]  # fmt: skip
    places = table(tmp_path / "s", "SELECT DISTINCT monitor, monitor_x, monitor_y FROM screenshots ORDER BY 1")
    assert places == [(1, 0, 0), (2, 64, 0)]
    whole(tmp_path / "s", 3)


async def test_ticks_missed_by_a_stopped_process_are_a_gap_and_no_burst_follows(tmp_path: Path) -> None:
    clock = FakeClock(jumps=[(5_003 * SECOND, "late", 5 * SECOND + SECOND // 4)])
    done = await record(tmp_path / "s", 12, clock=clock)
    assert [s.tick for s in done.shots] == [0, 1, 2, 8, 9, 10, 11]
    assert done.gaps == [(3 * SECOND, 8 * SECOND, "overload")]
    assert done.shots[3].late_ns == SECOND // 4
    assert done.shots[4].late_ns == 0
    whole(tmp_path / "s", 12)


async def test_a_suspend_is_told_from_a_busy_machine(tmp_path: Path) -> None:
    clock = FakeClock(jumps=[(5_002 * SECOND, "suspend", 3600 * SECOND)])
    done = await record(tmp_path / "s", 3605, clock=clock)
    assert [reason for *_, reason in done.gaps] == ["suspend"]
    assert done.summary.gaps == {"suspend": 3600}
    whole(tmp_path / "s", 3605)


@pytest.mark.parametrize("by", [-3600 * SECOND, 3600 * SECOND])
async def test_a_calendar_that_is_set_moves_labels_and_nothing_else(tmp_path: Path, by: int) -> None:
    done = await record(tmp_path / "s", 6, clock=FakeClock(jumps=[(5_003 * SECOND, "wall", by)]))
    assert [s.captured_ns for s in done.shots] == [k * SECOND for k in range(6)]
    notes = table(tmp_path / "s", "SELECT tick, kind, detail FROM notes")
    assert notes == [(3, "clock_step", f"the calendar was set by {by / SECOND:+.3f} s")]
    walls = [w for (w,) in table(tmp_path / "s", "SELECT wall_utc_ms FROM screenshots ORDER BY id")]
    assert [b - a for a, b in pairwise(walls)] == [1000, 1000, 1000 + by // 10**6, 1000, 1000]
    whole(tmp_path / "s", 6)


async def test_a_lost_display_is_one_gap_and_recording_goes_on(tmp_path: Path) -> None:
    lost = ScreenLost("display_lost", "gone")
    done = await record(tmp_path / "s", 8, screen=FakeScreen(lambda n: lost if 2 <= n < 5 else [plain_frame(5)]))
    assert table(tmp_path / "s", "SELECT from_tick, to_tick, reason FROM gaps") == [(2, 4, "display_lost")]
    assert [s.tick for s in done.shots] == [0, 1, 5, 6, 7]
    whole(tmp_path / "s", 8)


async def test_a_locked_screen_is_not_looked_at(tmp_path: Path) -> None:
    screen = FakeScreen()
    done = await record(tmp_path / "s", 6, screen=screen, windows=FakeWindows(is_locked=lambda n: 2 <= n < 5))
    assert done.summary.gaps == {"locked": 3}
    assert screen.n == 3
    whole(tmp_path / "s", 6)


async def test_pausing_looks_at_nothing_and_resuming_goes_on(tmp_path: Path) -> None:
    screen, windows = FakeScreen(), FakeWindows()

    def at(tick: int, recorder: Any) -> None:
        if tick == 1:
            recorder.pause()
        if tick == 4:
            assert recorder.paused
            recorder.resume()

    done = await record(tmp_path / "s", 8, screen=screen, windows=windows, at=at)
    assert done.summary.gaps == {"paused": 3}
    assert (screen.n, windows.n, windows.n_locked) == (5, 10, 5)
    whole(tmp_path / "s", 8)


async def test_a_file_named_pause_pauses_for_as_long_as_it_is_there(tmp_path: Path) -> None:
    def at(tick: int, recorder: Any) -> None:
        if tick == 1:
            (recorder.folder / "pause").touch()
        if tick == 3:
            (recorder.folder / "pause").unlink()

    done = await record(tmp_path / "s", 6, at=at)
    assert done.summary.gaps == {"paused": 2}
    whole(tmp_path / "s", 6)


async def test_a_blank_screen_is_kept_and_noted(tmp_path: Path) -> None:
    black = plain_frame(0, spot=0)
    black.raw[:4] = bytes(4)
    done = await record(tmp_path / "s", 4, screen=FakeScreen(lambda n: [black if n in (1, 2) else plain_frame(9)]))
    assert table(tmp_path / "s", "SELECT tick, monitor, kind FROM notes") == [(1, 1, "blank"), (2, 1, "blank")]
    assert done.recorder.facts.quality["blank"] == 2
    whole(tmp_path / "s", 4)


async def test_a_focus_that_moves_while_the_picture_is_taken_is_marked(tmp_path: Path) -> None:
    one, two = Window("a", "one", key=1), Window("b", "two", key=2)
    done = await record(tmp_path / "s", 3, windows=FakeWindows(front=lambda n: one if n < 3 else two))
    assert table(tmp_path / "s", "SELECT app_name, focus_changed FROM screenshots") == [("a", 0), ("a", 1), ("b", 0)]
    assert done.recorder.facts.quality["focus_changed"] == 1


async def test_short_visits_are_events_too(tmp_path: Path) -> None:
    def front(n: int) -> Window:
        tick = n // 2
        return Window("mail", "Inbox", key=2) if 10 <= tick < 15 else Window("xterm", "proj: bash", key=1)

    done = await record(tmp_path / "s", 30, windows=FakeWindows(front=front))
    events = table(tmp_path / "s", "SELECT id, app_name, start_ns, end_ns, start_tick, end_tick, excluded FROM events")
    assert events == [
        (1, "xterm", 0, 10 * SECOND, 0, 9, None),
        (2, "mail", 10 * SECOND, 15 * SECOND, 10, 14, None),
        (3, "xterm", 15 * SECOND, 30 * SECOND, 15, 29, None),
    ]
    assert table(tmp_path / "s", "SELECT event_id, COUNT(*) FROM screenshots GROUP BY 1") == [(1, 10), (2, 5), (3, 15)]
    assert done.summary.events["kept"] == 3


async def test_an_event_ends_where_a_gap_begins_and_a_very_short_one_says_why_it_is_not_used(tmp_path: Path) -> None:
    windows = FakeWindows(is_locked=lambda n: n in (2, 3))
    await record(tmp_path / "s", 10, windows=windows)
    events = table(tmp_path / "s", "SELECT start_ns, end_ns, excluded FROM events")
    assert events == [(0, 2 * SECOND, "under 3 s"), (4 * SECOND, 10 * SECOND, None)]


async def test_a_budget_that_is_used_up_makes_a_gap(tmp_path: Path) -> None:
    from simulator.recorder.shots import Budget

    done = await record(tmp_path / "s", 4, budget=Budget(n_bytes=1, free_floor=0))
    assert done.summary.gaps == {"disk_full": 4}
    assert table(tmp_path / "s", "SELECT from_tick, to_tick, detail FROM gaps") == [(0, 3, "budget")]


async def test_two_recorders_do_not_write_one_session(tmp_path: Path) -> None:
    said = []

    def at(tick: int, recorder: Any) -> None:
        from simulator.recorder.opening import begin

        with pytest.raises(UsageError, match="another program has this session open") as error:
            begin(recorder.folder, "s", "u", SECOND, FakeClock().clocks())
        said.append(error)

    await record(tmp_path / "s", 2, at=at)
    assert len(said) == 2
    whole(tmp_path / "s", 2)


async def test_a_closed_session_is_not_recorded_into(tmp_path: Path) -> None:
    await record(tmp_path / "s", 2)
    with pytest.raises(UsageError, match="this session is closed"):
        await record(tmp_path / "s", 2)
    assert not (tmp_path / "s" / "status.json").exists()


async def test_stopped_before_the_first_tick_the_folder_is_as_good_as_new(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "s", FakeScreen(), FakeWindows(), clocks=FakeClock().clocks())
    recorder.stop()
    summary = await recorder.run()
    assert (summary.n_ticks, summary.n_rows) == (0, 0)
    assert list((tmp_path / "s").iterdir()) == []
    await record(tmp_path / "s", 2)
    whole(tmp_path / "s", 2)


async def test_what_a_callback_raises_closes_the_session_and_is_told(tmp_path: Path) -> None:
    def at(tick: int, recorder: Any) -> None:
        if tick == 2:
            raise RuntimeError("a fault of whoever listens")

    with pytest.raises(RuntimeError, match="whoever listens"):
        await record(tmp_path / "s", 5, at=at)
    whole(tmp_path / "s", 3)
    with Reader(tmp_path / "s") as reader:
        assert reader.header.state == "closed"


async def test_titles_of_every_kind_come_back_as_they_were(tmp_path: Path) -> None:
    titles = ['He said "hi" — naïve', "项目周报 2026", "🙂" * 200, "x" * 10_000, "", None, "'; DROP TABLE events; --"]
    done = await record(
        tmp_path / "s", len(titles), windows=FakeWindows(front=lambda n: Window("a", titles[n // 2], key=1))
    )
    assert [t for (t,) in table(tmp_path / "s", "SELECT window_title FROM screenshots ORDER BY id")] == titles
    assert [s.title for s in done.shots] == titles


@settings(max_examples=8)
@given(st.lists(st.tuples(st.none() | st.text(), st.none() | st.text()), min_size=1, max_size=25))
async def test_whatever_windows_are_called_it_comes_back(
    tmp_path_factory: pytest.TempPathFactory, names: list[tuple[str | None, str | None]]
) -> None:
    folder = tmp_path_factory.mktemp("s") / "s"
    await record(folder, len(names), windows=FakeWindows(front=lambda n: Window(*names[n // 2], key=1)))
    assert table(folder, "SELECT app_name, window_title FROM screenshots ORDER BY id") == names
    whole(folder, len(names))


def test_image_helpers_agree() -> None:
    assert plain_frame(0x336699).image().getpixel((5, 5)) == (0x33, 0x66, 0x99)
    assert isinstance(plain_frame(1).image(), Image.Image)
