"""From what a recipe wants to the three numbers that bring it about.

Wanted are a burstiness and an exponent on the wall, and a share of events with an assistant. What can be set are the
exponent of the times between questions in time at work, where that law is cut, and for how long people stay at the
screen after asking.

* **The cut.** Times between are drawn in time at work. On the wall nights, weekends and breaks come on top, and it is
  there that ProAgentBench measured. The further the law reaches, the rarer are questions, and the less do nights
  weigh against the rest. So the burstiness on the wall is a function of the cut: it is read off weeks that are drawn
  for this alone, four at a time, as a user's data would be described.
* **The exponent.** Nights make few times longer and leave none of a few hours, so that the exponent measured on the
  wall is a little off the one at work; the latter is moved by as much.
* **The stay.** A longer time between holds more events, up to what somebody stays at the screen. The mean number of
  events between two questions is a function of that; wanted is ``1 / share - 1``.

All are rounded, so that the last bits of a sum cannot matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from simulator.core.errors import InputError
from simulator.core.rng import block_unit
from simulator.core.types import SECOND
from simulator.session.opportunities import LeadRule
from simulator.session.rhythm import burstiness, power_law
from simulator.workload.exact import Floats, Ints, cut_power_law, quantiles
from simulator.workload.hours import DAY_S, Hours
from simulator.workload.recipe import LEAST_S, Recipe

__all__ = ["BESIDE_S", "Calibration", "calibrate", "events_between", "gaps_s", "lengths_s"]

BESIDE_S = 30
"""A pause under that is none: the last window stays in front."""
FOLLOW_UP_S = LeadRule().follow_up_ns // SECOND
_WEEKS, _USERS, _SEED = 4, 12, 0x5EED
_LONGEST_STAY_S = 3600
_MOST = 400_000  # times between that are drawn for a trial
_ROUNDS, _GRAIN, _LEAST_EXPONENT = 3, 0.005, 1.05
_GRID = 13  # cuts that are tried, each twice the one before


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was found, and what it should come to.

    Attributes:
        exponent: of the times between, in time at work.
        cut_s: the longest time between two questions, in time at work.
        stay_s: for how long somebody is at the screen between two questions, at most.
        length_s: mean length of the recipe's events without an assistant.
        burstiness: mean over the drawn users of four weeks.
        spread: its standard deviation between users.
        measured_exponent: of all drawn users' times between on the wall; None for fewer than `rhythm.FEWEST`.
        assistance_share: expected.
        follow_up_share: expected share of questions that are follow-ups of one before.
        need_rate: expected share of events without an assistant in which a need arises.
        per_hour: questions in an hour at work.
    """

    exponent: float
    cut_s: int
    stay_s: int
    length_s: float
    burstiness: float
    measured_exponent: float | None
    spread: float
    assistance_share: float
    follow_up_share: float
    need_rate: float
    per_hour: float


def gaps_s(u: Floats, recipe: Recipe, exponent: float, cut_s: float) -> Ints:
    """Times between questions in whole seconds at work."""
    return np.rint(cut_power_law(u, exponent, recipe.rhythm.shortest_s, cut_s)).astype(np.int64)


def lengths_s(u: Floats, recipe: Recipe, gaps: Ints) -> Ints:
    """How long each question takes: as the recipe says, and over before the next event of the least length."""
    drawn = np.rint(quantiles(u, recipe.events.assistance_seconds)).astype(np.int64)
    return np.minimum(drawn, gaps - LEAST_S)


