"""When figures are those of no agent: half or more of the decisions that should have said something failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scorers.serving import USAGE_COLUMNS

__all__ = ["answered", "failed", "mostly_failed", "reports_of"]

_USAGE, _REPORTS = "usage", USAGE_COLUMNS.index("reports")


def failed(counts: Mapping[str, int]) -> int:
    """Decisions that failed or could not be read, by the counts of ``scores.json``."""
    return counts.get("error", 0) + counts.get("unparsed", 0)


def answered(counts: Mapping[str, int], reports: int, *, seldom: bool = False) -> int:
    """Decisions that should have said something and did, if only that nothing is to be said.

    An agent that asks a model once a session is silent at all other snapshots without asking: such silences are not
    held against failures. Those that tell their tokens, and offers, are known to have asked.

    Args:
        counts: of ``scores.json``.
        reports: decisions that are known to have asked: they told what they used of a model.
        seldom: the agent asks at few of its decisions, whether any is known to have asked or not.
    """
    whole = counts.get("decisions", 0) - failed(counts)
    if reports or seldom:
        return min(whole, max(counts.get("offer", 0), reports - counts.get("unparsed", 0)))
    return whole


def mostly_failed(counts: Mapping[str, int], reports: int, *, seldom: bool = False) -> bool:
    """Whether half or more of the decisions that should have said something failed or could not be read; the arguments
    are those of ``answered``.

    >>> mostly_failed({"decisions": 9, "error": 4}, 0), mostly_failed({"decisions": 8, "error": 3, "unparsed": 1}, 0)
    (False, True)
    """
    return 0 < failed(counts) >= answered(counts, reports, seldom=seldom)


def reports_of(scores: Mapping[str, Any]) -> int:
    """Decisions of a run that told what they used of a model, by its ``scores.json``."""
    parts = [unit.get("parts", {}).get(_USAGE) for unit in scores["units"].values()]
    return sum(int(one[_REPORTS]) for one in parts if one)
