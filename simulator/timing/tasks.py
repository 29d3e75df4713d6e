"""Task groups that hand out the one error in them as itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup

__all__ = ["beside", "task_group"]


@asynccontextmanager
async def task_group() -> AsyncIterator[TaskGroup]:
    """An anyio task group; a lone error inside comes out as itself, not as a group of one."""
    try:
        async with anyio.create_task_group() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise _lone(errors) from errors


@asynccontextmanager
async def beside(*workers: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run workers beside the body; they are cancelled when it ends."""
    async with task_group() as group:
        for worker in workers:
            group.start_soon(worker)
        try:
            yield
        finally:
            group.cancel_scope.cancel()


def _lone(group: BaseExceptionGroup[BaseException]) -> BaseException:
    while len(group.exceptions) == 1:
        inner = group.exceptions[0]
        if not isinstance(inner, BaseExceptionGroup):
            return inner
        group = inner
    return group
