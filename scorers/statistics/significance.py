"""Tests: Holm over a table, McNemar over items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["McNemar", "holm", "mcnemar"]


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjustment: with the adjusted values at 5 %, the chance of any false finding in the whole table
    is at most 5 %, whatever the figures have to do with each other (Holm 1979).

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    ordered = sorted(p_values, key=lambda name: (p_values[name], name))
    adjusted, highest = {}, 0.0
    for rank, name in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - rank) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


@dataclass(frozen=True, slots=True)
class McNemar:
    """Items that one side alone got right, and the test's p. It takes items for independent: within a session they are
    not, so it finds differences too easily. Only to be shown beside the test by session.
    """

    only_first: int
    only_second: int
    statistic: float
    p: float


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """McNemar's test with continuity correction, ``(|b - c| - 1)^2 / (b + c)`` against chi-square of one degree.

    >>> round(mcnemar(10, 25).statistic, 3), round(mcnemar(10, 25).p, 4)
    (5.6, 0.018)
    """
    b, c = only_first, only_second
    statistic = max(0, abs(b - c) - 1) ** 2 / (b + c) if b + c else 0.0
    return McNemar(b, c, statistic, math.erfc(math.sqrt(statistic / 2)))
