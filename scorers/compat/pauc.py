"""PAUC of ProactiveVideoQA: how well answered a reply's window was over its time, the area under a step function.

The score starts at .5 of ``S_max`` (neither right nor wrong), and is from each reply on what the replies so far are
worth, 0 to ``S_max``. Replies are moved towards the opening by the factor ``1 - ω``, so that ω = 1 ignores time and
ω = 0 counts all of it; the area is divided by window times ``S_max``. Source: Wang et al. 2025 (arXiv 2507.09313),
``pauc/judge_llm_scores_openai.py`` of yellow-binary-tree/ProactiveVideoQA, as ported to VLMEvalKit (its judge there
gives 0-2; the paper's 1-5 are 0-4).

Only what falls into windows counts: alarms elsewhere cost nothing, so it is never to be read alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scorers.base import Context, Metric, Score, Unit, scorers
from scorers.compat.twice import ENDS, FiguresOnly, instants, put_pooled, twice
from scorers.figures import Sheet
from scorers.matching import content
from scorers.pooling import Pooled, ratio_of
from simulator.core.errors import InputError, UsageError
from simulator.runs.gate import surface

__all__ = ["OMEGA", "START", "S_MAX", "Pauc", "area"]

OMEGA = 0.5
S_MAX = 4.0
START = 0.5
"""The score before any reply."""


def area(
    replies: Sequence[tuple[float, float]],
    length: float,
    *,
    omega: float = OMEGA,
    s_max: float = S_MAX,
    start: float = START,
) -> float:
    """PAUC of one window.

    Args:
        replies: ``(delay, score)`` of each reply in the window: delay from its opening (0 to length, in the unit of
            ``length``), and what the replies up to this one are worth (0 to ``s_max``).
        length: of the window.
        omega: how little time counts, 0 to 1.
        s_max: the best score.
        start: the score before any reply.

    Raises:
        InputError: a window without a length, or a reply outside it or its scale.

    >>> [round(area(replies, 8), 4) for replies in ([], [(0, 4)], [(4, 4)], [(8, 4)], [(0, 0)])]
    [0.125, 1.0, 0.7812, 0.5625, 0.0]
    """
    if not length > 0:
        raise InputError("PAUC", "the window of a reply must be longer than 0", field="length", value=length)
    total, at, score = 0.0, 0.0, start
    for delay, then in sorted(replies, key=lambda reply: reply[0]):
        if not (0 <= delay <= length and 0 <= then <= s_max):
            raise InputError("PAUC", f"a reply lies in its window, with a score from 0 to {s_max:g}", field="reply",
                             value=(delay, then))  # fmt: skip
        x = delay * (1 - omega)
        total, at, score = total + (x - at) * score, x, then
    return (total + (length - at) * score) / (length * s_max)


@dataclass(frozen=True, slots=True)
class Areas:
    """One session: Σ area over windows, and how many there are."""

    total: float
    windows: int


@scorers.register("pauc")
class Pauc(FiguresOnly):
    """PAUC at arrival and at capture; right is what the matcher calls right.

    Args:
        matcher: ``category``, or ``embedding>=0.8``.
        omega: how little time counts, 0 to 1.
        s_max: the score of a right reply; a wrong one has 0.
    """

    protocols = ("stream",)
    needs_truth = True

    def __init__(self, matcher: str = "category", omega: float = OMEGA, s_max: float = S_MAX) -> None:
        if not (0 <= omega <= 1 and START < s_max < math.inf):
            raise UsageError(f"pauc: omega must lie from 0 to 1, and s_max above {START:g}")
        self.matcher, self.omega, self.s_max = matcher, omega, s_max
        formula = (
            "mean over windows of the area under the score / (length x S_max); the score is .5 until the first offer "
            f"in the window, then S_max from the first right one on ({matcher}) and 0 before; the time of an offer "
            f"from the opening is taken times 1 - omega; omega = {omega:g}, S_max = {s_max:g}"
        )
        self.metrics = twice([Metric("pauc", formula, "0-1", "0-1", "up")])

    def tally(self, unit: Unit, context: Context) -> dict[str, Areas]:
        """The areas of one session's windows, by ending."""
        offers = surface(unit.log, unit.truth, context.gate)
        needs = unit.truth.servable
        right = content(self.matcher, context.embedder).right(offers, needs)
        found = {}
        for end, at in instants(offers).items():
            order = np.argsort(at, kind="stable")
            times = at[order]
            areas = []
            for i, need in enumerate(needs):
                low, high = np.searchsorted(times, [need.opens_ns, need.closes_ns])
                worth = np.maximum.accumulate(right(i, order[low:high])) * self.s_max
                delays = times[low:high] - need.opens_ns
                replies = list(zip(delays.tolist(), worth.tolist(), strict=True))
                areas.append(area(replies, need.closes_ns - need.opens_ns, omega=self.omega, s_max=self.s_max))
            found[end] = Areas(math.fsum(areas), len(areas))
        return found

    def pooled(self, tallies: Sequence[Mapping[str, Areas]]) -> list[Pooled]:
        """See ``scorers.pooling.Pools``."""
        return [ratio_of(f"pauc{end}", [(t[end].total, t[end].windows) for t in tallies]) for end in ENDS]

    def figures(self, tallies: Sequence[Mapping[str, Areas]]) -> list[Score]:
        """The mean over the windows of all sessions, beside what silence gets."""
        sheet = Sheet(self.metrics)
        n = sum(t[""].windows for t in tallies)
        listed = self.pooled(tallies)
        told = {"silent": START / self.s_max, "matcher": self.matcher}
        put_pooled(sheet, listed, {p.metric: n for p in listed}, "no opportunities", told)
        return sheet.scores()

    def reference(self, tallies: Sequence[Mapping[str, Areas]]) -> Mapping[str, Any]:
        """What silence gets, which is not 0, and the most that can be had."""
        return {"silent": {"pauc": START / self.s_max}, "at once": {"pauc": 1.0}}
