"""What the records of a run log report of models, summed: tokens, images, money, first tokens.

A reader gathers it batch by batch, while the records are at hand: going through a million of them again takes seconds.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

__all__ = ["KINDS", "Reported"]

KINDS = ("in", "out", "reasoning", "cached", "images")
"""What a record may count: kinds of tokens, and images."""
_counts = itemgetter(*KINDS)


@dataclass(slots=True)
class Reported:
    """Sums over records.

    Attributes:
        counts: by kind, summed; ``reports`` decisions counted any.
        costs: each that is known; ``unpriced`` decisions used a model without a known price.
        first_token_ns: by seq, where reported.
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    reports: int = 0
    costs: array[float] = field(default_factory=lambda: array("d"))
    unpriced: int = 0
    first_token_ns: dict[int, int] = field(default_factory=dict)

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Take in the records of decisions."""
        told = [r for r in records if "tokens" in r or "cost" in r or "first_token_ns" in r]
        if not told:
            return
        used = [tokens for r in told if (tokens := r.get("tokens"))]
        self.reports += len(used)
        for kind, n in zip(KINDS, _summed(used), strict=True):
            self.counts[kind] += n
        costs = [r.get("cost") for r in told]
        known = [float(cost) for cost in costs if cost is not None]
        self.costs.extend(known)
        if len(known) < len(costs):
            self.unpriced += sum(r.get("cost") is None and bool(r.get("tokens")) for r in told)
        self.first_token_ns.update((r["seq"], int(at)) for r in told if (at := r.get("first_token_ns")) is not None)


def _summed(used: list[Mapping[str, Any]]) -> list[int]:
    """The counts by kind; in one pass where each record has all of them, as proact writes them."""
    try:
        found = [sum(column) for column in zip(*map(_counts, used), strict=True)] or [0] * len(KINDS)
        if all(type(n) is int for n in found):
            return found
    except (KeyError, TypeError):
        pass
    return [sum(int(tokens.get(kind) or 0) for tokens in used) for kind in KINDS]
