"""Second by second: what the agent says now against what is true now (the pairing of streaming perception, sAP 2020).

At each tick of the stream the newest delivered raw decision stands; late means wrong about the present, without a
latency metric of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scorers.matching import Content
from simulator.runs.records import Ints, Kind, LoggedOffer, RunLog
from simulator.session.truth import Opportunity, Truth, active_spans

__all__ = ["Ticks", "stream_ticks"]


@dataclass(frozen=True, slots=True)
class Ticks:
    """Counts of ticks: help said and due, said in vain, due and not said, neither, and left out.

    A tick at which the wrong help was said while some was due is ``wrong``: false for precision and missed for recall.
    """

    hit: int = 0
    wrong: int = 0
    vain: int = 0
    missed: int = 0
    quiet: int = 0
    left_out: int = 0

    def __add__(self, other: Ticks) -> Ticks:
        return Ticks(*(getattr(self, f) + getattr(other, f) for f in Ticks.__slots__))


def stream_ticks(
    log: RunLog,
    raw: Sequence[LoggedOffer],
    truth: Truth,
    needs: Sequence[Opportunity],
    served: Mapping[str, tuple[int, int]],
    content: Content,
) -> Ticks:
    """Count the ticks of a session, gaps apart.

    The newest delivered decision is that of the newest snapshot among those delivered by the tick (silent or offer;
    others carry none), so that a late result of an older snapshot does not replace a newer one. A tick is left out if
    windows are open and each was served *already*: by an offer that had arrived, of a decision other than the one that
    stands. (Were the serving decision's own ticks left out too, no agent with latency could ever score.)

    Args:
        log: the run.
        raw: all offers of the log, before the gate.
        truth: end, period and gaps of the session.
        needs: scored opportunities in order of opening.
        served: by opportunity id, ``(actionable_ns, seq)`` of the offer that served it.
        content: decides whether a standing offer is right; one right offer of a decision suffices.
    """
    ticks = _ticks(truth)
    seq, says = _standing(log, ticks)
    n = len(ticks)
    is_open, pending, right = np.zeros(n, bool), np.zeros(n, bool), np.zeros(n, bool)
    test = content.right(raw, needs)
    seq_of_offer = np.array([o.seq for o in raw], np.int64)
    by_seq = np.argsort(seq_of_offer, kind="stable")
    sorted_seqs = seq_of_offer[by_seq]
    for i, need in enumerate(needs):
        low, high = np.searchsorted(ticks, [need.opens_ns, need.closes_ns])
        here = slice(int(low), int(high))
        is_open[here] = True
        live = np.ones(high - low, bool)
        if need.id in served:
            arrived, by = served[need.id]
            live = (ticks[here] < arrived) | (seq[here] == by)
        pending[here] |= live
        spoken = np.unique(seq[here][says[here] & live])
        span = by_seq[_ranges(np.searchsorted(sorted_seqs, spoken), np.searchsorted(sorted_seqs, spoken, side="right"))]
        good = np.unique(seq_of_offer[span[test(i, span)]])
        right[here] |= live & says[here] & np.isin(seq[here], good)
    counted = ~is_open | pending
    return Ticks(
        hit=int((counted & is_open & says & right).sum()),
        wrong=int((counted & is_open & says & ~right).sum()),
        vain=int((~is_open & says).sum()),
        missed=int((counted & is_open & ~says).sum()),
        quiet=int((~is_open & ~says).sum()),
        left_out=int((~counted).sum()),
    )


def _ticks(truth: Truth) -> Ints:
    every = np.arange(0, truth.end_ns, truth.period_ns, dtype=np.int64)
    parts = [every[slice(*np.searchsorted(every, span))] for span in active_spans(truth)]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _standing(log: RunLog, ticks: Ints) -> tuple[Ints, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """At each tick the seq of the decision that stands (-1 for none yet), and whether it offers something."""
    rows = np.flatnonzero((log.kind == Kind.SILENT) | (log.kind == Kind.OFFER))
    rows = rows[np.lexsort((log.seq[rows], log.actionable_ns[rows]))]
    captured = log.captured_ns[rows]
    if len(rows) == 0:
        return np.full(len(ticks), -1, np.int64), np.zeros(len(ticks), bool)
    newer = captured >= np.maximum.accumulate(captured)
    stands = np.maximum.accumulate(np.where(newer, np.arange(len(rows)), 0))
    at = np.searchsorted(log.actionable_ns[rows], ticks, side="right") - 1
    row = rows[stands[np.maximum(at, 0)]]
    seq = np.where(at >= 0, log.seq[row], -1)
    return seq, (at >= 0) & (log.kind[row] == Kind.OFFER)


def _ranges(low: Ints, high: Ints) -> Ints:
    """All positions of several ranges, one after the other."""
    return np.concatenate([np.zeros(0, np.int64), *(np.arange(a, b) for a, b in zip(low, high, strict=True))])
