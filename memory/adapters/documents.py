"""Labelled events as texts in a store of somebody else's, which ranks them; what items say of events is ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory.items import entry_item
from memory.past import Entry
from memory.wording import event_words, one_line, render_lines, within_budget
from simulator.core.types import Event, Label, MemoryItem, Query

__all__ = ["Document", "DocumentMemory"]


@dataclass(slots=True)
class Document:
    """An event with its label, the text that the store holds of it, and the store's own name for it."""

    entry: Entry
    text: str
    handle: Any = None

    @property
    def known_ns(self) -> int:
        """From when on it may be told."""
        return self.entry.known_ns


class DocumentMemory:
    """Base of adapters over stores that take a text and give the nearest ones.

    As ``rag`` does, it stores an event when it is known whether help was needed, and passes over work with an
    assistant: the need arose in the event before. A corrected label takes the place of the first; told twice is once.

    Args:
        template: ``window`` (default) stores app and title, which is what one is asked about, as ``rag`` does; ``fact``
            stores the whole sentence with need and question, and then short sentences (no help needed) are nearest.
    """

    capabilities: Mapping[str, Any] = {
        "as_of": "native",
        "isolation": "collection",
        "mutates_past": False,
        "llm_per_write": False,
    }
    heading = "Like moments of the user's past:"

    def __init__(self, template: str = "window") -> None:
        if template not in ("window", "fact"):
            raise ValueError("template must be window or fact")
        self._fact = template == "fact"
        self._documents: dict[str, dict[str, Document]] = {}

    # What a subclass does.

    def _add(self, user: str, document: Document) -> Any:
        """Put it into the user's collection; the store's name for it."""
        raise NotImplementedError

    def _remove(self, user: str, document: Document) -> None:
        """Take it out again."""
        raise NotImplementedError

    def _search(self, user: str, text: str, n: int, now_ns: int) -> Sequence[tuple[str, float]]:
        """Ids of events and their scores: the n nearest that were known at ``now_ns``."""
        raise NotImplementedError

    def _item(self, document: Document, score: float) -> MemoryItem:
        """What is told of a document that was found; the event and its label in our words."""
        return entry_item(document.entry, score)

    # What a run calls.

    def observe(self, event: Event) -> None:
        """Nothing yet: what was needed is not known."""

    def feedback(self, event: Event, label: Label) -> None:
        """Store the event with what became known of it."""
        if event.assistance:
            return
        documents = self._documents.setdefault(event.user, {})
        before = documents.get(event.id)
        if before is not None and before.entry.label == label:
            return
        entry = Entry(event, label)
        document = Document(entry, entry_item(entry, 0.0).text if self._fact else event_words(event))
        if before is not None:
            self._remove(event.user, before)
        document.handle = self._add(event.user, document)
        documents[event.id] = document

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The nearest by the store's own order; where it ties, the newest first."""
        documents = self._documents.get(query.user)
        if k < 1 or not documents:
            return []
        found = self._search(query.user, self._asked(query), max(4 * k, 20), query.now_ns)
        near = [(score, documents[one]) for one, score in found if one in documents]
        near = [pair for pair in near if pair[1].known_ns <= query.now_ns]
        near.sort(key=lambda pair: (-pair[0], -pair[1].known_ns, pair[1].entry.event.id))
        items = [self._item(document, score) for score, document in near]
        return within_budget(items, k, token_budget, self.heading)[0]

    def render(self, items: Sequence[MemoryItem]) -> str:
        """One line an item under a heading."""
        return render_lines(items, self.heading)

    def forget(self, user: str, start_ns: int, end_ns: int) -> int:
        """Remove the documents of events that touch the span, or whose label became known in it; how many."""
        documents = self._documents.get(user, {})
        gone = [
            one
            for one, d in documents.items()
            if (d.entry.event.start_ns < end_ns and d.entry.event.end_ns > start_ns)
            or (d.entry.label is not None and start_ns <= d.entry.label.available_ns < end_ns)
        ]
        for one in gone:
            self._remove(user, documents.pop(one))
        return len(gone)

    def _asked(self, query: Query) -> str:
        if query.text:
            return one_line(query.text, 2_000) or "nothing"
        window = event_words(Event("", query.user, 0, 0, query.app, query.title))
        return f"In {window}" if self._fact else window
