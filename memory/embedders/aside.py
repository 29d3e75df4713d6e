"""A memory whose embedder waits for a server, in a thread of its own, so that nobody else waits with it."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from simulator.core.protocols import Embedder, Memory
from simulator.core.traits import trait
from simulator.core.types import Event, Label, MemoryItem, Query
from simulator.endpoint.together import virtual_now_ns

__all__ = ["Aside", "embedded"]


def embedded(make: Callable[..., Any]) -> Callable[..., Any]:
    """What makes a memory, so that one whose embedder waits for a server gets a thread, and the embedder is closed with
    it, or at once where no memory came to be.
    """

    def made(**given: Any) -> Any:
        embedder = given.get("embedder")
        if embedder is None or trait(embedder, "inline", True):
            return make(**given)
        try:
            return Aside(make(**given), embedder)
        except BaseException:
            embedder.close()
            raise

    return made


class Aside:
    """Implements ``Memory``: each call runs in another thread's loop, with the caller's context (meter, open span, time
    passed in a cassette), one after the other. A call that is given up goes on until its server's time limit. Whatever
    else a memory has (``needs_upkeep``, ``noted``, ``parts``, …) is read of it as it is.

    Args:
        memory: asks the embedder whenever it likes, without awaiting anything.
        embedder: closed with it.
    """

    inline = False

    def __init__(self, memory: Memory, embedder: Embedder) -> None:
        self._memory, self._embedder = memory, embedder
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turn: asyncio.Lock | None = None
        self.capabilities: Mapping[str, Any] = trait(memory, "capabilities", {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # its own: not there yet while it is made
            raise AttributeError(name)
        return getattr(self._memory, name)

    @property
    def plain(self) -> Any:
        """The memory itself: faults name its class."""
        return trait(self._memory, "plain", self._memory)

    async def observe(self, event: Event) -> None:
        """Take in a closed event."""
        await self._run(lambda: self._memory.observe(event))

    async def feedback(self, event: Event, label: Label) -> None:
        """Take in a label."""
        await self._run(lambda: self._memory.feedback(event, label))

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The k best items for the query."""
        items: list[MemoryItem] = await self._run(lambda: self._memory.recall(query, k, token_budget))
        return items

    def render(self, items: Sequence[MemoryItem]) -> str:
        """Items as prompt text."""
        return self._memory.render(items)

    async def maintain(self, now_ns: int) -> None:
        """Upkeep, if the memory knows any."""
        upkeep = trait(self._memory, "maintain")
        if upkeep is not None:
            await self._run(lambda: upkeep(now_ns))

    async def forget(self, user: str, start_ns: int, end_ns: int) -> Any:
        """Forget a span of a user's past; the vectors kept by text go too.

        Raises:
            NotImplementedError: the memory cannot.
        """
        forget = trait(self._memory, "forget")
        if forget is None:
            raise NotImplementedError(f"{type(self.plain).__name__} has no forget()")
        return await self._run(lambda: forget(user, start_ns, end_ns))

    def stats(self) -> Mapping[str, Any]:
        """What the memory tells of itself, and the embedder's dimension once an answer told it: the header is written
        before, and has none.
        """
        told, dimension = trait(self._memory, "stats"), trait(self._embedder, "known_dimension")
        known = {} if dimension is None else {"embedder_dimension": dimension}
        return {**(told() if told is not None else {}), **known}

    async def close(self) -> None:
        """Close memory, embedder and thread."""
        close = trait(self._memory, "close")
        try:
            if close is not None:
                await self._run(close)
        finally:
            shut = trait(self._embedder, "close")
            if shut is not None:
                await asyncio.to_thread(shut)
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._loop = None

    async def _run(self, call: Callable[[], Awaitable[Any] | Any]) -> Any:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=_serve, args=(self._loop,), name="memory", daemon=True).start()
        value, passed = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._one(call), self._loop))
        virtual_now_ns.set(passed)
        return value

    async def _one(self, call: Callable[[], Awaitable[Any] | Any]) -> tuple[Any, Any]:
        if self._turn is None:
            self._turn = asyncio.Lock()
        async with self._turn:
            made = call()
            value = await made if inspect.isawaitable(made) else made
        return value, virtual_now_ns.get()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    with suppress(RuntimeError):
        loop.run_forever()
    loop.close()
