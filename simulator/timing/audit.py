"""What a run says of its own harness; past the published limits it is marked INVALID, and is still readable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from simulator.core.types import MS
from simulator.timing.clock import pause, real_ns

__all__ = ["JITTER_LIMIT_NS", "LAG_LIMIT_NS", "Audit", "invalid_by", "judge", "percentile", "probe_lag"]

JITTER_LIMIT_NS = 50 * MS
"""p99 of how late snapshots are released in a paced run."""
LAG_LIMIT_NS = 100 * MS
"""p99 of how late the engine's event loop wakes in a paced run."""
_PROBE_NS = 50 * MS


@dataclass(frozen=True, slots=True)
class Audit:
    """The harness's own figures; None where the clock gives them no meaning.

    Attributes:
        release_jitter_p99_ns: lateness of releases against the absolute schedule.
        loop_lag_p99_ns: lateness of a timer in the engine's loop.
        harness_share: share of the run's wall time not spent in the agent, its memory or waiting.
        overruns: decisions charged longer than the snapshot period.
        guarded: calls that the real-time guard had to stop.
        moved: whether an agent that declared itself inline had to be given a thread.
        reproducible: whether the log is a function of the inputs alone.
        invalid: why the figures of this run should not be used; empty for a valid one.
    """

    wall_ns: int
    agent_ns: int
    release_jitter_p99_ns: int | None
    loop_lag_p99_ns: int | None
    harness_share: float | None
    overruns: int
    guarded: int
    moved: bool
    reproducible: bool
    invalid: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the run may be used."""
        return not self.invalid

    def as_dict(self) -> dict[str, Any]:
        """For ``run.json``."""
        return asdict(self) | {"valid": self.valid, "invalid": list(self.invalid)}


def judge(*, wall_ns: int, agent_ns: int, lateness_ns: Sequence[int] | None, lags_ns: Sequence[int], overruns: int,
          guarded: int, moved: bool, reproducible: bool) -> Audit:  # fmt: skip
    """Put the figures together and hold them against the limits. ``lateness_ns`` None: the world was held."""
    paced = lateness_ns is not None
    jitter = percentile(lateness_ns, 99) if lateness_ns else None
    lag = percentile(lags_ns, 99) if paced and lags_ns else None
    why = []
    if jitter is not None and jitter > JITTER_LIMIT_NS:
        why.append(f"release jitter p99 {jitter / MS:.0f} ms is over {JITTER_LIMIT_NS / MS:.0f} ms")
    if lag is not None and lag > LAG_LIMIT_NS:
        why.append(f"event loop lag p99 {lag / MS:.0f} ms is over {LAG_LIMIT_NS / MS:.0f} ms")
    share = None if paced or not wall_ns else round(max(0.0, 1 - agent_ns / wall_ns), 4)
    clean = reproducible and not guarded
    return Audit(wall_ns, agent_ns, jitter, lag, share, overruns, guarded, moved, clean, tuple(why))


def invalid_by(late_p99_ms: float | None, lag_p99_ns: int | None = None) -> list[str]:
    """What of a live run is past the limits while it goes on: if it ended now, it would be marked INVALID.

    Args:
        late_p99_ms: of how late the screen was looked at.
        lag_p99_ns: of how late the event loop woke.

    >>> invalid_by(206.0, 20 * MS)
    ['looks late p99 206 ms, limit 50 ms']
    """
    found = []
    if late_p99_ms is not None and late_p99_ms > JITTER_LIMIT_NS / MS:
        found.append(f"looks late p99 {late_p99_ms:.0f} ms, limit {JITTER_LIMIT_NS // MS} ms")
    if lag_p99_ns is not None and lag_p99_ns > LAG_LIMIT_NS:
        found.append(f"loop lag p99 {lag_p99_ns / MS:.0f} ms, limit {LAG_LIMIT_NS // MS} ms")
    return found


def percentile(values: Sequence[int], q: int) -> int:
    """The smallest value that at least ``q`` percent do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -(-q * len(ordered) // 100) - 1)]


async def probe_lag(lags_ns: list[int]) -> None:
    """For ever, note every 50 ms how late the loop wakes."""
    while True:
        due = real_ns() + _PROBE_NS
        await pause(_PROBE_NS)
        lags_ns.append(max(0, real_ns() - due))
