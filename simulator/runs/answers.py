"""An agent's answer as the engine takes it: checked, with its charge, whichever clock it came from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from simulator.core.errors import TimeError
from simulator.core.types import SILENT, Decision, Offer
from simulator.runs.lanes import Outcome
from simulator.runs.records import Kind
from simulator.timing.meter import SilentMeter

__all__ = ["Answer", "from_outcome", "from_record"]


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Answer:
    """What came of a call; one is made for every decision, so it is a plain class.

    ``charge_ns`` is what it costs; ``offers`` carry their own instants relative to the start; ``fields`` are further
    fields of the record, in order; ``ended_real_ns`` the lane's stamp; ``censored``: stopped before its end, so the
    charge is a lower bound.
    """

    __slots__ = ("censored", "charge_ns", "ended_real_ns", "fields", "kind", "notes", "offers", "retracted")

    def __init__(self, charge_ns: int, kind: Kind = Kind.SILENT, offers: tuple[tuple[Offer, int], ...] = (),
                 retracted: tuple[str, ...] = (), fields: Mapping[str, Any] = _NOTHING, ended_real_ns: int = 0,
                 censored: bool = False, notes: Mapping[str, int] = _NOTHING) -> None:  # fmt: skip
        if type(charge_ns) is not int or charge_ns < 0:
            raise TimeError(f"a call without a duration was about to be charged: {charge_ns!r}")
        self.charge_ns, self.kind, self.offers, self.retracted = charge_ns, kind, offers, retracted
        self.fields, self.ended_real_ns, self.censored, self.notes = fields, ended_real_ns, censored, notes

    def stopped(self, charge_ns: int) -> Answer:
        """As it would be had it been stopped by then: what it used is known, what it would have said is not."""
        unsaid = ("first_token_ns", "parse_rule", "error")
        fields = {k: v for k, v in self.fields.items() if k not in unsaid}
        return Answer(charge_ns, fields=fields, censored=True, notes=self.notes)


def from_outcome(outcome: Outcome, meter: SilentMeter, charge_ns: int, timeout_ns: int, *, timed: bool) -> Answer:
    """Check what an agent returned and put its meter's books beside it.

    Whether it timed out is decided here by its charge, never from an exception that the agent could raise or swallow.
    A failed call delivers nothing, not even what it emitted before. ``timed``: charges are real time, so the meter's
    instants mean something.
    """
    error = outcome.error
    meter.closed = True
    plain = outcome.value is SILENT and error is None and not meter.touched
    if plain and charge_ns <= timeout_ns and not outcome.stopped:
        return Answer(charge_ns, ended_real_ns=outcome.ended_real_ns)
    notes = meter.notes if meter.touched else _NOTHING
    if outcome.stopped:
        books = _books(meter, timed)
        return Answer(charge_ns, ended_real_ns=outcome.ended_real_ns, censored=True, fields=books, notes=notes)
    if charge_ns > timeout_ns and (error is None or error[0] != "agent_lost"):
        error = ("timeout", f"charged {charge_ns / 1e9:.3f} s, the limit is {timeout_ns / 1e9:g} s{_asking(meter)}")
        charge_ns = charge_ns if timed else timeout_ns
    decision, early = SILENT, list[tuple[Offer, int | None]]()
    if error is None:
        try:
            decision = _decision(outcome.value)
            early = _early(meter.emitted) if meter.touched else []
        except (_Nonsense, AttributeError) as wrong:  # a field that was never set
            decision, error = SILENT, ("nonsense", str(wrong))
    fields = _books(meter, timed)
    if decision.parse_rule is not None:
        fields["parse_rule"] = decision.parse_rule
    offers = _offers(decision, early, charge_ns)
    if error is not None:
        fields["error"] = {"kind": error[0], "text": error[1]}
        kind = Kind.ERROR
    elif decision.unparsed:
        kind = Kind.UNPARSED
    else:
        kind = Kind.OFFER if offers else Kind.SILENT
    return Answer(charge_ns, kind, offers, decision.retracted, fields, outcome.ended_real_ns, notes=notes)


def _asking(meter: SilentMeter) -> str:
    """How much of a time that was too long went into asking a model: then that, or its server, is slow."""
    took_ns = meter.stages_ns.get("model", 0) if meter.touched else 0
    return f"; {took_ns / 1e9:.3f} s of it asking the model" if took_ns else ""


def _offers(decision: Decision, early: list[tuple[Offer, int | None]], charge_ns: int) -> tuple[tuple[Offer, int], ...]:
    """What was emitted before the end, then what was returned; an offer that was both counts once."""
    emitted = [(offer, charge_ns if at is None else min(at, charge_ns)) for offer, at in early]
    said = {offer for offer, _ in emitted}
    return (*emitted, *((offer, charge_ns) for offer in decision.offers if offer not in said))


def _books(meter: SilentMeter, timed: bool) -> dict[str, Any]:
    """The meter's entries as fields of the record, those that were made."""
    if not meter.touched:
        return {}
    books: dict[str, Any] = {}
    timed = timed or meter.replays
    if timed and meter.first_token_ns is not None:
        books["first_token_ns"] = meter.first_token_ns  # relative: the engine adds the start
    if timed and meter.stages_ns:
        books["stages_ns"] = dict(sorted(meter.stages_ns.items()))
    if timed and meter.throttle_ns:
        books["throttle_ns"] = meter.throttle_ns
    if meter.retries:
        books["retries"] = meter.retries
    if meter.tokens:
        books["tokens"] = dict(meter.tokens)
        books["cost"] = meter.cost  # None: unknown, never 0
    if meter.memory_hits:
        books["memory_hits"] = meter.memory_hits
    if meter.notes:
        books["notes"] = dict(sorted(meter.notes.items()))
    return books


