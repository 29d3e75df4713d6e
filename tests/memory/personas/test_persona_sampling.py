"""The choice of typical and different items against its definition, computed without any shortcut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.personas import picked_naively
from memory.embed import Floats
from memory.sampling import allot, pick, typicality
from simulator.core.rng import block_unit


def places(n: int, d: int, seed: int) -> tuple[Floats, Floats]:
    """Distances of made-up points to their mean, and of all pairs."""
    at = block_unit(n * d, seed, "places").reshape(n, d)
    return np.linalg.norm(at - at.mean(axis=0), axis=1), np.linalg.norm(at[:, None] - at[None], axis=2)


def test_the_weight_of_the_typical_is_a_constant_printed_as_a_power() -> None:
    assert typicality(1.06) == pytest.approx(0.5584, abs=5e-5)
    assert typicality(1.001) == pytest.approx(0.990, abs=5e-4)
    assert typicality(1.4) == pytest.approx(0.035, abs=5e-4)
    assert typicality(1.0) == 1.0


@pytest.mark.parametrize("scoring", ["paper", "code"])
@given(st.integers(1, 25), st.integers(1, 6), st.integers(0, 10**6), st.floats(1.0, 1.3))
def test_the_incremental_form_picks_the_same_items_in_the_same_order(
    scoring: str, n: int, d: int, seed: int, alpha: float
) -> None:
    to_centre, between = places(n, d, seed)
    ours = pick(to_centre, lambda i: between[i], n, alpha, scoring)
    assert ours == picked_naively(to_centre, between, n, alpha, scoring)
    assert sorted(ours) == list(range(n))


def test_both_scorings_by_hand() -> None:
    """Points 0, .1, 1, -1.2 on a line about 0, so the first one picked is 0.

    Then ``paper`` scores .5584 / (1 + d) + .8832 d for a distance d: .596, 1.162, 1.314; ``code`` .5584 / (1 + d) +
    .2208 d: .530, .500, .519. Beside 0 and -1.2, ``paper``: .508 + .4416 (.1 + 1.3) = 1.126 and .279 + .4416 (1 + 2.2)
    = 1.692.
    """
    at = np.array([0.0, 0.1, 1.0, -1.2])
    between = np.abs(at[:, None] - at[None, :])
    assert pick(np.abs(at), lambda i: between[i], 3, scoring="paper") == [0, 3, 2]
    assert pick(np.abs(at), lambda i: between[i], 2, scoring="code") == [0, 1]
    assert pick(np.abs(at), lambda i: between[i], 3, alpha=1.0) == [0, 1, 2]


def test_ties_go_to_the_earlier_item() -> None:
    assert pick(np.zeros(5), lambda _: np.zeros(5), 3) == [0, 1, 2]


def test_the_two_published_scorings_share_most_of_their_choice_and_not_all() -> None:
    """Published: 77 to 80 % of the items in common. A cluster whose points lie at all distances from its centre."""
    n, d = 200, 256
    centre, noise = block_unit(d, 1, "centre") - 0.5, block_unit(n * d, 2, "noise").reshape(n, d) - 0.5
    at = centre - np.log(block_unit(n, 3, "far"))[:, None] * noise
    at /= np.linalg.norm(at, axis=1, keepdims=True)
    between = np.linalg.norm(at[:, None] - at[None], axis=2)
    to_centre = np.linalg.norm(at - at.mean(axis=0), axis=1)
    paper, code = (set(pick(to_centre, lambda i: between[i], 120, scoring=s)) for s in ("paper", "code"))
    assert 0.7 <= len(paper & code) / 120 <= 0.85


def test_the_budget_of_items_goes_to_small_clusters_first() -> None:
    assert allot([2, 10, 100], 0.6, 1000) == [2, 10, 56]
    assert allot([2, 10, 100], 0.6, 12) == [2, 10, 12]
    assert allot([], 0.6, 12) == []
    assert allot([1, 1, 1], 0.1, 12) == [1, 1, 1]  # one each, or a cluster could not speak
