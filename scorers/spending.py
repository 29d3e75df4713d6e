"""What a run used of models: tokens, images, money."""

from __future__ import annotations

import math

from simulator.runs.records import RunLog

__all__ = ["NO_USAGE", "TOKENS", "spent", "usage"]

TOKENS = ("in", "out", "reasoning", "cached")
"""Kinds of tokens that a record may count."""
NO_USAGE = "unknown: no usage was reported"


def usage(log: RunLog) -> dict[str, int]:
    """Tokens and images reported, summed; ``reports`` counts the decisions that reported any."""
    told = log.reported()
    return {**told.counts, "reports": told.reports}


def spent(log: RunLog) -> tuple[float | None, str | None]:
    """Money spent, or why it is unknown; unknown is never 0."""
    told = log.reported()
    if told.unpriced:
        return None, f"unknown: {told.unpriced} decisions used a model without a known price"
    if not told.costs:
        return None, NO_USAGE
    return math.fsum(told.costs), None
