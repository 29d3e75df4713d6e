"""Intervals: as SciPy makes them, with the coverage they claim, and none where there is nothing to say."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scorers.pooling import Floats, Pooled, mean_of, over, ratio_of
from scorers.statistics import Clusters, Interval, bca, intervals
from scorers.statistics.resampling import drawn, flips, leave_one_out, tables, weighed
from simulator.core.rng import below, block_unit


def clusters(n: int) -> Clusters:
    return Clusters.group([("u", f"{i:04}", f"s{i:04}") for i in range(n)])


def interval(m: Pooled, seed: int = 0) -> Interval:
    found = intervals([m], clusters(len(m.columns)), seed)[m.metric]
    assert isinstance(found, Interval), found
    return found


def skewed(n: int, *names: str | int) -> Floats:
    return -np.log1p(-block_unit(n, 7, *names))  # exponential


@pytest.mark.parametrize("n", [8, 20, 60])
def test_the_interval_of_a_mean_is_that_of_scipy(n: int) -> None:
    x = skewed(n, "x", n)
    mine = interval(mean_of("m", x.tolist()))
    theirs = stats.bootstrap((x,), np.mean, n_resamples=40_000, method="BCa", rng=1)
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert mine.low == pytest.approx(theirs.confidence_interval.low, abs=0.03 * width)
    assert mine.high == pytest.approx(theirs.confidence_interval.high, abs=0.03 * width)
    assert mine.method == "BCa"


def test_the_interval_of_a_pooled_rate_is_that_of_scipy_over_whole_sessions() -> None:
    hits, needs = np.floor(6 * block_unit(25, 1, "h")), np.floor(9 * block_unit(25, 1, "n")) + 6
    mine = interval(ratio_of("r", list(zip(hits, needs, strict=True))))

    def pooled(h: Any, n: Any, axis: int = -1) -> Any:
        return h.sum(axis=axis) / n.sum(axis=axis)

    theirs = stats.bootstrap((hits, needs), pooled, paired=True, n_resamples=40_000, method="BCa",
                             rng=1).confidence_interval  # fmt: skip
    width = theirs.high - theirs.low
    assert mine.low == pytest.approx(theirs.low, abs=0.03 * width)
    assert mine.high == pytest.approx(theirs.high, abs=0.03 * width)


def test_from_the_same_resamples_bca_is_scipys_to_the_last_digit() -> None:
    x = skewed(15, "same")
    m = mean_of("m", x.tolist())
    (((sums,), metrics),) = tables(clusters(15), [m])
    replicates, without = weighed(drawn(15, 0), sums, metrics)["m"], leave_one_out(sums, metrics)["m"]
    bias = NormalDist().inv_cdf((replicates < x.mean()).mean())
    pulls = without.mean() - without
    acceleration = (pulls**3).sum() / (6 * (pulls**2).sum() ** 1.5)
    ends = [stats.norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z))) for z in stats.norm.ppf([0.025, 0.975])]
    low, high = np.quantile(replicates, ends)
    found = bca(float(x.mean()), replicates, without, clusters(15))
    assert isinstance(found, Interval)
    assert [found.low, found.high] == pytest.approx([low, high], rel=1e-5)


def test_nine_of_ten_and_more_intervals_hold_the_truth() -> None:
    """Means of 40 exponential values, truth 1: BCa claims 95 %, and for this case is known to give a little less."""
    weights, inside, n = drawn(40, 3, 2000), 0, 300
    group = clusters(40)
    for i in range(n):
        m = mean_of("m", skewed(40, "cover", i).tolist())
        (((sums,), metrics),) = tables(group, [m])
        found = bca(m.value, weighed(weights, sums, metrics)["m"], leave_one_out(sums, metrics)["m"], group)
        assert isinstance(found, Interval)
        inside += found.low <= 1 <= found.high
    assert 0.90 <= inside / n <= 0.98


def test_dependence_within_sessions_is_no_secret_to_the_interval() -> None:
    """Ten decisions a session that are all alike count as one: the interval is that of the sessions."""
    yes = np.floor(2 * block_unit(30, 5, "alike"))
    once = interval(ratio_of("r", [(y, 1) for y in yes]))
    ten_times = interval(ratio_of("r", [(10 * y, 10) for y in yes]))
    assert (once.low, once.high) == (ten_times.low, ten_times.high)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([(1, 2)], "one session"),
        ([(1, 1)] * 9, "no resample changes the figure"),
        ([(0, 3)] * 9, "no resample changes the figure"),
        ([(1, 2), *[(0, 0)] * 9], "34 % of resamples have no figure"),
        ([(0, 0)] * 9, "no figure"),
    ],
)
def test_where_sessions_say_nothing_there_is_no_interval_but_a_reason(parts: Any, reason: str) -> None:
    found = intervals([ratio_of("r", parts)], clusters(len(parts)))["r"]
    assert isinstance(found, str)
    assert found.startswith(reason)


def test_resamples_without_a_figure_are_left_out_and_counted() -> None:
    parts = [(1, 2), (0, 1), (2, 2), (1, 1), *[(0, 0)] * 8]
    found = interval(ratio_of("r", parts))
    assert 0.005 < found.undefined < 0.02  # (8/12)^12 is .8 %
    assert found.told()["undefined"] == pytest.approx(found.undefined, abs=1e-6)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)), min_size=2, max_size=12), st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_an_interval_lies_within_what_sessions_show(parts: list[tuple[int, int]], seed: int) -> None:
    found = intervals([ratio_of("r", parts)], clusters(len(parts)), seed)["r"]
    alone = [a / b for a, b in parts]
    if isinstance(found, Interval):
        assert min(alone) - 1e-5 <= found.low <= found.high <= max(alone) + 1e-5 * max(alone)
    else:
        assert max(alone) - min(alone) < 1e-12 or "figure" in found


def test_metrics_of_one_table_are_resampled_together() -> None:
    columns = np.stack([skewed(9, "a"), skewed(9, "b")], axis=1)
    a, b = (Pooled(name, columns, lambda s, i=i: s[..., i], "t") for i, name in enumerate("ab"))  # type: ignore[misc]
    both = Pooled("sum", columns, lambda s: s[..., 0] + s[..., 1], "t")
    figures: dict[str, Floats] = {}
    for (sums,), metrics in tables(clusters(9), [a, b, both]):
        figures |= weighed(drawn(9, 0), sums, metrics)
    assert np.allclose(figures["a"] + figures["b"], figures["sum"])


def test_weights_are_draws_of_whole_sessions_with_replacement() -> None:
    weights = drawn(12, 4, 500)
    assert (weights.sum(axis=1) == 12).all()
    assert weights.mean() == 1
    assert weights.var() == pytest.approx(11 / 12, abs=0.06)
    assert (drawn(12, 4, 100) == weights[:100]).all()


def test_draws_are_kept_and_nobody_can_change_them() -> None:
    assert drawn(12, 4) is drawn(12, 4)
    with pytest.raises(ValueError, match="read-only"):
        drawn(12, 4)[0, 0] = 7
    large = drawn(1100, 4, 1000)  # 1.1 million draws: made anew
    assert large is not drawn(1100, 4, 1000)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (10, 31), (40, 200), (40, 300), (3, 0)])
def test_a_product_in_portions_is_the_product(n: int, k: int) -> None:
    weights, columns = drawn(n, 0), block_unit(n * k, 0, "x").reshape(n, k)
    metrics = [
        Pooled("all", columns, lambda s: s.sum(axis=-1)),
        Pooled("rows", columns, lambda s: s[..., :1].sum(axis=-1)),
    ]
    found = weighed(weights, columns, metrics)
    assert np.allclose(found["all"], (weights @ columns).sum(axis=1), rtol=1e-12)
    assert len(found["rows"]) == len(weights)


@pytest.mark.parametrize(("value", "why"), [((3.0, 4.0), "no resample changes the figure"), ((1.0, 0.0), "no figure")])
def test_clusters_that_are_alike_say_so_without_resamples(value: tuple[float, float], why: str) -> None:
    found = intervals([ratio_of("m", [value] * 5)], clusters(5))["m"]
    assert isinstance(found, str)
    assert why in found


def test_few_clusters_are_swapped_in_every_way_many_at_random() -> None:
    every, exact = flips(3, 0)
    assert exact
    assert sorted(map(tuple, every.tolist())) == [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    some, exact = flips(100, 0, 4000)
    assert not exact
    assert some.shape == (4000, 100)
    assert set(some.ravel().tolist()) == {0, 1}
    assert abs(some.mean() - 0.5) < 0.003
    assert np.abs(np.corrcoef(some[:, :20].T) - np.eye(20)).max() < 0.07


def test_the_acceleration_of_a_mean_follows_its_skewness() -> None:
    right = interval(mean_of("m", skewed(30, "skew").tolist()))
    value = float(skewed(30, "skew").mean())
    assert right.high - value > value - right.low


def test_users_are_drawn_where_there_are_six_and_each_has_more_than_one_session() -> None:
    def of(n_users: int, each: int) -> Clusters:
        return Clusters.group([(f"u{u}", f"{u}/{s}", f"u{u}s{s}") for u in range(n_users) for s in range(each)])

    assert (of(6, 2).unit, len(of(6, 2))) == ("user", 6)
    assert (of(6, 1).unit, len(of(6, 1))) == ("session", 6)
    assert (of(3, 20).unit, len(of(3, 20))) == ("session", 60)
    assert (of(3, 20).n_users, of(6, 2).n_sessions) == (3, 12)
    shown = intervals([ratio_of("r", [(i, 9) for i in range(12)])], of(6, 2))["r"]
    assert isinstance(shown, Interval)
    assert (shown.told()["n_users"], shown.n_sessions) == (6, 12)


def test_the_interval_over_users_is_wider_where_people_differ() -> None:
    """Eight people, ten sessions each, all of the spread between people: drawing sessions would claim too much."""
    rates = [below(100, 3, u) / 100 for u in range(8)]
    m = ratio_of("r", [(rates[u], 1) for u in range(8) for _ in range(10)])
    users = intervals([m], Clusters.group([(f"u{u}", f"{u}.{s}", "") for u in range(8) for s in range(10)]))["r"]
    sessions = interval(m)
    assert isinstance(users, Interval)
    assert users.high - users.low > 2.5 * (sessions.high - sessions.low)


def test_an_interval_of_fewer_than_six_sessions_says_that_it_is_too_narrow() -> None:
    assert interval(ratio_of("r", [(1, 2), (1, 3), (0, 1)])).told()["few"] is True
    assert "few" not in interval(ratio_of("r", [(i, 9) for i in range(6)])).told()


def test_a_formula_without_figure_at_a_left_out_session_falls_back_to_percentiles() -> None:
    replicates = block_unit(1000, 0, "r")
    found = bca(0.5, replicates, np.array([0.4, math.nan]), clusters(2))
    assert isinstance(found, Interval)
    assert found.method == "percentile"
    assert found.low == pytest.approx(float(np.quantile(replicates, 0.025)), rel=1e-5)


def test_over_gives_nan_without_a_denominator() -> None:
    assert np.isnan(over(np.array([1.0]), np.array([0.0]))).all()


@pytest.mark.parametrize(("hits", "n"), [(5, 20), (8, 25), (12, 40), (20, 100)])
def test_where_resamples_tie_with_the_figure_half_of_them_lie_below_it_as_in_scipy(hits: int, n: int) -> None:
    x = np.array([1.0] * hits + [0.0] * (n - hits))
    mine = interval(mean_of("m", x.tolist()))
    theirs = stats.bootstrap((x,), np.mean, n_resamples=20_000, method="BCa", rng=1).confidence_interval
    assert [mine.low, mine.high] == pytest.approx([theirs.low, theirs.high], abs=1e-5)
