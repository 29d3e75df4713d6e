from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.types import MS, SECOND
from simulator.timing.audit import JITTER_LIMIT_NS, LAG_LIMIT_NS, Audit, judge, percentile


def audit(**given: Any) -> Audit:
    figures: dict[str, Any] = {"wall_ns": 10 * SECOND, "agent_ns": 4 * SECOND, "lateness_ns": None, "lags_ns": [],
                               "overruns": 0, "guarded": 0, "moved": False, "reproducible": True}  # fmt: skip
    return judge(**{**figures, **given})


def test_a_held_run_tells_the_harness_share_and_no_jitter() -> None:
    found = audit()
    assert found.harness_share == 0.6
    assert found.release_jitter_p99_ns is None
    assert found.loop_lag_p99_ns is None
    assert found.valid
    assert found.reproducible


def test_a_paced_run_within_the_limits_is_valid() -> None:
    found = audit(lateness_ns=[JITTER_LIMIT_NS] * 100, lags_ns=[LAG_LIMIT_NS] * 100)
    assert found.valid
    assert found.harness_share is None, "waiting is not the harness's work"


@pytest.mark.parametrize(
    ("late", "lags", "says"),
    [
        ([JITTER_LIMIT_NS + 1] * 100, [], "release jitter p99"),
        ([0] * 98 + [SECOND] * 2, [], "release jitter p99 1000 ms is over 50 ms"),
        ([0] * 100, [LAG_LIMIT_NS + 1] * 100, "event loop lag p99"),
        ([0], [0] * 98 + [SECOND] * 2, "event loop lag p99 1000 ms is over 100 ms"),
    ],
)
def test_past_a_limit_a_run_is_invalid_with_the_reason(late: list[int], lags: list[int], says: str) -> None:
    found = audit(lateness_ns=late, lags_ns=lags)
    assert not found.valid
    assert says in found.invalid[0]
    assert found.as_dict()["valid"] is False
    assert found.as_dict()["invalid"] == list(found.invalid)


def test_one_late_release_in_a_hundred_is_forgiven() -> None:
    assert audit(lateness_ns=[0] * 99 + [SECOND], lags_ns=[0] * 99 + [SECOND]).valid


def test_both_reasons_are_given() -> None:
    assert len(audit(lateness_ns=[SECOND], lags_ns=[SECOND]).invalid) == 2


def test_a_guard_that_fired_makes_a_run_unreproducible_and_not_invalid() -> None:
    found = audit(guarded=1)
    assert not found.reproducible
    assert found.valid


@given(st.lists(st.integers(0, 100 * MS), min_size=1, max_size=300), st.integers(1, 100))
def test_a_percentile_is_the_least_value_that_enough_do_not_exceed(values: list[int], q: int) -> None:
    p = percentile(values, q)
    assert p in values
    assert sum(v <= p for v in values) * 100 >= q * len(values)
    assert sum(v < p for v in values) * 100 < q * len(values)
