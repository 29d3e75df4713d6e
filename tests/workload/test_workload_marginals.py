"""What a recipe wants comes out: burstiness, exponent, shares, intentions, and ceilings that are ceilings."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from simulator.core.types import SECOND
from simulator.session.rhythm import burstiness, power_law, times_between_s
from simulator.workload import Calibration, Person, Recipe, calibrate, load
from simulator.workload.ceilings import best_f1, ceilings
from simulator.workload.hours import DAY_S
from simulator.workload.person import NOON_S, Made

RECIPES = Path(__file__).parents[2] / "scenarios" / "recipes"
USERS, DAYS = 3, 28  # the defaults of the command
SEEDS = range(6)


@cache
def _recipe(name: str) -> tuple[Recipe, Calibration]:
    path = RECIPES / f"{name}.yaml"
    recipe = load(path)
    return recipe, calibrate(recipe, path)


@cache
def _made(name: str, seed: int, users: int = USERS, days: int = DAYS) -> list[tuple[Person, list[Made]]]:
    recipe, calibration = _recipe(name)
    people = [Person(recipe, calibration, seed, f"synthetic-{n:03}", days) for n in range(1, users + 1)]
    return [(person, list(person.events())) for person in people]


def _asked(events: list[Made]) -> list[int]:
    return [e.start_s * SECOND for e in events if e.assistance]


@pytest.mark.parametrize("seed", SEEDS)
def test_burstiness_and_exponent_are_as_published(seed: int) -> None:
    asked = [_asked(events) for _, events in _made("office", seed)]
    of_users = [b for a in asked if (b := burstiness(a)) is not None]
    between = np.concatenate([times_between_s(a) for a in asked])
    pooled = (between.std() - between.mean()) / (between.std() + between.mean())
    assert sum(of_users) / len(of_users) == pytest.approx(0.787, abs=0.03)
    assert pooled == pytest.approx(0.787, abs=0.03)
    for law in (power_law(between, xmin=10), power_law(between, xmin=10, cut=True), power_law(between, cut=True)):
        assert law.exponent == pytest.approx(1.5, abs=0.1)
        assert law.llr is not None
        assert law.llr > 0  # rather a power law than an exponential


def test_another_burstiness_comes_out_too() -> None:
    recipe, _ = _recipe("office")
    other = recipe.model_copy(update={"rhythm": recipe.rhythm.model_copy(update={"burstiness": 0.83})})
    person = Person(other, calibrate(other, "here"), 1, "synthetic-001", DAYS)
    assert burstiness(_asked(list(person.events()))) == pytest.approx(0.83, abs=0.03)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_share_of_events_with_an_assistant_is_as_published(seed: int) -> None:
    numbers: list[int] = []  # of events between two questions
    for _, events in _made("office", seed):
        places = [i for i, e in enumerate(events) if e.assistance]
        numbers += [b - a - 1 for a, b in pairwise(places)]
    mean, error = float(np.mean(numbers)), float(np.std(numbers)) / math.sqrt(len(numbers))
    share = 1 / (1 + mean)
    assert abs(share - 0.253) < 3.5 * error * share**2  # the error of 1 / (1 + mean)
    assert share == pytest.approx(0.253, abs=0.015)


@pytest.mark.parametrize("name", ["office", "habits-strong", "habits-none"])
@pytest.mark.parametrize("seed", SEEDS[:3])
def test_intentions_have_their_shares(name: str, seed: int) -> None:
    people = _made(name, seed)
    counts = np.sum([person.counts.intentions for person, _ in people], axis=0)
    expected = people[0][0].habits.share * counts.sum()
    rare = expected < 5
    seen, wanted = np.r_[counts[~rare], counts[rare].sum()], np.r_[expected[~rare], expected[rare].sum()]
    chi_square, free = float(((seen - wanted) ** 2 / wanted).sum()), len(seen) - 1
    one_in_a_thousand = free * (1 - 2 / (9 * free) + 3.09 * math.sqrt(2 / (9 * free))) ** 3  # Wilson & Hilferty
    assert chi_square < one_in_a_thousand


def test_applications_have_their_shares() -> None:
    events = [(p.habits.cells[e.cell].app) for p, made in _made("office", 0) for e in made if not e.assistance]
    for app, share in _recipe("office")[0].apps.items():
        error = math.sqrt(share * (1 - share) / len(events))
        assert abs(events.count(app) / len(events) - share) < 4 * error, app


def test_people_work_when_the_recipe_says() -> None:
    starts = np.array([e.start_s for _, made in _made("office", 0) for e in made])
    days, hours = starts // DAY_S % 7, starts % DAY_S / 3600
    assert ((hours > 7.5) & (hours < 19)).all()
    assert (days < 5).mean() > 0.9
    lunch = ((hours > 12.75) & (hours < 13)).mean() / 0.25
    assert lunch < 0.4 * ((hours > 10) & (hours < 11)).mean()


def test_events_follow_one_another_and_none_is_shorter_than_three_seconds() -> None:
    for _, made in _made("office", 1):
        assert all(a.end_s <= b.start_s for a, b in pairwise(made))
        assert min(e.end_s - e.start_s for e in made) >= 3


def _guesses(name: str, seed: int) -> tuple[int, int, int, float, float]:
    """Of needs: how many, right from the window alone, right from all habits; and what was to be expected."""
    n = by_window = by_all = 0
    window = all_ = 0.0
    for person, made in _made(name, seed):
        habits = person.habits
        bounds = ceilings(habits, person.counts.need_rate, person.counts.afternoon)
        tables = np.array(
            [
                [[habits.intention(half, cell, app) for app in range(len(habits.apps))] for half in (0, 1)]
                for cell in range(len(habits.cells))
            ]
        )  # cells, halves, apps, intentions
        halves = np.array([1 - person.counts.afternoon, person.counts.afternoon])
        alone = np.einsum("chai,h,a->ci", tables, halves, habits.apps)
        app = 0
        for event in made:
            if event.assistance:
                continue
            if event.need:
                half = int(event.start_s % DAY_S >= NOON_S)
                n, window, all_ = n + 1, window + bounds.intention_window, all_ + bounds.intention_all
                by_window += int(alone[event.cell].argmax()) == event.intention
                by_all += int(tables[event.cell, half, app].argmax()) == event.intention
            app = int(habits.app_of[event.cell])
    return n, by_window, by_all, window / n, all_ / n


@pytest.mark.parametrize("name", ["office", "habits-strong", "habits-none"])
def test_the_best_guess_is_right_as_often_as_the_ceiling_says(name: str) -> None:
    n, by_window, by_all, window, all_ = _guesses(name, 2)
    for right, ceiling in ((by_window, window), (by_all, all_)):
        assert abs(right / n - ceiling) < 3.5 * math.sqrt(ceiling * (1 - ceiling) / n)


def test_without_habits_there_is_nothing_to_learn_and_with_strong_ones_much() -> None:
    none, strong = (
        ceilings(person.habits, 0.13, 0.5)
        for person in (_made("habits-none", 0)[0][0], _made("habits-strong", 0)[0][0])
    )
    assert none.intention_all == pytest.approx(none.intention_floor) == pytest.approx(0.351)
    assert none.f1 == pytest.approx(none.f1_floor) == pytest.approx(2 * 0.13 / 1.13)
    assert none.balanced_accuracy == pytest.approx(0.5)
    assert none.balanced_f1 == pytest.approx(2 / 3)
    assert strong.intention_window > 0.7
    assert strong.f1 > 0.7
    assert strong.balanced_accuracy > 0.85


def test_help_is_needed_as_often_as_the_tables_say() -> None:
    for person, made in _made("habits-strong", 3):
        habits, rate = person.habits, person.counts.need_rate
        asking = habits.need * rate / (habits.need * rate + habits.calm * (1 - rate)) > 0.3
        said = [e for e in made if not e.assistance and asking[e.cell]]
        expected = float((habits.need * rate)[asking].sum())
        expected /= expected + float((habits.calm * (1 - rate))[asking].sum())
        error = math.sqrt(expected * (1 - expected) / len(said))
        assert abs(sum(e.need for e in said) / len(said) - expected) < 3.5 * error


def test_the_best_f1_is_that_worked_out_by_hand() -> None:
    # Two windows as often: help in 3 of 4 and 1 of 4 events. Yes in the first: P = R = 3/4. Yes always: F1 = 2/3.
    assert best_f1(np.array([0.75, 0.25]), np.array([0.25, 0.75]), 0.5) == pytest.approx(0.75)
    # Help in 3 of 8 and 1 of 8: yes always gives P 1/4, F1 .4; yes in the first P 3/8, R 3/4, F1 1/2.
    assert best_f1(np.array([0.75, 0.25]), np.array([5 / 12, 7 / 12]), 0.25) == pytest.approx(0.5)


def test_users_have_habits_of_their_own() -> None:
    (one, _), (other, _) = _made("habits-strong", 0)[:2]
    assert {c.topic for c in one.habits.cells} != {c.topic for c in other.habits.cells}
    assert not np.allclose(one.habits.need, other.habits.need)
