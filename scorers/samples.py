"""PIRA-Bench's score over samples of predicted against true sets; the real-time score S_rt shares it.

Positive samples (something true): precision, recall and F1 each, then the plain mean over samples: F1_avg is not the
harmonic mean of the averages (published: P 31.95, R 83.37, F1_avg 40.75). Negative samples (nothing true): FPS is the
mean number predicted. ``S = F1_avg / (1 + ln(1 + FPS))``. Source: PIRA-Bench, arXiv 2603.08013.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scorers.figures import Ratio
from scorers.pooling import Floats, over

__all__ = ["SUMS", "Sample", "SetScore", "false_positive_norm", "set_score", "set_score_of", "sums"]


@dataclass(frozen=True, slots=True)
class Sample:
    """How many were predicted, how many were true, how many of them matched one to one."""

    predicted: int
    true: int
    matched: int


@dataclass(frozen=True, slots=True)
class SetScore:
    """The published figures; all but ``false_positives`` in 0-1."""

    precision: Ratio
    recall: Ratio
    f1: Ratio
    false_positives: Ratio
    norm: Ratio
    final: Ratio


def false_positive_norm(false_positives: float) -> float:
    """``1 / (1 + ln(1 + FPS))``.

    >>> round(false_positive_norm(7.97), 4), false_positive_norm(0)
    (0.3131, 1.0)
    """
    return 1 / (1 + math.log1p(false_positives))


def set_score(samples: Sequence[Sample]) -> SetScore:
    """All figures; None with a reason where there are no positive, or no negative, samples."""
    positive = [s for s in samples if s.true]
    negative = [s for s in samples if not s.true]
    precision = _mean([s.matched / s.predicted if s.predicted else 0.0 for s in positive], "positive samples")
    recall = _mean([s.matched / s.true for s in positive], "positive samples")
    f1 = _mean([2 * s.matched / (s.predicted + s.true) for s in positive], "positive samples")
    said = _mean([float(s.predicted) for s in negative], "negative samples")
    norm = said if said.value is None else Ratio(false_positive_norm(said.value), said.n)
    if f1.value is None or norm.value is None:
        final = Ratio(None, 0, f1.reason if f1.value is None else norm.reason)
    else:
        final = Ratio(f1.value * norm.value, len(samples))
    return SetScore(precision, recall, f1, said, norm, final)


def _mean(values: Sequence[float], of: str) -> Ratio:
    return Ratio(math.fsum(values) / len(values), len(values)) if values else Ratio(None, 0, f"no {of}")


SUMS = ("positive", "precision", "recall", "f1", "negative", "predicted")
"""What samples add up to: how many are positive, their precisions, recalls and F1s; how many are negative, and what was
predicted in them.
"""


def sums(samples: Sequence[Sample]) -> tuple[float, ...]:
    """What these samples add, in the order of ``SUMS``: all of ``set_score`` is a function of it."""
    positive = [s for s in samples if s.true]
    negative = [s.predicted for s in samples if not s.true]
    return (
        len(positive),
        math.fsum(s.matched / s.predicted if s.predicted else 0.0 for s in positive),
        math.fsum(s.matched / s.true for s in positive),
        math.fsum(2 * s.matched / (s.predicted + s.true) for s in positive),
        len(negative),
        sum(negative),
    )


def set_score_of(total: Mapping[str, Floats]) -> dict[str, Floats]:
    """The figures of ``SetScore`` from sums by name, NaN where there are none."""
    found = {name: over(total[name], total["positive"]) for name in ("precision", "recall", "f1")}
    said = over(total["predicted"], total["negative"])
    norm = 1 / (1 + np.log1p(np.maximum(said, 0)))
    return {**found, "false_positives": said, "norm": norm, "final": found["f1"] * norm}
