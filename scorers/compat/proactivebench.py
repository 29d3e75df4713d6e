"""ProactiveBench's figures: was a proposal, or its absence, accepted by the user (or by whoever judges for them)?

Proposed and accepted is TP, proposed and rejected FP, nothing proposed and that accepted TN, nothing proposed and
that rejected FN. ``False-Alarm`` there is FP / (TP + FP), one minus precision, and not FP / (FP + TN). Source: Lu et
al. 2024 (arXiv 2410.12361); thunlp/ProactiveAgent at 8638361, ``eval/calculate_agent_performance.py``.

``Counts`` is the arithmetic. The scorer judges the sampled moments of protocol ``moments`` instead of a reward model:
an offer of the true intention at a positive moment is accepted, any other offer is rejected; silence is accepted at a
negative moment and rejected at a positive one. Answers that failed or could not be read are wrong: FN at a positive
moment, FP at a negative one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from scorers.assistance import Answer, pair
from scorers.base import Context, Metric, Score, Unit, scorers
from scorers.compat.twice import FiguresOnly, put_pooled
from scorers.figures import Ratio, Sheet, ratio
from scorers.pooling import Floats, Pooled, Sums, over

__all__ = ["Counts", "ProactiveBench", "judged"]


@dataclass(frozen=True, slots=True)
class Counts:
    """Judged answers.

    >>> seen = Counts.of([(True, True), (True, False), (False, True), (False, False), (True, True)])
    >>> seen, seen.precision.value == 2 / 3, seen.f1.value == 2 / 3
    (Counts(tp=2, fp=1, tn=1, fn=1), True, True)
    """

    tp: int = 0
    fp: int = 0
    tn: int = 0
    fn: int = 0

    @classmethod
    def of(cls, answers: Iterable[tuple[bool, bool]]) -> Counts:
        """Count ``(proposed, accepted)``."""
        listed = list(answers)
        return cls(*(listed.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.tn + other.tn, self.fn + other.fn)

    @property
    def n(self) -> int:
        """Answers in all."""
        return self.tp + self.fp + self.tn + self.fn

    @property
    def recall(self) -> Ratio:
        """TP / (TP + FN)."""
        return ratio(self.tp, self.tp + self.fn, "accepted proposals or rejected silences")

    @property
    def precision(self) -> Ratio:
        """TP / (TP + FP)."""
        return ratio(self.tp, self.tp + self.fp, "proposals")

    @property
    def accuracy(self) -> Ratio:
        """(TP + TN) / all."""
        return ratio(self.tp + self.tn, self.n, "answers")

    @property
    def false_alarm(self) -> Ratio:
        """FP / (TP + FP): one minus precision."""
        return ratio(self.fp, self.tp + self.fp, "proposals")

    @property
    def f1(self) -> Ratio:
        """2 TP / (2 TP + FP + FN): of precision and recall."""
        return ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn, "proposals or rejected silences", self.n)


_FORMULAS: Mapping[str, tuple[str, str]] = {
    "recall": ("TP / (TP + FN)", "up"),
    "precision": ("TP / (TP + FP)", "up"),
    "accuracy": ("(TP + TN) / moments", "up"),
    "false_alarm": ("FP / (TP + FP) = 1 - precision", "down"),
    "F1": ("2 TP / (2 TP + FP + FN)", "up"),
}
_RULE = (
    "TP: an offer of the true intention at a positive moment; FP: any other offer, and a failed or unreadable answer "
    "at a negative moment; TN: silence at a negative one; FN: silence, a failed or an unreadable answer at a positive "
    "one"
)


def judged(answer: Answer) -> Counts:
    """One answered moment as a count.

    A wrong offer at a positive moment is one FP and no FN, as there: a rejected proposal is not also a missed need.
    """
    if answer.kind == "yes":
        return Counts(tp=1) if answer.moment.positive and answer.right else Counts(fp=1)
    if answer.moment.positive:
        return Counts(fn=1)
    return Counts(tn=1) if answer.kind == "no" else Counts(fp=1)


@scorers.register("proactivebench")
class ProactiveBench(FiguresOnly):
    """ProactiveBench's five figures over moments, judged by the truth."""

    protocols = ("moments",)
    needs_truth = True
    metrics = tuple(
        Metric(f"proactivebench@{name}", f"{formula}; {_RULE}", "0-1", "0-1", direction, ("moments",))
        for name, (formula, direction) in _FORMULAS.items()
    )

    def tally(self, unit: Unit, context: Context) -> tuple[Counts, int]:
        """Judge one session's answers; and how many moments an interrupted run never asked."""
        answers, not_asked = pair(unit.log, unit.truth)
        return sum((judged(a) for a in answers), Counts()), not_asked

    def pooled(self, tallies: Sequence[tuple[Counts, int]]) -> list[Pooled]:
        """See ``scorers.pooling.Pools``."""
        table = Sums("proactivebench", ("tp", "fp", "tn", "fn"), [astuple(counts) for counts, _ in tallies])
        return [table.metric(f"proactivebench@{name}", formula) for name, formula in _OVER_SUMS.items()]

    def figures(self, tallies: Sequence[tuple[Counts, int]]) -> list[Score]:
        """Pool counts over sessions."""
        sheet = Sheet(self.metrics)
        total = sum((counts for counts, _ in tallies), Counts())
        told = {"counts": dict(zip(("tp", "fp", "tn", "fn"), astuple(total), strict=True)),
                "not_asked": sum(n for _, n in tallies)}  # fmt: skip
        for one in self.pooled(tallies):
            figure: Ratio = getattr(total, one.metric.partition("@")[2].lower())
            put_pooled(sheet, [one], {one.metric: figure.n}, figure.reason or "no moments", told)
        return sheet.scores()


_OVER_SUMS: Mapping[str, Any] = {
    "recall": lambda s: over(s["tp"], s["tp"] + s["fn"]),
    "precision": lambda s: over(s["tp"], s["tp"] + s["fp"]),
    "accuracy": lambda s: over(s["tp"] + s["tn"], _all(s)),
    "false_alarm": lambda s: over(s["fp"], s["tp"] + s["fp"]),
    "F1": lambda s: over(2 * s["tp"], 2 * s["tp"] + s["fp"] + s["fn"]),
}


def _all(sums: Mapping[str, Floats]) -> Floats:
    return sums["tp"] + sums["fp"] + sums["tn"] + sums["fn"]
