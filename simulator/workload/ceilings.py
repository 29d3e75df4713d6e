"""What could be known of a made-up user at best, and what knowing nothing gives: the bounds for any memory.

Bayes-optimal under the generator: computed from its tables, with the rate of needs and the split of the day as they
came out. "Window" knows application and topic, "all" also the half of the day and the application before. Neither knows
the rhythm: that a question is likelier soon after one is in the data too, and is no habit. An agent that uses it may
score above the ceiling for help, not above that for intentions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.workload.exact import Floats
from simulator.workload.habits import Habits

__all__ = ["Ceilings", "best_f1", "ceilings"]


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Bounds for one user; all are shares from 0 to 1.

    Attributes:
        need_rate: of events without an assistant, in how many a need arises: a floor for precision.
        intention_floor: accuracy of always naming the most frequent intention.
        intention_window: accuracy of the best guess from the window alone.
        intention_all: accuracy of the best guess from all habits.
        f1_floor: F1 of saying that help is needed in every event.
        f1: the best F1 over events, knowing the window.
        balanced_accuracy: the best accuracy where half of the moments are ones of need, knowing the window.
        balanced_f1: the best F1 there; always-yes has 2/3.
    """

    need_rate: float
    intention_floor: float
    intention_window: float
    intention_all: float
    f1_floor: float
    f1: float
    balanced_accuracy: float
    balanced_f1: float


def ceilings(habits: Habits, need_rate: float, afternoon: float) -> Ceilings:
    """The bounds, for the rate of needs and the share of them after noon that came out."""
    halves = (1.0 - afternoon, afternoon)
    n_apps = len(habits.apps)
    window = all_ = 0.0
    for cell in range(len(habits.cells)):
        by_window = np.zeros(len(habits.share))
        best = 0.0
        for half, weight in enumerate(halves):
            for app in range(n_apps):
                chances = habits.intention(half, cell, app)
                share = weight * float(habits.apps[app])
                by_window += share * chances
                best += share * float(chances.max())
        window += float(habits.need[cell] * by_window.max())
        all_ += float(habits.need[cell]) * best
    return Ceilings(
        need_rate=need_rate,
        intention_floor=float(habits.share.max()),
        intention_window=window,
        intention_all=all_,
        f1_floor=2 * need_rate / (1 + need_rate),
        f1=best_f1(habits.need, habits.calm, need_rate),
        balanced_accuracy=float(np.maximum(habits.need, habits.calm).sum()) / 2,
        balanced_f1=best_f1(habits.need, habits.calm, 0.5),
    )


def best_f1(need: Floats, calm: Floats, rate: float) -> float:
    """The best F1 of any rule that says yes in some cells: those where a need is likeliest, down to one.

    Args:
        need: chance of each cell among events with a need.
        calm: among the others.
        rate: share of events with a need.
    """
    order = np.argsort(-need / np.maximum(need * rate + calm * (1 - rate), 1e-300), kind="stable")
    hits = np.cumsum(need[order]) * rate
    said = hits + np.cumsum(calm[order]) * (1 - rate)
    return float((2 * hits / (said + rate)).max())
