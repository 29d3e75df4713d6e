"""What the real-time scorer keeps of a session: counts, and lists where a figure needs a distribution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from scorers.offers import Judged, Verdict
from scorers.pacing import Pace
from scorers.samples import Sample
from scorers.streaming import Ticks
from simulator.runs.records import Ints
from simulator.session.truth import Opportunity

__all__ = ["Seeds", "Strength", "Tally"]


@dataclass(frozen=True, slots=True)
class Seeds:
    """Opportunities that were served on time under each of ``k`` seeds, and under at least one."""

    k: int
    n_every: int
    n_any: int


@dataclass(frozen=True, slots=True)
class Strength:
    """One session judged in one strength: counts, and lists where a figure needs a distribution."""

    judged: tuple[Judged, ...]
    n_needs: int
    seen: int
    instant: tuple[int, int] | None
    weights: tuple[float, ...]
    by_deadline: Mapping[int, int]
    by_kappa: Mapping[Fraction, int]
    samples: tuple[Sample, ...]
    ticks: Ticks

    @property
    def classes(self) -> Counter[Verdict]:
        """How many offers were what."""
        return Counter(j.verdict for j in self.judged)

    @property
    def on_time(self) -> list[Judged]:
        """The offers that served a need."""
        return [j for j in self.judged if j.verdict is Verdict.ON_TIME]

    @property
    def ahead(self) -> int:
        """Of these, how many were captured before their need opened."""
        return sum(j.offer.captured_ns < j.need.opens_ns for j in self.on_time if j.need)

    @property
    def leads_ns(self) -> Ints:
        """From the arrival of each until the user acted, where that is known."""
        acted = [(j.offer, j.need.acted_ns) for j in self.on_time if j.need]
        return np.array([at - offer.actionable_ns for offer, at in acted if at is not None], np.int64)

    @property
    def delays_ns(self) -> Ints:
        """From the opening of the need that each served until it arrived."""
        return np.array([j.offer.actionable_ns - j.need.opens_ns for j in self.on_time if j.need], np.int64)


@dataclass(frozen=True, slots=True)
class Tally:
    """One session: both strengths, and what does not depend on content.

    Attributes:
        strengths: ``""`` (full) and ``"@timing"``; without the first where ``unjudged`` says why.
        n_delivered: offers that left the agent; n_surfaced: those that passed the gate.
        needs: scored opportunities in order of opening.
        ceiling: ``Σ w·g`` of an offer at the first tick of each window.
        between: of the times between surfaced offers: how many, their sum in ns, the sum of their squares.
        seeds: the opportunities served in this run and its companions, None without companions.
        money: spent, or why that is unknown; used: tokens and images, and how many decisions reported any.
    """

    strengths: Mapping[str, Strength]
    unjudged: str | None
    matcher: str
    n_delivered: int
    n_surfaced: int
    needs: tuple[Opportunity, ...]
    ceiling: float
    active_ns: int
    pace: Pace
    between: tuple[int, int, int]
    seeds: Seeds | None
    money: tuple[float | None, str | None]
    used: Mapping[str, int]
