"""Holm, McNemar, Student's t, the smallest difference that shows, samples for a percentile, histograms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scorers.figures import percentile
from scorers.serving import P99_NEEDS
from scorers.statistics import Quantile, detectable, holm, mcnemar, quantiles, samples_needed, student


@pytest.mark.parametrize(
    ("percent", "confidence", "n"),
    [(99, 0.99, 459), (95, 0.95, 59), (90, 0.95, 29), (99, 0.95, 299), (99.9, 0.99, 4603), (50, 0.5, 1)],
)
def test_samples_that_a_percentile_needs(percent: float, confidence: float, n: int) -> None:
    # 459, 59, 299: the tables of Wilks (1941) for one-sided tolerance limits by the greatest of a sample.
    assert samples_needed(percent, confidence) == n
    q = percent / 100
    assert 1 - q**n >= confidence - 1e-12
    assert n == 1 or 1 - q ** (n - 1) < confidence


def test_serving_takes_the_rule_and_no_number_of_its_own() -> None:
    assert P99_NEEDS == samples_needed(99, 0.99) == 459


@pytest.mark.parametrize(("percent", "confidence"), [(0, 0.9), (100, 0.9), (95, 0), (95, 1)])
def test_percentiles_that_no_sample_shows_are_refused(percent: float, confidence: float) -> None:
    with pytest.raises(ValueError, match="inside"):
        samples_needed(percent, confidence)


@pytest.mark.parametrize("degrees", [5, 6, 9, 11, 29, 199])
@pytest.mark.parametrize("probability", [0.8, 0.975])
def test_students_t_is_scipys(probability: float, degrees: int) -> None:
    assert student(probability, degrees) == pytest.approx(stats.t.ppf(probability, degrees), rel=2e-3)


def test_a_true_difference_of_the_smallest_that_shows_is_found_four_times_in_five() -> None:
    n, sigma = 20, 1.0
    error = sigma / math.sqrt(n)
    power = 1 - stats.nct.cdf(stats.t.ppf(0.975, n - 1), n - 1, detectable(error, n) / error)
    assert power == pytest.approx(0.80, abs=0.01)


def test_holm_is_the_published_example() -> None:
    # Holm's step-down as in R's p.adjust(c(.01, .02, .03, .04), "holm").
    assert holm({"a": 0.01, "b": 0.02, "c": 0.03, "d": 0.04}) == {
        "a": pytest.approx(0.04), "b": pytest.approx(0.06), "c": pytest.approx(0.06), "d": pytest.approx(0.06),
    }  # fmt: skip
    assert holm({}) == {}


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_only_raises_keeps_the_order_and_is_milder_than_bonferroni(p: dict[str, float]) -> None:
    adjusted = holm(p)
    assert list(adjusted) == list(p)
    for name, value in p.items():
        assert value <= adjusted[name] <= min(1, len(p) * value) + 1e-12
    ordered = sorted(p, key=lambda name: (p[name], name))
    assert [adjusted[name] for name in ordered] == sorted(adjusted.values())


@pytest.mark.parametrize(("b", "c"), [(10, 25), (3, 4), (0, 9), (40, 40)])
def test_mcnemar_is_chi_square_with_continuity_correction(b: int, c: int) -> None:
    found = mcnemar(b, c)
    statistic = max(0, abs(b - c) - 1) ** 2 / (b + c)
    assert [found.statistic, found.p] == pytest.approx([statistic, stats.chi2.sf(statistic, 1)])
    assert mcnemar(c, b).p == found.p


def test_mcnemar_without_a_flip_finds_nothing() -> None:
    assert (mcnemar(0, 0).statistic, mcnemar(0, 0).p, mcnemar(1, 0).p) == (0, 1, 1)


values = st.lists(st.integers(-(10**13), 10**13), min_size=1, max_size=40)


@given(st.lists(values, min_size=1, max_size=4), st.sampled_from([10, 50, 90, 95, 99]))
def test_a_percentile_of_histograms_is_that_of_the_values_within_a_bin(parts: list[list[int]], percent: int) -> None:
    (m,) = quantiles("t", {"p": Quantile(percent, 1.0)}, [np.array(p, np.int64) for p in parts])
    exact = percentile(np.sort(np.concatenate([np.array(p, np.int64) for p in parts])), percent)
    assert m.value == pytest.approx(exact, rel=0.00501, abs=1e-9)
    assert (m.of(m.parts()).columns == m.columns).all()


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=30), st.integers(0, 30))
def test_where_values_are_cut_into_sessions_changes_nothing(values: list[int], cut: int) -> None:
    whole = np.array(values, np.int64)
    (one,) = quantiles("t", {"p": Quantile(50, 1.0)}, [whole])
    (two,) = quantiles("t", {"p": Quantile(50, 1.0)}, [whole[:cut], whole[cut:]])
    assert one.value == two.value


def test_too_few_samples_give_no_percentile() -> None:
    (m,) = quantiles("t", {"p": Quantile(99, 1.0, least=5)}, [np.arange(4)])
    assert math.isnan(m.value)
    (m,) = quantiles("t", {"p": Quantile(99, 1.0, least=4)}, [np.arange(4)])
    assert m.value == pytest.approx(3, rel=0.4)
    (m,) = quantiles("t", {"p": Quantile(50, 1.0)}, [np.zeros(0, np.int64), np.zeros(0, np.int64)])
    assert math.isnan(m.value)


@given(st.lists(values, min_size=1, max_size=5), st.sampled_from([10, 50, 95]), st.lists(st.integers(0, 4), min_size=5))
def test_narrowed_to_what_matters_a_percentile_of_any_weighed_sum_is_the_same(
    parts: list[list[int]], percent: int, weights: list[int]
) -> None:
    (m,) = quantiles("t", {"p": Quantile(percent, 1.0)}, [np.array(p, np.int64) for p in parts])
    assert isinstance(m.formula, Quantile)
    keep, narrow = m.formula.narrowed(m.columns)
    w = np.array(weights[: len(parts)], float)
    whole, narrowed = m.formula(w @ m.columns), narrow(w @ m.columns[:, keep])
    assert whole == narrowed or (np.isnan(whole) and np.isnan(narrowed))
