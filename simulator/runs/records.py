"""What a run log says, as values: the kinds and flags of a decision, and the log read back as columns.

The log itself is ``decisions.jsonl`` (``simulator.runs.runlog`` writes and reads it). Scorers read a ``RunLog`` only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.runs.reported import Reported

__all__ = ["Flag", "Ints", "Kind", "LoggedOffer", "RunLog"]

Ints = NDArray[np.int64]


class Kind(IntEnum):
    """How a decision ended."""

    SILENT = 0
    OFFER = 1
    ERROR = 2
    UNPARSED = 3
    SUPERSEDED = 4
    CANCELLED = 5


class Flag(IntFlag):
    """What else is true of a decision."""

    HELD = 1
    COLD = 2
    AFTER_END = 4


@dataclass(frozen=True, slots=True)
class LoggedOffer:
    """An offer with the stamps of its decision.

    ``captured_ns`` of the newest snapshot seen, ``released_ns`` when that one was handed to the mailbox,
    ``started_ns`` when the decision started, ``actionable_ns`` when this offer could be shown.
    """

    seq: int
    captured_ns: int
    released_ns: int
    started_ns: int
    actionable_ns: int
    intention: str
    text: str = ""
    confidence: float | None = None
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class RunLog:
    """A run log as columns, one entry a decision, in order of ``seq`` (the order in which decisions started).

    Attributes:
        header: the first line: what was run, on what, how.
        kind: uint8 codes of ``Kind``; flags: uint8 bits of ``Flag``; all others int64.
        dropped_before: snapshots released since the decision before and never seen by any.
        full: by seq, the whole record of each decision that is more than a plain silence (a dict as in the file:
            offers, retracted, stages, tokens, cost, throttle_ns, retries, memory_hits, error, …).
        writes: records of memory writes.
        end: the last line (``released``, ``never_seen``, ``notes``, ``changes_ns``: instants at which one
            event ended and the next began, as the run's segmentation sees it), None when the run was interrupted.
        torn: a half-written last line was found and left out.
        gathered: what the records report, where the reader summed it; ask ``reported``.
    """

    header: Mapping[str, Any]
    seq: Ints
    snapshot: Ints
    captured_ns: Ints
    content_ns: Ints
    released_ns: Ints
    started_ns: Ints
    actionable_ns: Ints
    dropped_before: Ints
    kind: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    full: Mapping[int, Mapping[str, Any]]
    writes: Sequence[Mapping[str, Any]]
    end: Mapping[str, Any] | None
    torn: bool = False
    gathered: Reported | None = None
    _delivered: list[tuple[LoggedOffer, ...]] = field(default_factory=list, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.seq)

    @property
    def complete(self) -> bool:
        """Whether the run came to its end."""
        return self.end is not None

    def reported(self) -> Reported:
        """Tokens, money and first tokens of all decisions."""
        if self.gathered is not None:
            return self.gathered
        found = Reported()
        found.add(self.full.values())
        return found

    def offers(self) -> tuple[LoggedOffer, ...]:
        """All delivered offers (of decisions of kind ``offer``), in order of arrival, ties by seq and position. Made
        when they are first asked for.
        """
        if not self._delivered:
            self._delivered.append(self._made_offers())
        return self._delivered[0]

    def _made_offers(self) -> tuple[LoggedOffer, ...]:
        rows = np.flatnonzero(self.kind == Kind.OFFER)
        columns = (self.seq, self.captured_ns, self.released_ns, self.started_ns)
        stamps = zip(*(column[rows].tolist() for column in columns), strict=True)
        out = [
            LoggedOffer(
                seq, captured, released, started, int(offer["actionable_ns"]), offer["intention"],
                offer.get("text", ""), offer.get("confidence"), offer.get("thread"),
            )
            for seq, captured, released, started in stamps
            for offer in self.full[seq]["offers"]
        ]  # fmt: skip
        return tuple(sorted(out, key=attrgetter("actionable_ns", "seq")))
