"""Why each offer of a stream was counted as it was."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from scorers.explaining import Told, number, seconds, some
from scorers.explaining_session import HELD_BACK, Delivered, Session, content_of, fit, is_served, window, worth
from scorers.offers import Verdict
from simulator.core.errors import quote

__all__ = ["told_offer"]


def told_offer(session: Session, at: int) -> Told:
    """Why an offer counted as it did; ``at`` is its position."""
    offer = session.offers[at]
    said = offer.said
    why = _WHY[offer.verdict](session, offer)
    if offer.judged is not None and offer.timing is not None and offer.judged.verdict is not offer.timing.verdict:
        why.append(f"Whatever is offered counting as right (@timing) it is {offer.timing.verdict.value}.")
    title = quote(said.intention) + (f" {quote(said.text)}" if said.text else "")
    facts: dict[str, Any] = {
        "seq": said.seq,
        "captured_ns": said.captured_ns,
        "actionable_ns": said.actionable_ns,
        "intention": said.intention,
        "text": said.text,
        "timing": None if offer.timing is None else offer.timing.verdict.value,
        "opportunity": None if offer.judged is None or offer.judged.need is None else offer.judged.need.id,
        "held_back_by": None if offer.holder is None else session.offers[offer.holder].name,
        "open_at_capture": [session.needs[i].id for i in offer.at_capture],
        "open_at_arrival": [session.needs[i].id for i in offer.at_arrival],
        "right_for": [session.needs[i].id for i in sorted(offer.right)],
    }
    return Told("offer", offer.name, offer.verdict, title, (_when(session, offer), *why), facts)


def _when(session: Session, offer: Delivered) -> str:
    def state(places: Sequence[int], t_ns: int) -> str:
        names = [session.needs[i].id for i in places]
        names += [f"{n.id} (unservable)" for n in session.unservable if n.opens_ns <= t_ns < n.closes_ns]
        return f"{some(names)} {'was' if len(names) == 1 else 'were'} open" if names else "no need was open"

    said = offer.said
    seen, came = state(offer.at_capture, said.captured_ns), state(offer.at_arrival, said.actionable_ns)
    if said.captured_ns == said.actionable_ns:
        return f"Captured and arrived at {seconds(said.captured_ns)}, when {came}."
    still = seen == came and offer.at_arrival == offer.at_capture
    return (
        f"Captured at {seconds(said.captured_ns)}, when {seen}; arrived at {seconds(said.actionable_ns)}, when "
        f"{'that was still so' if still else came}."
    )


def _on_time(session: Session, offer: Delivered) -> list[str]:
    i = session.served[offer.at]
    need, arrived = session.needs[i], offer.said.actionable_ns
    after = seconds(arrived - need.opens_ns)
    why = [f"It served {window(need)} {after} after that opened: {worth(need, arrived)[1]}."]
    why.append(f"Its content is right: {content_of(session, offer, i)}.")
    if offer.said.captured_ns < need.opens_ns:
        why.append(f"Its snapshot was captured before {need.id} opened: anticipated.")
    others = [other for other in offer.at_arrival if other in offer.right and other != i]
    why += [
        f"It was right for {session.needs[other].id}, too, which {is_served(session, other)}: one offer serves one "
        "need, and of all pairings the one counts that serves most needs and then is worth most."
        for other in others
    ]
    return why


def _redundant(session: Session, offer: Delivered) -> list[str]:
    why = []
    for i in offer.at_arrival:
        if i not in offer.right:
            continue
        need, by = session.needs[i], session.offers[session.server[i]]
        ahead = offer.said.actionable_ns - by.said.actionable_ns
        mine, theirs = (worth(need, o.said.actionable_ns)[0] for o in (offer, by))
        if ahead:
            first = (
                f"which arrived {seconds(ahead)} earlier and so is worth more: {number(theirs)} against {number(mine)}"
            )
        else:
            first = "which arrived at the same instant, and comes first in the log"
        why.append(f"It was right for {fit(session, offer, i)}, but that was served by "
                   f"offer {by.name}, {first}.")  # fmt: skip
    return why


def _stale(session: Session, offer: Delivered) -> list[str]:
    said, why = offer.said, []
    for i in offer.at_capture:
        if i not in offer.right:
            continue
        need = session.needs[i]
        late = said.actionable_ns - need.closes_ns
        faster = (
            f"{seconds(late)} after it had closed: more than {seconds(late)} sooner it would have been in time"
            if late
            else "at the instant at which it closed, which is late: any sooner it would have been in time"
        )
        why.append(f"When captured it was right for {fit(session, offer, i)}, but it arrived "
                   f"{faster}. {need.id} {is_served(session, i)}.")  # fmt: skip
    parts = (
        said.released_ns - said.captured_ns,
        said.started_ns - said.released_ns,
        said.actionable_ns - said.started_ns,
    )
    of = "hand-over", "waiting for the agent", "deciding"
    spent = [f"{seconds(ns)} {name}" for ns, name in zip(parts, of, strict=True) if ns]
    why.append(f"From capture to arrival it took {seconds(sum(parts))}: {some(spent)}.")
    return why


def _early(session: Session, offer: Delivered) -> list[str]:
    why = []
    for i in offer.soon:
        if i not in offer.right:
            continue
        need = session.needs[i]
        ahead = seconds(need.opens_ns - offer.said.actionable_ns)
        why.append(
            f"It was right for {fit(session, offer, i)}, which opened {ahead} after it arrived: "
            f"early, being at most {seconds(session.early_ns)} before. {ahead} later would have been in time. "
            f"{need.id} {is_served(session, i)}."
        )
        after = (session.offers[j] for j in session.near[i])
        if repeated := [o.name for o in after if o.holder == offer.at and i in o.at_arrival]:
            held = f"while {need.id} was open: {some(repeated)}"
            why.append(f"As it had surfaced, the gate held back its repetitions that arrived {held}.")
    return why


def _wrong_content(session: Session, offer: Delivered) -> list[str]:
    return [
        f"{window(session.needs[i])} wanted something else: {content_of(session, offer, i)}." for i in offer.at_arrival
    ]


def _false_alarm(session: Session, offer: Delivered) -> list[str]:
    said = offer.said
    why = [
        f"{window(session.needs[i])} was open at capture, but wanted something else: {content_of(session, offer, i)}."
        for i in offer.at_capture
    ]
    why += [
        f"{window(session.needs[i])} opened {seconds(session.needs[i].opens_ns - said.actionable_ns)} after it "
        f"arrived, but wanted something else: {content_of(session, offer, i)}."
        for i in offer.soon
    ]
    closed = bisect_right(session.closings, said.actionable_ns, key=lambda n: n.closes_ns)
    opened = bisect_right(session.needs, said.actionable_ns, key=lambda n: n.opens_ns)
    before = session.closings[closed - 1] if closed else None
    after = session.needs[opened] if opened < len(session.needs) else None
    near = []
    if before is not None:
        near.append(f"{window(before)} had closed {seconds(said.actionable_ns - before.closes_ns)} before")
    if after is not None and not offer.soon:
        near.append(f"{window(after)} opened {seconds(after.opens_ns - said.actionable_ns)} after")
    if near:
        why.append(f"No need that counts was open: {'; '.join(near)}.")
    elif not session.needs:
        why.append("No need of this session counts.")
    return why


def _held_back(session: Session, offer: Delivered) -> list[str]:
    assert offer.holder is not None
    by = session.offers[offer.holder]
    ago, span = offer.said.actionable_ns - by.said.actionable_ns, session.gate.window_ns or 0
    why = [
        f"The gate held it back: the same intention had surfaced {seconds(ago)} before (offer {by.name}), less than "
        f"{seconds(span)} ago; the decision delivered before, or an earlier offer of the same one, said the same; "
        "and the user did not act in between."
    ]
    fits = [i for i in offer.at_arrival if i in offer.right]
    why += [f"It would have been right for {window(session.needs[i])}, which {is_served(session, i)}." for i in fits]
    if not fits:
        why.append("It would have been right for no need that was open then.")
    return why


_WHY = {
    Verdict.ON_TIME.value: _on_time,
    Verdict.REDUNDANT.value: _redundant,
    Verdict.STALE.value: _stale,
    Verdict.EARLY.value: _early,
    Verdict.WRONG_CONTENT.value: _wrong_content,
    Verdict.FALSE_ALARM.value: _false_alarm,
    HELD_BACK: _held_back,
}
