"""What protocol ``moments`` asks: one second before each recorded need, and as often where none arose.

ProAgentBench balances its test half and half and takes negatives that resemble the positives; it prints neither ratio
nor rule. Ours are stated in every plan and thereby in every result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np

from simulator.core.rng import draw_u64
from simulator.core.titles import clean
from simulator.core.types import SECOND, Event
from simulator.runs.records import Ints
from simulator.session.truth import Moment, Opportunity, Truth

__all__ = ["AFTER_NS", "APART_NS", "BEFORE_NS", "RULE", "Plan", "sample"]

BEFORE_NS = SECOND
"""How long before an event starts the agent is asked."""
AFTER_NS = 60 * SECOND
"""How long after an assistance event no negative lies."""
APART_NS = 60 * SECOND
"""The least distance of two negatives."""

RULE = (
    "positive: 1 s before the user acted on a scored opportunity; negative: 1 s before an event without assistance, "
    "outside [opens, end of the assistance event + 60 s] of every need, at least 60 s from other negatives, chosen "
    "without replacement, for one positive after another in order of time, as the one most alike in what is on screen: "
    "same app + Jaccard index of title keywords + nearness of the hour of day (1 at the same hour, 0 at twelve hours), "
    "ties by seed; one negative a positive; moments inside gaps are left out"
)


@dataclass(frozen=True, slots=True)
class Plan:
    """The moments of one session, in order of time, and how they came about.

    Attributes:
        rule: in words, with the counts that resulted.
        left_out: needs that gave no moment, by reason.
        short: how many negatives are missing for want of candidates: such a plan is not balanced.
    """

    moments: tuple[Moment, ...]
    rule: str
    left_out: tuple[tuple[str, int], ...]
    short: int

    def digest(self) -> str:
        """SHA-256 of moments and rule in canonical JSON."""
        body = {"moments": [asdict(m) for m in self.moments], "rule": self.rule}
        return sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def sample(events: Sequence[Event], truth: Truth, seed: int) -> Plan:
    """Choose the moments of a session.

    Args:
        events: the session's closed events in order of start; assistance events are marked.
        truth: needs, assistance and gaps of the same session.
        seed: of the run; decides ties between equally alike negatives.
    """
    screen = _Screen(events)
    positives, left_out = _positives(truth)
    forbidden = _forbidden(events, truth)
    candidates = sorted(
        {
            t
            for event in events
            if not event.assistance and (t := event.start_ns - BEFORE_NS) >= 0
            if not _inside(t, forbidden) and not _in_gap(t, truth)
        }
    )
    negatives = _choose(positives, candidates, screen, truth.session, seed)
    moments = sorted([*positives, *(Moment(t, positive=False) for t in negatives)], key=lambda m: m.t_ns)
    short = len(positives) - len(negatives)
    told = f"{len(positives)} positives, {len(negatives)} negatives of {len(candidates)} candidates, seed {seed}"
    for reason, n in left_out:
        told += f"; {n} needs left out: {reason}"
    if short:
        told += f"; {short} negatives short: not balanced"
    return Plan(tuple(moments), f"{RULE} ({told})", left_out, short)


def _positives(truth: Truth) -> tuple[list[Moment], tuple[tuple[str, int], ...]]:
    moments: dict[int, Moment] = {}
    counts: dict[str, int] = {}
    for need in sorted(truth.opportunities, key=lambda o: (o.opens_ns, o.id)):
        reason = _unasked(need, truth, moments)
        if reason is not None:
            counts[reason] = counts.get(reason, 0) + 1
        elif need.acted_ns is not None:
            t = need.acted_ns - BEFORE_NS
            moments[t] = Moment(t, True, need.intention, need.query, need.id)
    return [moments[t] for t in sorted(moments)], tuple(sorted(counts.items()))


def _unasked(need: Opportunity, truth: Truth, taken: dict[int, Moment]) -> str | None:
    if need.unservable is not None:
        return f"unservable ({need.unservable})"
    if need.acted_ns is None:
        return "the user's act is unknown"
    t = need.acted_ns - BEFORE_NS
    if t < 0:
        return "before the first snapshot"
    if _in_gap(t, truth):
        return "inside a gap"
    return "same instant as another" if t in taken else None


def _forbidden(events: Iterable[Event], truth: Truth) -> list[tuple[int, int]]:
    """Closed stretches in which no negative may lie, merged, in order."""
    spans = [(o.opens_ns, max(o.closes_ns, o.acted_ns or 0) + AFTER_NS) for o in truth.opportunities]
    spans += [(a.start_ns, a.end_ns + AFTER_NS) for a in truth.assists]
    spans += [(e.start_ns, e.end_ns + AFTER_NS) for e in events if e.assistance]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _inside(t: int, spans: Sequence[tuple[int, int]]) -> bool:
    low, high = 0, len(spans)
    while low < high:
        middle = (low + high) // 2
        if spans[middle][1] < t:
            low = middle + 1
        else:
            high = middle
    return low < len(spans) and spans[low][0] <= t


def _in_gap(t: int, truth: Truth) -> bool:
    return any(g.start_ns <= t < g.end_ns for g in truth.gaps)


class _Screen:
    """What is on screen at an instant: the event then open (the last to start, where a recording holds overlaps).

    That is all an agent asked then can see, so it is what makes a negative hard: not the event that starts 1 s later.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = sorted(events, key=lambda e: e.start_ns)
        self._starts = np.array([e.start_ns for e in self._events], np.int64)

    def at(self, t: int) -> tuple[str | None, frozenset[str]]:
        """App and title keywords at t; None and no words where no event is open."""
        i = int(np.searchsorted(self._starts, t, side="right")) - 1
        if i < 0 or self._events[i].end_ns <= t:
            return None, frozenset()
        return self._events[i].app, _keywords(self._events[i].title or "")


