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
    total = dict.fromkeys([*TOKENS, "images", "reports"], 0)
    for record in log.full.values():
        tokens = record.get("tokens")
        if tokens:
            total["reports"] += 1
            for kind in (*TOKENS, "images"):
                total[kind] += int(tokens.get(kind) or 0)
    return total


def spent(log: RunLog) -> tuple[float | None, str | None]:
    """Money spent, or why it is unknown; unknown is never 0."""
    costs = [(r.get("cost"), bool(r.get("tokens"))) for _, r in sorted(log.full.items())]
    priced = [float(c) for c, _ in costs if c is not None]
    unpriced = sum(c is None and used for c, used in costs)
    if unpriced:
        return None, f"unknown: {unpriced} decisions used a model without a known price"
    if not priced:
        return None, NO_USAGE
    return math.fsum(priced), None
