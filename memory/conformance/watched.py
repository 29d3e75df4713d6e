"""A memory that is tried, with each call noted while it is under way: which one did not come back can then be said."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from simulator.timing.clock import real_ns

__all__ = ["Underway", "Watched"]


class Underway:
    """The call that is being made, and since when; written by the thread that tries, read by the one that waits."""

    def __init__(self) -> None:
        self._call: tuple[str, int] | None = None

    @contextmanager
    def named(self, name: str) -> Iterator[None]:
        """Around one call."""
        self._call = (name, real_ns())
        try:
            yield
        finally:
            self._call = None

    def longer_than(self, limit_ns: int) -> str | None:
        """The name of a call that has lasted longer than this; None if there is none."""
        call = self._call
        return call[0] if call is not None and real_ns() - call[1] > limit_ns else None


class Watched:
    """Passes everything on to a memory; an attribute that is a method is noted while it runs."""

    def __init__(self, memory: Any, underway: Underway) -> None:
        self._memory, self._underway = memory, underway

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._memory, name)
        if not inspect.ismethod(found) and not inspect.isfunction(found):
            return found
        return _noted(found, name, self._underway)


def _noted(call: Callable[..., Any], name: str, underway: Underway) -> Callable[..., Any]:
    if not inspect.iscoroutinefunction(call):

        def plain(*args: Any, **given: Any) -> Any:
            with underway.named(f"{name}()"):
                return call(*args, **given)

        return plain

    async def awaited(*args: Any, **given: Any) -> Any:
        with underway.named(f"{name}()"):
            return await call(*args, **given)

    return awaited
