"""Burstiness and the power-law fit: samples of known laws, and SciPy's hand at the same sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, optimize, stats

from simulator.core import rng
from simulator.session.rhythm import PowerLaw, burstiness, power_law, times_between_s

Floats = NDArray[np.float64]


def uniform(n: int, name: str) -> Floats:
    return np.array([rng.unit(6, name, i) for i in range(n)])


def pareto(n: int, alpha: float, xmin: float = 1.0, name: str = "pareto") -> Floats:
    return np.asarray(xmin * (1 - uniform(n, name)) ** (-1 / (alpha - 1)))


def cut_pareto(n: int, alpha: float, xmin: float, xmax: float, name: str = "cut") -> Floats:
    s = 1 - alpha
    return np.asarray((xmin**s + uniform(n, name) * (xmax**s - xmin**s)) ** (1 / s))


def exponential(n: int, mean: float, name: str = "exponential") -> Floats:
    return np.asarray(-mean * np.log(1 - uniform(n, name)))


def test_burstiness_is_minus_one_for_a_clockwork_and_near_one_for_bursts() -> None:
    assert burstiness([0, 10, 20, 30]) == -1
    # 1, 1, 1 and 997: μ = 250, σ = √186003
    assert burstiness([0, 1, 2, 3, 1000]) == pytest.approx(0.266088, abs=1e-6)
    assert burstiness([1, 1, 1]) is None
    assert burstiness([1, 2]) is None


def test_burstiness_by_chance_is_near_zero() -> None:
    instants = np.cumsum(exponential(4000, 60)) * 1e9
    assert burstiness([int(t) for t in instants]) == pytest.approx(0, abs=0.03)


def test_the_order_of_instants_does_not_matter_and_late_ones_lose_nothing() -> None:
    late = 10**18  # a float of this size counts in steps of 128 ns
    assert times_between_s([late + 3, late, late + 1]).tolist() == [1e-9, 2e-9]


@pytest.mark.parametrize("alpha", [1.5, 2.0, 2.5, 3.5])
def test_the_exponent_of_a_power_law_is_recovered(alpha: float) -> None:
    fit = power_law(pareto(5000, alpha, 3.0), xmin=3.0)
    assert fit.exponent is not None
    assert fit.error == pytest.approx((alpha - 1) / math.sqrt(5000), rel=0.05), "(α - 1) / √n, equation 3.2"
    assert abs(fit.exponent - alpha) < 4 * (alpha - 1) / math.sqrt(5000)
    assert fit.llr_normalised is not None
    assert fit.llr_normalised > 3
    assert fit.p is not None
    assert fit.p < 1e-3


def test_the_fit_by_hand() -> None:
    fit = power_law([1, math.e, math.e**2, math.e**3], xmin=1, fewest=2)
    assert fit.exponent == pytest.approx(1 + 4 / 6), "1 + n / Σ ln(x / xmin)"
    assert fit.error == pytest.approx((4 / 6) / 2)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 2.2])
def test_the_exponent_of_a_cut_power_law_is_recovered(alpha: float) -> None:
    xmin, xmax = 5.0, 40_000.0
    u = uniform(4000, "cut-hard")
    samples = xmin * (xmax / xmin) ** u if alpha == 1 else cut_pareto(4000, alpha, xmin, xmax)
    fit = power_law(samples, xmin=xmin, xmax=xmax)
    assert fit.exponent is not None
    assert fit.error is not None
    assert fit.error < 0.03
    assert abs(fit.exponent - alpha) < 4 * fit.error


def test_a_law_taken_for_endless_is_steeper_than_the_cut_one() -> None:
    samples = cut_pareto(4000, 1.5, 5.0, 2000.0)
    endless, cut = power_law(samples, xmin=5.0), power_law(samples, xmin=5.0, cut=True)
    assert endless.exponent is not None
    assert cut.exponent is not None
    assert cut.xmax == samples.max()
    assert endless.exponent > cut.exponent + 0.08, "why the cut is there: 1.5 measured without it is not 1.5"


@pytest.mark.parametrize("cut", [False, True])
def test_exponential_times_prefer_the_exponential(cut: bool) -> None:
    fit = power_law(exponential(3000, 60), xmin=5.0, cut=cut)
    assert fit.llr_normalised is not None
    assert fit.llr_normalised < -5
    assert fit.llr is not None
    assert fit.llr < 0


def test_the_lower_end_is_found() -> None:
    law = pareto(3000, 2.5, 10.0)
    body = 10 * uniform(1500, "body")
    fit = power_law(np.concatenate([law, body]))
    assert fit.xmin is not None
    assert 9.5 < fit.xmin < 16, "from 10 on every end is right, below none"
    assert fit.exponent == pytest.approx(2.5, abs=0.12)
    assert fit.n == 4500
    assert fit.n_tail == pytest.approx(3000 * (fit.xmin / 10) ** -1.5, rel=0.1)


def test_the_lower_end_is_the_one_of_the_least_distance() -> None:
    samples = np.sort(np.concatenate([pareto(150, 2.2, 4.0), 4 * uniform(80, "low")]))

    def distance(xmin: float) -> float:
        tail = samples[samples >= xmin]
        return float(
            stats.kstest(tail, stats.pareto(b=len(tail) / np.log(tail / xmin).sum(), scale=xmin).cdf).statistic
        )

    fit = power_law(samples)
    best = min((float(x) for x in samples[: len(samples) - 49]), key=distance)
    assert fit.xmin == best
    assert fit.ks == pytest.approx(distance(best))


@pytest.mark.parametrize("xmax", [None, 900.0])
def test_scipy_finds_the_same_likelihoods(xmax: float | None) -> None:
    """Both laws are written out, normed by quadrature, and fitted by a general minimiser."""
    xmin, end = 2.0, math.inf if xmax is None else xmax
    tail = cut_pareto(400, 1.8, xmin, 900.0)

    def logs(kernel: Callable[[Any, float], Any], parameter: float) -> Floats:
        if xmax is None:
            area = xmin ** (1 - parameter) / (parameter - 1) if kernel is power else 1 / parameter
        else:
            area = sum(
                integrate.quad(lambda x: math.exp(kernel(x, parameter)), a, b, limit=200)[0]
                for a, b in ((xmin, 10.0), (10.0, 100.0), (100.0, end))
            )
        return np.asarray(kernel(tail, parameter) - math.log(area))

    def power(x: Any, a: float) -> Any:
        return -a * np.log(x)

    def decay(x: Any, r: float) -> Any:
        return -r * (x - xmin)

    a = optimize.minimize_scalar(lambda a: -logs(power, a).sum(), bounds=(1.01, 5), method="bounded").x
    r = optimize.minimize_scalar(lambda r: -logs(decay, r).sum(), bounds=(1e-4, 0.5), method="bounded").x
    each = logs(power, a) - logs(decay, r)
    z = each.sum() / (each.std() * math.sqrt(len(each)))
    fit = power_law(tail, xmin=xmin, xmax=xmax)
    assert fit.exponent == pytest.approx(a, abs=1e-4)
    assert fit.llr == pytest.approx(each.sum(), rel=1e-5)
    assert fit.llr_normalised == pytest.approx(z, rel=1e-4)
    assert fit.p == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-3)
    if xmax is None:
        assert fit.ks == pytest.approx(stats.kstest(tail, stats.pareto(b=a - 1, scale=xmin).cdf).statistic, abs=1e-4)


def test_what_cannot_be_fitted_says_why() -> None:
    assert power_law([]) == PowerLaw(n=0, n_tail=0, n_not_positive=0, reason="0 times in the tail, 50 needed")
    few = power_law([1.0] * 10 + [0.0, -1.0], xmin=0.5)
    assert (few.n, few.n_tail, few.n_not_positive, few.exponent) == (10, 10, 2, None)
    assert few.reason == "10 times in the tail, 50 needed"
    assert power_law([2.0] * 60, xmin=2.0).reason == "all times are equal"
    assert power_law([2.0] * 60).exponent is None


@pytest.mark.parametrize("ends", [{"xmin": 0.0}, {"xmin": 5.0, "xmax": 5.0}, {"cut": True, "xmax": 3.0}])
def test_ends_that_hold_no_law_are_refused(ends: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"power law begins|greatest sample"):
        power_law([1.0, 2.0], **ends)  # type: ignore[arg-type]


@given(st.lists(st.floats(1e-3, 1e7), min_size=2, max_size=80), st.booleans())
def test_any_samples_are_fitted_or_told_why_not(samples: list[float], cut: bool) -> None:
    fit = power_law(samples, cut=cut, fewest=2)
    assert fit.n == len(samples)
    assert fit.n_tail <= fit.n
    assert (fit.exponent is None) <= (fit.reason is not None)
    if fit.exponent is not None:
        assert math.isfinite(fit.exponent)
        assert fit.ks is not None
        assert 0 < fit.ks <= 1
        assert cut or fit.exponent > 1


@given(st.floats(0.01, 1000), st.integers(0, 50))
def test_another_unit_changes_neither_exponent_nor_preference(scale: float, start: int) -> None:
    samples = pareto(120, 1.7, name=f"unit{start}")
    one, other = power_law(samples, xmin=1.0, cut=True), power_law(samples * scale, xmin=scale * (1 - 1e-12), cut=True)
    assert other.exponent == pytest.approx(one.exponent, rel=1e-6)
    assert other.llr == pytest.approx(one.llr, rel=1e-5, abs=1e-6)


def test_a_law_that_rises_steeply_to_its_end_is_fitted_without_overflow() -> None:
    fit = power_law([1.0] * 2 + [100.0] * 3000, xmin=1.0, cut=True)
    assert fit.exponent is not None
    assert fit.exponent < -100
    assert fit.ks is not None
    assert 0 <= fit.ks <= 1
