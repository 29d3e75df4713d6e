"""What a run used of models: tokens, images, money."""

from __future__ import annotations

import math
from operator import itemgetter

from simulator.runs.records import RunLog

__all__ = ["NO_USAGE", "TOKENS", "spent", "usage"]

TOKENS = ("in", "out", "reasoning", "cached")
"""Kinds of tokens that a record may count."""
NO_USAGE = "unknown: no usage was reported"


def usage(log: RunLog) -> dict[str, int]:
    """Tokens and images reported, summed; ``reports`` counts the decisions that reported any."""
    reports = [tokens for record in log.full.values() if (tokens := record.get("tokens"))]
    kinds = (*TOKENS, "images")
    try:
        rows = list(map(itemgetter(*kinds), reports))  # all kinds are there, as proact writes them: one pass
        counted = [sum(column) for column in zip(*rows, strict=True)] or [0] * len(kinds)
        if not all(type(n) is int for n in counted):
            raise TypeError
    except (KeyError, TypeError):
        counted = [sum(int(tokens.get(kind) or 0) for tokens in reports) for kind in kinds]
    return {**dict(zip(kinds, counted, strict=True)), "reports": len(reports)}


def spent(log: RunLog) -> tuple[float | None, str | None]:
    """Money spent, or why it is unknown; unknown is never 0."""
    costs = [record.get("cost") for record in log.full.values()]
    priced = [float(cost) for cost in costs if cost is not None]
    unpriced = 0
    if len(priced) < len(costs):
        unpriced = sum(record.get("cost") is None and bool(record.get("tokens")) for record in log.full.values())
    if unpriced:
        return None, f"unknown: {unpriced} decisions used a model without a known price"
    if not priced:
        return None, NO_USAGE
    return math.fsum(priced), None
