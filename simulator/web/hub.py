"""Telling open pages what is new: server-sent events from one ring that all readers share.

A reader is a place in the ring and nothing else, so neither a slow one nor a dead one makes anything grow: what the
ring has let go of by the time a reader comes back for it is made good by one event ``reset``, upon which a page asks
for everything anew. Ids carry the hub's life, so that what a page remembers of an earlier server is told apart.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import Mapping
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

from aiohttp import web

from simulator.timing.clock import wall_ns

__all__ = ["Hub", "Told"]

KEPT = 512
KEPT_BYTES = 4_000_000
LARGEST = 128_000  # bytes of one event: what is larger is fetched, not told
PIECE = 64_000  # bytes handed to a connection at once: what a stuck reader can hold of this process's memory
READERS = 200
BEAT_S = 15.0
"""Between comments that keep a silent connection alive, and find a dead one."""
STUCK_S = 20.0
"""How long a reader may take what it was sent."""
RETRY_MS = 1000


class Told(NamedTuple):
    """An event as it goes out."""

    n: int
    frame: bytes


class Hub:
    """Events for open pages.

    Args:
        kept: how many events a page that was away can catch up with.
        kept_bytes: how much of them at most.
    """

    def __init__(self, kept: int = KEPT, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept, self._kept_bytes = kept, kept_bytes
        self._ring: deque[Told] = deque()
        self._bytes = 0
        self._n = 0
        self._life = f"{wall_ns():x}-{os.getpid():x}"
        self._lock = Lock()
        self._bells: dict[asyncio.AbstractEventLoop, set[asyncio.Event]] = {}
        self._rung: set[asyncio.AbstractEventLoop] = set()
        self._closed = False

    @property
    def readers(self) -> int:
        """How many pages are listening."""
        with self._lock:
            return sum(map(len, self._bells.values()))

    @property
    def held(self) -> tuple[int, int]:
        """Events in the ring, and their bytes."""
        return len(self._ring), self._bytes

    def publish(self, event: str, data: Mapping[str, Any]) -> str:
        """Tell every open page; from any thread, never waits. Returns the event's id.

        Args:
            event: a word such as ``decision``; pages listen for it by that name.
            data: JSON-ready.

        Raises:
            ValueError: the event's name is no plain word, or the data are larger than 128 kB.
        """
        if not event.isidentifier():
            raise ValueError(f"the name of an event must be a plain word, not {event!r}")
        said = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        if len(said) > LARGEST:
            raise ValueError(f"an event of {len(said)} bytes: over {LARGEST} are fetched, not told")
        with self._lock:
            self._n += 1
            id_ = f"{self._life}-{self._n}"
            frame = f"id: {id_}\nevent: {event}\ndata: {said}\n\n".encode()
            self._ring.append(Told(self._n, frame))
            self._bytes += len(frame)
            while len(self._ring) > self._kept or self._bytes > self._kept_bytes:
                self._bytes -= len(self._ring.popleft().frame)
        self._wake()
        return id_

    def close(self) -> None:
        """End every reader's connection."""
        with self._lock:
            self._closed = True
        self._wake()

    def _wake(self) -> None:
        """One call a loop, however many read there and however quickly events follow each other."""
        with self._lock:
            loops = [loop for loop in self._bells if loop not in self._rung]
            self._rung.update(loops)
        for loop in loops:
            try:
                loop.call_soon_threadsafe(self._ring_bells, loop)
            except RuntimeError:  # it is closed
                with self._lock:
                    self._bells.pop(loop, None)
                    self._rung.discard(loop)

    def _ring_bells(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            self._rung.discard(loop)
            bells = list(self._bells.get(loop, ()))
        for bell in bells:
            bell.set()

    def _after(self, n: int) -> tuple[bytes, int, bool]:
        """What was told after ``n``, a piece of it: frames, the number of the last one, and whether some is gone."""
        with self._lock:
            oldest = self._ring[0].n if self._ring else self._n + 1
            if n > self._n or n + 1 < oldest:
                return b"", self._n, True
            frames: list[bytes] = []
            size = 0
            for told in islice(self._ring, n + 1 - oldest, None):
                if frames and size + len(told.frame) > PIECE:
                    break
                frames.append(told.frame)
                size += len(told.frame)
        return b"".join(frames), n + len(frames), False

    def _start(self, last: str | None) -> int | None:
        """The number that a page has seen; None where it must ask for everything anew."""
        if not last:
            return self._n
        life, _, n = last.rpartition("-")
        return int(n) if life == self._life and n.isascii() and n.isdigit() and len(n) < 19 else None

    def _word(self, event: str, n: int) -> bytes:
        return f"id: {self._life}-{n}\nevent: {event}\ndata: {{}}\n\n".encode()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer ``GET /api/events``; ends when the page goes, gets stuck or the hub closes.

        The page's place comes from the header ``Last-Event-ID`` or, since a page that opens a new EventSource cannot
        send headers, from the parameter ``after``.
        """
        if self._closed or self.readers >= READERS:
            raise web.HTTPServiceUnavailable(text="too many pages are listening", headers={"Retry-After": "5"})
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        )
        bell, loop = asyncio.Event(), asyncio.get_running_loop()
        with self._lock:
            self._bells.setdefault(loop, set()).add(bell)
        try:
            await response.prepare(request)
            await self._tell(response, bell, request.headers.get("Last-Event-ID") or request.query.get("after"))
        except (ConnectionError, TimeoutError):
            if request.transport is not None:
                request.transport.abort()
        finally:
            with self._lock:
                bells = self._bells.get(loop, set())
                bells.discard(bell)
                if not bells:
                    self._bells.pop(loop, None)
        return response

    async def _tell(self, response: web.StreamResponse, bell: asyncio.Event, last: str | None) -> None:
        seen = self._start(last)
        head = f"retry: {RETRY_MS}\n\n".encode()
        if seen is None:
            seen = self._n
            head += self._word("reset", seen)
        else:
            head += self._word("hello", seen)
        await self._write(response, head)
        while not self._closed:
            bell.clear()
            frames, seen, lost = self._after(seen)
            if lost:
                frames = self._word("reset", seen)
            if frames:
                await self._write(response, frames)
                continue
            try:
                async with asyncio.timeout(BEAT_S):
                    await bell.wait()
            except TimeoutError:
                await self._write(response, b": still here\n\n")

    async def _write(self, response: web.StreamResponse, data: bytes) -> None:
        """Hand over, and wait until little of it is left in this process."""
        async with asyncio.timeout(STUCK_S):
            await response.write(data)