def events_between(left: Ints, u: Floats, stay_s: int, length_s: float) -> tuple[Ints, Ints]:
    """How many events lie in the time that a question leaves until the next, and how long they take together."""
    worked = np.where(left - stay_s < BESIDE_S, left, stay_s)
    n = np.floor(np.minimum(left, stay_s) / length_s + u).astype(np.int64)
    return np.clip(n, 1, np.maximum(worked // LEAST_S, 1)), worked


def calibrate(recipe: Recipe, where: Path | str) -> Calibration:
    """The numbers for a recipe.

    Args:
        recipe: what is wanted.
        where: the file, for errors.

    Raises:
        InputError: no cut gives the burstiness, or no stay the share, with these hours and lengths; says what can be.
    """
    return _calibrated(recipe.model_dump_json(), str(where))


@lru_cache(maxsize=16)  # half a second each, and most data sets of a process come from a few recipes
def _calibrated(recipe_json: str, where: str) -> Calibration:
    recipe = Recipe.model_validate_json(recipe_json)
    trial = _settled(recipe, where)
    gaps = gaps_s(block_unit(1 << 15, _SEED, "gap"), recipe, trial.exponent, trial.cut_s)
    lengths = lengths_s(block_unit(len(gaps), _SEED, "length"), recipe, gaps)
    mean_s = float(np.cumsum(quantiles((np.arange(4096) + 0.5) / 4096, recipe.events.seconds))[-1] / 4096)
    stay = _stay(recipe, where, gaps - lengths, mean_s)
    n, _ = events_between(gaps - lengths, block_unit(len(gaps), _SEED, "n"), stay, mean_s)
    follows = float((gaps - lengths < FOLLOW_UP_S).mean())
    between = float(n.mean())
    found = trial.burstiness()
    return Calibration(
        exponent=trial.exponent,
        cut_s=trial.cut_s,
        stay_s=stay,
        length_s=mean_s,
        burstiness=float(found.mean()),
        measured_exponent=trial.measured_exponent(),
        spread=float(found.std()),
        assistance_share=1 / (1 + between),
        follow_up_share=follows,
        need_rate=(1 - follows) / between,
        per_hour=3600 / float(gaps.mean()),
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    """Weeks drawn only to see what an exponent and a cut come to."""

    recipe: Recipe
    hours: Sequence[Hours]  # of some users
    exponent: float
    cut_s: int

    def burstiness(self) -> Floats:
        """Of each user, float64[users]."""
        found = [burstiness((self._walls(user) * SECOND).tolist()) for user in range(len(self.hours))]
        return np.array([b for b in found if b is not None] or [0.0])

    def measured_exponent(self) -> float | None:
        """Of all users' times between together, cut at the longest, as `rhythm.power_law` fits it."""
        between = np.concatenate([np.diff(self._walls(user)) for user in range(len(self.hours))])
        return power_law(between, xmin=self.recipe.rhythm.shortest_s, cut=True).exponent

    def _walls(self, user: int) -> Ints:
        end, count, walls = _WEEKS * 7 * DAY_S, 2048, np.zeros(0, dtype=np.int64)
        while not len(walls) or (walls[-1] < end and count < _MOST):
            gaps = gaps_s(block_unit(count, _SEED, "calibration", user), self.recipe, self.exponent, self.cut_s)
            walls, count = self.hours[user].wall(np.cumsum(gaps)), 2 * count
        return walls[walls < end]


def _settled(recipe: Recipe, where: Path | str) -> _Trial:
    """The exponent at work with which the one on the wall comes out, and its cut."""
    hours = [Hours(recipe.week, _SEED, f"calibration-{user}") for user in range(_USERS)]
    exponent = recipe.rhythm.exponent
    for _ in range(_ROUNDS):
        trial = _cut(recipe, hours, exponent, where)
        measured = trial.measured_exponent()
        if measured is None:
            break
        better = max(exponent + recipe.rhythm.exponent - measured, _LEAST_EXPONENT)
        if abs(better - exponent) < _GRAIN:
            break
        exponent = round(better / _GRAIN) * _GRAIN
    return _cut(recipe, hours, exponent, where)


def _cut(recipe: Recipe, hours: Sequence[Hours], exponent: float, where: Path | str) -> _Trial:
    """The cut with which the burstiness comes out: the least on a grid that crosses it, then by halving."""
    shortest, wanted = recipe.rhythm.shortest_s, recipe.rhythm.burstiness
    before: tuple[int, float] | None = None
    seen: list[float] = []
    for cut in (round(shortest * 2 ** (5 + i)) for i in range(_GRID)):
        seen.append(float(_Trial(recipe, hours, exponent, cut).burstiness().mean()))
        if before is not None and min(before[1], seen[-1]) <= wanted <= max(before[1], seen[-1]):
            return _halved(recipe, hours, exponent, before[0], cut, falls=before[1] > wanted)
        before = (cut, seen[-1])
    want = f"with these hours and this exponent a burstiness from {min(seen):.3f} to {max(seen):.3f}"
    raise InputError(where, want, field="rhythm.burstiness", value=wanted)


def _halved(recipe: Recipe, hours: Sequence[Hours], exponent: float, low: int, high: int, *, falls: bool) -> _Trial:
    while high - low > max(low // 200, 1):
        middle = (low + high) // 2
        above = float(_Trial(recipe, hours, exponent, middle).burstiness().mean()) > recipe.rhythm.burstiness
        low, high = (middle, high) if above == falls else (low, middle)
    return _Trial(recipe, hours, exponent, (low + high) // 2)


def _stay(recipe: Recipe, where: Path | str, left: Ints, length_s: float) -> int:
    wanted = 1 / recipe.rhythm.assistance_share - 1
    u = block_unit(len(left), _SEED, "n")

    def between(stay: int) -> float:
        return float(events_between(left, u, stay, length_s)[0].mean())

    low, high = LEAST_S, _LONGEST_STAY_S
    if not between(low) <= wanted <= between(high):
        least, most = 1 / (1 + between(high)), 1 / (1 + between(low))
        want = f"with this rhythm and events of {length_s:.0f} s on average a share from {least:.3f} to {most:.3f}"
        raise InputError(where, want, field="rhythm.assistance_share", value=recipe.rhythm.assistance_share)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if between(middle) < wanted else (low, middle)
    return high
