"""Accepted offers of a live run as a truth: small, and no more than what people said.

What a person called useful was a need, from the snapshot on which it was offered until they said so. That is all that
is known: needs that nobody offered help for are not in it. So it tells another agent's recall of *those* needs, and
nothing of offers beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from scorers import feedback
from scorers.feedback import Feedback
from simulator.core.errors import InputError, UsageError
from simulator.core.intentions import key
from simulator.core.types import SECOND
from simulator.play.live import LiveFolder
from simulator.runs.folder import read_units
from simulator.runs.records import LoggedOffer
from simulator.session.scenario import plays
from simulator.session.scenario_file import load
from simulator.session.scenario_truth import Intentions
from simulator.session.truth import LEAST_WINDOW_NS

__all__ = ["HEAD", "RULE", "Need", "Written", "accepted", "met", "needs", "write_truth"]

RULE = (
    "offers that a person called useful, from the snapshot on which they were made until they said so, 2 s at least "
    "(less only at the session's end: not scored then); needs that nobody offered help for are not in it"
)
HEAD = "# Written by `proact dataset accepted`: offers that were called useful. Other needs are not known."
"""The line of a scenario file from which on it is not as the run knew it."""


@dataclass(frozen=True, slots=True)
class Need:
    """A need, ``[opens_ns, closes_ns)``, that ``n`` accepted offers met."""

    opens_ns: int
    closes_ns: int
    intention: str
    n: int = 1

    @property
    def short(self) -> bool:
        """Whether it came too close to the session's end for anybody to be served: counted, not scored."""
        return self.closes_ns - self.opens_ns < LEAST_WINDOW_NS


@dataclass(frozen=True, slots=True)
class Written:
    """What came of the verdicts on a live run.

    Attributes:
        file: the scenario that has the needs as its truth, once they are written.
        n_accepted: offers that were accepted.
        n_unknown: those of them whose intention the scenario does not know, and which are left out.
        n_undated: those that were accepted at an unknown time, taken as 2 s after they came.
        needs: the windows.
    """

    file: Path
    n_accepted: int
    n_unknown: int
    n_undated: int
    needs: Sequence[Need]

    @property
    def n_short(self) -> int:
        """Needs that are counted and not scored, see ``Need.short``."""
        return sum(need.short for need in self.needs)


def accepted(offers: Sequence[LoggedOffer], said: Sequence[Feedback]) -> list[tuple[LoggedOffer, Feedback]]:
    """Offers of which the last that each person said is that they were useful, with the first such verdict."""
    named = {(o.seq, key(o.intention)): o for o in reversed(offers)}
    last, _ = feedback.last_words(offers, said)
    found: dict[tuple[int, str], tuple[LoggedOffer, Feedback]] = {}
    for (seq, intention, _), verdict in last.items():
        if verdict.said == "accepted":
            found.setdefault((seq, intention), (named[seq, intention], verdict))
    return [found[at] for at in sorted(found)]


def needs(taken: Iterable[tuple[LoggedOffer, Feedback]], end_ns: int) -> list[Need]:
    """Windows of needs; those of one intention that touch are one.

    Each opens with the snapshot on which help was offered: a need that opened before it would have answers to it count
    as later than they were. So one that opens less than 2 s before the session's end is as short as that leaves it.
    """
    made: list[Need] = []
    for offer, verdict in taken:
        said_ns = offer.actionable_ns if verdict.t_s is None else round(verdict.t_s * SECOND)
        opens = offer.captured_ns
        closes = min(max(said_ns, offer.actionable_ns, opens + LEAST_WINDOW_NS), end_ns)
        made.append(Need(opens, closes, offer.intention))
    joined: list[Need] = []
    for need in sorted(made, key=lambda one: (key(one.intention), one.opens_ns, one.closes_ns)):
        before = joined[-1] if joined else None
        if before is not None and key(before.intention) == key(need.intention) and need.opens_ns <= before.closes_ns:
            closes = max(before.closes_ns, need.closes_ns)
            joined[-1] = replace(before, closes_ns=closes, n=before.n + 1)
        else:
            joined.append(need)
    return sorted(joined, key=lambda one: (one.opens_ns, one.intention))


def write_truth(folder: Path) -> Written:
    """Put the accepted offers of a live run into its scenario file as needs.

    Args:
        folder: of the live run, with ``session``, ``scenario.yaml`` and ``run``.

    Raises:
        UsageError: nobody was asked, nothing was accepted, or the scenario states a truth already.
        InputError: a fault of one of the files.
    """
    place = LiveFolder(folder)
    if not place.scenario.is_file() or not place.run.is_dir():
        raise InputError(folder, "the folder of a live run is wanted, with scenario.yaml and run in it")
    if load(place.scenario).truth != "recorded":
        raise UsageError(f"{place.scenario} states a truth already, so nothing was written; take it out first")
    found = met(folder)
    opportunities = [  # to the nanosecond: rounded, a need could open after the snapshot on which help was offered
        {"opens_s": n.opens_ns / SECOND, "closes_s": n.closes_ns / SECOND, "intention": n.intention}
        for n in found.needs
    ]
    stated = {"truth": {"rule": RULE, "opportunities": opportunities}}
    with place.scenario.open("a", encoding="utf-8") as file:
        file.write(f"\n{HEAD}\n" + yaml.safe_dump(stated, allow_unicode=True, sort_keys=False, width=120))
    return found


def met(folder: Path) -> Written:
    """The needs that accepted offers of a live run met; nothing is written.

    Args:
        folder: of the live run, with ``session``, ``scenario.yaml`` and ``run``.

    Raises:
        UsageError: nobody was asked, or nothing was accepted.
        InputError: a fault of one of the files.
    """
    place = LiveFolder(folder)
    if not (units := read_units(place.run)):
        raise UsageError(f"{place.run}: nothing was played, so nothing was offered")
    unit, log, truth = units[0]
    said = feedback.read(place.run / "units" / unit / feedback.FILE)
    if said is None:
        raise UsageError(f"{place.run}: nobody said anything of its offers")
    (play,) = plays([place.scenario])
    names = Intentions(play.intentions)
    taken = accepted(log.offers(), said)
    known = [
        (replace(offer, intention=name), verdict)
        for offer, verdict in taken
        if (name := names.canonical(offer.intention)) is not None
    ]
    found = needs(known, truth.end_ns)
    if not found:
        raise UsageError(f"{place.run}: no offer with an intention of this scenario was called useful")
    undated = sum(verdict.t_s is None for _, verdict in known)
    return Written(place.scenario, len(taken), len(taken) - len(known), undated, found)
