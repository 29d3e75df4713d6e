"""The kernel alone: events scheduled and taken, a thousand waiting at any time."""

from __future__ import annotations

from simulator.timing.clock import real_ns
from simulator.timing.kernel import Kernel, Priority

N = 1_000_000


def measure() -> dict[str, float]:
    kernel = Kernel()
    for i in range(1000):
        kernel.schedule(i * 7, Priority.SNAPSHOT, i)
    begun = real_ns()
    for i in range(N):
        kernel.pop()
        kernel.schedule(kernel.now_ns + (i * 7919) % 10_007, i & 3, i)
    return {"events_per_s": N / ((real_ns() - begun) / 1e9)}
