"""When personas are built anew, and from when they are seen: a matter of simulated time and of what is known."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory.entry import Entry
from memory.persona_build import Build

__all__ = ["KEPT", "Due", "Plan"]

KEPT = 3
"""Builds of a user that are kept: the newest, and those that decisions in flight may still read."""


@dataclass(frozen=True, slots=True)
class Due:
    """A rebuild from the first ``n`` labelled moments."""

    n: int
    due_ns: int
    visible_ns: int


@dataclass(slots=True)
class Plan:
    """A user's labelled moments in the order in which they became known, and when they are put into personas."""

    known: list[Entry] = field(default_factory=list)
    due: list[Due] = field(default_factory=list)
    builds: dict[int, Build] = field(default_factory=dict)
    latest_ns: int = -(2**63)
    settled: bool = False

    @property
    def n_last(self) -> int:
        """Moments of the last plan."""
        return self.due[-1].n if self.due else 0

    @property
    def n_new(self) -> int:
        """Moments since."""
        return len(self.known) - self.n_last

    @property
    def last_ns(self) -> int:
        """When the last one was due; before any, when the first moment became known."""
        return self.due[-1].due_ns if self.due else self.known[0].known_ns

    def add(self, entry: Entry) -> None:
        """Take in a moment, now that it is known."""
        self.known.append(entry)
        self.latest_ns = max(self.latest_ns, entry.known_ns)

    def plan(self, lag_ns: int) -> None:
        """All that is known is to be built, and seen after a time."""
        self.due.append(Due(len(self.known), self.latest_ns, self.latest_ns + lag_ns))

    def settle(self, now_ns: int) -> None:
        """All that is known is to be built, and seen at once: nobody waits for it before a run has begun."""
        self.settled = True
        if not self.known:
            return
        seen_ns = max(now_ns, self.latest_ns)
        self.due = [d for d in self.due if d.visible_ns < seen_ns]
        self.due.append(Due(len(self.known), seen_ns, seen_ns))

    def seen(self, now_ns: int) -> list[Due]:
        """The plans whose personas are seen by then, the newest first; no more than are kept."""
        newest = next((i for i in range(len(self.due), 0, -1) if self.due[i - 1].visible_ns <= now_ns), 0)
        return self.due[max(newest - KEPT, 0) : newest][::-1]
