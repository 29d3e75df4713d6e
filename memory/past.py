"""What our memories share: each user's events and labels in order of arrival, from which all else can be rebuilt.

Forgetting, a corrected label and loading a stored memory are one thing: change the past, then replay it. No memory
has to know how to take something back out of its counts, vectors or clusters.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memory.wording import render_lines, within_budget
from simulator.core.errors import InputError
from simulator.core.files import json_lines
from simulator.core.types import Event, Label, MemoryItem

__all__ = ["CAPABILITIES", "Entry", "Remembered"]

CAPABILITIES: Mapping[str, Any] = {
    "as_of": "native",
    "isolation": "native",
    "mutates_past": False,
    "llm_per_write": False,
}


@dataclass(slots=True)
class Entry:
    """An event and what became known of it so far."""

    event: Event
    label: Label | None = None

    @property
    def known_ns(self) -> int:
        """When the newest piece of it became available."""
        return self.event.end_ns if self.label is None else max(self.event.end_ns, self.label.available_ns)


class Remembered:
    """Base of memories that live in this process. A subclass says what an event, a label and a fresh start mean to it.

    Asked with ``now_ns``, a memory answers from what was known by then, also when more was written since: decisions in
    flight read as of their start.
    """

    inline = True
    capabilities = CAPABILITIES
    heading = "From the user's past:"

    def __init__(self) -> None:
        self._past: dict[str, dict[str, Entry]] = {}
        self._early: dict[tuple[str, str], Label] = {}
        self._n: Counter[str] = Counter()

    # What a subclass does.

    def _observe(self, entry: Entry) -> None:
        """Take in an event without a label."""

    def _feedback(self, entry: Entry) -> None:
        """Take in the first label of an event taken in before."""

    def _clear(self, user: str) -> None:
        """Drop all that was made of a user's past."""

    # What the engine calls.

    async def observe(self, event: Event) -> None:
        """Take in a closed event; one that is already known is counted and left out."""
        entries = self._past.setdefault(event.user, {})
        if event.id in entries:
            self._n["duplicate_events"] += 1
            return
        entry = entries[event.id] = Entry(event)
        self._observe(entry)
        early = self._early.pop((event.user, event.id), None)
        if early is not None:
            await self.feedback(event, early)

    async def feedback(self, event: Event, label: Label) -> None:
        """Take in a label. One that comes before its event waits for it; a corrected one replaces the first."""
        entry = self._past.get(event.user, {}).get(event.id)
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
            How many events and labels are gone. What was made of them is rebuilt without them.
        """
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
        if n_gone:
            self._past[user] = kept
            self._replay(user)
        return n_gone + len(waiting)

    def stats(self) -> Mapping[str, int]:
        """Counts: events, labels, recalls, and how recalls fell short."""
        events = sum(len(e) for e in self._past.values())
        labels = sum(e.label is not None for entries in self._past.values() for e in entries.values())
        return {"events": events, "labels": labels, **dict(sorted(self._n.items()))}

    def render(self, items: Sequence[MemoryItem]) -> str:
        """Items as prompt text, one line each under a heading."""
        return render_lines(items, self.heading)

    def save(self, folder: Path) -> None:
        """Store the past as ``past.jsonl``, a line an event; nothing derived is stored."""
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "past.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for entries in self._past.values():
                for entry in entries.values():
                    file.write(json.dumps(asdict(entry), ensure_ascii=False, sort_keys=True) + "\n")

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
            past.setdefault(event.user, {})[event.id] = Entry(event, label)
        for user in self._past:
            self._clear(user)
        self._past = past
        self._early.clear()
        self._replay(*past)

    # For subclasses.

    def _replay(self, *users: str) -> None:
        """Make everything of these pasts anew: events in order of arrival, then labels as they became known."""
        for user in users:
            self._clear(user)
            entries = list(self._past.get(user, {}).values())
            for entry in entries:
                self._observe(Entry(entry.event))
            for entry in sorted((e for e in entries if e.label is not None), key=lambda e: e.known_ns):
                self._feedback(entry)

    def _answer(self, items: Sequence[MemoryItem], k: int, token_budget: int | None) -> list[MemoryItem]:
        """Cut to k and to the budget, and count how the answer fell short."""
        kept, left_out = within_budget(items, k, token_budget)
        self._n["recalls"] += 1
        self._n["over_budget"] += left_out
        if k > 0 and not kept:
            self._n["empty_return"] += 1
        elif len(kept) < k:
            self._n["short_return"] += 1
        return kept
