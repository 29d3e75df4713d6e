"""The books of a unit: what is counted while it runs, and its lines in the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from simulator.core.intentions import key
from simulator.runs.answers import Answer
from simulator.runs.flights import Flight, Write, full_record
from simulator.runs.records import Kind
from simulator.runs.runlog import LogWriter

__all__ = ["Books", "Tally"]


@dataclass(slots=True)
class Tally:
    """What was counted while a unit ran; the deterministic part goes into the log's end line."""

    released: int = 0
    decisions: int = 0
    offers: int = 0
    errors: int = 0
    unparsed: int = 0
    superseded: int = 0
    cancelled: int = 0
    never_seen: int = 0
    writes: int = 0
    writes_after_end: int = 0
    overruns: int = 0


_SILENT, _OFFER = Kind.SILENT, Kind.OFFER  # an enum's member costs a look-up at each use
_COUNTED: dict[Kind, str] = {kind: kind.name.lower() for kind in Kind if kind is not Kind.SILENT}
_COUNTED |= {Kind.OFFER: "offers", Kind.ERROR: "errors"}


class Books:
    """Kept by the engine.

    Args:
        log: where lines go.
        intentions: keys of those in use; offers that name another one are counted. Empty: any.
        overrun_ns: decisions that take longer are counted.

    Attributes:
        tally: counts.
        notes: what agents and memories found worth counting.
        unknown: the first intention that an agent offered and that is not in use.
        changes_ns: instants at which one event ended and the next began.
        listeners: are told of each decision as it ends, for those who show a run while it goes on: flight, kind, end.
        departing: is told of each decision as it starts, in a world that goes on meanwhile.
    """

    def __init__(self, log: LogWriter, intentions: frozenset[str], overrun_ns: int) -> None:
        self._log, self._intentions, self._overrun_ns = log, intentions, overrun_ns
        self._newest_offer = -1
        self.tally = Tally()
        self.notes: dict[str, int] = {}
        self.unknown: str | None = None
        self.changes_ns: list[int] = []
        self.listeners: list[Callable[[Flight, Kind, int], None]] = []
        self.departing: Callable[[Flight], None] | None = None

    def note(self, name: str, n: int = 1) -> None:
        """Count something worth knowing."""
        self.notes[name] = self.notes.get(name, 0) + n

    def decided(self, flight: Flight, ended_ns: int) -> None:
        """A decision ended: folded into the log if there is nothing to say, whole if there is."""
        answer, snapshot = flight.answer, flight.snapshot
        assert answer is not None
        assert snapshot is not None
        kind = Kind.CANCELLED if flight.cancelled else answer.kind
        if kind is _OFFER or (answer.retracted and kind is _SILENT):
            if snapshot.index < self._newest_offer:
                kind = Kind.SUPERSEDED
            else:
                self._newest_offer = snapshot.index
        self.tally.decisions += 1
        if ended_ns - flight.started_ns > self._overrun_ns:
            self.tally.overruns += 1
        if answer.notes or answer.offers:
            self._note_what_was_said(answer)
        for listener in self.listeners:
            listener(flight, kind, ended_ns)
        if kind is _SILENT and not answer.fields and not answer.retracted and flight.what == "decide":
            self._log.silence(
                flight.seq, snapshot.index, snapshot.captured_ns, snapshot.content_ns,
                flight.released_ns, flight.started_ns, ended_ns, flight.dropped, flight.flags,
            )  # fmt: skip
            return
        if kind is not _SILENT:
            name = _COUNTED[kind]
            setattr(self.tally, name, getattr(self.tally, name) + 1)
        self._log.record(full_record(flight, kind, ended_ns, answer, snapshot))

    def _note_what_was_said(self, answer: Answer) -> None:
        for name, n in answer.notes.items():
            self.note(name, n)
        if answer.offers and self._intentions:
            unknown = next((o.intention for o, _ in answer.offers if key(o.intention) not in self._intentions), None)
            if unknown is not None:
                self.note("unknown_intention")
                self.unknown = self.unknown or unknown

    def written(self, flight: Flight, write: Write, ended_ns: int) -> None:
        """A memory write ended."""
        assert flight.answer is not None
        self.tally.writes += 1
        self._log.record(
            {
                "kind": "memory_write",
                "seq": flight.seq,
                "what": write.what,
                "event": write.event.id,
                "available_ns": write.available_ns,
                "started_ns": flight.started_ns,
                "done_ns": ended_ns,
                **flight.answer.fields,
            }
        )

    def end(self, recalls: Mapping[str, int]) -> dict[str, Any]:
        """What the log's end line says; ``recalls``: counts of them, empty where there was no memory to be asked."""
        return {
            **asdict(self.tally),
            **recalls,
            "notes": dict(sorted(self.notes.items())),
            "changes_ns": self.changes_ns,
        }
