"""As ``replay``, five times as long: memory must be flat in the length of the session."""

from __future__ import annotations

from bench import replay


def measure() -> dict[str, float]:
    return replay.measure(1_000_000)
