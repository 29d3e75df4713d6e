"""A session of a stream as the real-time scorer judges it, with all that sentences about it need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scorers.base import Context, Unit
from scorers.explaining import number, seconds
from scorers.matching import AnyContent, Content
from scorers.offers import Judged, Verdict, judge, stamps
from scorers.realtime import Realtime, scored
from simulator.core.errors import quote
from simulator.core.intentions import key
from simulator.runs.gate import Gate, surface
from simulator.runs.records import Ints, LoggedOffer, RunLog
from simulator.session.truth import Opportunity

__all__ = ["HELD_BACK", "Delivered", "Session", "content_of", "fit", "is_served", "open_session", "window", "worth"]

HELD_BACK = "held_back"


@dataclass(frozen=True, slots=True)
class Delivered:
    """A delivered offer with all that is known of it.

    Attributes:
        at: its position, in order of arrival; name: its decision's ``seq``, with a place where that made several.
        judged: by the scorer, None if the gate held it back; timing: the same in strength ``timing``.
        holder: position of the offer that had surfaced, where this was held back.
        at_arrival: the needs open then; at_capture: likewise; soon: those that opened within the early margin after.
        right: those among them for which it is right.
    """

    at: int
    name: str
    said: LoggedOffer
    judged: Judged | None
    timing: Judged | None
    holder: int | None
    at_arrival: Sequence[int]
    at_capture: Sequence[int]
    soon: Sequence[int]
    right: frozenset[int]

    @property
    def verdict(self) -> str:
        """The scorer's class, or ``held_back``."""
        return HELD_BACK if self.judged is None else self.judged.verdict.value


@dataclass(frozen=True, slots=True)
class Session:
    """A session as the scorer sees it, with indices by position.

    Attributes:
        needs: the scored ones, in order of opening; near: of each the offers that have to do with it.
        server: by need the offer that served it; served: the other way round.
        closings: the needs in order of closing; rows: decisions in order of capture.
    """

    log: RunLog
    needs: Sequence[Opportunity]
    unservable: Sequence[Opportunity]
    offers: Sequence[Delivered]
    near: Sequence[Sequence[int]]
    server: Mapping[int, int]
    served: Mapping[int, int]
    closings: Sequence[Opportunity]
    rows: Ints
    kind: Content
    gate: Gate
    early_ns: int


def open_session(unit: Unit, context: Context, scorer: Realtime) -> Session:
    """Judge a session as the scorer does, and note what was open when."""
    needs, raw = scored(unit.truth), unit.log.offers()
    kind, early_ns = scorer.content(unit.key, context), scorer.rules.early_ns
    offers = surface(unit.log, unit.truth, context.gate)
    full = iter(judge(offers, needs, kind, early_ns))
    timing = iter(judge(offers, needs, AnyContent(), early_ns))
    surfaced = _surfaced(raw, offers)
    right = kind.right(raw, needs)
    arrived, captured = stamps(raw)
    by_capture = np.argsort(captured, kind="stable")
    lists: list[tuple[list[int], list[int], list[int], set[int]]] = [([], [], [], set()) for _ in raw]
    for i, need in enumerate(needs):
        inside = np.arange(*np.searchsorted(arrived, [need.opens_ns, need.closes_ns]))
        soon = np.arange(*np.searchsorted(arrived, [need.opens_ns - early_ns, need.opens_ns]))
        seen = by_capture[slice(*np.searchsorted(captured[by_capture], [need.opens_ns, need.closes_ns]))]
        for place, js in enumerate((inside, seen, soon)):
            for j, good in zip(js.tolist(), right(i, js).tolist(), strict=True):
                lists[j][place].append(i)
                if good:
                    lists[j][3].add(i)
    names, made, last = _names(raw), [], dict[str, int]()
    for j, (said, shown) in enumerate(zip(raw, surfaced, strict=True)):
        at_arrival, at_capture, soon_of, fits = lists[j]
        judged, other = (next(full), next(timing)) if shown else (None, None)
        holder = None if shown else last[key(said.intention)]
        made.append(
            Delivered(j, names[j], said, judged, other, holder, at_arrival, at_capture, soon_of, frozenset(fits))
        )
        if shown:
            last[key(said.intention)] = j
    place_of = {id(need): i for i, need in enumerate(needs)}
    server = {
        place_of[id(o.judged.need)]: j
        for j, o in enumerate(made)
        if o.judged is not None and o.judged.verdict is Verdict.ON_TIME
    }
    near: list[list[int]] = [[] for _ in needs]
    for offer in made:
        for i in {*offer.at_arrival, *offer.at_capture, *offer.soon}:
            near[i].append(offer.at)
    return Session(
        log=unit.log,
        needs=needs,
        unservable=[n for n in unit.truth.opportunities if n.unservable is not None],
        offers=made,
        near=near,
        server=server,
        served={j: i for i, j in server.items()},
        closings=sorted(needs, key=lambda n: n.closes_ns),
        rows=np.argsort(unit.log.captured_ns, kind="stable"),
        kind=kind,
        gate=context.gate,
        early_ns=early_ns,
    )


def _surfaced(raw: Sequence[LoggedOffer], offers: Sequence[LoggedOffer]) -> list[bool]:
    """Which of all offers surfaced; both are in order of arrival, and of equal ones the first surfaces."""
    found, at = [], 0
    for offer in raw:
        shown = at < len(offers) and offers[at] == offer
        found.append(shown)
        at += shown
    return found


def _names(raw: Sequence[LoggedOffer]) -> list[str]:
    """The decision's number; with the place where a decision made several offers."""
    total, so_far, names = Counter(o.seq for o in raw), Counter[int](), []
    for offer in raw:
        so_far[offer.seq] += 1
        names.append(f"{offer.seq}.{so_far[offer.seq]}" if total[offer.seq] > 1 else str(offer.seq))
    return names


def fit(session: Session, offer: Delivered, i: int) -> str:
    """A need with its window, and how the content compares."""
    need = session.needs[i]
    span = f"{seconds(need.opens_ns)} to {seconds(need.closes_ns)}"
    return f"{need.id} ({span}; {content_of(session, offer, i)})"


def window(need: Opportunity) -> str:
    """A need with its category and window."""
    return f"{need.id} ({quote(need.intention)}, {seconds(need.opens_ns)} to {seconds(need.closes_ns)})"


def worth(need: Opportunity, arrived_ns: int) -> tuple[float, str]:
    """Worth of an offer that arrives in the window, and how it comes about."""
    z = (arrived_ns - need.opens_ns) / (need.closes_ns - need.opens_ns)
    worth = need.weight * (1 - z / 2)
    weighed = "" if need.weight == 1 else f" times the weight {number(need.weight)}"
    return worth, f"z = {number(z)} of the window had passed, so it is worth 1 - z/2{weighed} = {number(worth)}"


def content_of(session: Session, offer: Delivered, i: int) -> str:
    """How the content of an offer and of a need compare."""
    return session.kind.why(offer.said, session.needs[i], i in offer.right)


def is_served(session: Session, i: int) -> str:
    """The end of a sentence whose subject is the need."""
    return f"was served by offer {session.offers[session.server[i]].name}" if i in session.server else "went unserved"
