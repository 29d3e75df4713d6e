"""Paired differences and the sign-flip test: as SciPy makes them, and with known answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scorers.pooling import Floats, Pooled, mean_of, ratio_of
from scorers.statistics import Clusters, Difference, Interval, Quantile, differences, quantiles
from simulator.core.rng import block_unit

Parts = Sequence[tuple[float, float]]


def clusters(n: int) -> Clusters:
    return Clusters.group([("u", f"{i:04}", f"s{i:04}") for i in range(n)])


def compared(a: Pooled, b: Pooled) -> Difference:
    (found,) = differences([a], [b], clusters(len(a.columns)))
    return found


def rates(a: Parts, b: Parts) -> Difference:
    return compared(ratio_of("r", a), ratio_of("r", b))


def test_p_of_a_mean_is_scipys_exact_permutation_test() -> None:
    x, y = block_unit(10, 1, "x"), block_unit(10, 1, "y") + 0.2

    def gap(a: Any, b: Any, axis: int = -1) -> Any:
        return (b - a).mean(axis=axis)

    theirs = stats.permutation_test((x, y), gap, permutation_type="samples", n_resamples=np.inf)
    mine = compared(mean_of("m", x.tolist()), mean_of("m", y.tolist()))
    assert mine.exact
    assert mine.p == pytest.approx(theirs.pvalue)
    assert mine.difference == pytest.approx(theirs.statistic)


def test_p_of_a_pooled_rate_is_scipys_over_swapped_sessions() -> None:
    """Swapped are whole sessions, with denominators: a rate is recomputed, not averaged."""
    n = 9
    a = np.floor(8 * block_unit(n, 2, "a")), np.floor(9 * block_unit(n, 2, "an")) + 8
    b = np.floor(8 * block_unit(n, 2, "b")), np.floor(9 * block_unit(n, 2, "bn")) + 8
    first, second = a[0] + 1j * a[1], b[0] + 1j * b[1]  # hits and their denominator travel together

    def gap(x: Any, y: Any, axis: int = -1) -> Any:
        x, y = x.sum(axis=axis), y.sum(axis=axis)
        return y.real / y.imag - x.real / x.imag

    theirs = stats.permutation_test((first, second), gap, permutation_type="samples", n_resamples=np.inf)
    mine = rates(list(zip(*a, strict=True)), list(zip(*b, strict=True)))
    assert mine.p == pytest.approx(theirs.pvalue)


def test_with_many_sessions_p_is_drawn_and_close_to_the_t_test() -> None:
    x, y = block_unit(120, 3, "x"), block_unit(120, 3, "y") + 0.08
    mine = compared(mean_of("m", x.tolist()), mean_of("m", y.tolist()))
    assert not mine.exact
    assert mine.p == pytest.approx(stats.ttest_rel(x, y).pvalue, abs=0.01)
    assert mine.p is not None
    assert mine.p * 10_001 == pytest.approx(round(mine.p * 10_001))


def test_the_interval_of_a_paired_difference_is_scipys() -> None:
    x, y = block_unit(25, 4, "x") ** 2, block_unit(25, 4, "y")
    mine = compared(mean_of("m", x.tolist()), mean_of("m", y.tolist())).interval
    gap = stats.bootstrap((y - x,), np.mean, n_resamples=40_000, method="BCa", rng=1).confidence_interval
    assert isinstance(mine, Interval)
    assert mine.low == pytest.approx(gap.low, abs=0.03 * (gap.high - gap.low))
    assert mine.high == pytest.approx(gap.high, abs=0.03 * (gap.high - gap.low))


def test_pairing_takes_out_what_is_hard_for_both() -> None:
    hard = 10 * block_unit(30, 5, "hard")
    x, y = hard + block_unit(30, 5, "x"), hard + block_unit(30, 5, "y") + 0.4
    mine = compared(mean_of("m", x.tolist()), mean_of("m", y.tolist()))
    assert mine.p is not None
    assert mine.p < 0.01
    assert stats.ttest_ind(x, y).pvalue > 0.3


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=9))
@settings(max_examples=20, deadline=None)
def test_a_run_against_itself_differs_by_nothing(parts: Parts) -> None:
    same = rates(parts, parts)
    assert (same.difference, same.p) == (0, 1 if len(parts) >= 6 else None)
    assert isinstance(same.interval, str)  # [0, 0] would claim what nobody can know
    assert same.interval.startswith("no session differs" if len(parts) > 1 else "one session")
    assert not same.pulls.any()
    assert same.detectable is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=10))
@settings(max_examples=25, deadline=None)
def test_the_other_way_round_only_signs_change(pairs: list[tuple[int, int]]) -> None:
    a, b = [(x, 10) for x, _ in pairs], [(y, 10) for _, y in pairs]
    there, back = rates(a, b), rates(b, a)
    assert there.p == back.p
    assert there.difference is not None
    assert back.difference == -there.difference
    assert there.p is not None
    assert 1 / 2 ** len(pairs) <= there.p <= 1


def test_the_least_p_of_six_sessions_that_all_say_the_same() -> None:
    assert rates([(0, 1)] * 6, [(1, 1)] * 6).p == 2 / 2**6


def test_fewer_than_six_sessions_are_no_test_but_an_interval() -> None:
    few = rates([(1, 9), (2, 9), (0, 9)], [(4, 9), (2, 9), (1, 9)])
    assert few.p is None
    assert few.no_test == "3 sessions: a test needs 6"
    assert few.detectable is None
    assert isinstance(few.interval, Interval)
    assert few.interval.few


def test_one_session_is_a_difference_and_no_more() -> None:
    one = rates([(1, 2)], [(2, 2)])
    assert (one.difference, one.no_test) == (0.5, "1 session: a test needs 6")
    assert isinstance(one.interval, str)


def test_a_side_without_a_figure_gives_no_difference() -> None:
    none = rates([(0, 0)] * 7, [(1, 2)] * 7)
    assert (none.first, none.second, none.difference, none.p) == (None, 0.5, None, None)
    assert none.no_test == "no figure on both sides"


def test_a_swap_that_leaves_a_side_without_figure_helps_nobody_to_significance() -> None:
    """Only one session has offers on each side: swapped, one side has none. It counts as extreme."""
    a: Parts = [(0, 1), *[(0, 0)] * 7]
    b: Parts = [(0, 0), (1, 1), *[(0, 0)] * 6]
    assert rates(a, b).p == 1


def test_what_a_session_pulls_is_what_goes_away_without_it() -> None:
    a, b = [(1.0, 10.0)] * 8, [(1.0, 10.0)] * 7 + [(9.0, 10.0)]
    found = rates(a, b)
    assert found.difference == pytest.approx(0.1)
    assert found.pulls[-1] == pytest.approx(0.1)  # without the last session the sides are alike
    assert found.pulls[:-1] == pytest.approx([0.1 - 8 / 70] * 7)


def test_what_would_have_been_seen_is_the_error_times_two_quantiles() -> None:
    x, y = block_unit(16, 9, "x"), block_unit(16, 9, "y")
    found = compared(mean_of("m", x.tolist()), mean_of("m", y.tolist()))
    error = (y - x).std(ddof=1) / 4
    assert found.detectable == pytest.approx(error * (stats.t.ppf(0.975, 15) + stats.t.ppf(0.8, 15)), rel=0.03)


def test_percentiles_can_be_compared_too() -> None:
    def p95(shift: float) -> Pooled:
        values = [np.array(1e9 * (1 + shift + block_unit(40, 6, s, shift > 0)), np.int64) for s in range(10)]
        return quantiles("latency", {"p95": Quantile(95, 1e6)}, values)[0]

    first, second = p95(0), p95(0.5)
    parts = first.parts() + second.parts()
    joined = first.of(parts)
    a, b = (Pooled("p95", joined.columns[half], joined.formula) for half in (slice(0, 10), slice(10, 20)))
    found = compared(a, b)
    assert found.difference == pytest.approx(500, rel=0.1)
    assert found.p == 2 / 2**10
    assert isinstance(found.interval, Interval)
    assert found.interval.low < 500 * 1.05
    assert found.interval.high > 500 * 0.95


def test_companion_seeds_of_a_session_are_one_cluster() -> None:
    group = Clusters.group([("u", f"d{i % 7}", f"s{i % 7}") for i in range(21)])
    x, y = np.repeat([1.0, 2.0], [10, 11]), np.repeat([2.0, 3.0], [10, 11])

    def one(values: Floats) -> list[Pooled]:
        return [mean_of("m", values.tolist())]

    (found,) = differences(one(x), one(y), group)
    assert found.by_cluster.shape == (2, 7)
    assert found.p == 2 / 2**7


def test_percentiles_of_nothing_on_both_sides_give_no_difference() -> None:
    nothing = quantiles("latency", {"p95": Quantile(95, 1e6)}, [np.zeros(0, np.int64)] * 7)
    assert differences(nothing, nothing, clusters(7))[0].no_test == "no figure on both sides"
