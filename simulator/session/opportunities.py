"""Needs for help out of recorded assistance events, and labels out of the same.

The rule (docs: scoring, section 0): an assistance event that starts at u makes a need ``[o, u)`` with ``o`` the latest
of ``u - 60 s``, the end of the assistance event before, the end of the last gap or of the last pause over 60 s, and
the session's start. One that starts less than 30 s after the one before ended is a follow-up: no need of its own.
Windows under 2 s, or in which no snapshot is released, are kept as ``unservable``: counted, not scored.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simulator.core.types import SECOND, Event, Label
from simulator.session.truth import LEAST_WINDOW_NS, Assist, Gap, Opportunity

__all__ = [
    "Labeller",
    "LeadRule",
    "Question",
    "Released",
    "derive",
    "follow_ups",
    "label_events",
    "mark_unservable",
    "questions",
]

UNCATEGORIZED = "Uncategorized"
TOO_SHORT = "under 2 s"
NOTHING_SEEN = "holds no snapshot"


@dataclass(frozen=True, slots=True)
class LeadRule:
    """The numbers of the rule; changing one changes what is scored, so results state them (``text``)."""

    lead_ns: int = 60 * SECOND
    follow_up_ns: int = 30 * SECOND
    pause_ns: int = 60 * SECOND
    least_ns: int = LEAST_WINDOW_NS

    @property
    def text(self) -> str:
        """The rule in words for a reader of the result."""
        return (
            f"recorded: closes when the user asked an assistant; opens at the latest of {self.lead_ns / SECOND:g} s "
            f"before, the end of the assistance event before, of a gap, of a pause over {self.pause_ns / SECOND:g} s; "
            f"asking again within {self.follow_up_ns / SECOND:g} s is a follow-up, not a need; windows under "
            f"{self.least_ns / SECOND:g} s or without a snapshot are unservable"
        )


@dataclass(frozen=True, slots=True)
class Question:
    """The user asked for help, at an instant."""

    asked_ns: int
    intention: str | None = None
    query: str | None = None


class Released:
    """At which instants a recording releases snapshots, recorded and held, without playing it.

    Args:
        times_ns: instants of the recorded rows in ascending order, shape (n,).
        gaps: stretches without snapshots.
        period_ns: the stream's period.
        end_ns: end of the session.
    """

    def __init__(self, times_ns: NDArray[np.int64], gaps: Sequence[Gap], period_ns: int, end_ns: int) -> None:
        self._times, self._gaps = times_ns, sorted(gaps, key=lambda g: (g.start_ns, g.end_ns))
        self._period, self._end = period_ns, end_ns

    def any_in(self, start_ns: int, end_ns: int) -> bool:
        """Whether a snapshot is released in ``[start_ns, end_ns)``."""
        i = int(np.searchsorted(self._times, start_ns))
        if i < len(self._times) and self._times[i] < end_ns:
            return True
        if i == 0:
            return False
        last = int(self._times[i - 1])
        held = last + -(-(start_ns - last) // self._period) * self._period
        until = int(self._times[i]) if i < len(self._times) else self._end
        if held >= end_ns or until - held < self._period // 2:
            return False
        return not any(self._stops(gap, last, held) for gap in self._gaps)

    def pauses(self, longer_than_ns: int) -> list[Gap]:
        """Stretches between rows longer than that, as gaps with the reason ``pause``."""
        wide = np.flatnonzero(np.diff(self._times) > longer_than_ns)
        return [Gap(int(self._times[i]), int(self._times[i + 1]), "pause") for i in wide]

    def _stops(self, gap: Gap, last: int, held: int) -> bool:
        """Whether the gap covers a held instant behind ``last``, up to ``held``: holding stops for good there."""
        steps = max(1, -(-(gap.start_ns - last) // self._period))
        first = last + steps * self._period
        return first < gap.end_ns and first <= held


def follow_ups(assists: Sequence[Assist], rule: LeadRule | None = None) -> list[bool]:
    """Of assistance events in order of start: which are follow-ups of one before."""
    limit = (rule or LeadRule()).follow_up_ns
    out: list[bool] = []
    before: int | None = None
    for assist in assists:
        out.append(before is not None and assist.start_ns - before < limit)
        before = assist.end_ns if before is None else max(before, assist.end_ns)
    return out


def derive(assists: Sequence[Assist], released: Released, gaps: Sequence[Gap], rule: LeadRule | None = None
           ) -> tuple[Opportunity, ...]:  # fmt: skip
    """The needs that assistance events show, in order, ids ``a0``, ``a1``, … by assistance event.

    An assistance event without an intention becomes ``Uncategorized``, as in ProAgentBench.
    """
    rule = rule or LeadRule()
    ordered = sorted(assists, key=lambda a: (a.start_ns, a.end_ns))
    breaks = [*gaps, *released.pauses(rule.pause_ns)]
    ends = np.array(sorted(g.end_ns for g in breaks), dtype=np.int64)
    out: list[Opportunity] = []
    before = 0
    for i, (assist, follows) in enumerate(zip(ordered, follow_ups(ordered, rule), strict=True)):
        asked = assist.start_ns
        if not follows and asked >= 0:
            k = int(np.searchsorted(ends, asked, side="right"))
            opens = max(asked - rule.lead_ns, before, 0, int(ends[k - 1]) if k else 0)
            if any(g.start_ns < asked < g.end_ns for g in breaks):
                opens = asked  # asked while nothing was recorded
            need = Opportunity(
                id=f"a{i}",
                opens_ns=min(opens, asked - 1),  # an empty window is no window; 1 ns is counted as unservable
                closes_ns=asked,
                intention=assist.intention or UNCATEGORIZED,
                acted_ns=asked,
                query=assist.query,
                origin="recorded",
            )
            out.append(mark_unservable(need, released, rule))
        before = max(before, assist.end_ns)
    return tuple(out)


def mark_unservable(need: Opportunity, released: Released, rule: LeadRule | None = None) -> Opportunity:
    """The need, marked if nobody could have served it."""
    if need.closes_ns - need.opens_ns < (rule or LeadRule()).least_ns:
        return replace(need, unservable=TOO_SHORT)
    if not released.any_in(need.opens_ns, need.closes_ns):
        return replace(need, unservable=NOTHING_SEEN)
    return need


def questions(needs: Sequence[Opportunity], assists: Sequence[Assist], rule: LeadRule | None = None) -> list[Question]:
    """What the user asked: what was done about the needs, or where none are stated, the assistance events that are no
    follow-ups.
    """
    if needs:
        return [Question(n.acted_ns, n.intention, n.query) for n in needs if n.acted_ns is not None]
    ordered = sorted(assists, key=lambda a: (a.start_ns, a.end_ns))
    return [
        Question(a.start_ns, a.intention or UNCATEGORIZED, a.query)
        for a, follows in zip(ordered, follow_ups(ordered, rule), strict=True)
        if not follows
    ]


class Labeller:
    """What became known of events, the same for a past and for a session that is being played.

    A question asked at u belongs to the event with ``start < u <= end`` in which the need arose, of several such to the
    one that ended first. An event's label is its first question; the others are counted in ``n_passed_over``.

    Args:
        asked: the questions, see ``questions``.
    """

    def __init__(self, asked: Iterable[Question]) -> None:
        self._asked = sorted(asked, key=lambda q: q.asked_ns)
        self._instants = [q.asked_ns for q in self._asked]
        self._homeless = [True] * len(self._asked)
        self.n_passed_over = 0

    @property
    def n_homeless(self) -> int:
        """Questions that belong to no event so far."""
        return sum(self._homeless)

    def label(self, event: Event, known_ns: int) -> Label | None:
        """The label of an event that is closed and known at ``known_ns``; to be asked once an event, in order of ends.

        None for work with an assistant: help was needed before it.
        """
        if event.assistance:
            return None
        asked = range(bisect_right(self._instants, event.start_ns), bisect_right(self._instants, event.end_ns))
        own = [i for i in asked if self._homeless[i]]
        if not own:
            return Label(event.id, event.user, False, known_ns)
        for i in own:
            self._homeless[i] = False
        self.n_passed_over += len(own) - 1
        first = self._asked[own[0]]
        return Label(event.id, event.user, True, first.asked_ns, first.intention, first.query)


def label_events(events: Iterable[Event], asked: Iterable[Question]
                 ) -> tuple[list[tuple[Event, Label | None]], Labeller]:  # fmt: skip
    """Give each event of a past what became known of it, ``help=False`` since it closed without a question.

    Returns:
        The pairs in order of the events' ends, and who labelled them, with counts of what has no place in them.
    """
    ordered = sorted(events, key=lambda e: (e.end_ns, e.start_ns, e.id))
    labeller = Labeller(asked)
    return [(event, labeller.label(event, event.end_ns)) for event in ordered], labeller
