"""A choice of items that are typical of their cluster and different from one another (PersonaX, algorithm 2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from memory.embed import Floats

__all__ = ["SCORINGS", "allot", "pick", "typicality"]

SCORINGS = ("paper", "code")


def typicality(alpha: float) -> float:
    """``w_p = alpha ** -10``, literally and constant, as printed and as coded: .5584 at 1.06; ``w_d`` is the rest.

    Repeated products and not ``pow``: the same bits on every machine.
    """
    tenth = 1.0
    for _ in range(10):
        tenth = tenth * alpha
    return 1.0 / tenth


def pick(to_centre: Floats, apart: Callable[[int], Floats], n: int, alpha: float = 1.06,
         scoring: str = "paper") -> list[int]:  # fmt: skip
    """Pick n items greedily, each for how typical it is and how far from those picked before.

    A candidate c beside the s items picked so far scores ``w_p / (1 + ‖c - μ‖)`` and, for its distances to those,

    * ``paper`` (algorithm 2 of PersonaX): ``2 w_d / s`` times their sum;
    * ``code`` (what PersonaX runs): ``w_d / (s + 1)`` times the sum over all pairs of the set with c in it. The pairs
      without c are the same for every candidate, so they decide nothing and are left out.

    The sums grow by one distance a pick, so a pick costs as much as asking ``apart`` once. The first item is the one
    nearest to the centre; ties go to the earlier one.

    Args:
        to_centre: distance of each item to the mean of its cluster, shape (m,).
        apart: distances of one item, by its position, to all of them, shape (m,).
        n: how many to pick.
        alpha: balance; 1 is typicality only.
        scoring: ``paper`` or ``code``.

    Returns:
        Positions in order of picking.
    """
    w_p = typicality(alpha)
    typical = w_p / (1.0 + to_centre)
    spread = np.zeros_like(typical)
    free = np.ones(len(typical), dtype=np.bool_)
    picked: list[int] = []
    for s in range(min(n, len(typical))):
        share = 2.0 * (1.0 - w_p) / max(s, 1) if scoring == "paper" else (1.0 - w_p) / (s + 1)
        choice = int(np.where(free, typical + share * spread, -np.inf).argmax())
        picked.append(choice)
        free[choice] = False
        spread += apart(choice)
    return picked


def allot(sizes: Sequence[int], ratio: float, most: int) -> list[int]:
    """How many items each cluster may show: the PersonaX budget, small clusters first, then a limit for each.

    Of ``ceil(ratio x all items)`` each cluster in ascending size gets an even part of what remains, at most its size;
    what is left goes to the largest. ``most`` then limits each: .6 of a month's events would be thousands.
    """
    left = math.ceil(ratio * sum(sizes))
    given = [0] * len(sizes)
    order = sorted(range(len(sizes)), key=lambda i: sizes[i])
    for place, i in enumerate(order):
        given[i] = min(sizes[i], left // (len(sizes) - place))
        left -= given[i]
    if order:
        given[order[-1]] = min(sizes[order[-1]], given[order[-1]] + left)
    return [min(max(g, 1), most) for g in given]
