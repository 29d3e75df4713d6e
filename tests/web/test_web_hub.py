"""Events to open pages: what is caught up, what is reset, and that no reader makes anything grow."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.types import MS
from simulator.timing.clock import pause
from simulator.web.hub import KEPT, PIECE, Hub
from simulator.web.place import Place
from simulator.web.server import Web


@asynccontextmanager
async def listening(url: str, **how: Any) -> AsyncIterator[AsyncIterator[tuple[str, str, Any]]]:
    async with aiohttp.ClientSession() as session, session.get(f"{url}api/events", **how) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/event-stream"

        async def events() -> AsyncIterator[tuple[str, str, Any]]:
            told: dict[str, str] = {}
            async for raw in response.content:
                name, _, value = raw.decode().rstrip("\n").partition(": ")
                if not name and told.get("event"):
                    yield told["event"], told["id"], json.loads(told["data"])
                    told = {}
                elif name:
                    told[name] = value

        yield events()


async def until(so: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not so():
            await pause(5 * MS)


@asynccontextmanager
async def serving(place: Place) -> AsyncIterator[str]:
    pages = Web(place)
    try:
        yield await pages.start()
    finally:
        await pages.stop()
        place.close()


async def test_a_page_hears_what_is_published_after_it_came(tmp_path: Path) -> None:
    place = Place([tmp_path])
    async with serving(place) as url:
        place.hub.publish("before", {})
        async with listening(url) as events:
            assert (await anext(events))[0] == "hello"
            place.hub.publish("decision", {"text": "one\nline: \u2028 two"})
            name, _, data = await anext(events)
    assert (name, data) == ("decision", {"text": "one\nline: \u2028 two"})


@pytest.mark.parametrize("way", ["header", "parameter"])
async def test_a_page_that_was_away_catches_up(tmp_path: Path, way: str) -> None:
    place = Place([tmp_path])
    async with serving(place) as url:
        seen = place.hub.publish("n", {"n": 0})
        for n in range(1, 4):
            place.hub.publish("n", {"n": n})
        how = {"headers": {"Last-Event-ID": seen}} if way == "header" else {"params": {"after": seen}}
        async with listening(url, **how) as events:
            got = [await anext(events) for _ in range(4)]
    assert [name for name, _, _ in got] == ["hello", "n", "n", "n"]
    assert [data["n"] for _, _, data in got[1:]] == [1, 2, 3]


@pytest.mark.parametrize("last", ["of-another-life-3", "nonsense", "-", "\u0663", "9" * 50])
async def test_a_page_of_an_earlier_server_is_told_to_ask_anew(tmp_path: Path, last: str) -> None:
    place = Place([tmp_path])
    async with serving(place) as url, listening(url, params={"after": last}) as events:
        assert (await anext(events))[0] == "reset"
        place.hub.publish("n", {})
        assert (await anext(events))[0] == "n"


async def test_a_page_that_missed_more_than_is_kept_is_told_to_ask_anew(tmp_path: Path) -> None:
    place = Place([tmp_path])
    async with serving(place) as url:
        seen = place.hub.publish("n", {})
        for n in range(KEPT + 1):
            place.hub.publish("n", {"n": n})
        async with listening(url, params={"after": seen}) as events:
            assert [(await anext(events))[0] for _ in range(2)] == ["hello", "reset"]
            place.hub.publish("n", {"n": "new"})
            assert (await anext(events))[2] == {"n": "new"}


@given(st.lists(st.integers(0, 40_000), max_size=60), st.integers(1, 20), st.integers(1000, 200_000))
def test_the_ring_never_holds_more_than_it_may(sizes: list[int], kept: int, kept_bytes: int) -> None:
    hub = Hub(kept, kept_bytes)
    for size in sizes:
        hub.publish("n", {"x": "y" * size})
        events, held = hub.held
        assert events <= kept
        assert held <= kept_bytes


def test_what_is_no_event_is_refused() -> None:
    hub = Hub()
    with pytest.raises(ValueError, match="plain word"):
        hub.publish("a\ndata: forged", {})
    with pytest.raises(ValueError, match="fetched, not told"):
        hub.publish("a", {"x": "y" * 200_000})
    with pytest.raises(ValueError, match="not JSON compliant"):
        hub.publish("a", {"x": float("nan")})


async def test_a_page_that_reads_nothing_makes_nothing_grow(tmp_path: Path) -> None:
    """A browser that was stopped: 60 MB are published to it; what is held for it is one piece and a socket's buffer."""
    place = Place([tmp_path])
    async with serving(place):
        ends = [socket.create_connection(("127.0.0.1", _port(place)), timeout=5) for _ in range(3)]
        try:
            for end in ends:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                end.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await until(lambda: place.hub.readers == 3)
            buffered = []
            for n in range(1200):
                place.hub.publish("big", {"n": n, "x": "y" * 50_000})
                await pause(0)
                buffered.append(sum(_buffered(place)))
            assert place.hub.readers == 3
            assert place.hub.held[1] <= 4_000_000
            assert max(buffered) <= 3 * 2 * (PIECE + 65_536)
        finally:
            for end in ends:
                end.close()


async def test_a_thousand_pages_that_come_and_go_leave_nothing(tmp_path: Path) -> None:
    place = Place([tmp_path])
    async with serving(place):
        for _ in range(1000):
            end = socket.create_connection(("127.0.0.1", _port(place)), timeout=5)
            end.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            end.close()
            await pause(0)

        def gone() -> bool:
            place.hub.publish("n", {})
            return place.hub.readers == 0 and _buffered(place) == []

        await until(gone)


async def test_more_pages_than_are_served_are_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.web.hub.READERS", 1)
    place = Place([tmp_path])
    async with serving(place) as url, listening(url) as events, aiohttp.ClientSession() as session:
        await anext(events)
        async with session.get(f"{url}api/events") as response:
            assert response.status == 503
            assert "too many" in (await response.json())["error"]


_SERVERS: dict[int, Web] = {}


@pytest.fixture(autouse=True)
def _known_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which server shows a place: tests look at its connections."""
    start = Web.start

    async def kept(self: Web, *args: Any, **how: Any) -> str:
        _SERVERS[id(self.place)] = self
        return await start(self, *args, **how)

    monkeypatch.setattr(Web, "start", kept)


def _port(place: Place) -> int:
    return _SERVERS[id(place)].port


def _buffered(place: Place) -> list[int]:
    """Bytes that wait in this process for each open connection."""
    runner = _SERVERS[id(place)]._runner
    assert runner is not None
    assert runner.server is not None
    return [one.transport.get_write_buffer_size() for one in runner.server.connections
            if isinstance(one.transport, asyncio.Transport)]  # fmt: skip
