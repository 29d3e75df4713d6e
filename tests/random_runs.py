"""Runs and truths at random for property tests, in tenths of seconds on a stream of 1 Hz."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from scorers.base import Unit
from simulator.core.types import SECOND
from simulator.runs.records import Kind
from simulator.session.truth import Intent, Moment, Opportunity, Truth
from tests.logs import D, log, ns, truth

END = 120
INTENTIONS = st.sampled_from(["Debug", "Translation"])


@st.composite
def needs(draw: st.DrawFn, least: int = 0) -> tuple[Opportunity, ...]:
    """Up to four needs, which may overlap."""
    found = []
    for i in range(draw(st.integers(least, 4))):
        opens = draw(st.integers(0, 10 * END - 100))
        closes = min(opens + draw(st.integers(20, 400)), 10 * END)
        intention, weight = draw(INTENTIONS), draw(st.sampled_from([0.5, 1.0, 2.0]))
        found.append(
            Opportunity(f"{i}", opens * SECOND // 10, closes * SECOND // 10, intention, acted_ns=ns(END), weight=weight)
        )
    return tuple(found)


@st.composite
def decisions(
    draw: st.DrawFn, charged: bool = True, kinds: tuple[Kind, ...] = (Kind.OFFER, Kind.SILENT), least: int = 0
) -> list[D]:
    """Serial decisions, each of the newest snapshot at its start."""
    made, free, tick = [], 0, -1
    for _ in range(draw(st.integers(least, 12))):
        tick = tick + 1 + draw(st.integers(0, 10))
        start = max(10 * tick, free)
        tick = max(tick, start // 10)
        free = start + (draw(st.integers(0, 80)) if charged else 0)
        kind = draw(st.sampled_from(kinds))
        offers = [{"intention": draw(INTENTIONS), "confidence": draw(st.sampled_from([0.25, 0.75]))}]
        stamps = {"released": tick, "started": Fraction(start, 10)}
        made.append(D(tick, Fraction(free, 10), offers if kind is Kind.OFFER else (), kind, **stamps))  # type: ignore[arg-type]
    return made


@st.composite
def odd_decisions(draw: st.DrawFn, least: int = 0) -> list[D]:
    """Of every kind, with several offers, offers before the end of their decision, usage, threads and retractions."""
    plain = draw(decisions(kinds=tuple(Kind), least=least))
    made = []
    for d in plain:
        more: dict[str, Any] = {}
        if draw(st.booleans()):
            more["tokens"] = {"in": draw(st.integers(0, 9)), "images": draw(st.integers(0, 2))}
            more["cost"] = draw(st.sampled_from([None, 0.0, 0.25]))
        if d.kind in (Kind.OFFER, Kind.SILENT) and draw(st.booleans()):
            more["retracted"] = [draw(st.sampled_from(["1", "Debug"]))]
        if draw(st.booleans()):
            more["first_token_ns"] = ns(d.started or 0)
        offers = [draw(_offers(d)) for _ in range(draw(st.integers(1, 3)))] if d.kind is Kind.OFFER else []
        made.append(D(d.captured, d.actionable, offers, d.kind, d.released, d.started, more=more))
    return made


@st.composite
def _offers(draw: st.DrawFn, d: D) -> dict[str, Any]:
    start, end = (int(Fraction(str(t)) * 10) for t in (d.started, d.actionable))
    said: dict[str, Any] = {
        "intention": draw(INTENTIONS),
        "text": draw(st.sampled_from(["", "it loops", "what is it?"])),
    }
    said["actionable_ns"] = draw(st.integers(start, end)) * SECOND // 10
    said |= draw(st.sampled_from([{}, {"confidence": 0.0}, {"confidence": 1.0}, {"confidence": 0.3}]))
    return said | draw(st.sampled_from([{}, {"thread": "1"}, {"thread": "2"}]))


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    """With unservable needs, words, gaps, moments and true intents, or without."""
    found = []
    for n, need in enumerate(draw(needs())):
        query = draw(st.sampled_from([None, "why does it loop?"]))
        acted = draw(st.sampled_from([None, need.closes_ns]))
        unservable = "under 2 s" if draw(st.integers(0, 4)) == 0 else None
        kept = Opportunity(f"n{n}", need.opens_ns, need.closes_ns, need.intention, acted, query, need.weight,
                           unservable=unservable)  # fmt: skip
        found.append(kept)
    at = draw(st.lists(st.integers(0, END - 1), max_size=4, unique=True))
    moments = tuple(
        Moment(ns(t), draw(st.booleans()), draw(st.sampled_from([None, "Debug", "Translation"])), "why?") for t in at
    )
    texts = draw(st.lists(st.sampled_from(["find it", "translate it", "Debug"]), max_size=3))
    intents = {"p": tuple(Intent(t, draw(st.sampled_from([None, "Debug", "Translation"]))) for t in texts)}
    gaps = draw(st.sampled_from([(), ((30, 50),), ((0, END),)]))
    return truth(END, found, gaps, moments=moments, intents=intents)


@st.composite
def units(draw: st.DrawFn, most: int = 3) -> Sequence[Unit]:
    """Whole runs of some sessions: whole or interrupted, with decisions or without, all errors, one sample."""
    made = []
    for n in range(draw(st.integers(0, most))):
        errors = draw(st.integers(0, 3)) == 0
        said = draw(decisions(kinds=(Kind.ERROR,))) if errors else draw(odd_decisions())
        interrupted = draw(st.integers(0, 3)) == 0
        run = log(said, released=None if interrupted else END, interrupted=interrupted, timeout_ns=ns(5),
                  changes=[3, 40])  # fmt: skip
        made.append(Unit(f"s{n}", run, draw(truths())))
    return made
