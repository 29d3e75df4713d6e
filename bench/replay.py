"""Replay of a session without pictures: from opening SQLite to the log's last fsync, agent ``silent``, every snapshot
decided at a modelled charge of 350 ms, silences folded.
"""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

import anyio

from agents.base import agents
from bench.make_session import make
from memory.base import make_memory
from simulator.runs.config import Settings
from simulator.runs.engine import Interrupt
from simulator.runs.unit import UnitPlan, play_unit
from simulator.session.truth import Truth
from simulator.sources.recording import Recording
from simulator.timing.clock import real_ns
from simulator.timing.latency import parse_latency

N = 200_000


def measure(n: int = N) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        session = make(Path(folder) / "session", n)
        begun = real_ns()
        plan = _plan(Recording(session))
        result = anyio.run(play_unit, plan, Path(folder) / "unit", Interrupt())
        seconds = (real_ns() - begun) / 1e9
        assert result.tally["decisions"] == n
        size = sum(f.stat().st_size for f in (Path(folder) / "unit").iterdir())
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"snapshots_per_s": n / seconds, "seconds": seconds, "peak_mb": peak_kib / 1024, "log_mb": size / 2**20}


def _plan(source: Recording) -> UnitPlan:
    truth = Truth(source.session, source.user, source.header.end_ns)
    settings = Settings(clock="modelled", latency=parse_latency("fixed:350ms"))
    return UnitPlan(
        "unit", source, truth, (), {}, (), 300 * 10**9, "app_title", settings,
        lambda: agents.make("silent"), lambda: make_memory("none"), "silent", "none", "standard", "bench",
    )  # fmt: skip
