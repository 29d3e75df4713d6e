"""NAB's score: the published positions, weights and normalization, and what its own code gives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scorers.base import Unit, score_run
from scorers.compat.nab import PROFILES, rows, sigma, worth
from simulator.core.types import SECOND
from tests.logs import D, log, need, ns, truth

WINDOW = need("A", 20, 40)


def score(times: list[float], needs=(WINDOW,), end: float = 200) -> dict[str, float]:  # type: ignore[no-untyped-def]
    unit = Unit("s", log([D(t, t, ["Debug"]) for t in times]), truth(end, list(needs)))
    return dict(score_run([unit], "stream", "off", names=["nab"])["scores"])


@pytest.mark.parametrize(("row", "value"), [(0, 1.0), (10, 0.860), (19, 0.126)])
def test_a_window_of_twenty_rows_is_worth_what_is_published(row: int, value: float) -> None:
    assert worth(row, 20) == pytest.approx(value, abs=5e-4)


def test_the_sigmoid_is_the_published_one() -> None:
    assert sigma(-1) == pytest.approx(0.98661, abs=5e-6)
    assert sigma(-0.5) == pytest.approx(0.84828, abs=5e-6)
    assert (sigma(0), sigma(3.0001)) == (0, -1)


def test_the_weights_are_those_of_the_published_profiles() -> None:
    # numenta/NAB, config/profiles.json at ea702d7
    assert PROFILES == {
        "standard": (1.0, 0.11, 1.0),
        "reward_low_FP": (1.0, 0.22, 1.0),
        "reward_low_FN": (1.0, 0.11, 2.0),
    }


def test_silence_is_0_and_an_offer_at_each_opening_is_100() -> None:
    assert set(score([]).values()) == {0}
    assert set(score([20]).values()) == {100}


def test_a_detection_in_mid_window_and_one_far_from_any_by_hand() -> None:
    middle = (2 / (1 + math.exp(-2.5)) - 1) / (2 / (1 + math.exp(-5)) - 1)
    told = score([5, 30])
    assert told["nab@standard"] == pytest.approx(100 * (middle + 1 - 0.11) / 2)
    assert told["nab@reward_low_FP"] == pytest.approx(100 * (middle + 1 - 0.22) / 2)
    assert told["nab@reward_low_FN"] == pytest.approx(100 * (middle + 2 - 0.11) / 3)


def test_figures_of_their_own_code() -> None:
    # nab.sweeper.Sweeper at ea702d7: 200 rows, windows of rows 20-39 and 70-81, no probation; then nab/runner.py
    told = score([5.2, 30.9, 41, 45, 50, 100, 104, 160], [WINDOW, need("B", 70, 82)])
    assert told["nab@standard"] == pytest.approx(30.51699441692278, abs=1e-9)
    assert told["nab@reward_low_FP"] == pytest.approx(14.53917466110098, abs=1e-9)
    assert told["nab@reward_low_FN"] == pytest.approx(37.01132961128186, abs=1e-9)


def test_only_the_first_detection_in_a_window_counts() -> None:
    assert score([25, 26, 39]) == score([25])


def test_a_false_positive_costs_more_the_further_it_is_from_the_window_before() -> None:
    near, far, before = (score([t])["nab@standard"] for t in (41, 60, 5))
    assert 0 > near > far > before == pytest.approx(-5.5)


def test_many_offers_in_one_row_are_one_false_positive() -> None:
    assert score([5.1, 5.5, 5.9]) == score([5.1])


def test_a_window_of_one_row_divides_by_one() -> None:
    found = rows(np.array([ns(20), ns(21), ns(25)]), [need("A", 20, 21)], SECOND)
    assert (found.gain, found.detected, found.windows, found.n_alarms) == (1.0, 1, 1, 2)
    assert found.alarms == pytest.approx(sigma(1) - 1)


def test_one_who_always_speaks_pays_for_every_row() -> None:
    told = score([float(t) for t in range(200)])
    assert -1000 < told["nab@standard"] < 0
    assert told["nab@reward_low_FP"] < told["nab@standard"] < told["nab@reward_low_FN"]


def test_a_session_without_needs_still_charges_its_alarms() -> None:
    quiet = Unit("b", log([D(5, 5, ["Debug"])]), truth(60))
    served = Unit("a", log([D(20, 20, ["Debug"])]), truth(60, [WINDOW]))
    alone = score_run([quiet], "stream", "off", names=["nab"])
    assert alone["scores"]["nab@standard"] is None
    assert alone["details"]["nab@standard"]["reason"] == "no opportunities"
    both = score_run([served, quiet], "stream", "off", names=["nab"])
    assert both["scores"]["nab@standard"] == pytest.approx(100 - 5.5)
    assert both["details"]["nab@standard"]["alarms"] == 1


def test_an_offer_in_two_overlapping_windows_counts_in_both() -> None:
    found = rows(np.array([ns(30)]), [WINDOW, need("B", 30, 50)], SECOND)
    assert (found.detected, found.n_alarms) == (2, 0)
