"""What the scores of other benchmarks share: each figure at arrival and at capture, and figures out of sums."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scorers.base import Metric
from scorers.figures import Sheet
from scorers.offers import stamps
from scorers.pooling import Pooled
from simulator.runs.records import Ints, LoggedOffer

__all__ = ["ENDS", "SEEN", "FiguresOnly", "instants", "put_pooled", "twice"]

SEEN = "@seen"
ENDS = ("", SEEN)
"""Endings of names: at arrival, and at capture as if nothing had been charged."""


class FiguresOnly:
    """A scorer of which nothing is to be told beyond its figures."""

    def explain(self, tally: Any) -> Mapping[str, Any]:
        """See ``scorers.base.Scorer``."""
        return {}

    def reference(self, tallies: Sequence[Any]) -> Mapping[str, Any]:
        """See ``scorers.base.Scorer``."""
        return {}


def instants(offers: Sequence[LoggedOffer]) -> dict[str, Ints]:
    """When each offer counts, by ending."""
    arrived, captured = stamps(offers)
    return {"": arrived, SEEN: captured}


def twice(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Each metric at arrival and at capture, all of the first before all of the second."""
    listed = list(metrics)
    seen = "{}, of the same surfaced offers at their capture, as if nothing had been charged"
    return (
        *listed,
        *(replace(m, name=m.name + SEEN, formula=seen.format(m.name)) for m in listed),
    )


def put_pooled(
    sheet: Sheet, pooled: Sequence[Pooled], n: Mapping[str, int], reason: str, extra: Mapping[str, Any] | None = None
) -> None:
    """Enter figures from their sums.

    Args:
        sheet: where to.
        pooled: the metrics; their formula over all sessions is the figure.
        n: by metric, what it rests on.
        reason: why one has none.
        extra: what belongs to each.
    """
    for one in pooled:
        value = one.value
        if math.isnan(value):
            sheet.put(one.metric, None, 0, reason)
        else:
            sheet.put(one.metric, value, n[one.metric], **(extra or {}))
