from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.errors import TimeError
from simulator.timing.kernel import Kernel, Priority

EVENTS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(Priority)), max_size=40)


@given(EVENTS)
def test_events_leave_by_instant_then_priority_then_order_of_scheduling(events: list[tuple[int, Priority]]) -> None:
    kernel = Kernel()
    for n, (t, priority) in enumerate(events):
        kernel.schedule(t, priority, n)
    left = []
    while kernel:
        which, n = kernel.pop_with_priority()
        left.append((kernel.now_ns, which, n))
    assert left == sorted((t, int(p), n) for n, (t, p) in enumerate(events))


def test_completion_comes_before_world_before_snapshot_before_timer() -> None:
    assert list(Priority) == [Priority.COMPLETION, Priority.WORLD, Priority.SNAPSHOT, Priority.TIMER]
    kernel = Kernel()
    for priority in reversed(Priority):
        kernel.schedule(7, priority, priority)
    assert [kernel.pop() for _ in Priority] == list(Priority)


def test_completions_of_one_instant_go_by_their_own_order_whichever_came_in_first() -> None:
    kernel = Kernel()
    kernel.schedule(5, Priority.COMPLETION, "snapshot 9", 9)
    kernel.schedule(5, Priority.COMPLETION, "snapshot 8", 8)
    assert [kernel.pop(), kernel.pop()] == ["snapshot 8", "snapshot 9"]


@given(EVENTS, st.integers(0, 10))
def test_time_only_moves_forward(events: list[tuple[int, Priority]], back: int) -> None:
    kernel = Kernel(3)
    for t, priority in events:
        kernel.schedule(t + 3, priority, None)
    now = kernel.now_ns
    while kernel:
        kernel.pop()
        assert kernel.now_ns >= now
        now = kernel.now_ns
        if back:
            with pytest.raises(TimeError, match=f"{back} ns in the past"):
                kernel.schedule(now - back, Priority.TIMER, None)


def test_the_present_is_not_the_past() -> None:
    kernel = Kernel(10)
    kernel.schedule(10, Priority.SNAPSHOT, "now")
    assert kernel.more_now()
    assert kernel.pop() == "now"
    assert not kernel.more_now()
    assert kernel.next_ns() is None


def test_time_is_skipped_only_over_emptiness() -> None:
    kernel = Kernel()
    kernel.schedule(10, Priority.SNAPSHOT, None)
    assert kernel.skip_to(9)
    assert not kernel.skip_to(10), "a snapshot of that very instant comes first"
    assert kernel.now_ns == 9
    with pytest.raises(TimeError):
        kernel.skip_to(8)


def test_an_instant_is_exact_after_a_day_of_tenths_of_seconds() -> None:
    kernel = Kernel()
    for _ in range(288_000):
        assert kernel.skip_to(kernel.now_ns + 100_000_000)
    assert kernel.now_ns == 28_800 * 10**9
