"""One thread that does blocking work for an event loop, and may be left behind when that hangs."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["Worker"]

T = TypeVar("T")


class Worker:
    """Does pieces of work one after the other. A thread of its own, since a pool's is waited for at exit, and a screen
    that has stopped answering would keep the process for ever.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Let it be done; the result, or what it raised, comes to the running loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(way: Callable[[Any], None], what: Any) -> None:
            if not future.done():  # nobody waits any more
                way(what)

        def done() -> None:
            way: Callable[[Any], None] = future.set_result
            what: Any
            try:
                what = work()
            except Exception as error:  # noqa: BLE001  # whatever it is belongs to whoever waits
                way, what = future.set_exception, error
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, way, what)

        self._work.put(done)
        return future

    def close(self, last: Callable[[], object], wait_ns: int) -> None:
        """Let the thread end when it has done what it has, and this; waits for that, but not longer. Blocks."""

        def done() -> None:
            last()

        self._work.put(done)
        self._work.put(None)
        self._thread.join(wait_ns / 1e9)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()
