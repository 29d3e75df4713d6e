"""Early risk detection error: what a decision costs, the more the later it comes, with ``o`` the grace period.

``ERDE_o``: c_fp for a false positive, c_fn = 1 for a miss, ``(1 - 1/(1 + e^(k - o))) c_tp``, c_tp = 1, for a decision
after k items, 0 for a true negative; the mean over cases. c_fp is the share of positive cases, as in eRisk (Losada and
Crestani 2016; eRisk overviews 2017 and later). What a case is here: ``scorers.compat.cases``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from scorers.base import Context, Metric, Score, Unit, scorers
from scorers.compat.cases import Cases, cases_of, checked_counts, definition
from scorers.compat.twice import ENDS, FiguresOnly, put_pooled, twice
from scorers.figures import Sheet
from scorers.pooling import Floats, Pooled, Sums, over
from simulator.core.errors import UsageError

__all__ = ["GRACES", "Erde", "late"]

GRACES = (5, 50)


def late(k: int, o: int) -> float:
    """``1 - 1/(1 + e^(k - o))``, whatever the size of k.

    >>> [round(late(k, 5), 3) for k in (4, 5, 6, 10)], late(10**6, 5)
    ([0.269, 0.5, 0.731, 0.993], 1.0)
    """
    if k >= o:
        return 1 / (1 + math.exp(o - k))
    return math.exp(k - o) / (1 + math.exp(k - o))


@scorers.register("erde")
class Erde(FiguresOnly):
    """ERDE_5 and ERDE_50, at arrival and at capture.

    Args:
        counts: what k counts: ``decisions`` of the session, or ``snapshots`` of the stream. An agent that is slow
            decides seldom, so k of its decisions stays small; its snapshots do not.
        c_fp: cost of a false alarm; 0, the default, takes the share of positive cases.
    """

    protocols = ("stream",)
    needs_truth = True

    def __init__(self, counts: str = "decisions", c_fp: float = 0.0) -> None:
        if not 0 <= c_fp <= 1:
            raise UsageError("erde: c_fp must lie from 0 to 1 (0: the share of positive cases)")
        self.counts, self.c_fp = checked_counts(counts), c_fp
        cost = f"{c_fp:g}" if c_fp else "the share of positive cases"
        said = f"c_fp = {cost}, c_fn = 1; {definition(self.counts)}"
        self.metrics = twice(
            Metric(
                f"erde@{o}",
                f"mean over cases of: 1 - 1/(1 + e^(k - {o})) for a positive case that was decided, c_fn for one that "
                f"was not, c_fp for a negative one that was, else 0; {said}",
                "0-1",
                "0-1",
                "down",
            )
            for o in GRACES
        )

    def tally(self, unit: Unit, context: Context) -> dict[str, Cases]:
        """The session's cases, by ending."""
        return cases_of(unit.log, unit.truth, context.gate, self.counts)

    def pooled(self, tallies: Sequence[Mapping[str, Cases]]) -> list[Pooled]:
        """See ``scorers.pooling.Pools``."""
        names = ("positive", "negative", "alarms", *(f"cost_{o}" for o in GRACES))
        found = []
        for end in ENDS:
            parts = [(c.positive, c.negative, c.alarms, *map(c_cost(c), GRACES)) for c in (t[end] for t in tallies)]
            table = Sums(f"erde{end}", names, parts)
            found += [table.metric(f"erde@{o}{end}", self._formula(f"cost_{o}")) for o in GRACES]
        return found

    def _formula(self, cost: str) -> Any:
        def mean(sums: Mapping[str, Floats]) -> Floats:
            cases = sums["positive"] + sums["negative"]
            share = self.c_fp or over(sums["positive"], cases)
            some = over(cases, sums["positive"] != 0)  # without positive cases every answer is free, and none is shown
            return over(sums[cost] + share * sums["alarms"], some)

        return mean

    def figures(self, tallies: Sequence[Mapping[str, Cases]]) -> list[Score]:
        """Costs over cases, all sessions together."""
        sheet = Sheet(self.metrics)
        n = sum(t[""].positive + t[""].negative for t in tallies)
        for end in ENDS:
            listed = [p for p in self.pooled(tallies) if p.table == f"erde{end}"]
            told = {
                "positive": sum(t[end].positive for t in tallies),
                "negative": sum(t[end].negative for t in tallies),
                "decided": sum(len(t[end].delays) for t in tallies),
                "alarms": sum(t[end].alarms for t in tallies),
                "outside": sum(t[end].outside for t in tallies),
            }
            put_pooled(sheet, listed, {p.metric: n for p in listed}, "no opportunities", told)
        return sheet.scores()


def c_cost(cases: Cases) -> Any:
    """Of the positive cases of a session, by grace period."""
    missed = cases.positive - len(cases.delays)
    return lambda o: math.fsum([missed, *(late(k, o) for k in cases.delays)])
