"""What every memory must keep to, as tests that others can run on their own class.

::

    from tests.conformance.memory_conformance import MemoryConformance

    class TestMine(MemoryConformance):
        def make(self):
            return Mine()

Plain synchronous classes are welcome: they are wrapped as a run would wrap them. No plugin of pytest is needed. The
rules themselves are those of ``memory.conformance``, each a test of the same words; ``proact doctor memory`` runs them
too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from memory.base import made
from memory.conformance import CHECKS, Check, NotAsked, Subject, check, past, query
from simulator.core.protocols import Memory
from simulator.core.types import Event, Label, MemoryItem, Query

__all__ = ["MemoryConformance", "past", "query"]

T = TypeVar("T")


class MemoryConformance:
    """Subclass it, say how to ``make`` the memory, and let pytest collect the subclass."""

    def make(self) -> Any:
        """A new, empty memory."""
        raise NotImplementedError

    # For tests of one's own beside the rules.

    @staticmethod
    def run(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)

    def filled(self, pairs: list[tuple[Event, Label]]) -> Memory:
        memory = made(self.make, self.make)

        async def fill() -> None:
            for event, label in pairs:
                await memory.observe(event)
                await memory.feedback(event, label)
            await Subject.upkeep(memory, pairs[-1][0].end_ns)

        self.run(fill())
        return memory

    def ask(self, memory: Memory, asked: Query, k: int = 5, budget: int | None = None) -> list[MemoryItem]:
        return self.run(memory.recall(asked, k, budget))


def _test(rule: Check) -> Callable[[MemoryConformance], None]:
    def test(self: MemoryConformance) -> None:
        try:
            check(rule, self.make)
        except NotAsked as why:
            pytest.skip(str(why))

    test.__name__ = f"test_{rule.__name__}"
    test.__doc__ = rule.__doc__
    return test


for _rule in CHECKS:
    setattr(MemoryConformance, f"test_{_rule.__name__}", _test(_rule))
