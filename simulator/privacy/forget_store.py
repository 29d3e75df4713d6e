"""Forgetting a user's part of a memory's store: rows deleted from its journal, what was made of them thrown away."""

from __future__ import annotations

from pathlib import Path

from memory.journal import COUNTS, NAME, VECTORS, Journal
from simulator.privacy.items import Item, Unreached
from simulator.privacy.span import Span

__all__ = ["LOGS", "MADE_OF_STORE", "STORE", "plan_store"]

STORE = NAME
LOGS = (f"{NAME}-wal", f"{NAME}-shm")
"""Files of SQLite's beside it, which go with it."""
MADE_OF_STORE = (VECTORS, COUNTS)
"""Folders beside it, which go with what was forgotten: they are made anew."""
_EVER = 2**62


def plan_store(path: Path, user: str, span: Span) -> Item | None:
    """What of a store is the user's: of one in calendar time what lies in the stretch, of another all of it, since
    nobody can show when it was. Also what is left of an earlier call, whoever's it was.

    Args:
        path: ``journal.sqlite``.
        user: whose.
        span: when.

    Raises:
        InputError: it is no store, or damaged.
    """
    journal = Journal(path.parent, read_only=True, utc_anchor_ns=0)
    try:
        begin, end = -_EVER, _EVER
        if journal.clock == "utc":
            begin = begin if span.start_ns is None else span.start_ns
            end = end if span.end_ns is None else span.end_ns
        n_events, n_labels, texts = 0, 0, set[str]()
        for entry in journal.entries(user):
            event, label = entry.event, entry.label
            told = label is not None and begin <= label.available_ns < end
            if event.start_ns < end and event.end_ns > begin:
                n_events += 1
                texts.update(text for text in (event.title, event.summary) if text)
            elif not told:
                continue
            n_labels += label is not None
            if label is not None and label.query:
                texts.add(label.query)
        n_labels += sum(label.user == user and begin <= label.available_ns < end for label in journal.early())
        unfinished = journal.unfinished
    finally:
        journal.close()
    if not n_events + n_labels and not unfinished:
        return None

    def apply() -> list[Unreached]:
        written = Journal(path.parent, utc_anchor_ns=0)  # refused while another process writes it: then all of it stays
        try:
            written.forget(user, begin, end)
        finally:
            written.close()
        return (
            [] if written.left is None else [Unreached(path, f"deleted, but not yet out of its files: {written.left}")]
        )

    said = "what was forgotten earlier, out of its files"
    if n_events + n_labels:
        said = f"{_counted(n_events, 'remembered event')} and {_counted(n_labels, 'label')}"
    return Item("memory", path, said, apply, frozenset(texts))


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
