"""A simulated day of 8 h with 256 needs, median window 12 s: better agents must score better."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import pytest

from scorers.base import Unit, score_run
from simulator.core.intentions import INTENTIONS
from simulator.core.rng import below, unit
from simulator.core.types import SECOND
from simulator.runs.records import RunLog
from simulator.session.truth import Opportunity, Truth
from tests.logs import play, truth

DAY = 8 * 3600
NEEDS = 256


def _normal(*names: str | int) -> float:
    return NormalDist().inv_cdf(min(max(unit(7, *names), 1e-9), 1 - 1e-9))


def _day() -> tuple[Opportunity, ...]:
    """One need in each 112.5 s, somewhere in it."""
    slot = DAY * SECOND // NEEDS
    needs = []
    for i in range(NEEDS):
        length = min(int(12 * SECOND * math.exp(0.7 * _normal("length", i))), slot - 20 * SECOND)
        opens = i * slot + below(slot - length - 10 * SECOND, 7, "opens", i)
        intention = INTENTIONS[below(13, 7, "intention", i)]
        closes = opens + max(length, 2 * SECOND)
        needs.append(Opportunity(f"{i:03}", opens, closes, intention, acted_ns=closes))
    return tuple(needs)


TRUTH: Truth = truth(DAY, _day())
OPEN = {tick: n for n in TRUTH.opportunities for tick in range(-(-n.opens_ns // SECOND), -(-n.closes_ns // SECOND))}
FIRST = {-(-n.opens_ns // SECOND) for n in TRUTH.opportunities}
LAST = {tick for n in TRUTH.opportunities for tick in [(n.closes_ns - 1) // SECOND]}


def oracle(tick: int) -> Sequence[str]:
    return (OPEN[tick].intention,) if tick in OPEN else ()


def said_at(ticks: set[int], what: Sequence[str] | None = None) -> Callable[[int], Sequence[str]]:
    """Speaks at these ticks: what the oracle would, or something else."""
    return lambda tick: (oracle(tick) if what is None else what) if tick in ticks else ()


def lognormal(median_s: float) -> Callable[[int], int]:
    return lambda tick: int(median_s * SECOND * math.exp(0.3 * _normal("latency", tick)))


def scores(log: RunLog) -> dict[str, float]:
    found: dict[str, float] = score_run([Unit("s", log, TRUTH)], "stream", names=["realtime"])["scores"]
    return found


def instant(answer: Callable[[int], Sequence[str]]) -> dict[str, float]:
    return scores(play(DAY, answer, lambda tick: 0))


def test_utility_of_an_oracle_falls_with_its_latency() -> None:
    found = [scores(play(DAY, oracle, lognormal(s)))["timely_utility"] for s in (0, 0.2, 1, 2, 5, 22)]
    assert all(a > b for a, b in itertools.pairwise(found)), found
    assert found[0] > 90
    assert found[-1] < found[0] / 3


PROFILES = ("timely_utility", "timely_utility@quiet", "timely_utility@eager")


def test_silence_is_worth_nothing() -> None:
    found = instant(lambda tick: ())
    assert [found[name] for name in PROFILES] == [0, 0, 0]


def test_an_oracle_without_latency_reaches_the_printed_ceiling() -> None:
    found = instant(said_at(FIRST))
    assert found["timely_utility"] == pytest.approx(found["timely_utility@ceiling"])
    assert found["F1_rt"] == 1


def test_random_help_is_worth_less_than_silence() -> None:
    guess = [INTENTIONS[below(16, 7, "guess", t)] for t in range(DAY)]
    assert instant(lambda tick: (guess[tick],) if unit(7, "say", tick) < 0.02 else ())["timely_utility"] < 0


def test_always_speaking_is_worth_far_less() -> None:
    assert instant(lambda tick: ("Translation",))["timely_utility"] < -50


def test_waiting_for_the_end_of_the_window_is_worth_less_than_speaking_at_once() -> None:
    late, at_once = (instant(said_at(ticks)) for ticks in (LAST, FIRST))
    for name in PROFILES:
        assert 0 < late[name] < at_once[name]
    assert late["F1_rt"] == at_once["F1_rt"], "by counts alone one could not tell"


def test_naming_every_intention_is_worth_less_than_silence_in_every_profile() -> None:
    for ticks in (set(OPEN), FIRST):
        found = instant(said_at(ticks, INTENTIONS))
        assert found["R_rt"] > 0.9
        assert all(found[name] < 0 for name in PROFILES)