MOST = 1000
"""Offers, or retractions, in one decision: nobody reads more in a second, and logs and scores carry each of them."""


def _early(emitted: list[tuple[Offer, int | None]]) -> list[tuple[Offer, int | None]]:
    if len(emitted) > MOST:
        raise _Nonsense(f"emitted {len(emitted)} offers; a decision has at most {MOST}")
    return [(_offer(offer), at) for offer, at in emitted]


class _Nonsense(Exception):
    """Why a value is no decision."""


def _decision(value: Any) -> Decision:
    """What an agent returned, copied into plain values. Nothing is taken on trust: types are asked exactly and text and
    numbers are read by the built-in types, so that no code of the agent's (a property, ``__iter__``) runs here.
    """
    if type(value) is not Decision:
        raise _Nonsense(f"returned {type(value).__name__}, not a Decision")
    offers: Any = value.offers
    retracted: Any = value.retracted
    if type(offers) not in (tuple, list) or type(retracted) not in (tuple, list):
        raise _Nonsense("offers and retracted must be tuples")
    if len(offers) > MOST or len(retracted) > MOST:
        raise _Nonsense(f"made {max(len(offers), len(retracted))} offers or retractions; a decision has at most {MOST}")
    if type(value.unparsed) is not bool:
        raise _Nonsense("unparsed is True or False")
    rule = None if value.parse_rule is None else _text("parse_rule", value.parse_rule)
    names = tuple(_text("a retraction", name) for name in retracted)
    return Decision(tuple(_offer(offer) for offer in offers), names, rule, value.unparsed)


def _offer(value: Any) -> Offer:
    if type(value) is not Offer:
        raise _Nonsense(f"an offer is of type {type(value).__name__}, not Offer")
    intention = _text("an offer's intention", value.intention)
    if not intention:
        raise _Nonsense("an offer needs an intention")
    thread = None if value.thread is None else _text("a thread", value.thread)
    return Offer(intention, _text("an offer's text", value.text), _confidence(value.confidence), thread)


def _text(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _Nonsense(f"{what} is of type {type(value).__name__}, not str")
    return str.__str__(value)


def _confidence(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, np.floating):
        value = value.item()
    if not isinstance(value, int | float):
        raise _Nonsense(f"a confidence is of type {type(value).__name__}, not a number")
    sure: float = int.__int__(value) if isinstance(value, int) else float.__float__(value)
    if not 0 <= sure <= 1:  # NaN is not either
        raise _Nonsense(f"a confidence must lie between 0 and 1, not be {sure if abs(sure) < 1e15 else 'far beyond'}")
    return sure


_FIELDS = ("stages_ns", "throttle_ns", "retries", "tokens", "cost", "memory_hits", "notes", "parse_rule", "error")


def from_record(record: Mapping[str, Any]) -> Answer:
    """A decision of an earlier run's log as an answer: what a journal replays."""
    started = record["started_ns"]
    kind = Kind[record["kind"].upper()]
    fields = {k: record[k] for k in _FIELDS if k in record}
    if "first_token_ns" in record:
        fields = {"first_token_ns": record["first_token_ns"] - started, **fields}
    offers = tuple(
        (Offer(o["intention"], o.get("text", ""), o.get("confidence"), o.get("thread")), o["actionable_ns"] - started)
        for o in record.get("offers", ())
    )
    if kind is Kind.SUPERSEDED:
        kind = Kind.OFFER if offers else Kind.SILENT
    return Answer(
        record["actionable_ns"] - started,
        kind,
        offers,
        tuple(record.get("retracted", ())),
        fields,
        censored=kind is Kind.CANCELLED,
        notes=record.get("notes", {}),
    )
