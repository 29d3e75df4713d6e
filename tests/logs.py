"""Run logs and truths made by hand, for tests of whatever reads them. Times are given in seconds, exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from simulator.core.types import SECOND
from simulator.runs.records import Kind, RunLog
from simulator.session.truth import Gap, Opportunity, Truth

Seconds = int | float | str | Fraction


def ns(seconds: Seconds) -> int:
    """Seconds, as written, in nanoseconds."""
    exact = seconds if isinstance(seconds, int | Fraction) else Fraction(str(seconds))
    return int(exact * SECOND)


@dataclass(frozen=True)
class D:
    """One decision. ``released`` and ``started`` follow ``captured`` unless given; offers are intentions or records."""

    captured: Seconds
    actionable: Seconds
    offers: Sequence[str | Mapping[str, Any]] = ()
    kind: Kind | None = None
    released: Seconds | None = None
    started: Seconds | None = None
    snapshot: int | None = None
    flags: int = 0
    more: Mapping[str, Any] = field(default_factory=dict)


def log(
    decisions: Iterable[D],
    *,
    released: int | None = None,
    changes: Sequence[Seconds] = (),
    interrupted: bool = False,
    **header: Any,
) -> RunLog:
    """A run log of these decisions in order of start; ``released`` defaults to one snapshot a second, as seen."""
    rows, full = [], {}
    for seq, d in enumerate(decisions):
        kind = d.kind if d.kind is not None else (Kind.OFFER if d.offers else Kind.SILENT)
        captured, arrived = ns(d.captured), ns(d.actionable)
        out = captured if d.released is None else ns(d.released)
        started = out if d.started is None else ns(d.started)
        snapshot = captured // SECOND if d.snapshot is None else d.snapshot
        rows.append((seq, snapshot, captured, captured, out, started, arrived, 0, int(kind), d.flags))
        if d.offers or d.more or kind is not Kind.SILENT:
            offers = [{"intention": o} if isinstance(o, str) else dict(o) for o in d.offers]
            offers = [{"actionable_ns": arrived, "text": "", **o} for o in offers]
            stamps = {"captured_ns": captured, "released_ns": out, "started_ns": started, "actionable_ns": arrived}
            full[seq] = {"kind": kind.name.lower(), "seq": seq, **stamps, "offers": offers, **d.more}
    table = np.array(rows, np.int64).reshape(-1, 10).T
    count = len(np.unique(table[1])) if released is None else released
    end = None if interrupted else {"released": count, "never_seen": 0, "changes_ns": [ns(c) for c in changes]}
    head = {"kind": "header", "schema": 1, "latency_source": "modelled", **header}
    seqs, snapshots, captures, contents, releases, starts, arrivals, drops, kinds, flags = table
    small = kinds.astype(np.uint8), flags.astype(np.uint8)
    stamps_of_all = captures, contents, releases, starts, arrivals
    return RunLog(head, seqs, snapshots, *stamps_of_all, drops, *small, full, (), end)


def need(id_: str, opens: Seconds, closes: Seconds, intention: str = "Debug", **more: Any) -> Opportunity:
    """An opportunity whose user acts at its close."""
    more.setdefault("acted_ns", ns(closes))
    return Opportunity(id_, ns(opens), ns(closes), intention, **more)


def truth(
    end: Seconds, needs: Sequence[Opportunity] = (), gaps: Sequence[tuple[Seconds, Seconds]] = (), **more: Any
) -> Truth:
    """The truth of a session of that length."""
    made = tuple(Gap(ns(a), ns(b), "suspend") for a, b in gaps)
    acts = tuple(sorted(n.acted_ns for n in needs if n.acted_ns is not None))
    return Truth("s", "u", ns(end), opportunities=tuple(needs), gaps=made, **{"acts_ns": acts, **more})


def play(end_s: int, answer: Callable[[int], Sequence[str]], latency_ns: Callable[[int], int]) -> RunLog:
    """An agent on a 1 Hz stream under ``latest_only``: asked at tick s, it says ``answer(s)`` after a latency."""
    decisions, free, tick = [], 0, 0
    while tick < end_s:
        start = max(free, tick * SECOND)
        tick = max(tick, min(start // SECOND, end_s - 1))
        free = start + latency_ns(tick)
        said = answer(tick)
        decisions.append(
            D(tick, Fraction(free, SECOND), said, released=tick, started=Fraction(start, SECOND), snapshot=tick)
        )
        tick += 1
    return log(decisions, released=end_s)
