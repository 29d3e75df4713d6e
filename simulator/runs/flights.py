"""Calls on their way, and the lines of the log that come of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simulator.core.types import Event, Label, Observation, Offer, Snapshot
from simulator.runs.answers import Answer
from simulator.runs.records import Kind
from simulator.runs.runlog import flag_names

__all__ = ["Flight", "Write", "charged_ns", "full_record"]


@dataclass(frozen=True, slots=True)
class Write:
    """Something the memory is to take in: an event (``observe``), or what became known of one (``feedback``)."""

    what: str
    event: Event
    label: Label | None
    available_ns: int


class Flight:
    """A call on its way: of a decision (``snapshot``) or a memory write (``write``).

    ``observation`` is what the agent was handed, where the world goes on meanwhile and somebody may look on.
    """

    __slots__ = (
        "answer",
        "cancelled",
        "dropped",
        "flags",
        "observation",
        "released_ns",
        "seq",
        "snapshot",
        "started_ns",
        "what",
        "write",
    )

    def __init__(self, what: str, seq: int, started_ns: int, released_ns: int, dropped: int = 0, flags: int = 0,
                 snapshot: Snapshot | None = None, write: Write | None = None) -> None:  # fmt: skip
        self.what, self.seq, self.started_ns, self.released_ns = what, seq, started_ns, released_ns
        self.dropped, self.flags, self.snapshot, self.write = dropped, flags, snapshot, write
        self.answer: Answer | None = None
        self.observation: Observation | None = None
        self.cancelled = False


def charged_ns(flight: Flight, kind: Kind, ended_ns: int, timeout_ns: int | None) -> int:
    """How long a decision counts, from its capture: a failed one no less than the timeout, as in the scores."""
    assert flight.snapshot is not None
    took_ns = ended_ns - flight.started_ns
    if kind is Kind.ERROR and timeout_ns is not None:
        took_ns = max(took_ns, timeout_ns)
    return flight.started_ns - flight.snapshot.captured_ns + took_ns


def full_record(flight: Flight, kind: Kind, ended: int, answer: Answer, snapshot: Snapshot) -> dict[str, Any]:
    """A decision's line, in the published order of fields; what was not said is left out."""
    record: dict[str, Any] = {"kind": kind.name.lower()}
    if flight.what != "decide":
        record["what"] = flight.what
    record |= {
        "seq": flight.seq,
        "snapshot": snapshot.index,
        "captured_ns": snapshot.captured_ns,
        "content_ns": snapshot.content_ns,
        "released_ns": flight.released_ns,
        "started_ns": flight.started_ns,
    }
    fields = dict(answer.fields)
    first = fields.pop("first_token_ns", None)
    if first is not None:
        record["first_token_ns"] = flight.started_ns + first
    record["actionable_ns"] = ended
    record["dropped_before"] = flight.dropped
    record.update(fields)
    if answer.offers:
        record["offers"] = [_offer(offer, flight.started_ns + at, ended) for offer, at in answer.offers]
    if answer.retracted:
        record["retracted"] = list(answer.retracted)
    if flight.flags:
        record["flags"] = flag_names(flight.flags)
    return record


def _offer(offer: Offer, ready_ns: int, ended: int) -> dict[str, Any]:
    said = {"intention": offer.intention, "text": offer.text, "confidence": offer.confidence, "thread": offer.thread}
    return {k: v for k, v in said.items() if v is not None} | {"actionable_ns": min(ready_ns, ended)}
