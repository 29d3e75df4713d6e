"""F_latency: F1 times speed, one minus the median penalty of the decisions that were right.

``penalty(k) = -1 + 2 / (1 + e^(-p (k - 1)))``; p is chosen so that it is .5 at the median number of texts of a user;
.0078, eRisk's, makes it .5 at k = 142. Source: Sadeque, Xu and Bethard 2018 (WSDM), as eRisk uses it from 2019 on.
What a case is here: ``scorers.compat.cases``.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from scorers.base import Context, Metric, Score, Unit, scorers
from scorers.compat.cases import Cases, cases_of, checked_counts, definition
from scorers.compat.twice import ENDS, FiguresOnly, twice
from scorers.figures import Sheet
from simulator.core.errors import UsageError

__all__ = ["FLatency", "P", "penalty"]

P = 0.0078


def penalty(k: int, p: float = P) -> float:
    """0 at once, towards 1 with delay.

    >>> penalty(1), round(penalty(50), 2), round(penalty(200), 2)
    (0.0, 0.19, 0.65)
    """
    return math.tanh(p * (k - 1) / 2)  # the same function, without overflow


@scorers.register("f_latency")
class FLatency(FiguresOnly):
    """F_latency at arrival and at capture.

    Args:
        p: how fast the penalty grows with k.
        counts: what k counts, see ``erde``.
    """

    protocols = ("stream",)
    needs_truth = True
    not_pooled: Mapping[str, str] = dict.fromkeys(
        ("f_latency", "f_latency@seen"), "rests on a median: not a function of sums over sessions"
    )

    def __init__(self, p: float = P, counts: str = "decisions") -> None:
        if not p > 0:
            raise UsageError("f_latency: p must be a number above 0")
        self.p, self.counts = p, checked_counts(counts)
        formula = (
            f"F1 of cases x (1 - median over true positives of (-1 + 2/(1 + e^(-p (k - 1))))), p = {p:g}; "
            f"{definition(self.counts)}"
        )
        self.metrics = twice([Metric("f_latency", formula, "0-1", "0-1", "up")])

    def tally(self, unit: Unit, context: Context) -> dict[str, Cases]:
        """The session's cases, by ending."""
        return cases_of(unit.log, unit.truth, context.gate, self.counts)

    def figures(self, tallies: Sequence[Mapping[str, Cases]]) -> list[Score]:
        """Over the cases of all sessions together."""
        sheet = Sheet(self.metrics)
        for end in ENDS:
            self._put(sheet, f"f_latency{end}", [t[end] for t in tallies])
        return sheet.scores()

    def _put(self, sheet: Sheet, name: str, parts: Sequence[Cases]) -> None:
        delays = [k for c in parts for k in c.delays]
        positive, alarms = sum(c.positive for c in parts), sum(c.alarms for c in parts)
        if positive == 0:
            sheet.put(name, None, 0, "no opportunities")
            return
        f1 = 2 * len(delays) / (len(delays) + alarms + positive)
        median = statistics.median(penalty(k, self.p) for k in delays) if delays else 0.0
        told: dict[str, Any] = {"f1": f1, "median_penalty": median if delays else None, "alarms": alarms}
        told["outside"] = sum(c.outside for c in parts)
        sheet.put(name, f1 * (1 - median), positive, None, **told)
