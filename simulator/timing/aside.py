"""Work on files, which holds up whoever waits for it: in a thread where the world moves on, at once where it waits.

A hop to a thread and back is two switches, and where every core is busy each of them waits for a core: two workers of a
sweep were 1.4 times as fast as one while their units hopped, and twice as fast without (``docs/decisions/013``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import ParamSpec, TypeVar

from anyio.to_thread import run_sync

__all__ = ["aside", "world_waits"]

P = ParamSpec("P")
T = TypeVar("T")

_waits = ContextVar("world_waits", default=False)


@contextmanager
def world_waits(waits: bool = True) -> Iterator[None]:
    """In the body, and in the tasks that it starts, time is computed and does not pass: nothing is done ``aside``."""
    before = _waits.set(waits)
    try:
        yield
    finally:
        _waits.reset(before)


async def aside(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Do what blocks without holding up a world that moves on.

    A scope that is cancelled meanwhile waits for its end: nobody closes the file that it is about.
    """
    if _waits.get():
        return work(*args, **named)
    return await run_sync(partial(work, *args, **named))
