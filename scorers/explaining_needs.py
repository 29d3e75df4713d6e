"""Why each need of a stream was served, or was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scorers.explaining import Told, seconds, some
from scorers.explaining_session import HELD_BACK, Delivered, Session, content_of, worth
from scorers.offers import Verdict
from simulator.core.errors import quote
from simulator.runs.records import Ints, Kind, RunLog
from simulator.session.truth import Opportunity

__all__ = ["MISSED", "SERVED", "cut_short", "told_need", "told_unplayed", "told_unservable"]

SERVED = "served"
MISSED = {
    "not_played": "the run was interrupted before it opened: not counted",
    "unservable": "counted and not scored: under 2 s long, or no snapshot in it",
    "taken": "right offers arrived in it, and each served another need",
    HELD_BACK: "right offers arrived in it, and the gate held each of them back",
    "stale": "a right offer, of a snapshot of it, arrived too late",
    "early": "a right offer arrived shortly before it opened",
    "never_seen": "no decision saw a snapshot of it",
    "wrong_content": "all that was offered of it, or in it, was something else",
    "failed": "every decision that saw it failed, or was overtaken",
    "no_offer": "the agent saw it and offered nothing",
}
"""Why a need was not served, in the order in which it is tested."""


def told_unservable(need: Opportunity) -> Told:
    """Why a need is not scored."""
    why = (
        f"It is counted and not scored ({need.unservable}): it was open for "
        f"{seconds(need.closes_ns - need.opens_ns)}. Offers are judged as if it were not there.",
    )
    return _need(need, "unservable", why, None)


def told_unplayed(need: Opportunity, end_ns: int) -> Told:
    """Why a need of an interrupted run does not count."""
    why = f"The run was interrupted at {seconds(end_ns)}, before it opened: it is not counted."
    return _need(need, "not_played", (why,), None)


def cut_short(told: Told, need: Opportunity, end_ns: int) -> Told:
    """With a word on it where the run was interrupted while the need was open."""
    if need.closes_ns <= end_ns:
        return told
    word = f"It was open until {seconds(need.closes_ns)}; the run was interrupted before, and the part played counts."
    return replace(told, sentences=(*told.sentences, word))


def _need(need: Opportunity, verdict: str, why: tuple[str, ...], served_by: str | None) -> Told:
    title = f"{quote(need.intention)} from {seconds(need.opens_ns)} to {seconds(need.closes_ns)}"
    if need.query:
        title += f" {quote(need.query)}"
    facts = {
        "opens_ns": need.opens_ns,
        "closes_ns": need.closes_ns,
        "intention": need.intention,
        "query": need.query,
        "served_by": served_by,
    }
    return Told("need", need.id, verdict, title, why, facts)


@dataclass(frozen=True, slots=True)
class _Around:
    """The offers that have to do with a need, as positions."""

    arrived_right: Sequence[int]
    arrived_wrong: Sequence[int]
    late: Sequence[int]
    early: Sequence[int]
    seen_wrong: Sequence[int]


def told_need(session: Session, i: int) -> Told:
    """Why a scored need was served or missed; ``i`` is its position."""
    need, every = session.needs[i], session.near[i]
    offers = session.offers
    around = _Around(
        [j for j in every if i in offers[j].at_arrival and i in offers[j].right],
        [j for j in every if i in offers[j].at_arrival and i not in offers[j].right],
        [j for j in every if i in offers[j].at_capture and i in offers[j].right and i not in offers[j].at_arrival],
        [j for j in every if i in offers[j].soon and i in offers[j].right],
        [j for j in every if i in offers[j].at_capture and i not in offers[j].right],
    )
    if i in session.server:
        return _need(need, SERVED, _served(session, i, around), offers[session.server[i]].name)
    verdict, why = _missed(session, i, around)
    return _need(need, verdict, tuple(why), None)


def _served(session: Session, i: int, around: _Around) -> tuple[str, ...]:
    need, by = session.needs[i], session.offers[session.server[i]]
    arrived = by.said.actionable_ns
    why = [f"Offer {by.name} served it, {seconds(arrived - need.opens_ns)} after it opened: {worth(need, arrived)[1]}."]
    if need.acted_ns is not None:
        lead = need.acted_ns - arrived
        why.append(f"The user acted alone {seconds(abs(lead))} {'later' if lead >= 0 else 'before that'}.")
    for verdict, said in (
        (Verdict.REDUNDANT.value, "Right too, and redundant"),
        (Verdict.ON_TIME.value, "Right too, but serving another need"),
        (HELD_BACK, "Right too, but held back by the gate"),
    ):
        names = [session.offers[j].name for j in around.arrived_right
                 if session.offers[j].verdict == verdict and j != session.server[i]]  # fmt: skip
        if names:
            why.append(f"{said}: {some(names)}.")
    return tuple(why)


def _missed(session: Session, i: int, around: _Around) -> tuple[str, list[str]]:
    """Why a need was not served; the first of ``MISSED`` that holds, and what else is to be said."""
    need, offers = session.needs[i], session.offers
    rows = _rows(session, need)
    kinds = Counter(Kind(int(k)) for k in session.log.kind[rows])
    taken = [j for j in around.arrived_right if offers[j].judged is not None]
    held = [j for j in around.arrived_right if offers[j].judged is None]
    if taken:
        said = some([f"{offers[j].name} (served {_need_of(offers[j])})" for j in taken])
        return "taken", [f"Right offers arrived in it, and each served another need: {said}."]
    if held:
        by = list(dict.fromkeys(offers[h].name for j in held if (h := offers[j].holder) is not None))
        names = some([offers[j].name for j in held])
        return HELD_BACK, [f"Right offers arrived in it, and the gate held them back: {names}; the same intention had "
                           f"surfaced before (offer {some(by)})."]  # fmt: skip
    if around.late:
        j = min(around.late, key=lambda j: (offers[j].said.actionable_ns, j))
        late = offers[j].said.actionable_ns - need.closes_ns
        by_ = f"{seconds(late)} after it had closed" if late else "at the instant at which it closed, which is late"
        back = "" if offers[j].judged is not None else "; the gate held it back besides"
        return "stale", [f"Offer {offers[j].name} was right and of a snapshot of it, but arrived {by_}{back}."]
    if around.early:
        j = max(around.early, key=lambda j: (offers[j].said.actionable_ns, j))
        ahead = seconds(need.opens_ns - offers[j].said.actionable_ns)
        back = "" if offers[j].judged is not None else "; the gate held it back besides"
        return "early", [f"Offer {offers[j].name} was right, but arrived {ahead} before it opened{back}.",
                         *_seen(kinds)]  # fmt: skip
    wrong = sorted({*around.arrived_wrong, *around.seen_wrong})
    other = []
    if wrong:
        why = content_of(session, offers[wrong[0]], i)
        names = some([offers[j].name for j in wrong])
        other = [f"What was offered in it, or of its snapshots, was something else: {names} ({why})."]
    if not len(rows):
        return "never_seen", [f"No decision saw a snapshot of it.{_busy(session.log, need)}", *other]
    if wrong:
        return "wrong_content", [*other, *_seen(kinds)]
    delivered = kinds[Kind.SILENT] + kinds[Kind.OFFER]
    return ("no_offer" if delivered else "failed"), _seen(kinds)


def _need_of(offer: Delivered) -> str:
    return "?" if offer.judged is None or offer.judged.need is None else offer.judged.need.id


def _rows(session: Session, need: Opportunity) -> Ints:
    """Decisions whose newest snapshot was captured while the need was open."""
    captured = session.log.captured_ns[session.rows]
    low, high = np.searchsorted(captured, [need.opens_ns, need.closes_ns])
    return session.rows[low:high]


def _seen(kinds: Counter[Kind]) -> list[str]:
    total = kinds.total()
    if not total:
        return ["No decision saw a snapshot of it."]
    told = some([f"{kinds[kind]} {kind.name.lower()}" for kind in Kind if kinds[kind]], len(Kind))
    return [f"{total} decision{'' if total == 1 else 's'} saw a snapshot of it: {told}."]


def _busy(log: RunLog, need: Opportunity) -> str:
    over = np.flatnonzero((log.started_ns <= need.opens_ns) & (log.actionable_ns >= need.closes_ns))
    if not len(over):
        return ""
    row = int(over[0])
    span = f"from {seconds(int(log.started_ns[row]))} to {seconds(int(log.actionable_ns[row]))}"
    return f" The agent was busy with decision {int(log.seq[row])} all the while, {span}."
