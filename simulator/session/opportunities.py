"""Needs for help out of recorded assistance events, and labels out of the same.

The rule (docs: scoring, section 0): an assistance event that starts at u makes a need ``[o, u)`` with ``o`` the latest
of ``u - 60 s``, the end of the assistance event before, the end of the last gap or of the last pause over 60 s, and
the session's start. One that starts less than 30 s after the one before ended is a follow-up: no need of its own.
Windows under 2 s, or in which no snapshot is released, are kept as ``unservable``: counted, not scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simulator.core.types import SECOND, Event, Label
from simulator.session.truth import Assist, Gap, Opportunity

__all__ = ["LeadRule", "Released", "derive", "follow_ups", "label_events", "mark_unservable"]

TOO_SHORT = "under 2 s"
NOTHING_SEEN = "holds no snapshot"


@dataclass(frozen=True, slots=True)
class LeadRule:
    """The numbers of the rule; changing one changes what is scored, so results state them (``text``)."""

    lead_ns: int = 60 * SECOND
    follow_up_ns: int = 30 * SECOND
    pause_ns: int = 60 * SECOND
    least_ns: int = 2 * SECOND

    @property
    def text(self) -> str:
        """The rule in words for a reader of the result."""
        return (
            f"recorded: closes when the user asked an assistant; opens at the latest of {self.lead_ns / SECOND:g} s "
            f"before, the end of the assistance event before, of a gap, of a pause over {self.pause_ns / SECOND:g} s; "
            f"asking again within {self.follow_up_ns / SECOND:g} s is a follow-up, not a need; windows under "
            f"{self.least_ns / SECOND:g} s or without a snapshot are unservable"
        )


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
                intention=assist.intention or "Uncategorized",
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


def label_events(events: Iterable[Event], assists: Sequence[Assist], rule: LeadRule | None = None
                 ) -> tuple[list[tuple[Event, Label | None]], int]:  # fmt: skip
    """Give each event what became known of it: a need to the event in which it arose, else that there was none.

    An assistance event starting at u labels the event with ``start < u <= end`` that is not one itself; assistance
    events get no label, follow-ups give none.

    Returns:
        The pairs in order of the events' ends, and how many needs found no event to belong to.
    """
    ordered = sorted(events, key=lambda e: (e.end_ns, e.start_ns, e.id))
    ends = np.array([e.end_ns for e in ordered], dtype=np.int64)
    known = sorted(assists, key=lambda a: (a.start_ns, a.end_ns))
    labels: dict[int, Label] = {}
    n_homeless = 0
    for assist, follows in zip(known, follow_ups(known, rule), strict=True):
        if follows:
            continue
        home = _home(ordered, ends, assist.start_ns)
        if home is None:
            n_homeless += 1
        elif home not in labels:  # two needs in one event: the earlier one is what became known first
            event = ordered[home]
            labels[home] = Label(event.id, event.user, True, assist.start_ns, assist.intention, assist.query)
    pairs: list[tuple[Event, Label | None]] = []
    for i, event in enumerate(ordered):
        none = None if event.assistance else Label(event.id, event.user, False, event.end_ns)
        pairs.append((event, labels.get(i, none)))
    return pairs, n_homeless


def _home(ordered: Sequence[Event], ends: NDArray[np.int64], asked_ns: int) -> int | None:
    # Ends ascend, so the first ends at or after the question are tried first; overlapping events need a short look.
    for i in range(int(np.searchsorted(ends, asked_ns)), min(len(ordered), int(np.searchsorted(ends, asked_ns)) + 64)):
        if ordered[i].start_ns < asked_ns and not ordered[i].assistance:
            return i
    return None
