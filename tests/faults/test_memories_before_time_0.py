"""A memory that is slow, hangs or fails where an agent rehearses is told as what it is, and while it is."""

import threading
from pathlib import Path
from typing import Any

import pytest

from memory.base import as_memory
from simulator.core.types import MS, SECOND, SILENT, Decision, Event, Label, MemoryItem, Observation
from simulator.runs import lanes, seam
from tests.worlds import Played, plan, play, screen

PAST = [
    (Event(f"h/{n}", "u", (2 * n - 9) * SECOND, (2 * n - 8) * SECOND, "code", "a"),
     Label(f"h/{n}", "u", False, (2 * n - 8) * SECOND))
    for n in range(4)
]  # fmt: skip


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "GRACE_NS", 60 * MS)
    monkeypatch.setattr(seam, "CLOSE_LIMIT_NS", 60 * MS)
    monkeypatch.setattr(seam, "LONG_NS", 150 * MS)


class Rehearsing:
    """Asks its memory in each rehearsal."""

    async def rehearse(self, seen: Observation, label: Label) -> None:
        await seen.memory.recall(3)

    async def decide(self, seen: Observation) -> Decision:
        return SILENT


class Memory:
    def __init__(self, wait: Any = None, found: Any = ()) -> None:
        self._wait, self._found = wait, found

    def observe(self, event: Event) -> None: ...
    def recall(self, *asked: Any) -> Any:
        if self._wait is not None:
            self._wait()
        return list(self._found)


def played(memory: Memory, folder: Path) -> Played:
    return play(plan(screen("aa"), Rehearsing(), clock="measured", memory=lambda: as_memory(memory), history=PAST),
                folder)  # fmt: skip


def test_one_that_hangs_is_named_and_not_the_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seam, "PREPARE_LIMIT_NS", 500 * MS)
    free = threading.Event()
    run = played(Memory(lambda: free.wait(5)), tmp_path)
    free.set()
    told = capsys.readouterr().err
    assert "before time 0: the memory's recall has not come back for 0.15 s" in told
    assert (run.result.error or "").startswith("not played, the memory's recall failed before time 0: ")
    assert "rehearse" not in told + (run.result.error or "")


def test_one_that_fails_is_named_and_not_the_agent(tmp_path: Path) -> None:
    error = played(Memory(found=[MemoryItem("x", float("nan"))]), tmp_path).result.error or ""
    assert error.startswith("not played, the memory's recall() failed before time 0: InputError: memory Memory: score")


def test_how_far_a_slow_one_is_is_told_now_and_then(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = threading.Event()
    run = played(Memory(lambda: slow.wait(0.1)), tmp_path)
    assert run.result.error is None
    lines = [line for line in capsys.readouterr().err.splitlines() if " s so far: call " in line]
    assert "before time 0: 0.15 s so far" in lines[0]
    assert len(lines) <= 3, "then after twice as long, and twice as long as that"
    assert " of 12, the memory's recall" in lines[0]
