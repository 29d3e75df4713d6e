"""When a made-up user is at work: days and spans of the day, and from time at work to time on the wall."""

from __future__ import annotations

import numpy as np

from simulator.core.rng import block_unit, unit
from simulator.workload.exact import Ints
from simulator.workload.recipe import Week

__all__ = ["DAY_S", "Hours"]

DAY_S = 86_400


class Hours:
    """The hours of one user, made as far as they are asked for.

    Args:
        week: what the recipe says.
        seed: of all draws.
        name: of the user; each day is drawn under the name and its number.
    """

    def __init__(self, week: Week, seed: int, name: str) -> None:
        self._seed, self._name = seed, name
        self._chances, self._spread_s = week.days, week.spread_s
        self._usual = np.array(week.spans_s, dtype=np.int64)
        self._n_days = 0
        self._starts: Ints = np.zeros(0, dtype=np.int64)  # of spans, in seconds of work
        self._walls: Ints = np.zeros(0, dtype=np.int64)  # of spans, in seconds since the first day's midnight
        self._worked_s = 0

    def works(self, day: int) -> bool:
        """Whether the user works on that day (0 is a Monday)."""
        return unit(self._seed, self._name, "works", day) < self._chances[day % 7]

    def wall(self, work_s: Ints) -> Ints:
        """Seconds since the first day's midnight for seconds of work."""
        if len(work_s):
            self._reach(int(work_s.max()))
        i = np.searchsorted(self._starts, work_s, side="right") - 1
        return np.asarray(self._walls[i] + work_s - self._starts[i])

    def forget_before(self, work_s: int) -> None:
        """Let go of spans that end before an instant of work: years of them need no room."""
        keep = max(int(np.searchsorted(self._starts, work_s, side="right")) - 1, 0)
        self._starts, self._walls = self._starts[keep:], self._walls[keep:]

    def _reach(self, work_s: int) -> None:
        starts, walls = [self._starts], [self._walls]
        while self._worked_s <= work_s:
            if self.works(self._n_days):
                spans = self._spans(self._n_days)
                lengths = spans[:, 1] - spans[:, 0]
                starts.append(self._worked_s + np.cumsum(lengths) - lengths)
                walls.append(self._n_days * DAY_S + spans[:, 0])
                self._worked_s += int(lengths.sum())
            self._n_days += 1
        self._starts, self._walls = np.concatenate(starts), np.concatenate(walls)

    def _spans(self, day: int) -> Ints:
        """Spans of a day, each end moved by up to the spread, alike for a span's end and the next one's start."""
        drawn = block_unit(self._usual.size, self._seed, self._name, "hours", day).reshape(self._usual.shape)
        moved = self._usual + np.floor((2.0 * drawn - 1.0) * self._spread_s).astype(np.int64)
        return np.asarray(moved)
