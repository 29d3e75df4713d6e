"""Calls made at the same time, and the time they take together when their time is replayed.

Real time needs no help: calls that overlap overlap. Replayed without waiting, a call only adds its recorded time to the
virtual time of the task that makes it; ``together`` sees to it that calls made side by side add the longest, no sum.
(A task group of one's own, or ``wait_for``, makes tasks whose virtual time does not come back to the one that waits.)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from simulator.core.protocols import Meter
from simulator.timing.meter import SilentMeter
from simulator.timing.tasks import task_group

__all__ = ["passed", "together", "virtual_now_ns"]

T = TypeVar("T")
virtual_now_ns: ContextVar[tuple[Any, int]] = ContextVar("proact_virtual_now", default=(None, 0))
"""Whose virtual time (a meter, or None), and how much of it has passed in this task."""


def passed(meter: Meter | None, took_ns: int, first_token_ns: int | None) -> None:
    """A call took so long: the task's virtual time goes on, and the meter is told when in it the call ended."""
    whose, now = virtual_now_ns.get()
    if whose is not meter:
        now = 0  # another decision's
    virtual_now_ns.set((meter, now + took_ns))
    if isinstance(meter, SilentMeter):
        meter.replayed(now + took_ns, None if first_token_ns is None else now + first_token_ns)


async def together(*calls: Callable[[], Awaitable[T]]) -> list[T]:
    """Make calls side by side; results in the order of the calls, whichever ends first.

    All come to their end, also where one fails: what they use and how long they take must not depend on which is first.

    Args:
        calls: what makes each call, such as ``partial(endpoint.chat, messages)``; they start in this order.

    Raises:
        Exception: what the first of them, in their order, raised.
    """
    results: list[Any] = [None] * len(calls)
    errors: dict[int, Exception] = {}
    ends: list[tuple[Any, int]] = []

    async def one(i: int, call: Callable[[], Awaitable[T]]) -> None:
        try:
            results[i] = await call()
        except Exception as error:  # noqa: BLE001 - it is raised below
            errors[i] = error
        ends.append(virtual_now_ns.get())

    async with task_group() as group:
        for i, call in enumerate(calls):
            group.start_soon(one, i, call)
    if ends:
        virtual_now_ns.set(max(ends, key=lambda end: end[1]))
    if errors:
        raise errors[min(errors)]
    return results
