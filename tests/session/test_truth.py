"""How long a session really was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.session.truth import Gap, Truth, active_spans


@pytest.mark.parametrize(
    ("gaps", "spans"),
    [
        ([], [(0, 100)]),
        ([(10, 30), (20, 40)], [(0, 10), (40, 100)]),
        ([(10, 40), (20, 30)], [(0, 10), (40, 100)]),
        ([(-20, 10), (90, 150)], [(10, 90)]),
        ([(120, 150), (-9, -5)], [(0, 100)]),
        ([(-5, 200)], []),
    ],
)
def test_gaps_may_overlap_and_lie_outside(gaps: list[tuple[int, int]], spans: list[tuple[int, int]]) -> None:
    truth = Truth("s", "u", 100, gaps=tuple(Gap(a, b, "locked") for a, b in gaps))
    assert active_spans(truth) == spans
    assert truth.active_ns == sum(end - start for start, end in spans)


@given(st.lists(st.tuples(st.integers(-5, 25), st.integers(0, 12)), max_size=6))
def test_what_is_active_is_what_no_gap_covers(gaps: list[tuple[int, int]]) -> None:
    truth = Truth("s", "u", 20, gaps=tuple(Gap(a, a + n, "locked") for a, n in gaps))
    assert truth.active_ns == sum(1 for t in range(20) if not any(a <= t < a + n for a, n in gaps))
