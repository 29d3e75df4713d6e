"""A memory's upkeep: after the write that made it necessary, off the decision path, charged to nobody and told."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from memory.combined import Combined
from memory.personas import PersonaMemory
from simulator.core.types import MS, SECOND, SILENT, Decision, Event, Label, MemoryItem, Observation
from simulator.runs.engine import Interrupt
from tests.worlds import PERIOD, Notebook, names, plan, play, replayed, screen, silent


class Heavy(Notebook):
    """Has something to do after every label."""

    upkeep_lag_ns = 10 * MS
    last: Heavy

    def __init__(self) -> None:
        super().__init__()
        self.due = False
        self.built: list[int] = []
        Heavy.last = self

    def needs_upkeep(self) -> bool:
        return self.due

    async def feedback(self, event: Event, label: Label) -> None:
        await super().feedback(event, label)
        self.due = True

    async def maintain(self, now_ns: int) -> None:
        if self.due:
            threading.Event().wait(0.05)
            self.built.append(now_ns)
        self.due = False


@pytest.mark.parametrize("memory", [Heavy, lambda: Combined([("a", Heavy())])])
def test_on_a_held_clock_the_world_stands_still_for_it_and_nobody_is_charged(memory: Any, tmp_path: Path) -> None:
    run = play(plan(screen("aabbccd"), silent, memory=memory, clock="measured"), tmp_path)
    assert [ns // SECOND for ns in Heavy.last.built] == [2, 4, 6]
    assert max(w["done_ns"] - w["started_ns"] for w in run.log.writes) < 45 * MS
    assert int((run.log.actionable_ns - run.log.started_ns).max()) < 45 * MS
    told = run.result.memory_stats
    assert (told["upkeeps"], told["upkeeps_over_lag"]) == (3, 3)
    assert told["upkeep_s"] >= 0.14
    assert told["upkeep_longest_s"] >= 0.045


@pytest.mark.parametrize("inline", [True, False])
def test_in_a_paced_world_decisions_go_on_beside_it(inline: bool, tmp_path: Path) -> None:
    """There is always a next decision: however late a busy machine begins the upkeep, ten seconds of screen follow.
    Once it is known whether one came, the run is ended.
    """
    decided, interrupt = threading.Event(), Interrupt()
    beside: list[bool] = []

    class Waits(Heavy):
        def __init__(self) -> None:
            super().__init__()
            self.inline = inline

        async def maintain(self, now_ns: int) -> None:
            if self.due and not interrupt.asked:
                decided.clear()
                if inline:
                    beside.append(decided.wait(5))
                else:
                    import asyncio

                    beside.append(await asyncio.to_thread(decided.wait, 5))
                interrupt.asked = True
            self.due = False

    class Decides:
        inline = True

        async def decide(self, observation: Observation) -> Decision:
            decided.set()
            return SILENT

    unit = plan(screen("aa" + "b" * 500, PERIOD), Decides, memory=Waits, clock="wall", period_ns=PERIOD)
    play(unit, tmp_path, interrupt)
    assert beside == [True]


def test_what_fails_in_it_is_noted_and_the_run_goes_on(tmp_path: Path) -> None:
    class Fails(Heavy):
        async def maintain(self, now_ns: int) -> None:
            if self.due:
                self.due = False
                raise RuntimeError("no room")

    run = play(plan(screen("aabbcc"), names, memory=Fails), tmp_path)
    assert run.lines[-1]["notes"]["upkeep_failed"] == 2
    assert run.errors == []
    assert "no room" in (tmp_path / "errors.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["p", None])
def test_counts_that_bear_on_the_scores_stand_among_the_notes(name: str | None, tmp_path: Path) -> None:
    class Counts(Notebook):
        noted = ("personas_failed", "none_of_it")

        def stats(self) -> dict[str, Any]:
            return {"personas_failed": 16, "events": 3, "none_of_it": 0}

    run = play(
        plan(screen("ab"), silent, memory=Counts if name is None else lambda: Combined([(name, Counts())])), tmp_path
    )
    assert run.lines[-1]["notes"] == {"personas_failed": 16}


def test_a_memory_whose_question_fails_is_not_asked_again(tmp_path: Path) -> None:
    class Odd(Heavy):
        def needs_upkeep(self) -> bool:
            raise SystemExit

    run = play(plan(screen("aabbcc"), names, memory=Odd), tmp_path)
    assert run.result.error is None
    assert Heavy.last.built == []


def test_personas_are_seen_after_their_lag_and_a_run_is_the_same_to_the_byte(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    class Looks:
        inline = True

        async def decide(self, observation: Observation) -> Decision:
            items: list[MemoryItem] = await observation.memory.recall(5, text="a b c d title")
            seen.append((observation.now_ns // SECOND, len(items)))
            return SILENT

    def made() -> PersonaMemory:
        return PersonaMemory(refresh=2, lag_s=3)

    unit = plan(screen("aabbccddddd"), Looks, memory=made)
    run = play(unit, tmp_path / "1")
    # The first label comes at 2 s, the second at 4 s: two are enough, and what is built then is seen 3 s later.
    assert [t for t, n in seen if n] == [7, 8, 9, 10]
    assert run.result.memory_stats["builds"] == 1
    assert "late_builds" not in run.result.memory_stats
    assert play(unit, tmp_path / "2").path.read_bytes() == run.path.read_bytes()
    again = play(replayed(unit, run), tmp_path / "3")
    assert again.log.writes == run.log.writes
    assert "upkeeps" not in again.result.memory_stats
