"""``window``: the last minutes, and what became known of them. The short-term memory to compare long ones with."""

from __future__ import annotations

from memory.base import memories
from memory.past import Entry, Remembered
from memory.wording import estimate_tokens, event_words, label_words
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query

__all__ = ["WindowMemory"]


@memories.register("window")
class WindowMemory(Remembered):
    """The events that ended in the last ``span_s`` seconds, newest first.

    Args:
        span_s: length of the window; 300 as in ProAgentBench.
    """

    heading = "A moment ago:"

    def __init__(self, span_s: float = 300.0) -> None:
        super().__init__()
        if not span_s > 0:
            raise ValueError("span_s must be above 0")
        self._span_ns = round(span_s * SECOND)

    def _observe(self, entry: Entry) -> None:
        # Twice the span is kept: a decision still in flight may ask as of a little while ago.
        entries = self._past[entry.event.user]
        oldest_ns = entry.event.end_ns - 2 * self._span_ns
        for key in list(entries):
            if entries[key].event.end_ns >= oldest_ns:
                break
            del entries[key]

    async def feedback(self, event: Event, label: Label) -> None:
        """Take in a label; one of an event that is out of the window already is counted and dropped."""
        entries = self._past.get(event.user, {})
        newest = next(reversed(entries.values()), None)
        if event.id not in entries and newest and event.end_ns < newest.event.end_ns - 2 * self._span_ns:
            self._n["labels_out_of_window"] += 1
            return
        await super().feedback(event, label)

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The newest k events of the window; the score falls from 1 (now) to 0 (a whole span ago)."""
        query = self._as_of(query)
        items: list[MemoryItem] = []
        for entry in reversed(self._past.get(query.user, {}).values()):
            age_ns = query.now_ns - entry.event.end_ns
            if 0 <= age_ns < self._span_ns:
                items.append(self._item(entry, age_ns, query.now_ns))
        items.sort(key=lambda item: -item.score)
        return self._answer(items, k, token_budget)

    def _item(self, entry: Entry, age_ns: int, now_ns: int) -> MemoryItem:
        event = entry.event
        label = entry.label if entry.label is not None and entry.label.available_ns <= now_ns else None
        known = "with an assistant" if event.assistance else label_words(label)
        text = f"{age_ns // SECOND} s ago, in {event_words(event)}: {known}"
        return MemoryItem(
            text=text,
            score=1.0 - age_ns / self._span_ns,
            source_event_ids=(event.id,),
            latest_source_ns=Entry(event, label).known_ns,
            intention=None if label is None else label.intention,
            help=None if label is None else float(label.help),
            query=None if label is None else label.query,
            tokens=estimate_tokens(text),
        )
