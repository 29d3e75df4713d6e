"""A plain, synchronous memory class as a memory: made in a thread of its own, where its methods run one at a time."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextvars import copy_context
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from memory.wording import PAST, render_lines
from simulator.core.errors import LostError
from simulator.core.traits import trait
from simulator.core.types import Event, Label, MemoryItem, Query

__all__ = ["OwnThread", "Threaded"]

T = TypeVar("T")
CLOSE_S = 4.0  # less than a run waits for a close
LOOK_S = 0.2
Job = tuple[Callable[[], Any], "Future[Any]"]


class OwnThread:
    """A thread that makes calls one after the other; begun with the first of them. It is a daemon: a call that never
    returns cannot keep the command from ending.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.begun = False

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Have a call made, after those before it."""
        if not self.begun:
            self.begun = True
            threading.Thread(target=_work, args=(self._jobs,), name="memory", daemon=True).start()
        future: Future[T] = Future()
        self._jobs.put((call, future))
        return future

    def wait(self, call: Callable[[], T]) -> T:
        """Have a call made, as from here, and wait for it; a signal is heard meanwhile, whatever the call does."""
        context = copy_context()
        future = self.submit(lambda: context.run(call))
        while not future.done():
            wait((future,), LOOK_S)
        return future.result()

    def end(self) -> None:
        """End it once the calls before this one have returned; a later call begins another."""
        if self.begun:
            self.begun = False
            self._jobs.put(None)


class Threaded:
    """Wraps an object whose ``observe``, ``feedback`` and ``recall`` are ordinary methods.

    One thread for all calls: libraries below such classes (SQLite handles, for one) often insist on it. A call that
    never returns keeps nobody from ending; until it does, later calls fail at once. Optional methods are passed on if
    the object has them; without ``render`` items become one line each.

    Args:
        plain: the object.
        own: the thread in which it was made; a new one by default.
    """

    inline = False

    def __init__(self, plain: Any, own: OwnThread | None = None) -> None:
        self._plain = plain
        self._own = own or OwnThread()
        self._stuck: Future[Any] | None = None
        self.capabilities: Mapping[str, Any] = trait(plain, "capabilities", {})
        self.noted: Iterable[str] = trait(plain, "noted", ())
        weakref.finalize(self, self._own.end).atexit = False  # one that was only looked at is never closed

    @property
    def plain(self) -> Any:
        """The object that is wrapped: faults name its class, not this one."""
        return self._plain

    async def observe(self, event: Event) -> None:
        """Take in a closed event."""
        await self._run(lambda: self._plain.observe(event))

    async def feedback(self, event: Event, label: Label) -> None:
        """Take in a label; nothing happens if the object has no use for labels."""
        await self._optional("feedback", event, label)

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The k best items for the query; what makes no list of them is handed on, for ``answered`` to tell."""
        found: Any = await self._run(lambda: self._plain.recall(query, k, token_budget))
        listed = isinstance(found, Iterable) and not isinstance(found, str | bytes | Mapping)
        items: list[MemoryItem] = list(found) if listed else found
        return items

    def render(self, items: Sequence[MemoryItem]) -> str:
        """Items as prompt text, in the object's own words if it has some; from here and not in its thread, where a
        write may be under way: it is called in a decision, on the loop, which waits for nobody.
        """
        if hasattr(self._plain, "render"):
            text = self._plain.render(items)
            if not isinstance(text, str):  # "None" in a prompt would be taken for the memory's words
                raise TypeError(f"render gives a {type(text).__name__}, not a text")
            return text
        return render_lines(items, PAST)

    async def maintain(self, now_ns: int) -> None:
        """Upkeep off the decision path, if the object knows any."""
        await self._optional("maintain", now_ns)

    async def forget(self, user: str, start_ns: int, end_ns: int) -> Any:
        """Forget a span of a user's past.

        Raises:
            NotImplementedError: the object cannot forget; to pretend would be worse. Likewise ``save`` and ``load``.
        """
        forget = self._needed("forget")
        return await self._run(lambda: forget(user, start_ns, end_ns))

    def stats(self) -> Mapping[str, Any]:
        """What the object tells of itself."""
        return self._at_once(lambda: dict(self._plain.stats())) if hasattr(self._plain, "stats") else {}

    def save(self, folder: Path) -> None:
        """Store what is remembered."""
        save = self._needed("save")
        self._at_once(lambda: save(folder))

    def load(self, folder: Path) -> None:
        """Read back what ``save`` stored."""
        load = self._needed("load")
        self._at_once(lambda: load(folder))

    def close(self) -> None:
        """Let the object close, in its thread, and end that once its current call returns; wait a little for it.

        Also behind a call that was given up: one that an interrupt cut off mostly returns, and who does not wait for
        the close leaves on a server what it would have removed.
        """
        close = trait(self._plain, "close")
        if not self._own.begun:
            if callable(close):
                close()
            return
        closed = self._own.submit(close) if callable(close) else None
        self._own.end()
        if closed is None:
            return
        lost = self._stuck is not None and not self._stuck.done()
        wait((closed,), CLOSE_S)
        if closed.done() or not lost:  # that a call never came back was told when it was given up
            closed.result(0)

    def _needed(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] | None = getattr(self._plain, name, None)
        if method is None:
            raise NotImplementedError(f"{type(self._plain).__name__} has no {name}()")
        return method

    async def _optional(self, name: str, *args: Any) -> None:
        if hasattr(self._plain, name):
            await self._run(lambda: getattr(self._plain, name)(*args))

    async def _run(self, call: Callable[[], T]) -> T:
        self._refuse_stuck()
        future = self._own.submit(call)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:  # a thread cannot be: it goes on, and no call behind it has an answer until then
            if not future.cancelled():
                self._stuck = future
            raise

    def _at_once(self, call: Callable[[], T]) -> T:
        """A call of a method that nobody awaits."""
        self._refuse_stuck()
        return self._own.wait(call)

    def _refuse_stuck(self) -> None:
        if self._stuck is not None and not self._stuck.done():
            raise LostError("an earlier call to the memory never came back")
        self._stuck = None


def _work(jobs: SimpleQueue[Job | None]) -> None:
    while (job := jobs.get()) is not None:
        call, future = job
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - handed to the caller, who awaits it
                future.set_exception(error)
        del job, call, future  # it holds nothing while it waits: a memory that nobody has any more ends it
