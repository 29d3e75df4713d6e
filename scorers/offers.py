"""Each surfaced offer is exactly one of six things, and is set against the opportunity that makes it so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from scorers.matching import Content, Right, Windows, match
from simulator.runs.records import Ints, LoggedOffer
from simulator.session.truth import Opportunity

__all__ = ["Judged", "Verdict", "judge", "stamps"]


class Verdict(StrEnum):
    """What an offer was, in the order in which the classes are tested."""

    ON_TIME = "on_time"
    """Matched: arrived in a window, content right, one to one."""
    REDUNDANT = "redundant"
    """Right for an open opportunity that another offer had served."""
    STALE = "stale"
    """Right when the snapshot was captured, for a window that had closed on arrival."""
    EARLY = "early"
    """Right for a window that opens within the early margin (5 s)."""
    WRONG_CONTENT = "wrong_content"
    """Inside an open window, right for none."""
    FALSE_ALARM = "false_alarm"
    """None of these."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An offer, what it was, and the opportunity it was set against (None for a false alarm)."""

    offer: LoggedOffer
    verdict: Verdict
    need: Opportunity | None

    @property
    def gain(self) -> float:
        """``w·g(z)`` of an offer on time, ``g(z) = 1 - z/2``; 0 for all others."""
        if self.verdict is not Verdict.ON_TIME or self.need is None:
            return 0.0
        length = self.need.closes_ns - self.need.opens_ns
        return self.need.weight * (2 * length - (self.offer.actionable_ns - self.need.opens_ns)) / (2 * length)

    def told(self) -> dict[str, Any]:
        """The verdict and the opportunity's id, JSON-ready."""
        return {"class": self.verdict.value, "opportunity": None if self.need is None else self.need.id}


def stamps(offers: Sequence[LoggedOffer]) -> tuple[Ints, Ints]:
    """Arrivals and captures of offers, in ns."""
    arrived = np.array([o.actionable_ns for o in offers], np.int64)
    return arrived, np.array([o.captured_ns for o in offers], np.int64)


def judge(offers: Sequence[LoggedOffer], needs: Sequence[Opportunity], content: Content, early_ns: int) -> list[Judged]:
    """Classify offers.

    Tested in the order of ``Verdict``; where several opportunities fit, the one that opened first is named. An
    unmatched offer that is right for an open window is always redundant: were the window unserved, or served later,
    the matching would not be the best.

    Args:
        offers: surfaced, in order of arrival.
        needs: scored opportunities, in order of opening.
        content: decides whether an offer is right for a need.
        early_ns: an offer at most this long before a window opens is early rather than false.
    """
    right = content.right(offers, needs)
    arrived, captured = stamps(offers)
    of = np.full(len(offers), -1, np.int64)
    verdicts = np.full(len(offers), len(Verdict) - 1, np.int64)
    order = {verdict: n for n, verdict in enumerate(Verdict)}
    for i, j in enumerate(match(Windows.of(needs), arrived, right)):
        if j is not None:
            verdicts[j], of[j] = order[Verdict.ON_TIME], i
    for verdict, i, js in _fits(arrived, captured, needs, right, early_ns):
        better = js[verdicts[js] > order[verdict]]
        verdicts[better], of[better] = order[verdict], i
    names = tuple(Verdict)
    return [
        Judged(offer, names[v], needs[i] if i >= 0 else None)
        for offer, v, i in zip(offers, verdicts.tolist(), of.tolist(), strict=True)
    ]


def _fits(
    arrived: Ints, captured: Ints, needs: Sequence[Opportunity], right: Right, early_ns: int
) -> list[tuple[Verdict, int, Ints]]:
    """Per opportunity, the offers that fit it one by one in each of the lesser ways."""
    by_capture = np.argsort(captured, kind="stable")
    captures = captured[by_capture]
    out: list[tuple[Verdict, int, Ints]] = []
    for i, need in enumerate(needs):
        soon, low, high = (
            int(np.searchsorted(arrived, t)) for t in (need.opens_ns - early_ns, need.opens_ns, need.closes_ns)
        )
        inside = np.arange(low, high)
        out.append((Verdict.REDUNDANT, i, inside[right(i, inside)]))
        out.append((Verdict.WRONG_CONTENT, i, inside))
        before = np.arange(soon, low)
        out.append((Verdict.EARLY, i, before[right(i, before)]))
        first, last = np.searchsorted(captures, [need.opens_ns, need.closes_ns])
        seen = by_capture[first:last]  # what of these arrived while the window was open is on time or redundant
        out.append((Verdict.STALE, i, seen[right(i, seen)]))
    return out
