"""kill -9 at 20 random moments of a recording: whether anything acknowledged is lost (it asserts that nothing is)."""

from __future__ import annotations

import tempfile
from pathlib import Path

from simulator.timing.clock import real_ns
from tests.faults.test_recording_faults import kills

N = 20


def measure() -> dict[str, float]:
    begun = real_ns()
    with tempfile.TemporaryDirectory() as place:
        kills(Path(place) / "s", N, seed=real_ns())
    return {"kills": N, "seconds": (real_ns() - begun) / 1e9}
