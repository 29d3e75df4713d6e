"""Clock ``wall`` for 60 s at 1 Hz: how late snapshots are released, and whether that drifts."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import anyio

from agents.base import agents
from bench.make_session import make
from memory.base import make_memory
from simulator.runs.config import Settings
from simulator.runs.engine import Engine, Interrupt
from simulator.runs.unit import UnitPlan, play_unit
from simulator.session.truth import Truth
from simulator.sources.recording import Recording
from simulator.timing.audit import percentile
from simulator.timing.clock import real_ns
from simulator.timing.pace import Paced

SECONDS = 61


def measure() -> dict[str, float]:
    engines: list[Engine] = []
    with tempfile.TemporaryDirectory() as folder:
        source = Recording(make(Path(folder) / "session", SECONDS))
        truth = Truth(source.session, source.user, source.header.end_ns)
        plan = UnitPlan(
            "unit", source, truth, (), {}, (), 300 * 10**9, "app_title", Settings(clock="wall"),
            lambda: agents.make("silent"), lambda: make_memory("none"), "silent", "none", "standard", "bench",
        )  # fmt: skip
        begun = real_ns()
        anyio.run(play_unit, plan, Path(folder) / "unit", Interrupt(), engines.append)
        seconds = (real_ns() - begun) / 1e9
    pace = engines[0].pace
    assert isinstance(pace, Paced)
    late = [ns / 1e6 for ns in pace.lateness_ns]
    drift = statistics.median(late[-10:]) - statistics.median(late[:10])
    return {
        "jitter_p99_ms": percentile(pace.lateness_ns, 99) / 1e6,
        "jitter_max_ms": max(late),
        "drift_ms": drift,
        "seconds": seconds,
    }
