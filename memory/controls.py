"""Memories to compare with: what a memory is worth shows beside one that remembers nothing, the newest, or anything."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.base import memories
from memory.items import entry_item
from memory.past import Entry, Remembered
from simulator.core.rng import below
from simulator.core.types import Event, Label, MemoryItem, Query

__all__ = ["Labelled", "NoMemory", "RandomMemory", "RecencyMemory"]


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

    async def forget(self, user: str, start_ns: int, end_ns: int) -> int:
        """There is nothing to forget."""
        return 0

    def render(self, items: Sequence[MemoryItem]) -> str:
        """The empty string."""
        return ""


@dataclass(slots=True)
class _Known:
    """One user's labelled events in the order in which they became known."""

    since_ns: list[int] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


class Labelled(Remembered):
    """Base of controls that pick among a user's labelled events. Like ``rag`` they pass over assistance events: the
    need arose in the event before, and is told there.
    """

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, _Known] = {}

    def _feedback(self, entry: Entry) -> None:
        if entry.event.assistance:
            return
        known = self._known.setdefault(entry.event.user, _Known())
        place = bisect_right(known.since_ns, entry.known_ns)
        known.since_ns.insert(place, entry.known_ns)
        known.entries.insert(place, Entry(entry.event, entry.label))

    def _clear(self, user: str) -> None:
        self._known.pop(user, None)

    def known(self, user: str, now_ns: int) -> tuple[list[Entry], int]:
        """All labelled events of a user, and how many of them, from the first, were known by then; not copied."""
        known = self._known.get(user)
        return ([], 0) if known is None else (known.entries, bisect_right(known.since_ns, now_ns))


@memories.register("recency")
class RecencyMemory(Labelled):
    """The last k labelled events, whatever they were about; each counts the same."""

    heading = "The last things known of the user:"

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The newest first. With a budget, older ones may stand in for longer ones: it looks 3 k back."""
        query = self._as_of(query)
        entries, n = self.known(query.user, query.now_ns)
        wide = k if token_budget is None else 3 * k
        newest = (entries[place] for place in range(n - 1, max(n - wide, 0) - 1, -1))
        return self._answer([entry_item(entry, 1.0) for entry in newest], k, token_budget)


@memories.register("random")
class RandomMemory(Labelled):
    """Labelled events drawn by lot among all that were known; the same question at the same instant draws the same.

    Args:
        seed: of the run. The lot falls by seed, user, instant, app and title.
    """

    heading = "Some things known of the user:"

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self._seed = seed

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """Each of the events known by then is as likely as any other."""
        query = self._as_of(query)
        entries, n = self.known(query.user, query.now_ns)
        asked = (query.user, query.now_ns, query.app or "", query.title or "", query.text or "")
        wide = min(max(k, 0) if token_budget is None else 3 * max(k, 0), n)
        swapped: dict[int, int] = {}  # of a shuffle, only what was moved
        drawn = []
        for i in range(wide):
            j = i + below(n - i, self._seed, "memory random", *asked, i)
            drawn.append(entries[swapped.get(j, j)])
            swapped[j] = swapped.get(i, i)
        return self._answer([entry_item(entry, 1.0) for entry in drawn], k, token_budget)
