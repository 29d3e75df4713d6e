"""Memories to compare with: for now, the one that remembers nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory.base import memories
from simulator.core.types import Event, Label, MemoryItem, Query

__all__ = ["NoMemory"]


@memories.register("none")
class NoMemory:
    """Remembers nothing.

    ``inert``: the engine need not schedule writes for it.
    """

    inline = True
    inert = True
    capabilities: Mapping[str, Any] = {
        "as_of": "native",
        "isolation": "native",
        "mutates_past": False,
        "llm_per_write": False,
    }

    async def observe(self, event: Event) -> None:
        """Nothing."""

    async def feedback(self, event: Event, label: Label) -> None:
        """Nothing."""

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """No items, ever."""
        return []

    def render(self, items: Sequence[MemoryItem]) -> str:
        """The empty string."""
        return ""
