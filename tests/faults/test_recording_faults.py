"""Recorders that are killed, stopped, or robbed of their disk: what was acknowledged is there, the rest is a gap."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from hashlib import shake_256
from pathlib import Path
from typing import Any

import pytest

from simulator.core.rng import below
from simulator.core.types import MS, SECOND
from simulator.recorder.frames import Frame, Monitor
from simulator.recorder.shots import Budget
from simulator.recorder.status import status
from simulator.session.check import check
from simulator.session.reader import Reader
from simulator.session.schema import FILE_NAME
from simulator.session.store import Writer
from simulator.timing.clock import real_ns
from tests.recorders import FakeScreen, record

ROOT = Path(__file__).resolve().parents[2]
CHILD = ROOT / "tests" / "recording_child.py"
PERIOD_MS = 40


class Child:
    """A recorder in a process of its own, and the ticks that it has acknowledged."""

    def __init__(self, folder: Path, period_ms: int = PERIOD_MS) -> None:
        argv = [sys.executable, str(CHILD), str(folder), str(period_ms)]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE)
        self.said = b""
        self.listen(lambda: b"ready\n" in self.said, 20 * SECOND)

    @property
    def acknowledged(self) -> list[int]:
        whole = self.said[: self.said.rfind(b"\n") + 1].split()
        return [int(word) for word in whole if word != b"ready"]

    def listen(self, enough: Any, limit_ns: int) -> bool:
        """Take in what it says until that is enough, or so long; whether it was."""
        assert self.process.stdout is not None
        end = real_ns() + limit_ns
        while not enough() and (left := end - real_ns()) > 0:
            if select.select([self.process.stdout], [], [], left / SECOND)[0]:
                some = os.read(self.process.stdout.fileno(), 65536)
                if not some:
                    break
                self.said += some
        return bool(enough())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.listen(lambda: False, SECOND)  # what it had said before
        assert self.process.stdout is not None
        self.process.stdout.close()


def table(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    db = sqlite3.connect(folder / FILE_NAME)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def covered(folder: Path) -> list[int]:
    """The ticks that are rows or lie in gaps, each as often as it does."""
    ticks = [t for (t,) in table(folder, "SELECT tick FROM screenshots")]
    for first, last in table(folder, "SELECT from_tick, to_tick FROM gaps"):
        ticks += range(first, last + 1)
    return sorted(ticks)


def kills(folder: Path, n: int, seed: int) -> None:
    """Kill a recorder at n random moments, each time gone on with; nothing acknowledged may be missing."""
    acknowledged: set[int] = set()
    for i in range(n):
        child = Child(folder)
        child.listen(lambda: False, below(400, seed, "kill", i) * MS)
        child.kill()
        acknowledged |= set(child.acknowledged)
    with Writer(folder) as writer:
        assert writer.recovery is not None
        assert writer.recovery.n_rows_without_image == writer.recovery.n_rows_with_damaged_image == 0
    there = {t for (t,) in table(folder, "SELECT tick FROM screenshots")}
    assert acknowledged
    assert acknowledged <= there, f"lost: {sorted(acknowledged - there)}"
    ticks = covered(folder)
    assert ticks == list(range(ticks[0], ticks[-1] + 1)), "every tick is a row or lies in a gap, once"
    assert [f.kind for f in check(folder) if f.severity != "note"] == []
    with Reader(folder) as reader:
        assert reader.header.state == "recovered"
        assert {g.reason for g in reader.header.gaps} <= {"missing", "overload"}


def test_nothing_acknowledged_is_lost_to_five_kills(tmp_path: Path) -> None:
    kills(tmp_path / "s", 5, seed=1)


def test_a_dead_recorder_is_told_by_status(tmp_path: Path) -> None:
    child = Child(tmp_path / "s")
    assert child.listen(lambda: len(child.acknowledged) >= 3, 20 * SECOND)
    live = status(tmp_path / "s")
    assert live["state"] == "recording"
    assert live["last_tick_age_s"] < 5
    child.kill()
    dead = status(tmp_path / "s")
    assert dead["state"] == "died"
    assert dead["rows"] >= 3


def test_a_stopped_process_leaves_a_gap_and_no_burst(tmp_path: Path) -> None:
    child = Child(tmp_path / "s")
    assert child.listen(lambda: len(child.acknowledged) >= 3, 20 * SECOND)
    child.process.send_signal(signal.SIGSTOP)
    child.listen(lambda: False, 500 * MS)
    before = child.acknowledged[-1]
    child.process.send_signal(signal.SIGCONT)
    assert child.listen(lambda: child.acknowledged[-1] > before + 500 // PERIOD_MS + 3, 20 * SECOND)
    child.kill()
    with Writer(tmp_path / "s"):
        pass
    longest = table(tmp_path / "s", "SELECT to_tick - from_tick + 1, reason FROM gaps ORDER BY 1 DESC LIMIT 1")
    assert longest[0][0] >= 8
    assert longest[0][1] == "overload"
    assert covered(tmp_path / "s") == list(range(covered(tmp_path / "s")[-1] + 1))


def noise(n: int, size: int = 200) -> list[Frame]:
    """Pixels that cannot be compressed: 120 KB a picture."""
    return [Frame(Monitor(1, 0, 0, size, size), bytearray(shake_256(b"%d" % n).digest(size * size * 4)), size, size)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("mounting a small disk needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


async def test_a_full_disk_costs_ticks_and_not_the_recording(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1_200_000))

    def at(tick: int, recorder: Any) -> None:
        if tick == 25:
            ballast.unlink()

    folder = small_disk / "s"
    done = await record(folder, 30, screen=FakeScreen(noise), budget=Budget(free_floor=0), at=at)
    assert done.summary.closed
    assert done.summary.gaps["disk_full"] > 5
    assert covered(folder) == list(range(30)), "every tick is a row or lies in a gap, once"
    kept = [t for (t,) in table(folder, "SELECT tick FROM screenshots")]
    assert kept[0] == 0
    assert kept[-3:] == [27, 28, 29], "recording went on when there was room again"
    assert [f.kind for f in check(folder) if f.severity != "note"] == []


async def test_a_disk_that_stays_full_leaves_a_session_that_opens(small_disk: Path) -> None:
    folder = small_disk / "s"
    done = await record(folder, 30, screen=FakeScreen(noise), budget=Budget(free_floor=0))
    assert done.summary.n_rows > 5
    assert done.summary.n_rows + done.summary.gaps["disk_full"] == 30
    if not done.summary.closed:
        shutil.copytree(folder, small_disk.parent / "copy")
        folder = small_disk.parent / "copy"
        with Writer(folder) as writer:
            assert writer.recovery is not None
    assert [f.kind for f in check(folder) if f.severity == "damage"] == []


async def test_the_floor_of_free_space_is_kept(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    done = await record(tmp_path / "s", 4, budget=Budget(free_floor=2 * free))
    assert done.summary.gaps == {"disk_full": 4}


async def test_a_budget_ends_no_recording(tmp_path: Path) -> None:
    done = await record(tmp_path / "s", 12, screen=FakeScreen(noise), budget=Budget(n_bytes=500_000, free_floor=0))
    assert done.summary.gaps["disk_full"] == 12 - done.summary.n_rows
    assert 2 <= done.summary.n_rows <= 6
    assert done.summary.n_bytes < 800_000
