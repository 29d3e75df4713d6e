"""A study of 2,000 units (a text-only session of 10 minutes, modelled clock) with two workers and with one, what a unit
costs beside its playing, and the planning of 100,000 units.
"""

from __future__ import annotations

import json
import resource
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from bench.make_session import make
from simulator.core.errors import Exit
from simulator.runs.engine import Interrupt
from simulator.runs.unit import play_unit
from simulator.session.scenario import plays
from simulator.sweep.planning import Plan, look
from simulator.sweep.sweeping import Asked, Study, Watcher, plan_of, prepared, sweep
from simulator.sweep.types import Done
from simulator.sweep.work import unit_plan
from simulator.timing.clock import real_ns

N_SESSIONS, N_SEEDS, N_SNAPSHOTS = 10, 50, 600
STUDY = """
name: bench
sessions: [sessions]
axes: {agent: [prior, silent], memory: [none, rag], latency: 'fixed:350ms'}
seeds: 50
metrics: [F1_rt, timely_utility, scheduled_latency@p95]
"""
LARGE = """
name: large
sessions: [sessions]
axes:
  agent: [prior, silent, always, 'random:rate=0.1', 'random:rate=0.2']
  memory: [none, rag, graph, window, class-prior]
  latency: ['fixed:1s', 'fixed:2s', 'fixed:3s', 'fixed:4s']
seeds: 100
"""


@dataclass
class _Watch(Watcher):
    """When the first unit ended and when the last, and how long units took."""

    begun_ns: int = 0
    ended_ns: int = 0
    seconds: list[float] = field(default_factory=list)

    def launched(self, study: Study, plan: Plan, n_gone: int) -> None:
        self.begun_ns = real_ns()

    def done(self, done: Done) -> None:
        self.ended_ns = real_ns()
        if done.key:
            self.seconds.append(done.seconds)


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        for i in range(N_SESSIONS):
            folder = make(home / "sessions" / f"s{i}", N_SNAPSHOTS, i, user=f"user-{i}")
            needs = [{"opens_s": 60.0 + i, "closes_s": 150.0 + i, "intention": "Translation"}]
            said = {"session": ".", "name": f"s{i}", "truth": {"opportunities": needs}}
            (folder / "scenario.yaml").write_text(json.dumps(said), encoding="utf-8")
        (home / "study.yaml").write_text(STUDY, encoding="utf-8")
        (home / "large.yaml").write_text(LARGE, encoding="utf-8")
        (home / "warm.yaml").write_text(STUDY.replace("seeds: 50", "seeds: 1"), encoding="utf-8")
        sweep(home / "warm.yaml", Asked(out=home / "warm"), engine="inline")  # imports are paid by neither
        first, _ = _seconds(home, 2, "first")
        before = _cpu_s(resource.RUSAGE_CHILDREN)
        one, alone = _seconds(home, 1, "one")
        worker_ms = (_cpu_s(resource.RUSAGE_CHILDREN) - before) * 1e3
        second, _ = _seconds(home, 2, "second")  # around the one: a machine that gets slower favours neither
        two = (first + second) / 2
        bare, bare_cpu = anyio.run(_bare, home)
        n = len(alone.seconds)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        return {
            "units": n,
            "two_workers_seconds": two,
            "one_worker_seconds": one,
            "two_over_one": one / two,
            "overhead_ms": (alone.ended_ns - alone.begun_ns) / 1e6 / n - bare,
            "playing_ms": bare,
            "overhead_cpu_ms": worker_ms / n - bare_cpu,
            "playing_cpu_ms": bare_cpu,
            "worker_peak_mb": peak,
            **_planned(home),
        }


def _seconds(home: Path, workers: int, name: str) -> tuple[float, _Watch]:
    watch, begun = _Watch(), real_ns()
    swept = sweep(home / "study.yaml", Asked(out=home / name), workers=workers, watcher=watch)
    assert swept.code == Exit.DONE
    return (real_ns() - begun) / 1e9, watch


def _cpu_s(whose: int) -> float:
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


async def _bare(home: Path) -> tuple[float, float]:
    """Milliseconds to play a unit that is made ready, of each cell and session once: real ones, and of the CPU."""
    study = prepared(home / "study.yaml", Asked(out=home / "bare"))
    taken, cpu, n = 0, 0.0, 0
    for cell in study.grid.cells:
        for play in plays([home / "sessions"]):
            plan = await unit_plan(cell, 0, play)
            begun, before = real_ns(), _cpu_s(resource.RUSAGE_SELF)
            await play_unit(plan, home / "bare" / cell.id / play.key, Interrupt())
            taken, cpu, n = taken + real_ns() - begun, cpu + _cpu_s(resource.RUSAGE_SELF) - before, n + 1
    return taken / 1e6 / n, cpu * 1e3 / n


def _planned(home: Path) -> dict[str, float]:
    """100,000 units, none of them there."""
    begun = real_ns()
    asked = Asked(out=home / "large")
    study = prepared(home / "large.yaml", asked)
    plan = plan_of(study, asked, dry=True)
    look(plan, again=False)
    assert plan.n_missing == 100_000
    return {"planned_units": plan.n_units, "planning_seconds": (real_ns() - begun) / 1e9}
