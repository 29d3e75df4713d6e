"""A stream as early risk detection sees it: cases that are positive or negative, each decided once or never.

There a case is a user with a history of texts, and a decision comes after k of them. Here

* a **positive case** is a window of need, from its opening until it closes;
* a **negative case** is a stretch of active time of at least a period that no window touches, whole as it lies between
  windows, gaps and the session's ends;
* the case is decided by the first surfaced offer in it, whatever it offers;
* **k** counts the session's decisions, of any kind, that arrive at or after the opening, through to the one that made
  the offer (or, by request, the snapshots of the stream, a multiple of the period each, through to its arrival). The
  companion ``@seen`` takes captures for arrivals.

A window that is unservable is no case. What is offered in one, in a gap or after the end is counted as ``outside``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scorers.compat.twice import ENDS, SEEN, instants
from simulator.core.errors import UsageError, nearest, quote
from simulator.runs.gate import Gate, surface
from simulator.runs.records import Ints, RunLog
from simulator.session.truth import Opportunity, Span, Truth, active_spans

__all__ = ["COUNTS", "Cases", "cases_of", "checked_counts", "definition", "stretches"]

COUNTS = ("decisions", "snapshots")
_DEFINITION = (
    "positive case = a window of need, negative case = a stretch of active time without one, each decided by the first "
    "surfaced offer in it, of any content; k = {counts} of the session from the opening through to that offer's, "
    "{stamp}"
)
_STAMPS = {
    "decisions": "each counted where it arrives",
    "snapshots": "one a period, the offer's at its arrival",
}


def definition(counts: str) -> str:
    """What a case is and what k counts, for formulas."""
    return _DEFINITION.format(counts=counts, stamp=_STAMPS[counts])


@dataclass(frozen=True, slots=True)
class Cases:
    """One session: k of each positive case that was decided, how many there are, how many negative ones were decided
    (false alarms) and there are, and offers in no case.
    """

    delays: tuple[int, ...]
    positive: int
    alarms: int
    negative: int
    outside: int


def checked_counts(counts: str) -> str:
    """What k counts.

    Raises:
        UsageError: neither decisions nor snapshots.
    """
    if counts not in COUNTS:
        raise UsageError(f"counts: unknown {quote(counts)}; {nearest(counts, COUNTS)}")
    return counts


def cases_of(log: RunLog, truth: Truth, gate: Gate, counts: str) -> dict[str, Cases]:
    """The cases of a session at arrival and at capture."""
    offers = surface(log, truth, gate)
    own = np.searchsorted(log.seq, np.array([o.seq for o in offers], np.int64))
    made = {"": log.actionable_ns, SEEN: log.captured_ns}
    at = instants(offers)
    quiet = stretches(truth)
    return {end: _cases(at[end], made[end], own, truth, quiet, counts) for end in ENDS}


def stretches(truth: Truth) -> list[Span]:
    """Active time that no window touches, servable or not; what is shorter than a period is left out."""
    found = []
    windows = sorted((n.opens_ns, n.closes_ns) for n in truth.opportunities)
    for start, end in active_spans(truth):
        for opens, closes in windows:
            if closes > start and opens < end:
                found.append((start, opens))
                start = max(start, closes)
        found.append((start, end))
    return [(s, e) for s, e in found if e - s >= truth.period_ns]


def _cases(at: Ints, made: Ints, own: Ints, truth: Truth, quiet: Sequence[Span], counts: str) -> Cases:
    order = np.argsort(at, kind="stable")
    times, own = at[order], own[order]
    decided, ordered = made[own], np.sort(made)
    used = np.zeros(len(times), bool)
    delays, alarms = [], 0
    for need in truth.servable:
        low, high = np.searchsorted(times, [need.opens_ns, need.closes_ns])
        used[low:high] = True
        if high > low and counts == "snapshots":
            delays.append(_snapshots(need, int(times[low]), truth.period_ns))
        elif high > low:
            begun, done = np.searchsorted(ordered, need.opens_ns), np.searchsorted(ordered, times[low], side="right")
            # An offer that left its decision early is ahead of the decision's own stamp, which has to count.
            delays.append(int(done - begun) + int(decided[low] > times[low]))
    for start, end in quiet:
        low, high = np.searchsorted(times, [start, end])
        used[low:high] = True
        alarms += int(high > low)
    return Cases(tuple(delays), len(truth.servable), alarms, len(quiet), int((~used).sum()))


def _snapshots(need: Opportunity, t_ns: int, period_ns: int) -> int:
    return max(1, t_ns // period_ns - -(-need.opens_ns // period_ns) + 1)
