"""What a check works with: memories made anew, a past to tell them, canaries, and the two ways a check may end."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar, cast

from memory.answered import no_items
from memory.base import made
from memory.conformance.watched import Underway, Watched
from simulator.core.protocols import Memory
from simulator.core.traits import trait
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query

__all__ = [
    "APPS",
    "FIGURES",
    "NEEDS",
    "USER",
    "Fault",
    "NotAsked",
    "Pairs",
    "Subject",
    "differing",
    "ensure",
    "items_of",
    "past",
    "query",
    "said",
]

T = TypeVar("T")
Pairs = Sequence[tuple[Event, Label]]

TITLES = (
    "Quarterly budget.xlsx",
    "asyncio guide — Local Docs",
    "会议记录 草稿",
    "train times Berlin",
    "main.py – parser",
)
APPS = ("libreoffice", "chromium", "wps", "chromium", "code")
NEEDS = ("Data Analysis", "Coding/Programming", "Translation", "Information Lookup", "Coding/Programming")
USER = "ada"
FIGURES = ("text", "score", "help", "intention", "query", "source_event_ids", "latest_source_ns")
_NEARLY = 1e-6
"""Scores and shares that differ by less are taken for equal: stores add up in an order of their own."""


class Fault(AssertionError):
    """A rule that is broken, as a sentence for whoever wrote the memory."""


class NotAsked(Exception):
    """A rule that does not apply; ``worth`` tells that the memory would be better if it did."""

    def __init__(self, why: str, *, worth: bool = False) -> None:
        super().__init__(why)
        self.worth = worth


def ensure(holds: object, sentence: str | None) -> None:
    """Raise a ``Fault`` with the sentence unless it holds (``assert`` is left out of optimised runs)."""
    if not holds:
        raise Fault(sentence)


def past(n: int = 40, user: str = USER, start_ns: int = 0, mark: str = "") -> list[tuple[Event, Label]]:
    """Events of 30 s, one after another from ``start_ns``; in every second one help was needed.

    Args:
        n: how many.
        user: whose.
        start_ns: where the first one begins.
        mark: a canary, put behind every title and question.
    """
    out = []
    for i in range(n):
        which = i % len(TITLES)
        begin = start_ns + i * 30 * SECOND
        title = f"{TITLES[which]}{mark}"
        event = Event(f"{user}-s1/{begin // (30 * SECOND)}", user, begin, begin + 30 * SECOND, APPS[which], title)
        if i % 2:
            question = f"please help with {TITLES[which]}{mark}"
            label = Label(event.id, user, True, event.end_ns, NEEDS[which], question)
        else:
            label = Label(event.id, user, False, event.end_ns)
        out.append((event, label))
    return out


def query(event: Event, now_ns: int, user: str = USER) -> Query:
    """The question that a run asks while the user is in the window of this event."""
    return Query(user, event.app, event.title, event.category, now_ns)


def said(item: MemoryItem) -> str:
    """All words of an item, for the search of canaries."""
    return f"{item.text} {item.query} {item.intention} {item.source_event_ids}"


def differing(one: Sequence[MemoryItem], other: Sequence[MemoryItem]) -> str:
    """In what two answers differ, in words; empty if they say the same. The order of items does not count: of what is
    equally near, a store may name any first.
    """
    if len(one) != len(other):
        return f"{len(one)} items against {len(other)}"
    pairs = list(zip(sorted(one, key=_place), sorted(other, key=_place), strict=True))
    return ", ".join(f for f in FIGURES if not all(_alike(getattr(a, f), getattr(b, f)) for a, b in pairs))


def _place(item: MemoryItem) -> tuple[str, list[str], float]:
    return item.text, list(item.source_event_ids), item.score


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, float | int) and isinstance(b, float | int):
        return abs(a - b) <= _NEARLY
    return bool(a == b)


def items_of(found: Any) -> list[MemoryItem]:
    """What a recall gave, if it is a list of items.

    Raises:
        Fault: it is something else.
    """
    said = no_items(found)
    ensure(said is None, said)
    return list(found)


class Subject:
    """The memory that is tried. One is made for each check and lives in one event loop.

    Args:
        make: makes a new, empty memory; a plain synchronous class is wrapped, and made, as a run would do it.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self._runner = asyncio.Runner()
        self._made: list[Any] = []
        self.underway = Underway()

    def memory(self) -> Memory:
        """A new one."""
        with self.underway.named("its constructor"):
            memory = made(self.make, self.make)
        self._made.append(memory)
        return cast(Memory, Watched(memory, self.underway))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Await something."""
        return self._runner.run(work)

    def close(self) -> None:
        """Let all memories go that were made."""
        for memory in self._made:
            self.let_go(memory, self.run)
        self._runner.close()

    @staticmethod
    def let_go(memory: Any, run: Callable[[Coroutine[Any, Any, Any]], Any] = asyncio.run) -> None:
        """Have a memory close; what it does then has no rule."""
        with contextlib.suppress(Exception):
            close = trait(memory, "close")
            ended = close() if close is not None else None
            if asyncio.iscoroutine(ended):
                run(ended)

    def filled(self, pairs: Pairs) -> Memory:
        """A new one that was told this past."""
        memory = self.memory()
        self.tell(memory, pairs)
        return memory

    def tell(self, memory: Memory, pairs: Pairs) -> None:
        """Tell a past as a run does: an event, then its label; upkeep at the end."""

        async def fill() -> None:
            for event, label in pairs:
                await memory.observe(event)
                await memory.feedback(event, label)
            if pairs:
                await self.upkeep(memory, pairs[-1][0].end_ns)

        self.run(fill())

    @staticmethod
    async def upkeep(memory: Any, now_ns: int) -> None:
        """The memory's ``maintain``, if it has one."""
        if hasattr(memory, "maintain"):
            await memory.maintain(now_ns)

    def ask(self, memory: Memory, asked: Query, k: int = 5, budget: int | None = None) -> list[MemoryItem]:
        """One recall.

        Raises:
            Fault: it gives something else than a list of items.
        """
        call = memory.recall(asked, k, budget)
        ensure(
            inspect.isawaitable(call), f"recall gives a {type(call).__name__}, not an awaitable of a list of MemoryItem"
        )
        return items_of(self.run(call))

    def ask_all(self, memory: Memory, pairs: Pairs, now_ns: int, user: str = USER) -> list[MemoryItem]:
        """What is recalled in the windows of the first five events together."""
        return [item for event, _ in pairs[:5] for item in self.ask(memory, query(event, now_ns, user), k=50)]

    def capability(self, key: str) -> Any:
        """What the memory declares of itself."""
        return getattr(self.memory(), "capabilities", {}).get(key)

    def has(self, memory: Any, name: str) -> bool:
        """Whether it has an optional method of its own; the thread around a plain class has them all."""
        return callable(trait(trait(memory, "plain", memory), name))
