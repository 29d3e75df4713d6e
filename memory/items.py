"""A past event as an item, in the words that every memory uses which recalls events one by one."""

from __future__ import annotations

from memory.past import Entry
from memory.wording import estimate_tokens, event_words, label_words, one_line
from simulator.core.types import MemoryItem

__all__ = ["entry_item"]


def entry_item(entry: Entry, score: float) -> MemoryItem:
    """What an event, its short description (where there is one) and its label say together."""
    event, label = entry.event, entry.label
    window, summary = event_words(event), one_line(event.summary)
    known = "the user was working with an assistant" if event.assistance else label_words(label)
    what = f" ({summary})" if summary and summary.casefold() not in window.casefold() else ""  # nothing told twice
    text = f"In {window}{what}: {known}"
    return MemoryItem(
        text=text,
        score=score,
        source_event_ids=(event.id,),
        latest_source_ns=entry.known_ns,
        intention=None if label is None else label.intention,
        help=None if label is None else float(label.help),
        query=None if label is None else label.query,
        tokens=estimate_tokens(text),
    )
