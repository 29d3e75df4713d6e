"""A scorer: in how many needs anything was offered, and how long the user waited for the first offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scorers.base import Context, Metric, Score, Unit
from scorers.pooling import Pooled, ratio_of
from simulator.core.types import SECOND
from simulator.runs.gate import surface

HEARD = Metric("heard", "needs in whose window an offer surfaced / needs; any content", "0-1", "0-1", "up")
WAIT = Metric("heard_wait_s", "mean over those needs: arrival of the first such offer - opening", "s", ">= 0", "down")


@dataclass(frozen=True, slots=True)
class Counted:
    """What one session adds."""

    needs: int
    heard: int
    waited_s: float


class Heard:
    """Whether help was offered while it was needed, whatever it said."""

    protocols = ("stream",)
    needs_truth = True
    metrics = (HEARD, WAIT)

    def tally(self, unit: Unit, context: Context) -> Counted:
        """Count one session."""
        arrivals = [offer.actionable_ns for offer in surface(unit.log, unit.truth, context.gate)]
        waits = []
        for need in unit.truth.servable:
            inside = [t - need.opens_ns for t in arrivals if need.opens_ns <= t < need.closes_ns]
            if inside:
                waits.append(min(inside))
        return Counted(len(unit.truth.servable), len(waits), sum(waits) / SECOND)

    def figures(self, tallies: Sequence[Counted]) -> list[Score]:
        """Of all these sessions together: sums first, then the quotient."""
        needs, heard = sum(t.needs for t in tallies), sum(t.heard for t in tallies)
        return [
            Score(HEARD, heard / needs, needs) if needs else Score(HEARD, None, 0, "no needs"),
            Score(WAIT, sum(t.waited_s for t in tallies) / heard, heard)
            if heard
            else Score(WAIT, None, 0, "no need in whose window an offer surfaced"),
        ]

    def explain(self, tally: Counted) -> Mapping[str, Any]:
        """What scores.json says of the session besides its figures."""
        return {"heard": f"{tally.heard} of {tally.needs}"}

    def reference(self, tallies: Sequence[Counted]) -> Mapping[str, Any]:
        """No rows to compare with."""
        return {}

    def pooled(self, tallies: Sequence[Counted]) -> list[Pooled]:
        """The same figures as quotients of sums: so they have intervals, and runs can be compared by them."""
        return [
            ratio_of("heard", [(t.heard, t.needs) for t in tallies]),
            ratio_of("heard_wait_s", [(t.waited_s, t.heard) for t in tallies]),
        ]
