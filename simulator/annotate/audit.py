"""How far people agree with an annotator: a random sample, answered blind, with intervals.

The sample is drawn by name (seed, session, event), so the same call draws the same one and goes on where it was left.
Intervals are Wilson's (1927): right at 0 and at 1, and for small samples. Cohen's κ takes agreement by chance out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simulator.annotate.sample import Target
from simulator.annotate.store import Annotation
from simulator.core.rng import draw_u64

__all__ = ["Agreement", "Drawn", "Share", "draw", "kappa", "wilson"]

_Z = 1.959963984540054  # of 95 %


@dataclass(frozen=True, slots=True)
class Drawn:
    """One event of the sample: in which session, and what the annotator said of it."""

    session: str
    target: Target
    said: Annotation


@dataclass(frozen=True, slots=True)
class Share:
    """``k`` of ``n``, with the 95 % interval; None where n is 0."""

    k: int
    n: int

    @property
    def value(self) -> float | None:
        """The share."""
        return self.k / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's."""
        return wilson(self.k, self.n) if self.n else None

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        low, high = self.interval or (None, None)
        return {"agree": self.k, "n": self.n, "share": self.value, "low": low, "high": high}


def wilson(k: int, n: int, z: float = _Z) -> tuple[float, float]:
    """The score interval of a share (Wilson 1927), inside [0, 1].

    >>> tuple(round(x, 4) for x in wilson(90, 100)), wilson(0, 10)[0], wilson(10, 10)[1]
    ((0.8256, 0.9448), 0.0, 1.0)
    """
    if not 0 <= k <= n or n == 0:
        raise ValueError(f"{k} of {n} is no share")
    share, square = k / n, z * z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return (0.0 if k == 0 else max(0.0, middle - half), 1.0 if k == n else min(1.0, middle + half))


def kappa(pairs: Mapping[tuple[bool, bool], int]) -> float | None:
    """Cohen's κ of a table of two by two: agreement beyond chance; None where chance alone agrees always."""
    n = sum(pairs.values())
    if not n:
        return None
    agree = (pairs.get((True, True), 0) + pairs.get((False, False), 0)) / n
    yes = [sum(v for key, v in pairs.items() if key[side]) / n for side in (0, 1)]
    chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    return None if chance >= 1 else (agree - chance) / (1 - chance)


def draw(population: Sequence[Drawn], n: int, seed: int) -> list[Drawn]:
    """A random sample without replacement, in the order of the population; all of it where it is not larger."""
    drawn = sorted(
        range(len(population)),
        key=lambda i: (draw_u64(seed, "audit", population[i].session, population[i].target.start_ns), i),
    )
    return [population[i] for i in sorted(drawn[:n])]


@dataclass(slots=True)
class Agreement:
    """What came of an audit.

    Attributes:
        n_sampled: events drawn.
        n_unanswered: of these, without a person's answer.
        n_unannotated: of those answered, which the annotator could not tell.
        table: assistance by (annotator, person).
        intention: among events that both call assistance and for which the person named an intention.
        confused: intentions that differ, as (annotator's or None, person's), with their number.
    """

    n_sampled: int = 0
    n_unanswered: int = 0
    n_unannotated: int = 0
    table: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    intention: Counter[bool] = field(default_factory=Counter)
    confused: Counter[tuple[str | None, str]] = field(default_factory=Counter)

    def take(self, said: Annotation, person: Annotation | None) -> None:
        """Count one event of the sample."""
        self.n_sampled += 1
        if person is None or person.assistance is None:
            self.n_unanswered += 1
        elif said.assistance is None:
            self.n_unannotated += 1
        else:
            self.table[said.assistance, person.assistance] += 1
            if said.assistance and person.assistance and person.intention is not None:
                same = said.intention == person.intention
                self.intention[same] += 1
                if not same:
                    self.confused[said.intention, person.intention] += 1

    @property
    def assistance_share(self) -> Share:
        """How often both say the same of whether an assistant was used."""
        return Share(self.table[True, True] + self.table[False, False], self.table.total())

    @property
    def intention_share(self) -> Share:
        """How often both name the same intention."""
        return Share(self.intention[True], self.intention.total())

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        words = {True: "yes", False: "no"}
        table = {f"{words[a]}_{words[p]}": self.table[a, p] for a in (True, False) for p in (True, False)}
        confused = [{"annotator": a, "person": p, "n": n} for (a, p), n in self.confused.most_common()]
        return {
            "sampled": self.n_sampled,
            "unanswered": self.n_unanswered,
            "unannotated": self.n_unannotated,
            "assistance": {**self.assistance_share.as_dict(), "kappa": kappa(self.table), "annotator_person": table},
            "intention": {**self.intention_share.as_dict(), "confused": confused},
        }
