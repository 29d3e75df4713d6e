"""ERDE and F_latency: the published costs, and what a case is in a stream."""

from __future__ import annotations

from typing import Any

import pytest

from scorers.base import Unit, score_run
from scorers.compat.cases import stretches
from scorers.compat.erde import Erde, late
from scorers.compat.f_latency import FLatency, penalty
from simulator.core.errors import UsageError
from tests.logs import D, log, need, ns, truth

NEEDS = [need("A", 20, 40), need("B", 60, 80)]


def decided(offers_at: set[int], latency: float = 0, end: int = 100, every: int = 1) -> Any:
    """A stream at 1 Hz with an offer at these ticks."""
    return log([D(t, t + latency, ["Debug"] if t in offers_at else ()) for t in range(0, end, every)])


def score(name: str, offers_at: set[int], latency: float = 0, **more: Any) -> dict[str, Any]:
    unit = Unit("s", decided(offers_at, latency, **more), truth(100, NEEDS))
    return score_run([unit], "stream", "off", names=[name])


@pytest.mark.parametrize(("k", "cost"), [(4, 0.27), (5, 0.50), (6, 0.73), (10, 0.993)])
def test_the_cost_of_a_late_decision_is_the_published_one(k: int, cost: float) -> None:
    assert late(k, 5) == pytest.approx(cost, abs=0.005)


def test_no_delay_overflows() -> None:
    assert (late(10**9, 5), late(1, 10**6), penalty(10**9)) == (1, 0, 1)


@pytest.mark.parametrize(("k", "value"), [(1, 0), (50, 0.19), (200, 0.65)])
def test_the_penalty_is_the_published_one(k: int, value: float) -> None:
    assert penalty(k) == pytest.approx(value, abs=0.005)


def test_negative_cases_are_the_stretches_between_windows_and_gaps() -> None:
    known = truth(100, [*NEEDS, need("C", 90, 91, unservable="under 2 s")], gaps=[(45, 50)])
    spans = [(0, 20), (40, 45), (50, 60), (80, 90), (91, 100)]
    assert stretches(known) == [(ns(a), ns(b)) for a, b in spans]


def test_a_stretch_shorter_than_a_period_is_no_case() -> None:
    known = truth(100, [need("A", 0.5, 40), need("B", 40.9, 99.5), need("C", 50, 60)])
    assert stretches(known) == []


def test_erde_of_five_cases_by_hand() -> None:
    # A is decided after 5 decisions (20 … 24), B is missed; of three quiet stretches the one before A is alarmed.
    told = score("erde", {3, 7, 24, 30})
    share = 2 / 5
    assert told["scores"]["erde@5"] == pytest.approx((0.5 + 1 + share) / 5)
    assert told["scores"]["erde@50"] == pytest.approx((late(5, 50) + 1 + share) / 5)
    shown = told["details"]["erde@5"]
    assert (shown["n"], shown["positive"], shown["negative"], shown["decided"], shown["alarms"]) == (5, 2, 3, 1, 1)
    assert score("erde:c_fp=0.1", {3, 24})["scores"]["erde@5"] == pytest.approx((0.5 + 1 + 0.1) / 5)


def test_silence_costs_each_positive_case_and_a_decision_at_once_nearly_nothing() -> None:
    assert score("erde", set())["scores"]["erde@5"] == pytest.approx(2 / 5)
    assert score("erde", {20, 60})["scores"]["erde@5"] == pytest.approx(2 * late(1, 5) / 5)


def test_f_latency_by_hand() -> None:
    # Two right (k = 5 and 11), one stretch of three alarmed: F1 = 4/5; the median of two is their mean.
    told = score("f_latency", {3, 24, 70})
    median = (penalty(5) + penalty(11)) / 2
    assert told["scores"]["f_latency"] == pytest.approx(4 / 5 * (1 - median))
    assert told["details"]["f_latency"]["f1"] == pytest.approx(4 / 5)
    assert score("f_latency", set())["scores"]["f_latency"] == 0
    assert score("f_latency", {20, 60})["scores"]["f_latency"] == 1


def test_charges_move_k_at_arrival_and_not_at_capture() -> None:
    # An offer made of tick 22 arrives at 25: in the window by then are the decisions of ticks 17 … 22 (20 … 25), six.
    told = score("erde", {22}, latency=3)["scores"]
    assert told["erde@5"] == pytest.approx((late(6, 5) + 1) / 5)
    assert told["erde@5@seen"] == pytest.approx((late(3, 5) + 1) / 5)


def test_k_counts_decisions_or_by_request_snapshots() -> None:
    told = score("erde", {30}, every=5)["scores"]
    assert told["erde@5"] == pytest.approx((late(3, 5) + 1) / 5), "20, 25, 30"
    told = score("erde:counts=snapshots", {30}, every=5)["scores"]
    assert told["erde@5"] == pytest.approx((late(11, 5) + 1) / 5), "20 … 30"


def test_an_offer_that_leaves_its_decision_early_counts_its_decision() -> None:
    early = {"intention": "Debug", "actionable_ns": ns(22)}
    unit = Unit("s", log([D(20, 21), D(21, 25, [early])]), truth(100, NEEDS))
    told = score_run([unit], "stream", "off", names=["erde"])["scores"]
    assert told["erde@5"] == pytest.approx((late(2, 5) + 1) / 5)


def test_what_is_said_in_a_gap_or_after_the_end_is_counted_outside() -> None:
    unit = Unit("s", log([D(50, 50, ["Debug"]), D(99, 120, ["Debug"])]), truth(100, NEEDS, gaps=[(45, 55)]))
    told = score_run([unit], "stream", "off", names=["erde", "f_latency"])["details"]
    assert (told["erde@5"]["outside"], told["f_latency"]["outside"]) == (2, 2)
    assert (told["erde@5"]["alarms"], told["erde@5@seen"]["alarms"]) == (0, 1)


def test_without_a_positive_case_there_is_no_figure() -> None:
    unit = Unit("s", log([D(5, 5, ["Debug"])]), truth(100))
    told = score_run([unit], "stream", "off", names=["erde", "f_latency"])
    assert told["scores"]["erde@5"] is None
    assert told["scores"]["f_latency"] is None
    assert told["details"]["f_latency"]["reason"] == "no opportunities"


@pytest.mark.parametrize("spec", ["erde:counts=seconds", "erde:c_fp=2", "f_latency:p=0", "f_latency:counts=posts"])
def test_parameters_that_mean_nothing_are_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        score(spec, {20})


@pytest.mark.parametrize(
    ("counts", "said"), [("decisions", "each counted where it arrives"), ("snapshots", "a period")]
)
def test_the_formula_says_which_stamp_counts(counts: str, said: str) -> None:
    for made in (Erde(counts), FLatency(counts=counts)):
        assert said in made.metrics[0].formula
