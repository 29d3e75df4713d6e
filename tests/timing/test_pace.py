"""How simulated time is tied to real time; the waits here are real, and short."""

from __future__ import annotations

import asyncio

from simulator.core.types import MS, SECOND
from simulator.timing.clock import pause, real_ns
from simulator.timing.kernel import Kernel, Priority
from simulator.timing.pace import Held, Paced


async def turn(pace: Paced, kernel: Kernel, n_in_flight: int = 0) -> int:
    """Real ns that the next turn takes."""
    begun = real_ns()
    assert await pace.turn(kernel, lambda: n_in_flight)
    return real_ns() - begun


def with_events(*instants_ns: int) -> Kernel:
    kernel = Kernel()
    for t in instants_ns:
        kernel.schedule(t, Priority.SNAPSHOT, t)
    return kernel


def test_a_held_world_never_waits() -> None:
    async def main() -> None:
        kernel = with_events(3600 * SECOND)
        begun = real_ns()
        assert await Held().turn(kernel, lambda: 1)
        kernel.pop()
        assert not await Held().turn(kernel, lambda: 0)
        assert real_ns() - begun < 50 * MS

    asyncio.run(main())


def test_a_completion_is_stamped_no_earlier_than_now_and_orders_by_its_own_seq() -> None:
    async def main() -> None:
        kernel, pace = with_events(0, 0), Paced()
        await turn(pace, kernel)
        kernel.skip_to(0)
        kernel.pop()
        kernel.pop()
        kernel.skip_to(SECOND)
        late = pace.real_ns(SECOND) - 5 * MS
        pace.post(kernel, late, "second", 2)
        pace.post(kernel, late, "first", 1)
        pace.post(kernel, pace.real_ns(SECOND + 7), "third", 0)
        assert [(kernel.pop(), kernel.now_ns - SECOND) for _ in range(3)] == [("first", 0), ("second", 0), ("third", 7)]

    asyncio.run(main())


def test_a_completion_ends_a_wait() -> None:
    async def main() -> None:
        kernel, pace = with_events(0, 10 * SECOND), Paced()
        await turn(pace, kernel)
        kernel.pop()

        async def post() -> None:
            await pause(10 * MS)
            pace.post(kernel, real_ns(), "answer", 0)

        task = asyncio.ensure_future(post())
        assert await turn(pace, kernel, 1) < SECOND
        assert kernel.pop() == "answer"
        assert 10 * MS <= kernel.now_ns < SECOND
        await task

    asyncio.run(main())


def test_when_nothing_is_scheduled_it_waits_for_what_is_in_flight_and_else_ends() -> None:
    async def main() -> None:
        kernel, pace = with_events(0), Paced()
        await turn(pace, kernel)
        kernel.pop()
        assert not await pace.turn(kernel, lambda: 0)
        asyncio.get_running_loop().call_later(0.01, pace.post, kernel, real_ns(), "answer", 0)
        assert await turn(pace, kernel, 1) >= 9 * MS

    asyncio.run(main())


def test_a_wait_is_shortened_once_and_only_while_idle() -> None:
    async def main() -> None:
        kernel, pace = with_events(0, 3 * SECOND, 3 * SECOND + 40 * MS), Paced(elastic=True, speed=10)
        await turn(pace, kernel)
        kernel.pop()
        idle = await turn(pace, kernel)
        assert 295 * MS <= idle < 900 * MS, "a tenth, though the wait looks up several times"
        kernel.pop()
        assert await turn(pace, kernel, n_in_flight=1) >= 38 * MS - (idle - 300 * MS), "one to one"

    asyncio.run(main())


def test_a_long_wait_ends_when_the_run_is_asked_to_stop() -> None:
    async def main() -> None:
        asked: list[bool] = []
        kernel, pace = with_events(0, 3600 * SECOND), Paced(asked_to_stop=lambda: bool(asked))
        await turn(pace, kernel)
        kernel.pop()
        asyncio.get_running_loop().call_later(0.02, asked.append, True)
        assert await turn(pace, kernel) < SECOND

    asyncio.run(main())


def test_lateness_is_told_of_releases_only() -> None:
    async def main() -> None:
        kernel, pace = with_events(0, 5 * MS), Paced()
        kernel.schedule(0, Priority.WORLD, None)
        kernel.schedule(2 * MS, Priority.COMPLETION, None)
        while kernel and await pace.turn(kernel, lambda: 0):
            kernel.pop()
        assert len(pace.lateness_ns) == 2
        assert min(pace.lateness_ns) >= 0

    asyncio.run(main())
