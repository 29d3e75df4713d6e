"""The events of one made-up user, in order of time, as far as anybody asks for them: any length in little room.

A stretch of work lies between two questions to the assistant: the question, some events, for longer stretches a time
away, and at its end the event in which the next need arises. Stretches are drawn by the thousand, and everything that
is drawn is named by the user and the number of the block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from simulator.core.rng import block_unit
from simulator.workload.calibration import FOLLOW_UP_S, Calibration, events_between, gaps_s, lengths_s
from simulator.workload.exact import Floats, Ints, pick, quantiles, summed
from simulator.workload.habits import Habits, habits
from simulator.workload.hours import DAY_S, Hours
from simulator.workload.recipe import LEAST_S, Recipe

__all__ = ["Counts", "Made", "Person"]

_STRETCHES = 2048
NOON_S = DAY_S // 2
NO = -1


class Made(NamedTuple):
    """One event. ``[start_s, end_s)`` since the first day's midnight.

    ``cell`` is what is in front; for work with an assistant (`assistance`) what is asked about. ``draw`` picks a title.
    ``need``: whether a need arises in it; ``intention`` and ``question`` are numbers of what is asked then, or -1.
    """

    start_s: int
    end_s: int
    cell: int
    draw: int
    assistance: bool
    need: bool
    intention: int
    question: int


@dataclass(slots=True)
class Counts:
    """What came out, of what has been made so far."""

    n_events: int = 0
    n_assistance: int = 0
    n_needs: int = 0
    n_afternoon: int = 0  # of the needs
    intentions: list[int] = field(default_factory=list)  # of the needs, by intention

    @property
    def need_rate(self) -> float:
        """Share of events without an assistant in which a need arose."""
        return self.n_needs / max(self.n_events - self.n_assistance, 1)

    @property
    def afternoon(self) -> float:
        """Share of the needs after noon."""
        return self.n_afternoon / max(self.n_needs, 1)


@dataclass(slots=True)
class _Carried:
    """What one block hands on to the next."""

    worked_s: int = 0  # the last question, in time at work
    wall_s: int = 0  # and on the wall
    asked: bool = False  # whether there was one
    cell: int = 0
    intention: int = 0
    question: int = 0
    app: int = 0  # of the last event without an assistant


class Person:
    """One made-up user.

    Args:
        recipe, calibration: what to make.
        seed: of the data set.
        user: the name, under which everything is drawn.
        n_days: how many days.

    Attributes:
        habits: the tables.
        hours: when the user is at work.
        counts: of the events made so far.
    """

    def __init__(self, recipe: Recipe, calibration: Calibration, seed: int, user: str, n_days: int) -> None:
        self.recipe, self.calibration, self.seed, self.user, self.n_days = recipe, calibration, seed, user, n_days
        self.hours = Hours(recipe.week, seed, user)
        self.habits: Habits = habits(recipe, calibration.need_rate, seed, user)
        self.counts = Counts(intentions=[0] * len(self.habits.intentions))
        self._need, self._calm = summed(self.habits.need), summed(self.habits.calm)
        self._by_cell, self._by_previous = summed(self.habits.by_cell), summed(self.habits.by_previous)
        self._share = summed(self.habits.share)

    def events(self) -> Iterator[Made]:
        """All events that end within the days, in order; to be asked for once."""
        carried = _Carried(wall_s=int(self.hours.wall(np.zeros(1, dtype=np.int64))[0]))
        block = 0
        while carried.wall_s < self.n_days * DAY_S:
            for made in self._block(block, carried):
                if made.end_s > self.n_days * DAY_S:
                    return
                self._count(made)
                yield made
            block += 1

    def _count(self, made: Made) -> None:
        counts = self.counts
        counts.n_events += 1
        counts.n_assistance += made.assistance
        if made.need:
            counts.n_needs += 1
            counts.intentions[made.intention] += 1
            counts.n_afternoon += made.start_s % DAY_S >= NOON_S

    def _u(self, n: int, what: str, block: int) -> Floats:
        return block_unit(n, self.seed, self.user, what, block)

    def _block(self, block: int, carried: _Carried) -> Iterator[Made]:
        """The events of some stretches."""
        recipe, calibration = self.recipe, self.calibration
        gaps = gaps_s(self._u(_STRETCHES, "gap", block), recipe, calibration.exponent, calibration.cut_s)
        asking = lengths_s(self._u(_STRETCHES, "asking", block), recipe, gaps)
        if not carried.asked:
            asking[0] = 0
        worked = carried.worked_s + np.cumsum(gaps)
        walls = self.hours.wall(worked)
        begins = np.r_[carried.wall_s, walls[:-1]]
        n, at_screen = events_between(
            gaps - asking, self._u(_STRETCHES, "n", block), calibration.stay_s, calibration.length_s
        )
        events = self._laid(begins, asking, walls, n, at_screen, block)
        need_at_end = walls - begins - asking >= FOLLOW_UP_S
        need_at_end[0] |= not carried.asked
        yield from self._filled(events, begins, asking, need_at_end, n, block, carried)
        carried.worked_s, carried.wall_s, carried.asked = int(worked[-1]), int(walls[-1]), True
        self.hours.forget_before(carried.worked_s)

    def _laid(self, begins: Ints, asking: Ints, walls: Ints, n: Ints, at_screen: Ints, block: int) -> tuple[Ints, Ints]:
        """Starts and ends of the events without an assistant, of all stretches one after the other."""
        total = int(n.sum())
        stretch = np.repeat(np.arange(len(n)), n)
        firsts = np.cumsum(n) - n
        place = np.arange(total) - firsts[stretch]
        drawn = quantiles(self._u(total, "length", block), self.recipe.events.seconds)
        weights = np.rint(1000 * drawn).astype(np.int64)
        whole = np.add.reduceat(weights, firsts)
        spare = at_screen - LEAST_S * n
        lengths = LEAST_S + spare[stretch] * weights // whole[stretch]
        ends = np.cumsum(lengths)
        ends = ends - (ends[firsts] - lengths[firsts])[stretch]  # since the stretch's first
        lasts = firsts + n - 1
        lengths[lasts] += at_screen - ends[lasts]  # what whole seconds left over
        ends[lasts] = at_screen
        # How many come before the time away; the last one always comes after it.
        before = np.floor(self._u(len(n), "away", block) * n).astype(np.int64)
        away = walls - begins - asking - at_screen
        late = place >= before[stretch]
        ends = ends + (begins + asking)[stretch] + np.where(late, away[stretch], 0)
        return ends - lengths, ends

    def _filled(
        self, events: tuple[Ints, Ints], begins: Ints, asking: Ints, need_at_end: np.ndarray, n: Ints, block: int,
        carried: _Carried,
    ) -> Iterator[Made]:  # fmt: skip
        """The events with windows, needs and questions."""
        starts, ends = events
        total = len(starts)
        lasts = np.cumsum(n) - 1
        need = np.zeros(total, dtype=bool)
        need[lasts] = need_at_end
        u = self._u(total, "cell", block)
        cells = np.where(need, pick(self._need, u), pick(self._calm, u))
        apps = self.habits.app_of[cells]
        before = np.r_[carried.app, apps[:-1]]
        half = (starts % DAY_S >= NOON_S).astype(np.int64)
        wanted = self._wanted(cells[lasts], before[lasts], half[lasts], block)
        draws = np.floor(self._u(total, "title", block) * 4096).astype(np.int64).tolist()
        asked = np.floor(self._u(len(n), "question", block) * 4096).astype(np.int64).tolist()
        all_cells, all_starts, all_ends = cells.tolist(), starts.tolist(), ends.tolist()
        needs, bounds, wants = need_at_end.tolist(), [0, *(lasts + 1).tolist()], wanted.tolist()
        for i, (begin, length) in enumerate(zip(begins.tolist(), asking.tolist(), strict=True)):
            if length:
                yield Made(begin, begin + length, carried.cell, 0, True, False, carried.intention, carried.question)
            first, last = bounds[i], bounds[i + 1] - 1
            for j in range(first, last):
                yield Made(all_starts[j], all_ends[j], all_cells[j], draws[j], False, False, NO, NO)
            if needs[i]:
                carried.cell, carried.intention, carried.question = all_cells[last], wants[i], asked[i]
            told = (wants[i], asked[i]) if needs[i] else (NO, NO)
            yield Made(all_starts[last], all_ends[last], all_cells[last], draws[last], False, needs[i], *told)
        carried.app = int(apps[-1])

    def _wanted(self, cells: Ints, before: Ints, half: Ints, block: int) -> Ints:
        """What is asked for, of needs in these cells after these applications."""
        why, u = self._u(len(cells), "why", block), self._u(len(cells), "intention", block)
        own = pick(self._by_cell[half, cells], u)
        previous = pick(self._by_previous[before], u)
        rest = pick(self._share, u)
        by_window, by_previous = self.habits.window, self.habits.window + self.habits.previous_app
        return np.where(why < by_window, own, np.where(why < by_previous, previous, rest))
