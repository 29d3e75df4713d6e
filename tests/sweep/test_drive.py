from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from simulator.core.errors import ProactError
from simulator.sweep.engines import Ended, drive
from simulator.sweep.types import Done, Stop, Task
from tests.sweep.fakeplay import tasks

NOWHERE = Path("nowhere")


class Told:
    """A pool that ends tasks as it was told: done, dead, stillborn; one after the other, the oldest first."""

    def __init__(self, *how: str, places: int = 1) -> None:
        self.how, self.places = list(how), places
        self.given: list[str] = []
        self.running: list[Task] = []
        self.closed: list[bool] = []

    def has_room(self) -> bool:
        return len(self.running) < self.places

    def give(self, task: Task) -> None:
        self.given.append(task.key)
        self.running.append(task)

    def wait(self) -> Sequence[Ended]:
        how = self.how.pop(0)
        if how == "nothing":
            return []
        if how == "hopeless":
            raise ProactError("no worker lives")
        task = self.running.pop(0)
        return [Ended(task, Done(task.run, task.key) if how == "done" else None, begun=how != "stillborn")]

    def close(self, *, now: bool) -> None:
        self.closed.append(now)


def run(pool: Told, *keys: str, stop: Stop | None = None) -> list[tuple[str, str]]:
    ended: list[tuple[str, str]] = []
    drive(pool, tasks(NOWHERE, *keys), lambda done: ended.append((done.key, done.kind)), stop or Stop())
    return ended


def test_a_pool_is_closed_in_peace_when_all_is_played() -> None:
    pool = Told("nothing", "done", "done")
    assert run(pool, "a", "b") == [("a", "done"), ("b", "done")]
    assert pool.closed == [False]


def test_a_death_is_tried_once_more_and_a_stillbirth_as_often_as_it_takes() -> None:
    pool = Told("dead", "stillborn", "stillborn", "dead", "done")
    assert run(pool, "a", "b") == [("a", "lost"), ("b", "done")]
    assert pool.given == ["a", "a", "a", "a", "b"]


def test_a_worker_that_dies_while_what_runs_comes_to_its_end_is_not_replaced() -> None:
    stop = Stop()

    class Drained(Told):
        def give(self, task: Task) -> None:
            super().give(task)
            stop.draining = True

    pool = Drained("dead")
    assert run(pool, "a", "b", stop=stop) == [("a", "interrupted")]
    assert pool.given == ["a"]
    assert pool.closed == [False]


def test_what_runs_at_the_second_ctrl_c_is_interrupted() -> None:
    pool, stop = Told("done", places=3), Stop()
    ended: list[tuple[str, str]] = []

    def done(one: Done) -> None:
        ended.append((one.key, one.kind))
        stop.draining = stop.now = True

    drive(pool, tasks(NOWHERE, "a", "b", "c", "d"), done, stop)
    assert ended == [("a", "done"), ("b", "interrupted"), ("c", "interrupted")]
    assert pool.closed == [True]


def test_where_no_worker_lives_the_rest_is_ended_and_the_reason_told() -> None:
    pool = Told("done", "hopeless")
    with pytest.raises(ProactError, match="no worker lives"):
        run(pool, "a", "b")
    assert pool.closed == [True]
