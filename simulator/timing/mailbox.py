"""Where released snapshots wait, and what happens when the stream is faster than the agent.

The policy is part of a run's identity. Spelled ``name`` or ``name:number``.

>>> box = Mailbox(parse_policy("latest_only"))
>>> box.put("snapshot 1", idle=0); box.put("snapshot 2", idle=0)
>>> box.take()
('snapshot 2', 1)
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from simulator.core.errors import UsageError, nearest, quote

__all__ = ["POLICIES", "Mailbox", "Policy", "parse_policy"]

POLICIES: dict[str, tuple[bool, str]] = {
    "latest_only": (False, "one waiting place; a newer snapshot replaces it (default)"),
    "queue_all": (False, "unbounded queue"),
    "drop_oldest": (True, "bounded queue of n; the oldest gives way"),
    "drop_newest": (True, "bounded queue of n; a snapshot that finds it full is dropped"),
    "stride": (True, "every n-th snapshot, one waiting place"),
    "cancel_in_flight": (False, "a new snapshot cancels the running decision"),
    "overlap": (True, "up to n decisions in flight, plus one waiting place; a newer offer supersedes an older one"),
}
"""By name: whether a number belongs to it, and what it does."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A back-pressure policy. ``n`` is its number, 1 where it takes none; ``places`` how many decisions may run."""

    name: str
    n: int = 1

    @property
    def text(self) -> str:
        """As spelled on the command line, in files and in logs."""
        return f"{self.name}:{self.n}" if POLICIES[self.name][0] else self.name

    @property
    def places(self) -> int:
        """Decisions that may be in flight at once."""
        return self.n if self.name == "overlap" else 1

    @property
    def cancels(self) -> bool:
        """Whether a new snapshot stops the running decision."""
        return self.name == "cancel_in_flight"


def parse_policy(text: str) -> Policy:
    """Read a policy.

    Raises:
        UsageError: unknown name, a missing, superfluous or impossible number.
    """
    name, colon, number = text.partition(":")
    if name not in POLICIES:
        raise UsageError(f"policy {quote(text)} is unknown; {nearest(name, POLICIES)}")
    if not POLICIES[name][0]:
        if colon:
            raise UsageError(f"policy {quote(text)}: {name} takes no number")
        return Policy(name)
    if not number.isascii() or not number.isdigit() or int(number) < 1:
        raise UsageError(f"policy {quote(text)}: {name} needs a whole number from 1, as in '{name}:4'")
    return Policy(name, int(number))


class Mailbox:
    """The waiting places of one agent; ``waiting`` holds what waits, oldest first."""

    __slots__ = ("_bound", "_dropped", "_drops_newest", "_queues", "_seen", "_stride", "n_dropped", "waiting")

    def __init__(self, policy: Policy) -> None:
        self.waiting: deque[Any] = deque()
        self._stride = policy.n if policy.name == "stride" else 1
        self._queues = policy.name in ("drop_oldest", "drop_newest")
        self._bound: int | None = policy.n if self._queues else None if policy.name == "queue_all" else 1
        self._drops_newest = policy.name == "drop_newest"
        self._dropped = self._seen = self.n_dropped = 0

    def put(self, snapshot: Any, idle: int) -> None:
        """Let a released snapshot wait. ``idle`` places count as free for the bounded queues: a snapshot that an
        agent is about to take is not waiting.
        """
        self._seen += 1
        if self._stride > 1 and (self._seen - 1) % self._stride:
            self._drop()
            return
        waiting = self.waiting
        room = self._bound
        if room is not None:
            if self._queues:
                room += idle
            if len(waiting) >= room:
                self._drop()
                if self._drops_newest:
                    return
                waiting.popleft()
        waiting.append(snapshot)

    def take(self) -> tuple[Any, int]:
        """The next snapshot, and how many were dropped since the last one was taken. Look at ``waiting`` first."""
        dropped, self._dropped = self._dropped, 0
        return self.waiting.popleft(), dropped

    def _drop(self) -> None:
        self._dropped += 1
        self.n_dropped += 1

    def __len__(self) -> int:
        return len(self.waiting)
