"""A memory in plain, synchronous Python: for each application how often help was needed, and what was asked last."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memory.base import estimate_tokens, one_line
from simulator.core.types import Event, Label, MemoryItem, Query


class LastQuestion:
    """Keeps the labels of each user's applications; ordinary methods, so a run puts it in a thread of its own."""

    capabilities: Mapping[str, Any] = {"as_of": "native", "isolation": "native", "mutates_past": False}

    def __init__(self) -> None:
        self._known: dict[tuple[str, str | None], dict[str, Label]] = {}

    def observe(self, event: Event) -> None:
        """An event alone says nothing here."""

    def feedback(self, event: Event, label: Label) -> None:
        """Keep the label, known when its event has closed; a corrected one replaces the first."""
        label = replace(label, available_ns=max(event.end_ns, label.available_ns))
        self._known.setdefault((event.user, event.app), {})[event.id] = label

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """One item for the application in front, from what was known at ``query.now_ns``."""
        labels = [lb for lb in self._known.get((query.user, query.app), {}).values() if lb.available_ns <= query.now_ns]
        if not labels or k < 1:
            return []
        asked = [label for label in labels if label.help]
        text = f"In {one_line(query.app)} help was needed {len(asked)} of {len(labels)} times"
        newest = max(asked, key=lambda label: label.available_ns, default=None)
        if newest is not None and newest.query:
            text += f", last: “{one_line(newest.query)}”"
        item = MemoryItem(
            text=text,
            score=len(labels) / (len(labels) + 4),
            source_event_ids=tuple(label.event_id for label in labels[-5:]),
            latest_source_ns=max(label.available_ns for label in labels),
            intention=None if newest is None else newest.intention,
            help=len(asked) / len(labels),
            query=None if newest is None else newest.query,
            tokens=estimate_tokens(text),
        )
        return [item] if token_budget is None or item.tokens <= token_budget else []

    def render(self, items: Sequence[MemoryItem]) -> str:
        """One line an item."""
        return "\n".join(item.text for item in items)
