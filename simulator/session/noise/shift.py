"""How times move when rows are put in between: everything from the place on moves by the length of what came in.

The map grows strictly, so order is kept and taking the same rows out again gives every time back to the nanosecond.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import accumulate

from simulator.core.types import MS

__all__ = ["Shift"]


class Shift:
    """A map of times (or ticks) to later ones.

    Args:
        points: pairs ``(at, by)``: from ``at`` on, everything moves by ``by`` more.
    """

    def __init__(self, points: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(points)
        self._at = [at for at, _ in ordered]
        self._by = [0, *accumulate(by for _, by in ordered)]

    def by(self, t: int) -> int:
        """How far ``t`` moves."""
        return self._by[bisect_right(self._at, t)]

    def __call__(self, t: int) -> int:
        """Where ``t`` comes to lie."""
        return t + self.by(t)

    def before(self, t: int) -> int:
        """How far what lies just before ``t`` moves."""
        return self.by(t - 1)

    def text(self, said: str | None, t: int) -> str | None:
        """An ISO time that belongs to the instant ``t`` (ns), moved as far; one that cannot be read stays."""
        by = self.by(t)
        if said is None or by == 0:
            return said
        try:
            moved = datetime.fromisoformat(said) + timedelta(microseconds=by // 1000)
        except (ValueError, OverflowError):
            return said
        out = moved.isoformat(timespec="microseconds")
        return out.replace("+00:00", "Z") if said.endswith("Z") else out

    def wall_ms(self, said: int | None, t: int) -> int | None:
        """A wall time in milliseconds that belongs to the instant ``t`` (ns), moved as far."""
        return None if said is None else said + self.by(t) // MS
