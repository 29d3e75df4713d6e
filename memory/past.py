"""What our memories share: each user's events and labels in order of arrival, from which all else can be rebuilt.

Forgetting, a corrected label and loading a stored memory are one thing: change the past, then replay it. No memory
has to know how to take something back out of its counts, vectors or clusters.

A past of years lies in a store (``journal``) and is not fed again. A run reads it and never writes it: what comes up in
the run is kept in this process on top. Only who asks for it (``open_store(…, keep=True)``) writes on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from memory.entry import Entry
from memory.journal import Journal
from memory.wording import PAST, render_lines, within_budget
from simulator.core.errors import InputError
from simulator.core.files import json_lines
from simulator.core.types import Event, Label, MemoryItem, Query

__all__ = ["CAPABILITIES", "Entry", "Remembered"]

CAPABILITIES: Mapping[str, Any] = {
    "as_of": "native",
    "isolation": "native",
    "mutates_past": False,
    "llm_per_write": False,
}


class Remembered:
    """Base of memories that live in this process. A subclass says what an event, a label and a fresh start mean to it.

    Asked with ``now_ns``, a memory answers from what was known by then, also when more was written since: decisions in
    flight read as of their start.
    """

    inline = True
    capabilities = CAPABILITIES
    heading = PAST

    def __init__(self) -> None:
        self._past: dict[str, dict[str, Entry]] = {}
        self._early: dict[tuple[str, str], Label] = {}
        self._n: Counter[str] = Counter()
        self._arrived = 0
        self._journal: Journal | None = None
        self._keeps = False
        self._until_ns: int | None = None
        self._stored: dict[str, int] = {}  # users whose past lies in the store and not here, with the number of events

    @classmethod
    def header_facts(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """For a run's header: what the store holds, so that a run with another past is another run."""
        if not given.get("store"):
            return {}
        journal = Journal(Path(str(given["store"])), read_only=True, utc_anchor_ns=0)
        try:
            return {"store": journal.identity}
        finally:
            journal.close()

    # What a subclass does.

    def _observe(self, entry: Entry) -> None:
        """Take in an event without a label."""

    def _feedback(self, entry: Entry) -> None:
        """Take in the first label of an event taken in before."""

    def _clear(self, user: str) -> None:
        """Drop all that was made of a user's past."""

    def _adopt(self, journal: Journal) -> None:
        """Take over what a store holds of the users in ``_stored``; by default all is brought in and replayed."""
        users = list(self._stored)
        for user in users:
            self._bring(user)
        self._replay(*users)

    # What the engine calls.

    async def observe(self, event: Event) -> None:
        """Take in a closed event; one that is already known is counted and left out."""
        entries = self._past.setdefault(event.user, {})
        if event.id in entries or self._is_stored(event):
            self._n["duplicate_events"] += 1
            return
        if self._keeps and self._journal is not None:
            self._journal.observe(event)
        self._arrived += 1
        entry = entries[event.id] = Entry(event, n=self._arrived)
        self._observe(entry)
        early = self._early.pop((event.user, event.id), None)
        if early is not None:
            await self.feedback(event, early)

    async def feedback(self, event: Event, label: Label) -> None:
        """Take in a label. One that comes before its event waits for it; a corrected one replaces the first."""
        entry = self._past.get(event.user, {}).get(event.id)
        stored = self._in_store(event.user, event.id) if entry is None else None
        if stored is not None and stored.label == label:
            return
        if stored is not None:  # rare: it changes what the store says, so that past is from now on kept here
            self._bring(event.user)
            self._replay(event.user)
            entry = self._past[event.user][event.id]
        if self._keeps and self._journal is not None:
            self._journal.feedback(label)
        if entry is None:
            self._early[event.user, event.id] = label
            self._n["early_labels"] += 1
        elif entry.label is None:
            entry.label = label
            self._feedback(entry)
        elif entry.label != label:
            entry.label = label
            self._n["corrected_labels"] += 1
            self._replay(event.user)

    async def forget(self, user: str, start_ns: int, end_ns: int) -> int:
        """Forget the events of a user that touch ``[start_ns, end_ns)``, and labels that became known in it.

        Returns:
            How many events and labels are gone. What was made of them is rebuilt without them. Of a store that is
            written on, the rows are gone; where another process reads it, its file is finished by who writes it next.
        """
        if self._keeps and self._journal is not None:
            self._journal.forget(user, start_ns, end_ns)
        brought = self._bring(user)
        kept: dict[str, Entry] = {}
        n_gone = 0
        for key, entry in self._past.get(user, {}).items():
            if entry.event.start_ns < end_ns and entry.event.end_ns > start_ns:
                n_gone += 1
                continue
            if entry.label is not None and start_ns <= entry.label.available_ns < end_ns:
                entry.label = None
                n_gone += 1
            kept[key] = entry
        waiting = [
            key for key, label in self._early.items() if key[0] == user and start_ns <= label.available_ns < end_ns
        ]
        for early in waiting:
            del self._early[early]
        if n_gone or brought:
            self._past[user] = kept
            self._replay(user)
        return n_gone + len(waiting)

    def stats(self) -> Mapping[str, int]:
        """Counts: events, labels, and items that a budget left out; recalls are counted where they are asked for."""
        events = sum(len(e) for e in self._past.values())
        labels = sum(e.label is not None for entries in self._past.values() for e in entries.values())
        stored = {"stored_events": sum(self._stored.values())} if self._journal is not None else {}
        return {"events": events, "labels": labels, **stored, **dict(sorted(self._n.items()))}

    def open_store(self, folder: Path, *, utc_anchor_ns: int | None = None, keep: bool = False,
                   until_ns: int | None = None, identity: str | None = None) -> None:  # fmt: skip
        """Remember what a folder holds; for a memory that is still empty.

        Args:
            folder: where a journal lies, see ``memory.journal``.
            utc_anchor_ns: the UTC of time 0 here; None where no calendar is known.
            keep: write on in it; it is made if there is none. Else it stays as it is.
            until_ns: answer later questions as of this instant: a store may hold the very time that a run plays, and a
                frozen memory is not to learn of it. None for no such limit.
            identity: for a store that is only read: what it held when that was its identity, see ``Journal``.

        Raises:
            InputError: see ``Journal``, as for ``UsageError``.
        """
        self._journal = Journal(folder, read_only=not keep, utc_anchor_ns=utc_anchor_ns, identity=identity)
        self._keeps, self._arrived, self._until_ns = keep, self._journal.seq, until_ns
        self._stored = self._journal.sizes()
        self._early = {(label.user, label.event_id): label for label in self._journal.early()}
        try:
            self._adopt(self._journal)
        except BaseException:  # a damaged one is let go of at once: who holds it keeps others from forgetting in it
            self._journal.close()
            self._journal = None
            raise

    async def close(self) -> None:
        """Let go of the store, if there is one."""
        if self._journal is not None:
            self._journal.close()
            self._journal, self._stored, self._keeps = None, {}, False

    def _is_stored(self, event: Event) -> bool:
        return event.user in self._stored and self._journal is not None and self._journal.knows(event.user, event.id)

    def _in_store(self, user: str, event_id: str) -> Entry | None:
        if user not in self._stored or self._journal is None:
            return None
        return self._journal.find(user, event_id)

    def _bring(self, user: str) -> bool:
        """Bring a user's stored past into this process; whether there was one. It has to be replayed afterwards."""
        if self._stored.pop(user, None) is None or self._journal is None:
            return False
        here = self._past.get(user, {})
        self._past[user] = {e.event.id: e for e in self._journal.entries(user)} | here
        return True

    def render(self, items: Sequence[MemoryItem]) -> str:
        """Items as prompt text, one line each under a heading."""
        return render_lines(items, self.heading)

    def save(self, folder: Path) -> None:
        """Store the past as ``past.jsonl``, a line an event; nothing derived is stored."""
        for user in list(self._stored):
            self._bring(user)
            self._replay(user)
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "past.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for entries in self._past.values():
                for entry in entries.values():
                    said = {"event": asdict(entry.event), "label": entry.label and asdict(entry.label)}
                    file.write(json.dumps(said, ensure_ascii=False, sort_keys=True) + "\n")

    def load(self, folder: Path) -> None:
        """Replace what is remembered by what ``save`` stored.

        Raises:
            InputError: no such file, or a line that is not an event with its label.
        """
        path = folder / "past.jsonl"
        past: dict[str, dict[str, Entry]] = {}
        for number, raw in json_lines(path):
            try:
                event = Event(**raw["event"])
                label = None if raw["label"] is None else Label(**raw["label"])
            except (KeyError, TypeError) as error:
                want = "not an event with its label as a memory stores it"
                raise InputError(f"{path}, line {number}", want) from error
            past.setdefault(event.user, {})[event.id] = Entry(event, label, number)
        for user in [*self._past, *self._stored]:
            self._clear(user)
        self._past, self._stored = past, {}
        self._arrived = max((entry.n for entries in past.values() for entry in entries.values()), default=0)
        self._early.clear()
        self._replay(*past)

    # For subclasses.

    def _read_store(self, store: str, utc_anchor_ns: int | None, until_ns: int | None,
                    header_facts: Mapping[str, Any] | None) -> None:  # fmt: skip
        """Open the store that was named when this was made, if one was, as the header's facts say that it was then."""
        if store:
            identity = (header_facts or {}).get("store")
            self.open_store(Path(store), utc_anchor_ns=utc_anchor_ns, until_ns=until_ns, identity=identity)

    def _replay(self, *users: str) -> None:
        """Make everything of these pasts anew: events in order of arrival, then labels as they became known."""
        for user in users:
            self._clear(user)
            entries = list(self._past.get(user, {}).values())
            for entry in entries:
                self._observe(Entry(entry.event, n=entry.n))
            for entry in sorted((e for e in entries if e.label is not None), key=lambda e: e.known_ns):
                self._feedback(entry)

    def _as_of(self, query: Query) -> Query:
        """The question as it may be answered, see ``open_store``: what every ``recall`` begins with."""
        if self._until_ns is None or query.now_ns <= self._until_ns:
            return query
        return replace(query, now_ns=self._until_ns)

    def _answer(self, items: Sequence[MemoryItem], k: int, token_budget: int | None) -> list[MemoryItem]:
        """Cut to k and to the budget, which covers the heading too, and count what that left out."""
        kept, left_out = within_budget(items, k, token_budget, self.heading)
        self._n["over_budget"] += left_out
        return kept
