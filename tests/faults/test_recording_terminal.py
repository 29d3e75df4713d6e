"""``proact record`` at a terminal: p and Enter pause and resume, Ctrl-C closes, a closed terminal too."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.core.types import SECOND
from simulator.timing.clock import real_ns

pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")
fcntl = pytest.importorskip("fcntl")

ROOT = Path(__file__).resolve().parents[2]
COMMAND = """
import sys
from simulator.cli import main
from simulator.recorder import screens, windows
from tests.cli.test_record_command import OneScreen
from tests.recorders import FakeWindows

screens.choose = lambda **options: OneScreen
windows.choose = FakeWindows
sys.argv[1:] = ["record", sys.argv[1], "--yes", "--period", "40ms", "--keep-free", "0B"]
main()
"""


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said = folder, b""
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, str(folder)],
            stdin=slave, stdout=slave, stderr=slave, cwd=ROOT, start_new_session=True,
            env={**os.environ, "XDG_CONFIG_HOME": str(folder.parent / "config"), "PYTHONPATH": str(ROOT)},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(slave)

    def wait(self, done: Callable[[], bool], what: str) -> None:
        """Take in what is drawn until something is so."""
        end = real_ns() + 20 * SECOND
        while not done():
            assert real_ns() < end, f"waited in vain for {what}: {self.said[-500:]!r}"
            if select.select([self.master], [], [], 0.02)[0]:
                with contextlib.suppress(OSError):  # the other end is closed
                    self.said += os.read(self.master, 65536)

    def ended(self) -> int:
        self.wait(lambda: self.process.poll() is not None, "the end")
        return self.process.wait()


def table(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    if not (folder / "session.db").exists():
        return []
    db = sqlite3.connect(folder / "session.db")
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path / "s")
    yield made
    with contextlib.suppress(OSError):
        os.close(made.master)
    made.process.kill()
    made.process.wait()


def rows(folder: Path) -> int:
    found = table(folder, "SELECT COUNT(*) FROM screenshots")
    return int(found[0][0]) if found else 0


def test_p_pauses_and_resumes_and_ctrl_c_closes(terminal: Terminal) -> None:
    folder = terminal.folder
    terminal.wait(lambda: b"last tick" in terminal.said, "a line")
    os.write(terminal.master, b"p\n")
    terminal.wait(lambda: b"paused: nothing is recorded" in terminal.said, "the word that it pauses")
    assert table(folder, "SELECT 1 FROM gaps WHERE reason = 'paused'")
    n = rows(folder)
    os.write(terminal.master, b"p\n")
    terminal.wait(lambda: rows(folder) > n + 3, "more rows")
    os.write(terminal.master, b"\x03")
    assert terminal.ended() == 0, terminal.said
    assert table(folder, "SELECT value FROM meta WHERE key = 'state'") == [("closed",)]


def test_a_terminal_that_is_closed_closes_the_session(terminal: Terminal) -> None:
    folder = terminal.folder
    terminal.wait(lambda: rows(folder) > 3, "rows")
    os.close(terminal.master)
    terminal.process.wait(20)
    assert table(folder, "SELECT value FROM meta WHERE key = 'state'") == [("closed",)]
    assert terminal.process.returncode in (0, 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_polite_kill_closes_the_session(terminal: Terminal, number: int) -> None:
    terminal.wait(lambda: rows(terminal.folder) > 3, "rows")
    terminal.process.send_signal(number)
    terminal.process.send_signal(number)
    assert terminal.ended() == 0, terminal.said
    assert table(terminal.folder, "SELECT value FROM meta WHERE key = 'state'") == [("closed",)]
