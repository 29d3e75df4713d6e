from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.core.types import MS
from simulator.endpoint import limit as limits
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.limit import Limit
from simulator.sweep.leases import FOLDER, Leases, share_in
from simulator.timing.clock import pause, real_ns
from simulator.timing.meter import CallMeter
from tests.endpoint.asks import HI, choice
from tests.endpoint.faults import FaultServer

pytest.importorskip("fcntl", reason="places are shared by locks of POSIX systems")

SERVER = "http://models.example/v1"
HOLDER = """
import asyncio, sys
from pathlib import Path
from simulator.sweep.leases import Leases
print(asyncio.run(Leases(Path(sys.argv[1]), sys.argv[2], 2).take(2)), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _alone_again() -> Iterator[None]:
    yield
    share_in(None)


def test_there_are_so_many_places_for_all_and_each_can_be_given_back(tmp_path: Path) -> None:
    async def main() -> None:
        one, two = Leases(tmp_path, SERVER, 2), Leases(tmp_path, SERVER, 2)
        assert [await one.take(2), await two.take(2), await one.take(2), await two.take(2)] == [
            True,
            True,
            False,
            False,
        ]
        one.leave()
        assert await two.take(2)
        assert not await one.take(2)

    asyncio.run(main())


def test_servers_do_not_share_and_a_wider_limit_has_places_beyond(tmp_path: Path) -> None:
    async def main() -> None:
        narrow, wide = Leases(tmp_path, SERVER, 1), Leases(tmp_path, SERVER, 3)
        assert await narrow.take(1)
        assert [await wide.take(3) for _ in range(3)] == [True, True, False]
        assert await Leases(tmp_path, "http://other.example/v1", 1).take(1)

    asyncio.run(main())


def test_a_killed_process_gives_its_places_back_at_once(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path), SERVER], cwd=root, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        mine = Leases(tmp_path, SERVER, 2)
        assert asyncio.run(mine.take(2))
        assert not asyncio.run(mine.take(2))
    finally:
        holder.kill()
        holder.communicate()
    assert asyncio.run(mine.take(2))


def test_calls_of_several_clients_wait_for_each_other_and_the_wait_is_told(tmp_path: Path) -> None:
    """Two clients with a place of their own each, as two workers have them, and one between them."""
    first, second = Leases(tmp_path, SERVER, 1), Leases(tmp_path, SERVER, 1)
    made = iter([first, second])
    limits.share(lambda server, most: next(made))

    async def main() -> None:
        one, two = Limit(1, SERVER), Limit(1, SERVER)
        assert await one.enter() == 0
        waiting = asyncio.ensure_future(two.enter())
        await pause(30 * MS)
        assert not waiting.done()
        one.leave()
        assert 25 * MS < await waiting < 200 * MS
        two.leave()
        assert await one.enter() == 0

    asyncio.run(main())


def test_who_stops_waiting_for_a_shared_place_takes_none(tmp_path: Path) -> None:
    made = iter([Leases(tmp_path, SERVER, 1), Leases(tmp_path, SERVER, 1)])
    limits.share(lambda server, most: next(made))

    async def main() -> None:
        one, two = Limit(1, SERVER), Limit(1, SERVER)
        await one.enter()
        waiting = asyncio.ensure_future(two.enter())
        await pause(5 * MS)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        one.leave()
        assert await two.enter() == 0, "neither its own place nor the shared one was kept"

    asyncio.run(main())


def test_a_call_that_waited_for_other_workers_says_so_as_throttle(tmp_path: Path) -> None:
    async def main(server: FaultServer) -> None:
        asked = choice(server.url("ok"), concurrency=1)
        share_in(tmp_path)
        other = Leases(tmp_path / FOLDER, asked.base_url or "", 1)  # another worker's
        assert await other.take(1)
        meter = CallMeter()
        async with Endpoint(asked) as endpoint:
            call = asyncio.ensure_future(endpoint.chat(HI, meter=meter))
            await pause(40 * MS)
            assert not server.asked["ok"]
            other.leave()
            reply = await call
        assert reply.stamps.waited_ns >= 35 * MS
        assert meter.throttle_ns == reply.stamps.waited_ns

    with FaultServer() as server:
        asyncio.run(main(server))


def test_without_a_sweep_nothing_is_shared(tmp_path: Path) -> None:
    assert Limit(1, SERVER)._shared is None
    share_in(tmp_path)
    assert Limit(1, SERVER)._shared is not None
    assert Limit(1)._shared is None


def test_the_files_stay_open_from_unit_to_unit_and_go_with_the_sweep(tmp_path: Path) -> None:
    def n_open() -> int:
        return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0

    before = n_open()
    share_in(tmp_path / "a")
    for _ in range(5):
        Limit(3, SERVER)
    assert n_open() in (0, before + 3)
    share_in(tmp_path / "b")
    Limit(4, SERVER)
    share_in(None)
    assert n_open() == before


def test_a_free_place_costs_little(tmp_path: Path) -> None:
    share_in(tmp_path)

    async def main() -> float:
        limit, n = Limit(4, SERVER), 2000
        begun = real_ns()
        for _ in range(n):
            await limit.enter()
            limit.leave()
        return (real_ns() - begun) / n

    assert asyncio.run(main()) < 100_000, "ns a call"
