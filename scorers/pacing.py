"""When an agent interrupts, whatever it says: quiet stretches kept quiet, and offers at task boundaries.

Interrupting at a boundary costs less (Adamczyk and Bailey 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scorers.spans import covered, merged
from simulator.runs.records import LoggedOffer, RunLog
from simulator.session.truth import Truth, active_spans

__all__ = ["Pace", "pace"]


@dataclass(frozen=True, slots=True)
class Pace:
    """Counts of one session.

    Attributes:
        idle: whole tumbling windows without opportunity; quiet: those of them in which nothing surfaced.
        near: surfaced offers shortly after a change of window as the run's segmentation sees it (of app, or of app or
            title), None where the changes are unknown.
        near_ns: active time shortly after a change.
    """

    surfaced: int
    idle: int
    quiet: int
    near: int | None
    near_ns: int


def pace(log: RunLog, truth: Truth, offers: Sequence[LoggedOffer], window_ns: int, after_ns: int) -> Pace:
    """Count one session.

    Tumbling windows run from time 0; an incomplete last one is dropped, and so are those wholly inside gaps, where
    nothing can surface. A window has an opportunity if any touches it, a scored one or not.
    """
    arrived = np.array([o.actionable_ns for o in offers], np.int64)
    spans = active_spans(truth)
    idle = np.zeros(truth.end_ns // window_ns, bool)
    for start, end in spans:
        idle[start // window_ns : -(-end // window_ns)] = True
    for need in truth.opportunities:
        idle[max(0, need.opens_ns) // window_ns : max(0, -(-need.closes_ns // window_ns))] = False
    quiet = idle.copy()
    inside = arrived // window_ns
    quiet[inside[inside < len(quiet)]] = False
    if log.end is None or log.end.get("changes_ns") is None:
        return Pace(len(offers), int(idle.sum()), int(quiet.sum()), None, 0)
    changes = np.sort(np.array(log.end["changes_ns"], np.int64))
    last = np.searchsorted(changes, arrived, side="right") - 1
    near = (last >= 0) & (arrived - changes[np.maximum(last, 0)] < after_ns) if len(changes) else np.zeros(0, bool)
    near_ns = covered(merged(changes, changes + after_ns), spans)
    return Pace(len(offers), int(idle.sum()), int(quiet.sum()), int(near.sum()), near_ns)
