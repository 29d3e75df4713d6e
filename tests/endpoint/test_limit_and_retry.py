from __future__ import annotations

import asyncio
from datetime import timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.types import MS, SECOND
from simulator.endpoint.limit import Limit
from simulator.endpoint.retry import YEAR_NS, asks_to_wait, backoff_ns, is_again, retry_after_ns
from simulator.timing.clock import pause, real_ns, utc_now


def test_statuses_that_may_pass_are_the_ones_of_the_list() -> None:
    assert [s for s in range(600) if is_again(s)] == [408, 409, 425, 429, 500, *range(502, 600)]


@given(st.integers(0, 40), st.integers(0, 2**31), st.text(max_size=5))
def test_the_wait_is_drawn_by_name_below_a_bound_that_doubles(attempt: int, seed: int, name: str) -> None:
    wait = backoff_ns(attempt, seed, name)
    assert 0 <= wait <= min(20 * SECOND, 500 * MS * 2**attempt)
    assert wait == backoff_ns(attempt, seed, name)


def test_many_clients_spread_over_the_whole_bound() -> None:
    waits = sorted(backoff_ns(1, 0, f"client {i}") for i in range(1000))
    assert waits[100] < 200 * MS
    assert waits[900] > 800 * MS


@pytest.mark.parametrize(
    ("said", "ns"),
    [
        ("2", 2 * SECOND),
        ("0.25", 250 * MS),
        ("-1", None),
        ("nan", None),
        ("soon", None),
        ("", None),
        ("inf", YEAR_NS),
        ("1e400", YEAR_NS),
        ("1" * 5000, YEAR_NS),
        ("1e9", YEAR_NS),
        ("Fri, 31 Dec 9999 23:59:59 GMT", YEAR_NS),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0),
    ],
)
def test_a_wait_that_is_asked_for_is_read(said: str, ns: int | None) -> None:
    assert retry_after_ns({"Retry-After": said}) == ns
    assert asks_to_wait({"Retry-After": said})
    assert not asks_to_wait({})


def test_a_date_is_a_wait_too_and_the_past_none() -> None:
    later = retry_after_ns({"Retry-After": format_datetime(utc_now() + timedelta(seconds=30), usegmt=True)})
    assert later is not None
    assert 28 * SECOND < later <= 30 * SECOND
    assert retry_after_ns({"Retry-After": format_datetime(utc_now() - timedelta(seconds=30), usegmt=True)}) == 0
    assert retry_after_ns({"Retry-After-Ms": "20", "Retry-After": "9"}) == 20 * MS
    assert retry_after_ns({}) is None


def test_a_429_halves_once_for_all_calls_that_began_before_it() -> None:
    limit = Limit(8)
    began = real_ns()
    limit.was_limited(began, 0)
    limit.was_limited(began, 0)
    assert limit.now == 4
    limit.was_limited(real_ns(), 0)
    assert (limit.now, limit.n_limited) == (2, 3)
    for _ in range(5):
        limit.was_limited(real_ns(), 0)
    assert limit.now == 1, "one call is always allowed"


def test_a_round_of_good_answers_gives_one_place_back() -> None:
    limit = Limit(8)
    limit.was_limited(real_ns(), 0)
    for _ in range(4):
        limit.went_well()
    assert 4.8 < limit.now <= 5
    for _ in range(1000):
        limit.went_well()
    assert limit.now == 8


def test_places_are_given_in_the_order_of_asking_and_a_wait_is_told() -> None:
    async def main() -> None:
        limit, order = Limit(1), list[int]()
        assert await limit.enter() == 0

        async def call(i: int) -> int:
            waited = await limit.enter()
            order.append(i)
            limit.leave()
            return waited

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call(i)) for i in range(3)]
            await pause(10 * MS)
            limit.leave()
        assert order == [0, 1, 2]
        assert all(task.result() >= 5 * MS for task in tasks)

    asyncio.run(main())


def test_who_stops_waiting_takes_no_place() -> None:
    async def main() -> None:
        limit = Limit(1)
        await limit.enter()
        waiting = [asyncio.ensure_future(limit.enter()) for _ in range(3)]
        await pause(0)
        waiting[0].cancel()
        limit.leave()
        waiting[1].cancel()  # in the instant in which it is given the place
        await asyncio.wait_for(waiting[2], 1)
        limit.leave()
        assert await limit.enter() == 0
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)

    asyncio.run(main())


def test_all_wait_as_long_as_a_server_asks() -> None:
    async def main() -> None:
        limit = Limit(4)
        limit.was_limited(real_ns(), 30 * MS)
        begun = real_ns()
        assert await limit.enter() >= 25 * MS
        assert real_ns() - begun >= 29 * MS

    asyncio.run(main())
