"""Draws by the block are the same everywhere, and spread as they should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.rng import below, block, block_below, block_unit, draw_u64

MASK = (1 << 64) - 1


def splitmix(state: int, count: int) -> list[int]:
    """SplitMix64 as its authors print it, one number at a time."""
    out = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        out.append(z ^ (z >> 31))
    return out


def test_splitmix_in_this_file_gives_the_numbers_its_authors_publish() -> None:
    # https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64, seed 1234567
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert splitmix(1234567, 4) == published


def test_a_block_is_splitmix_from_the_hash_of_its_names() -> None:
    assert block(1000, 7, "s", 3).tolist() == splitmix(draw_u64(7, "s", 3), 1000)


def test_known_answers_never_change() -> None:
    assert block(3, 0, "bootstrap").tolist() == [11626949229722802496, 6840106643140613419, 14499626455929799028]
    assert block_below(200, 8, 0, "bootstrap").tolist() == [126, 74, 157, 173, 134, 9, 67, 74]


@given(st.integers(1, 1 << 32), st.integers(0, 5))
def test_integers_below_n_map_as_one_draw_does(n: int, seed: int) -> None:
    drawn = block_below(n, 50, seed, "x")
    assert drawn.tolist() == [z * n >> 64 for z in splitmix(draw_u64(seed, "x"), 50)]
    assert 0 <= below(n, seed, "x") < n


@pytest.mark.parametrize("n", [0, -1, (1 << 32) + 1])
def test_a_range_that_cannot_be_drawn_from_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="from 1 to"):
        block_below(n, 3, 0, "x")


def test_a_shorter_block_begins_a_longer_one_and_no_draws_are_none() -> None:
    assert block(5, 1, "a").tolist() == block(9, 1, "a").tolist()[:5]
    assert block(0, 1, "a").size == 0 == block_unit(0, 1, "a").size


def test_blocks_are_uniform_and_those_of_other_names_are_unrelated() -> None:
    one, two = block_unit(100_000, 1, "a"), block_unit(100_000, 1, "b")
    counts = np.bincount((one * 20).astype(int), minlength=20)
    chi2 = float(((counts - 5000.0) ** 2 / 5000.0).sum())
    assert chi2 < 43.8  # 0.1 % point of 19 degrees of freedom
    assert abs(float(np.corrcoef(one, two)[0, 1])) < 0.0105  # 3.3 standard errors
    assert abs(float(np.corrcoef(one[1:], one[:-1])[0, 1])) < 0.0105
    assert 0 <= one.min() <= one.max() < 1
