"""The window through which an agent reads memory: bound to one user and one instant, neither of which it can choose."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import overload

from memory.answered import check_items, class_of
from simulator.core.errors import ProactError
from simulator.core.protocols import Memory, Meter
from simulator.core.traits import MEMORYS
from simulator.core.types import Event, Label, MemoryItem, Query
from simulator.timing.meter import SilentMeter, charging

__all__ = ["NOTHING", "RECALLS", "CausalityError", "KnownLabels", "LabelBook", "NoMemoryView", "Recalls", "View",
           "mostly_empty"]  # fmt: skip

Known = tuple[Event, Label]


class CausalityError(ProactError):
    """A memory handed out something that nobody could know yet; ``n_items`` of them."""

    def __init__(self, memory: object, n_items: int) -> None:
        super().__init__(
            f"memory {class_of(memory)} recalled {n_items} item(s) with sources later than the moment of asking"
        )
        self.n_items = n_items


class LabelBook:
    """Labels by user, in the order in which they became known. Written by the engine, read through views.

    Lists only grow at their end (``forget`` replaces a list), so that a view can hold a list and a length and never
    has to copy.
    """

    def __init__(self) -> None:
        self._known: dict[str, list[Known]] = {}
        self._since_ns: dict[str, list[int]] = {}

    def add(self, event: Event, label: Label) -> None:
        """Take in a label at the time it became known.

        It counts as known from ``available_ns`` on, not before its event has closed, and not before those that came
        before it: the instants kept here never fall.
        """
        known = self._known.setdefault(event.user, [])
        since = self._since_ns.setdefault(event.user, [])
        known.append((event, label))
        known_ns = max(event.end_ns, label.available_ns)
        since.append(max(known_ns, since[-1]) if since else known_ns)

    def upto(self, user: str, now_ns: int) -> KnownLabels:
        """The labels of a user known by ``now_ns``, as a view that later labels do not enter."""
        since = self._since_ns.get(user)
        if not since:
            return KnownLabels([], 0)
        n = len(since) if since[-1] <= now_ns else bisect_right(since, now_ns)
        return KnownLabels(self._known[user], n)

    def forget(self, user: str, start_ns: int, end_ns: int) -> int:
        """Drop the labels of events that touch ``[start_ns, end_ns)`` or that became known in it; how many."""
        old = self._known.pop(user, [])
        self._since_ns.pop(user, None)
        for event, label in old:
            touches = event.start_ns < end_ns and event.end_ns > start_ns
            if not touches and not start_ns <= label.available_ns < end_ns:
                self.add(event, label)
        return len(old) - len(self._known.get(user, []))


class KnownLabels(Sequence[Known]):
    """The first ``n`` entries of a growing list, without a copy."""

    __slots__ = ("_list", "_n")

    def __init__(self, known: list[Known], n: int) -> None:
        self._list, self._n = known, n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> Known: ...
    @overload
    def __getitem__(self, index: slice) -> list[Known]: ...
    def __getitem__(self, index: int | slice) -> Known | list[Known]:
        if isinstance(index, slice):
            return [self._list[i] for i in range(*index.indices(self._n))]
        if not -self._n <= index < self._n:
            raise IndexError(index)
        return self._list[index % self._n]

    def __iter__(self) -> Iterator[Known]:
        for i in range(self._n):
            yield self._list[i]


RECALLS = ("recalls", "empty_return", "short_return")


class Recalls:
    """How often a memory was asked for items, and how its answers fell short, whosever memory it is.

    Attributes:
        n: recalls that brought an answer.
        empty: of these, those that brought nothing; ``short``: those that brought something, and fewer items than were
            asked for.
    """

    __slots__ = ("empty", "n", "short")

    def __init__(self) -> None:
        self.n = self.empty = self.short = 0

    def add(self, k: int, n_items: int) -> None:
        """Count an answer to a question for k items."""
        self.n += 1
        if n_items < k:
            if n_items:
                self.short += 1
            else:
                self.empty += 1

    def told(self) -> dict[str, int]:
        """The counts by the names that records and results have for them (``RECALLS``)."""
        return dict(zip(RECALLS, (self.n, self.empty, self.short), strict=True))


def mostly_empty(recalls: int, empty: int) -> str | None:
    """That a memory had nothing to say in most of its recalls, so that scores say little of it; None where it had.

    >>> mostly_empty(9, 5), mostly_empty(10, 5), mostly_empty(0, 0)
    ('recalled nothing in 5 of 9 recalls', None, None)
    """
    return f"recalled nothing in {empty} of {recalls} recalls" if 2 * empty > recalls else None


class View:
    """One user's memory as of ``now_ns``, for one decision; implements ``simulator.core.protocols.MemoryView``.

    Args:
        memory: where items come from.
        book: where labels come from.
        user: whose past.
        now_ns: the instant the decision starts.
        app: of the current window, like ``title`` and ``category``: what the memory is asked about.
        title: see ``app``.
        category: see ``app``.
        meter: of the decision; recall time goes to its stage ``retrieve``.
        counts: of all decisions; recalls are counted there.

    Attributes:
        labels: events whose label had become known by now, in the order in which they did.
        hits: items recalled so far in this decision.
        items: these items, for those who show what an offer stood on.
        recalls: how often the memory was asked.
    """

    __slots__ = ("_app", "_category", "_counts", "_memory", "_meter", "_title", "hits", "items", "labels", "now_ns",
                 "recalls", "user")  # fmt: skip

    def __init__(self, memory: Memory, book: LabelBook, user: str, now_ns: int, app: str | None, title: str | None,
                 category: str | None, meter: Meter, counts: Recalls | None = None) -> None:  # fmt: skip
        self._memory, self._meter, self._counts = memory, meter, counts
        self._app, self._title, self._category = app, title, category
        self.user, self.now_ns = user, now_ns
        self.labels: Sequence[Known] = book.upto(user, now_ns)
        self.hits = self.recalls = 0
        self.items: tuple[MemoryItem, ...] = ()

    async def recall(self, k: int = 5, *, token_budget: int | None = None, text: str | None = None) -> list[MemoryItem]:
        """The k items nearest to the current window (or to ``text``), best first.

        Raises:
            CausalityError: the memory returned an item from the future; counted as note ``memory_from_the_future``,
                one for each item, also when an agent catches the error.
            InputError: what it returned are no items, or a field of one is not of its kind.
            ProactError: the decision has ended; memory has gone on since, and this view has not.
        """
        if getattr(self._meter, "closed", False):
            raise ProactError("a memory view was read after its decision had ended")
        query = Query(self.user, self._app, self._title, self._category, self.now_ns, text)
        meter = self._meter if isinstance(self._meter, SilentMeter) else charging.get()
        asked_for = charging.set(meter)  # an embedder books its own time with it
        try:
            with self._meter.stage("retrieve"):
                items = await self._memory.recall(query, k, token_budget)
        except Exception as error:
            error.add_note(f"{MEMORYS}recall()")
            raise
        finally:
            charging.reset(asked_for)
        check_items(self._memory, items)
        late = 0
        for item in items:
            if item.latest_source_ns is None:
                self._meter.note("memory_items_unchecked")
            elif item.latest_source_ns > self.now_ns:
                late += 1
        if late:
            for _ in range(late):
                self._meter.note("memory_from_the_future")
            raise CausalityError(self._memory, late)
        self.recalls += 1
        if self._counts is not None:
            self._counts.add(k, len(items))
        self.hits += len(items)
        self.items = (*self.items, *items)
        count = getattr(self._meter, "hits", None)  # the engine's meter keeps it for the record; others need not
        if count is not None:
            count(len(items))
        return items

    def render(self, items: Sequence[MemoryItem]) -> str:
        """The items as a memory part of a prompt; empty string for none."""
        try:
            text = self._memory.render(items) if items else ""
            if not isinstance(text, str):  # "None" in a prompt would be taken for the memory's words
                raise TypeError(f"render gives a {type(text).__name__}, not a text")
            return text
        except Exception as error:
            error.add_note(f"{MEMORYS}render()")
            raise


class NoMemoryView:
    """What an agent without memory reads: no items and no labels."""

    labels: Sequence[Known] = ()

    async def recall(self, k: int = 5, *, token_budget: int | None = None, text: str | None = None) -> list[MemoryItem]:
        """Nothing."""
        return []

    def render(self, items: Sequence[MemoryItem]) -> str:
        """The empty string."""
        return ""


NOTHING = NoMemoryView()
