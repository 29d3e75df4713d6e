"""The simulator's event loop is never blocked, but where that is meant.

Blockbuster makes a blocking call (file, socket, SQLite, sleep) in a running loop an error. It is not an autouse
fixture: the fault tests run agents that block on purpose, each in a loop of its own, and there it is the simulator's
answer that is tested, not blockbuster's.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from blockbuster import BlockBuster, BlockingError, blockbuster_ctx

from memory.graph import GraphMemory
from simulator.core.protocols import Memory
from simulator.core.types import Decision, Observation, Offer
from simulator.runs import runlog
from simulator.runs.config import Settings
from simulator.runs.engine import Interrupt
from simulator.runs.unit import LOG, UnitPlan, play_unit
from simulator.session.scenario import plays
from simulator.timing.latency import parse_latency

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def guarded_loop() -> Iterator[BlockBuster]:
    with blockbuster_ctx(["simulator", "agents", "memory", "scorers"]) as guard:
        # The run log is written from the loop: buffered, one block in a thousand silences; its fsync has a thread.
        writer = [name for name, _ in inspect.getmembers(runlog.LogWriter, inspect.isfunction)]
        for function in guard.functions.values():
            function.can_block_in("simulator/runs/runlog.py", set(writer))
        yield guard


class Speaker:
    """Offers the intention that memory names first, at every tenth snapshot."""

    inline = True

    async def decide(self, observation: Observation) -> Decision:
        items = await observation.memory.recall(1)
        if observation.snapshot.index % 10 or not items:
            return Decision()
        return Decision((Offer(items[0].intention or "Uncategorized"),))


def _plan(memory: type[Memory]) -> UnitPlan:
    (play,) = plays([ROOT / "scenarios" / "desktop"])
    return UnitPlan(
        key=play.key,
        source=play.source,
        truth=play.truth,
        history=play.history,
        profile=play.profile,
        intentions=play.intentions,
        window_ns=play.window_ns,
        segmentation=play.segmentation,
        settings=Settings(),
        agent=Speaker,
        memory=memory,
        agent_text="speaker",
        memory_text=memory.__name__,
        gate_text="standard",
        dataset=play.dataset_hash,
    )


def test_a_session_is_played_without_a_blocking_call(tmp_path: Path, guarded_loop: BlockBuster) -> None:
    plan = _plan(GraphMemory)
    result = asyncio.run(play_unit(plan, tmp_path / "unit", Interrupt()))
    assert result.error is None
    log = runlog.read(tmp_path / "unit" / LOG)
    assert log.complete
    assert len(log) == 200
    assert log.offers()


def test_a_blocking_call_would_be_found(guarded_loop: BlockBuster) -> None:
    async def blocks() -> None:
        plays([ROOT / "scenarios" / "desktop"])

    with pytest.raises(BlockingError):
        asyncio.run(blocks())


def test_where_time_is_computed_no_thread_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        started.append(thread.name)
        start(thread)

    plan = replace(_plan(GraphMemory), settings=Settings(clock="modelled", latency=parse_latency("fixed:1s")))
    monkeypatch.setattr(threading.Thread, "start", noted)
    result = asyncio.run(play_unit(plan, tmp_path / "unit", Interrupt()))
    assert result.error is None
    assert started == []


def test_only_a_log_that_costs_something_goes_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    plan = replace(_plan(GraphMemory), settings=Settings(clock="modelled", latency=parse_latency("fixed:1s")))
    asyncio.run(play_unit(plan, tmp_path / "free", Interrupt()))
    assert flushed == []
    asyncio.run(play_unit(replace(plan, asking={"model": {"name": "m"}}), tmp_path / "asked", Interrupt()))
    assert len(flushed) == 1
