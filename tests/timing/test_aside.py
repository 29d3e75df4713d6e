"""What is done aside holds up no world that moves on, and costs no thread where the world waits."""

from __future__ import annotations

import asyncio
import threading

import pytest

from simulator.timing.aside import aside, world_waits
from simulator.timing.clock import yield_once
from simulator.timing.tasks import beside


async def _where() -> str:
    return await aside(lambda: threading.current_thread().name)


def test_a_world_that_moves_on_is_not_held_up() -> None:
    assert asyncio.run(_where()) != threading.current_thread().name


def test_in_a_world_that_waits_it_is_done_at_once() -> None:
    async def both() -> tuple[str, str, str]:
        with world_waits():
            inside, task = await _where(), await asyncio.create_task(_where())
        return inside, task, await _where()

    inside, task, after = asyncio.run(both())
    assert inside == task == threading.current_thread().name
    assert after != inside


def test_a_moving_world_within_a_waiting_one_moves() -> None:
    async def inner() -> str:
        with world_waits(), world_waits(False):
            return await _where()

    assert asyncio.run(inner()) != threading.current_thread().name


def test_who_is_cancelled_meanwhile_waits_for_its_end() -> None:
    begun, may_end = threading.Event(), threading.Event()
    ended: list[bool] = []

    def work() -> None:
        begun.set()
        ended.append(may_end.wait(5))

    async def cancelled() -> list[bool]:
        async with beside(lambda: aside(work)):
            while not begun.is_set():
                await yield_once()
            asyncio.get_running_loop().call_later(0.01, may_end.set)
        return list(ended)

    assert asyncio.run(cancelled()) == [True]


def test_where_the_work_fails_so_does_it() -> None:
    def fails() -> None:
        raise OSError("no such disk")

    for waits in (True, False):
        with world_waits(waits), pytest.raises(OSError, match="no such disk"):
            asyncio.run(aside(fails))
