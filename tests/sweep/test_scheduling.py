from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.sweep.scheduling import Schedule, wants_machine
from simulator.sweep.types import Cell, Needs, Task

CELL = Cell((("agent", "prior"),), {}, "default")
FAR, OTHER, HERE = "http://models.example/v1", "http://other.example/v1", "http://127.0.0.1:8080/v1"
SHARED, ALONE = Needs(), Needs(alone=True)


def task(key: str, needs: Needs = SHARED) -> Task:
    return Task(Path("s"), "run", key, Path("x"), CELL, 0, needs)


def begin(schedule: Schedule, n: int = 99) -> list[Task]:
    """All that may begin side by side, n at most."""
    begun: list[Task] = []
    while len(begun) < n and (found := schedule.next()) is not None:
        begun.append(found)
    return begun


def keys(tasks: list[Task]) -> str:
    return " ".join(t.key for t in tasks)


def test_tasks_that_share_begin_in_order_and_side_by_side() -> None:
    schedule = Schedule([task("a"), task("b"), task("c")])
    assert keys(begin(schedule, 2)) == "a b"
    assert keys(begin(schedule)) == "c"
    assert schedule.n_running == 3


def test_a_measured_task_runs_with_nothing_else_on_this_machine() -> None:
    schedule = Schedule([task("m", ALONE), task("a"), task("n", ALONE), task("b")])
    first = begin(schedule)
    assert keys(first) == "a b", "what shares goes first"
    schedule.ended(first[0])
    assert begin(schedule) == [], "one is still running"
    schedule.ended(first[1])
    (m,) = begin(schedule)
    assert m.key == "m"
    schedule.ended(m)
    assert keys(begin(schedule)) == "n"


def test_measured_tasks_follow_each_other_although_others_have_come() -> None:
    stream = iter([task("m", ALONE), task("n", ALONE), None, task("a")])
    schedule = Schedule(stream)
    (m,) = begin(schedule)
    schedule.ended(m)
    (n,) = begin(schedule)
    assert (m.key, n.key) == ("m", "n"), "the workers are emptied once for both"
    schedule.ended(n)
    assert keys(begin(schedule)) == "a"


def test_a_measured_task_has_its_server_for_itself_and_not_the_machine() -> None:
    measured = Needs(FAR, alone=True)
    schedule = Schedule([task("m", measured), task("x", Needs(FAR)), task("o", Needs(OTHER)), task("a"),
                         task("n", measured)])  # fmt: skip
    begun = begin(schedule)
    assert keys(begun) == "m o a"
    schedule.ended(begun[0])
    (x,) = begin(schedule)
    assert x.key == "x"
    assert begin(schedule) == [], "n would measure while x asks the same server"
    schedule.ended(x)
    assert keys(begin(schedule)) == "n"


def test_a_server_on_this_machine_is_measured_with_the_whole_machine() -> None:
    assert wants_machine(Needs(HERE, alone=True))
    assert not wants_machine(Needs(FAR, alone=True))
    assert not wants_machine(Needs(HERE))
    assert not wants_machine(Needs("http://[broken", alone=True))
    schedule = Schedule([task("m", Needs(HERE, alone=True)), task("a")])
    assert keys(begin(schedule)) == "a"


def test_no_more_tasks_ask_a_server_than_it_may_have_calls() -> None:
    schedule = Schedule([task(str(i), Needs(FAR, limit=2)) for i in range(4)] + [task("a")])
    begun = begin(schedule)
    assert keys(begun) == "0 1 a"
    schedule.ended(begun[0])
    assert keys(begin(schedule)) == "2"


def test_what_finishes_a_run_goes_before_what_has_waited() -> None:
    stream = iter([task("a"), task("b"), None, task("")])
    schedule = Schedule(stream)
    (a,) = begin(schedule, 1)
    schedule.ended(a)
    assert keys(begin(schedule)) == " b"


def test_a_lost_task_is_tried_once_more_before_others_and_then_given_up() -> None:
    schedule = Schedule([task("a"), task("b")])
    (a,) = begin(schedule, 1)
    assert schedule.lost(a)
    assert schedule.next() is a
    assert not schedule.lost(a)
    assert keys(begin(schedule)) == "b"
    assert schedule.n_running == 1


def test_a_worker_that_was_gone_before_it_looked_costs_no_chance() -> None:
    schedule = Schedule([task("a")])
    for _ in range(3):
        (a,) = begin(schedule)
        assert schedule.lost(a, blameless=True)
    (a,) = begin(schedule)
    assert schedule.lost(a)
    (a,) = begin(schedule)
    assert not schedule.lost(a)


def test_the_stream_is_asked_for_no_more_than_may_wait() -> None:
    asked = 0

    def stream() -> Iterator[Task]:
        nonlocal asked
        for i in range(100_000):
            asked += 1
            yield task(str(i))

    schedule = Schedule(stream(), ahead=10)
    assert asked == 0
    schedule.next()
    assert asked == 10
    schedule.next()
    assert asked == 11


def test_after_a_none_the_stream_is_asked_again_only_when_a_task_has_ended() -> None:
    asked: list[str] = []

    def stream() -> Iterator[Task | None]:
        for name in ("a", None, None, "b"):
            asked.append(str(name))
            yield None if name is None else task(name)

    schedule = Schedule(stream())
    (a,) = begin(schedule)
    assert schedule.next() is None
    assert asked == ["a", "None"]
    schedule.ended(a)
    with pytest.raises(RuntimeError, match="waits for the end of a task, and none runs"):
        begin(schedule)


NEEDS = st.sampled_from([SHARED, ALONE, Needs(FAR), Needs(FAR, alone=True), Needs(FAR, limit=2), Needs(OTHER, True),
                         Needs(HERE, alone=True), Needs(HERE, limit=1)])  # fmt: skip


@given(st.lists(st.one_of(st.none(), NEEDS), max_size=40), st.integers(1, 5), st.integers(1, 8), st.randoms())
def test_all_tasks_end_once_and_never_beside_what_they_must_not(
    wanted: list[Needs | None], workers: int, ahead: int, chance: object
) -> None:
    running: list[Task] = []
    ended: list[str] = []

    def stream() -> Iterator[Task | None]:
        for i, needs in enumerate(wanted):
            if needs is not None:
                yield task(str(i), needs)
            elif running:
                yield None

    schedule = Schedule(stream(), ahead=ahead)
    while True:
        while len(running) < workers and (found := schedule.next()) is not None:
            running.append(found)
            _check(running)
        if not running:
            break
        one = running.pop(chance.randrange(len(running)))  # type: ignore[attr-defined]
        if chance.random() < 0.2 and schedule.lost(one):  # type: ignore[attr-defined]
            continue
        if schedule.n_running > len(running):
            schedule.ended(one)
        ended.append(one.key)
    assert sorted(ended, key=int) == [str(i) for i, needs in enumerate(wanted) if needs is not None]


def _check(running: list[Task]) -> None:
    if any(wants_machine(t.needs) for t in running):
        assert len(running) == 1
    for server in (FAR, OTHER, HERE):
        there = [t.needs for t in running if t.needs.endpoint == server]
        assert len(there) <= 1 or not any(n.alone for n in there)
        limits = [n.limit for n in there if n.limit is not None]
        assert not limits or len(there) <= max(limits) or any(n.limit is None for n in there)