_WORD = re.compile(r"[^\W\d_]{2,}")


@lru_cache(maxsize=65536)
def _keywords(title: str) -> frozenset[str]:
    return frozenset(_WORD.findall(clean(title).casefold()))


_SCALE = 10**6
_DAY_NS = 24 * 3600 * SECOND


def _choose(
    positives: Sequence[Moment], candidates: Sequence[int], screen: _Screen, session: str, seed: int
) -> list[int]:
    """One candidate a positive while there are any, the most alike first."""
    times = np.array(candidates, np.int64)
    seen = [screen.at(t) for t in candidates]
    kinds = sorted({(app is not None, app or "", tuple(sorted(words))) for app, words in seen})
    number = {kind: n for n, kind in enumerate(kinds)}
    kind_of = np.array([number[app is not None, app or "", tuple(sorted(words))] for app, words in seen], np.int64)
    ties = [draw_u64(seed, "plan", session, t) for t in candidates]
    free = np.ones(len(times), dtype=bool)
    contexts: dict[tuple[str | None, frozenset[str]], Ints] = {}
    chosen: list[int] = []
    for positive in positives:
        if not free.any():
            break
        context = screen.at(positive.t_ns)
        if context not in contexts:
            contexts[context] = np.array([_alike(*context, kind) for kind in kinds], np.int64)[kind_of]
        apart = np.abs(times - positive.t_ns) % _DAY_NS
        alike = contexts[context] + _SCALE - np.minimum(apart, _DAY_NS - apart) // (_DAY_NS // 2 // _SCALE)
        alike[~free] = -1
        best = max((int(i) for i in np.flatnonzero(alike == alike.max())), key=ties.__getitem__)
        chosen.append(candidates[best])
        free &= np.abs(times - times[best]) >= APART_NS
    return sorted(chosen)


def _alike(app: str | None, words: frozenset[str], kind: tuple[bool, str, tuple[str, ...]]) -> int:
    """Same app and shared title words, in millionths; the nearness of the hour is added by the caller."""
    known, other_app, other_words = kind
    union = len(words.union(other_words))
    shared = len(words.intersection(other_words)) * _SCALE // union if union else 0
    return _SCALE * int(known and app == other_app) + shared
