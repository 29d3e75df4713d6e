"""What ``proact record``, ``dataset status`` and ``dataset compact`` say, without a screen."""

from __future__ import annotations

import doctest
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from simulator.cli import _call, live_page, live_recording, recording, sessions, speak
from simulator.cli.speak import Voice
from simulator.cli.states import States
from simulator.core.errors import Exit
from simulator.core.lock import is_locked
from simulator.recorder import screens, windows
from simulator.recorder.status import HANGS, LOCK, SAID, Facts
from simulator.session.schema import FILE_NAME, GAP_REASONS
from simulator.session.store import Writer
from tests.recorders import FakeWindows, plain_frame


class OneScreen:
    """Shows one picture, for ever."""

    name, fits_windows, reread_ns = "fake", True, 10**10

    def monitors(self) -> list[Any]:
        return [plain_frame(5).monitor]

    def grab(self, monitor: Any) -> Any:
        return plain_frame(5)

    def close(self) -> None:
        pass


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeWindows:
    """A desktop that shows one picture."""
    found = FakeWindows()
    monkeypatch.setattr(screens, "choose", lambda **options: OneScreen)
    monkeypatch.setattr(windows, "choose", lambda: found)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return found


def said(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_recording_of_so_long_has_so_many_rows_and_says_so(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "s"
    words = ["record", str(folder), "--for", "400ms", "--period", "50ms", "--keep-free", "0MB", "--yes", "--json"]
    assert _call(words) == Exit.DONE
    last = said(capsys)[-1]
    assert last["event"] == "done"
    assert last["ticks"] == 8
    assert last["rows"] + sum(last["gaps"].values()) == 8
    assert last["closed"] is True
    assert _call(["dataset", "status", str(folder), "--json"]) == Exit.DONE
    assert said(capsys)[-1]["state"] == "closed"
    assert _call(["dataset", "status", str(folder)]) == Exit.DONE
    assert _call(["dataset", "compact", str(folder)]) == Exit.DONE
    assert _call(["dataset", "compact", str(folder)]) == Exit.DONE
    assert "all of it was compacted before" in capsys.readouterr().out
    assert _call(["dataset", "check", str(folder)]) == Exit.DONE


def test_nothing_recorded_is_no_success(desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "pause").touch()
    words = ["record", str(tmp_path / "s"), "--for", "100ms", "--period", "50ms", "--yes"]
    assert _call(words) == Exit.USAGE
    assert "nothing was recorded, 2 ticks paused" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--for", "10"], "--for: '10' is not a duration"),
        (["--period", "1ms"], "--period: at least 20ms"),
        (["--budget", "2"], "--budget: '2' is not a size"),
        (["--keep-free", "x"], "--keep-free: 'x' is not a size"),
        (["--monitor", "3"], "--monitor: there is no monitor 3; there are 1"),
        (["--screener", "nowhere"], "--screener: an address and a model"),
        (["--exclude", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_a_wrong_word_is_one_sentence_and_makes_no_folder(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert _call(["record", str(tmp_path / "s"), "--yes", *words]) == Exit.USAGE
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_without_a_word_on_consent_nothing_is_recorded(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _call(["record", str(tmp_path / "s"), "--for", "100ms"]) == Exit.USAGE
    assert "add --yes" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_a_desktop_that_hides_its_windows_is_not_recorded_unless_that_is_accepted_in_writing(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.seen = lambda n: None
    words = ["record", str(tmp_path / "s"), "--yes", "--for", "200ms", "--period", "50ms", "--keep-free", "0B"]
    assert _call(words) == Exit.USAGE
    assert "accept_unseen_windows: true" in capsys.readouterr().err
    rules = tmp_path / "rules.yaml"
    rules.write_text("accept_unseen_windows: true\n")
    assert _call([*words, "--exclude", str(rules)]) == Exit.DONE


def test_a_session_that_is_closed_is_not_recorded_into(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Writer(tmp_path / "s").close()
    assert _call(["record", str(tmp_path / "s"), "--yes", "--for", "100ms"]) == Exit.USAGE
    assert "this session is closed; a new recording needs a folder of its own" in capsys.readouterr().err


def test_every_reason_of_a_gap_that_a_recorder_makes_has_a_sentence() -> None:
    assert set(SAID) <= set(GAP_REASONS)
    assert set(GAP_REASONS) - set(SAID) == {"clock_step"}


def test_the_line_of_a_recording_says_what_it_costs() -> None:
    assert doctest.testmod(recording).failed == 0
    line = recording.sentence(
        Facts(last_tick_age_s=1.2, trouble="locked", n_rows=3, gaps={"locked": 4}, late_p99_ms=2.345, queue=3,
              rss_bytes=150_000_000, cpu_percent=4.4)
    )  # fmt: skip
    assert line == (
        "last tick 1 s ago (locked); 3 rows, 0 pictures, 4 ticks locked, 3 to write, 0 B, 0 KB/s, CPU 4 %, "
        "150 MB memory, late p99 2.3 ms"
    )
    assert recording.sentence(Facts()) == "starting"


def test_what_was_missed_is_seen_on_80_columns_and_no_figure_is_cut_in_two() -> None:
    facts = Facts(last_tick_age_s=1.0, n_rows=28_800, n_pictures=4120, n_bytes=42_100_000, kb_per_s=12.0,
                  cpu_percent=2.0, rss_bytes=155_000_000, late_p99_ms=4.1, gaps={"locked": 12})  # fmt: skip
    whole = recording.sentence(facts)
    for width in range(79, 0, -1):
        line = recording.sentence(facts, width)
        assert len(line) <= width
        assert whole.startswith(line)
        assert ";" not in line or whole[len(line)] == ","
    assert "12 ticks locked" in recording.sentence(facts, 79)


def test_a_trouble_is_told_once_and_once_when_it_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    states = States(Voice(as_json=False))
    for trouble in (None, "display_lost", "display_lost", "overload", None, "overload", None):
        states.look(Facts(trouble=trouble))
    states.look(Facts(trouble="missing", fault="OSError EIO"))
    assert capsys.readouterr().err.splitlines() == [
        SAID["display_lost"], "recording", f"{SAID['missing']} (OSError EIO)"
    ]  # fmt: skip


def test_a_screen_that_hangs_and_a_machine_that_stays_too_busy_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    states = States(Voice(as_json=False))
    for seconds in (0.0, 4.9, 5.4, 9.0):
        states.look(Facts(looking_s=seconds))
    states.look(Facts(trouble="display_lost"))
    states.look(Facts())
    for _ in range(12):
        states.look(Facts(trouble="overload"))
    assert capsys.readouterr().err.splitlines() == [HANGS, SAID["display_lost"], "recording", SAID["overload"]]


def test_a_screener_that_fails_is_told_once_for_each_reason(capsys: pytest.CaptureFixture[str]) -> None:
    states = States(Voice(as_json=False))
    for n in range(3):
        states.look(Facts(screened={"screened": 4, "http 500": n + 1}))
    states.look(Facts(screened={"screened": 4, "http 500": 3, "queue full": 1}))
    first, second = capsys.readouterr().err.splitlines()
    assert "could not be screened (http 500); such pictures stay unreviewed" in first
    assert "(queue full)" in second


def test_a_new_recording_is_left_out_by_git_and_goes_on_after_a_crash(desk: FakeWindows, tmp_path: Path) -> None:
    words = ["--for", "100ms", "--period", "50ms", "--keep-free", "0MB", "--yes"]
    assert _call(["record", str(tmp_path / "s"), *words]) == Exit.DONE
    assert (tmp_path / "s" / ".gitignore").read_text().endswith("\n*\n")
    assert _call(["dataset", "check", str(tmp_path / "s")]) == Exit.DONE
    assert _call(["dataset", "compact", str(tmp_path / "s")]) == Exit.DONE
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / ".gitignore").write_text("*.webp\n")
    assert _call(["record", str(tmp_path / "mine"), *words]) == Exit.DONE
    assert (tmp_path / "mine" / ".gitignore").read_text() == "*.webp\n", "what somebody wrote stays"
    assert _call(["forget", "user", "--in", str(tmp_path / "s"), "--yes"]) == Exit.DONE
    assert not (tmp_path / "s").exists()
    left_by_a_crash(tmp_path / "old")
    assert _call(["record", str(tmp_path / "old"), *words[:2], "--yes"]) in (Exit.DONE, Exit.USAGE)
    assert not (tmp_path / "old" / ".gitignore").exists(), "what is there already is not hidden afterwards"


@pytest.mark.skipif(os.name != "posix", reason="the system has no modes")
@pytest.mark.parametrize("words", [["record"], ["live", "--agent", "silent", "--memory", "none", "--no-web"]])
def test_what_is_recorded_is_its_users_alone(desk: FakeWindows, tmp_path: Path, words: list[str]) -> None:
    before = os.umask(0o022)
    try:
        folder = tmp_path / "there" / "s"
        folder.parent.mkdir()
        rest = ["--for", "200ms", "--period", "50ms", "--keep-free", "0MB", "--yes"]
        assert _call([words[0], str(folder), *words[1:], *rest]) == Exit.DONE
        session = folder if words == ["record"] else folder / "session"
        assert _call(["dataset", "compact", str(session)]) == Exit.DONE
        assert any(there.suffix == ".webp" for there in folder.rglob("*"))
        open_to_others = [there for there in (folder, *folder.rglob("*")) if there.stat().st_mode & 0o077]
        assert open_to_others == []
        (folder.parent / "later").touch()
        assert (folder.parent / "later").stat().st_mode & 0o777 == 0o644, "and other files are as ever"
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("false", "false ended with code 1"),
        ("echo hallo", "6 bytes that are no PPM, PNG or BMP"),
        ("sh -c 'echo no display >&2; exit 1'", "sh ended with code 1: no display"),
    ],
)
@pytest.mark.parametrize("words", [["record", "s"], ["live", "s"], ["doctor", "live"]])
def test_a_command_that_shows_no_screen_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str],
    command: str, why: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    code = _call([*words, "--yes", "--screen-command", command])
    told = capsys.readouterr()
    assert f"the screen cannot be captured: {why}" in " ".join((told.out + told.err).split())
    assert code == (Exit.INTERNAL if words[0] == "doctor" else Exit.USAGE)
    assert not (tmp_path / "s").exists()


def test_a_name_that_names_nothing_is_refused(
    desk: FakeWindows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for command in ("record", "live"):
        assert _call([command, "", "--yes", "--for", "100ms"]) == Exit.USAGE
        assert "FOLDER: an empty name" in capsys.readouterr().err
    for user in ("", " sam", "s\x1b[2Jm", "x" * 81):
        assert _call(["record", "s", "--user", user, "--yes", "--for", "100ms"]) == Exit.USAGE
        said = capsys.readouterr().err
        assert "a name of 1 to 80 characters" in said
        assert "\x1b" not in said
    assert list(Path().iterdir()) == []


def test_a_folder_of_other_things_becomes_no_session(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "letter.txt").touch()
    assert _call(["record", str(tmp_path), "--yes", "--for", "100ms"]) == Exit.USAGE
    assert "is not empty, and no session" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero here")
def test_rules_without_an_end_are_refused(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _call(["record", str(tmp_path / "s"), "--yes", "--exclude", "/dev/zero"]) == Exit.USAGE
    assert "/dev/zero: a device" in capsys.readouterr().err


def left_by_a_crash(folder: Path) -> Path:
    """A session of some pages that nobody closed; its database."""
    writer = Writer(folder)
    writer.add_rows(("tick", "captured_ns", "window_title"), [(n, n * 10**9, "x" * 500) for n in range(200)])
    writer.abandon()
    return folder / FILE_NAME


def test_a_damaged_session_is_not_gone_on_with(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.truncate(left_by_a_crash(tmp_path / "cut"), 9000)
    with sqlite3.connect(left_by_a_crash(tmp_path / "odd")) as db:
        db.execute("UPDATE gaps SET to_tick = 'x'")
        db.execute("INSERT INTO gaps (from_tick, to_tick, reason) VALUES (1, 'soon', 'missing')")
    db.close()
    for name in ("cut", "odd"):
        assert _call(["record", str(tmp_path / name), "--yes", "--for", "100ms"]) == Exit.USAGE
        said = capsys.readouterr().err
        assert "session.db: " in said
        assert "`proact dataset check` says how far it reads" in said
        assert not is_locked(tmp_path / name / LOCK)


@pytest.mark.parametrize("words", [["dataset", "status"], ["dataset", "compact"], ["dataset", "privacy", "status"]])
def test_a_live_run_given_for_its_session_is_told_where_that_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    Writer(tmp_path / "demo" / "session").close()
    (tmp_path / "demo" / "run").mkdir()
    assert _call([*words, str(tmp_path / "demo")]) == Exit.USAGE
    assert f"the session of this live run is {tmp_path / 'demo' / 'session'}" in capsys.readouterr().err


def test_one_of_a_kind_is_not_told_as_many(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["record", str(tmp_path / "s"), "--yes", "--period", "100ms", "--for", "100ms", "--keep-free", "0B"]
    assert _call(words) == Exit.DONE
    assert "s: 1 row, 1 picture, " in capsys.readouterr().err
    assert doctest.testmod(speak).failed == 0


def test_nobody_is_asked_about_a_screener_that_is_refused(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _call(["record", str(tmp_path / "s"), "--yes", "--screener", "http://models.example/v1,m"]) == Exit.USAGE
    err = capsys.readouterr().err
    assert "over a network in the clear" in err
    assert "will be sent" not in err


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_each_signal_that_asks_for_an_end_ends_a_recording_once(name: str) -> None:
    import signal

    heard: list[str] = []
    before = signal.getsignal(getattr(signal, name))
    stop: Callable[[], None] = lambda: heard.append(name)  # noqa: E731
    with recording.listening(stop):
        signal.raise_signal(getattr(signal, name))
        signal.raise_signal(getattr(signal, name))
    assert heard == [name, name]
    assert signal.getsignal(getattr(signal, name)) == before


def test_a_doctor_of_live_runs_says_why_nothing_is_recorded(
    desk: FakeWindows, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda place: SimpleNamespace(free=1000))
    assert _call(["doctor", "live", "--agent", "silent", "--memory", "none", "--yes"]) == Exit.INTERNAL
    told = " ".join(capsys.readouterr().out.split())
    assert "nothing was recorded, " in told
    assert "disk_full" in told
    assert "the session is empty" not in told


def test_compacting_says_how_far_it_is_where_no_line_can_be_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sessions, "_TELL_NS", 0)
    with Writer(tmp_path / "s") as writer:
        for n in range(3):
            writer.add(image=Image.new("RGB", (4, 4), (n, 0, 0)), tick=n, captured_ns=n * 10**9)
    assert _call(["dataset", "compact", str(tmp_path / "s")]) == Exit.DONE
    assert f"{tmp_path / 's'}: 1 of 3 pictures" in capsys.readouterr().err.splitlines()
    assert _call(["dataset", "compact", str(tmp_path / "s"), "--json"]) == Exit.DONE
    assert capsys.readouterr().err == ""


def test_what_was_shown_of_a_live_run_is_told_beside_what_was_offered() -> None:
    assert doctest.testmod(live_recording).failed == 0
    assert doctest.testmod(live_page).failed == 0
    assert live_recording.shown_of(2, 7).endswith("; the others repeated one, and --gate off shows them too")
