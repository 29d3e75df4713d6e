"""What tells that the screen is locked besides windows: processes, and logind without waiting for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from simulator.core.types import SECOND
from simulator.recorder import processes
from simulator.recorder.lockers import LockHint, a_locker_runs, is_locker
from tests.desks import until


@pytest.mark.parametrize(
    ("app", "locker"), [("i3lock", True), ("XScreenSaver", True), ("Slock", True), ("xterm", False), (None, False)]
)
def test_lockers_are_known_by_name(app: str | None, locker: bool) -> None:
    assert is_locker(app) is locker


def process(folder: Path, number: str, name: str) -> None:
    (folder / number).mkdir(parents=True)
    (folder / number / "comm").write_text(f"{name}\n")


def test_a_running_locker_is_found_among_the_processes(tmp_path: Path) -> None:
    process(tmp_path, "12", "bash")
    process(tmp_path, "self", "swaylock")  # no number: the same process under another name
    process(tmp_path, "13", "light-locker")  # waits in the background while nothing is locked
    (tmp_path / "14").mkdir()  # ended while we looked
    assert not a_locker_runs(tmp_path)
    process(tmp_path, "15", "swaylock")
    assert a_locker_runs(tmp_path)
    assert not a_locker_runs(tmp_path / "none")
    assert not a_locker_runs()


def asked(tmp_path: Path, *, says: str) -> tuple[LockHint, Path, list[int]]:
    """A hint whose command writes down that it ran."""
    log, now = tmp_path / "log", [0]
    log.touch()
    script = f"import sys; open({str(log)!r}, 'a').write(sys.argv[1] + '\\n'); {says}"
    hint = LockHint(now=lambda: now[0], session="c2", command=[sys.executable, "-S", "-c", script])
    return hint, log, now


@pytest.mark.parametrize(("word", "locked"), [("yes", True), ("no", False), ("", None), ("perhaps", None)])
def test_logind_is_asked_and_heard_later(tmp_path: Path, word: str, locked: bool | None) -> None:
    hint, log, now = asked(tmp_path, says=f"print({word!r})")
    assert hint.locked() is None  # not waited for
    until(lambda: hint.locked() is locked and (hint._asked is None), "an answer")
    assert log.read_text() == "c2\n"
    now[0] += 4 * SECOND
    assert hint.locked() is locked
    assert log.read_text() == "c2\n"  # it is not asked again before 5 s have gone
    now[0] += 60 * SECOND
    hint.locked()
    until(lambda: log.read_text() == "c2\nc2\n", "another question")
    hint.close()


def test_a_question_that_hangs_is_ended(tmp_path: Path) -> None:
    hint, _, now = asked(tmp_path, says="import signal; signal.pause()")
    hint.locked()
    child = hint._asked
    assert child is not None
    now[0] += 60 * SECOND
    assert hint.locked() is None
    assert child.poll() is not None
    hint.close()
    assert hint._asked is None


def test_where_there_is_no_logind_nothing_is_known() -> None:
    hint = LockHint(now=lambda: 0, command=["no-such-program"])
    assert hint.locked() is None
    assert hint.locked() is None
    hint.close()


@pytest.mark.parametrize(
    ("line", "private"),
    [
        (b"chromium\0--incognito\0about:blank\0", True),
        (b"/usr/lib/chromium/chromium --incognito about:blank\0", True),
        (b"firefox\0-private-window\0", True),
        (b"msedge\0--inprivate\0", True),
        (b"chromium\0about:blank\0", False),
        (b"less\0/home/sam/--incognito.txt\0", False),
        (b"\xff\xfe\0", False),
        (b"", False),
    ],
)
def test_a_private_browser_is_known_by_how_it_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes, private: bool
) -> None:
    monkeypatch.setattr(processes, "_PROC", tmp_path)
    (tmp_path / "12").mkdir()
    (tmp_path / "12" / "cmdline").write_bytes(line)
    assert processes.started_private(12) is private
    assert processes.started_private(13) is False


def test_a_process_has_a_name_or_none() -> None:
    assert processes.name(os.getpid()) == Path("/proc/self/comm").read_text().strip()
    assert processes.name(2**31 - 1) is None
