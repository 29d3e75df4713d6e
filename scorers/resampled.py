"""The intervals of a run's figures, and what each session adds to them, for ``scores.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scorers.foreign import blamed
from scorers.pooling import Parts, Pooled, Pools
from scorers.statistics.clusters import Clusters
from scorers.statistics.interval import Interval, intervals

__all__ = ["cluster_of", "enter", "pooled_of"]

_NOT_SUMS = "not a function of sums over sessions"


def cluster_of(key: str, header: Mapping[str, Any]) -> tuple[str, str, str]:
    """Person, recording and name of a unit by its log's header, for ``Clusters.group``. Logs of earlier versions do not
    name the recording: there it is the data set, so that profiles of one scenario are one, but versions of it are not.
    """
    person = header.get("person") or header.get("user", "")
    return str(person), str(header.get("recording") or header.get("dataset", key)), key


def pooled_of(scorer: Any, tallies: Sequence[Any]) -> list[Pooled]:
    """The scorer's metrics that can be resampled; none of a scorer that does not say.

    Raises:
        UsageError: a scorer of somebody else's fails at it.
    """
    if not isinstance(scorer, Pools):
        return []
    with blamed(scorer, "pooled()"):
        return scorer.pooled(tallies)


def enter(scorer: Any, tallies: Sequence[Any], clusters: Clusters, details: Mapping[str, dict[str, Any]],
          parts: Sequence[dict[str, Parts]]) -> None:  # fmt: skip
    """Enter intervals into the details of a scorer's metrics, and parts into those of its units.

    Args:
        scorer: whose metrics.
        tallies: its tallies, one a unit.
        clusters: of the units.
        details: of these metrics, by name, as ``scores.json`` will have them; each figure gets an ``interval``, or
            ``no_interval`` with the reason.
        parts: of each unit, by table.
    """
    pooled = [m for m in pooled_of(scorer, tallies) if m.metric in details]
    given = [m for m in pooled if details[m.metric]["value"] is not None]
    found = intervals(given, clusters) if given else {}
    why: Mapping[str, str] = getattr(scorer, "not_pooled", {})
    for metric, told in details.items():
        if told["value"] is None:
            continue
        interval = found.get(metric, why.get(metric, _NOT_SUMS))
        if isinstance(interval, Interval):
            told["interval"] = interval.holding(told["value"]).told()
        else:
            told["no_interval"] = interval
    for m in pooled:
        if parts and m.table not in parts[0]:
            for told_parts, row in zip(parts, m.parts(), strict=True):
                told_parts[m.table] = row
