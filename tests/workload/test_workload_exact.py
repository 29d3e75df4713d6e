"""The arithmetic of made-up data: known values, and the same on every machine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.workload.exact import cut_power_law, overlaps, pick, power, quantiles, summed


@pytest.mark.parametrize(
    ("base", "exponent", "value"),
    [(2.0, 10, 1024.0), (9.0, 0.5, 3.0), (16.0, 0.75, 8.0), (4.0, -1.5, 0.125), (7.0, 0, 1.0), (81.0, 0.25, 3.0)],
)
def test_powers_that_are_known(base: float, exponent: float, value: float) -> None:
    assert power(np.array([base]), exponent)[0] == value


@given(st.floats(0.001, 1000), st.floats(-8, 8))
def test_powers_are_those_of_the_library(base: float, exponent: float) -> None:
    assert power(np.array([base]), exponent)[0] == pytest.approx(base**exponent, rel=1e-5)


def test_quantiles_of_a_power_law_with_exponent_one_and_a_half_are_worked_out_by_hand() -> None:
    # On [1, 4]: F(x) = 2 (1 - x^-1/2), so the median is 1 / (1 - 1/4)^2 = 16/9.
    drawn = cut_power_law(np.array([0.0, 0.5, 0.75]), 1.5, 1.0, 4.0)
    assert drawn == pytest.approx([1.0, 16 / 9, 1 / 0.625**2])


def test_the_mean_of_that_law_is_the_geometric_mean_of_its_ends() -> None:
    u = (np.arange(1 << 18) + 0.5) / (1 << 18)
    assert cut_power_law(u, 1.5, 10.0, 1000.0).mean() == pytest.approx(100.0, rel=1e-3)


def test_a_law_given_by_pairs_is_straight_in_between() -> None:
    table = [(0.0, 3.0), (0.5, 13.0), (1.0, 113.0)]
    assert quantiles(np.array([0.0, 0.25, 0.5, 0.75]), table) == pytest.approx([3, 8, 13, 63])


_PARTS = st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any)


@given(_PARTS, _PARTS, st.floats(0, 1))
def test_two_cuts_of_a_circle_overlap_with_both_marginals_kept(a: list[int], b: list[int], turn: float) -> None:
    parts, others = np.array(a) / sum(a), np.array(b) / sum(b)
    joint = overlaps(parts, others, turn)
    assert joint.sum(axis=1) == pytest.approx(parts, abs=1e-9)
    assert joint.sum(axis=0) == pytest.approx(others, abs=1e-9)
    assert (joint >= 0).all()


def test_picks_follow_the_sums_and_never_take_what_has_no_share() -> None:
    sums = summed(np.array([0.0, 1.0, 0.0, 3.0, 0.0]))
    assert pick(sums, np.array([0.0, 0.2, 0.25, 0.9999999])).tolist() == [1, 1, 3, 3]
    rows = np.stack([sums, summed(np.array([1.0, 0, 0, 0, 0]))])
    assert pick(rows, np.array([0.3, 0.999])).tolist() == [3, 0]
