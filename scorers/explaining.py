"""Why each offer, need, moment and intent was counted as it was: sentences with the numbers they rest on.

The classes are the scorers' own, from the same code; nothing here decides anything. Instants are seconds of the
session, rounded to a millisecond where they are finer (a difference that would be 0 then is given in full).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scorers.base import Context, Unit
from scorers.interrupted import truth_as_played
from simulator.core.errors import UsageError
from simulator.core.types import SECOND

__all__ = ["Told", "explain_unit", "number", "seconds", "some"]


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that was scored, and why it was counted as it was.

    Attributes:
        what: ``offer``, ``need``, ``moment``, ``intent`` (a true one) or ``prediction``.
        id: of an offer its decision's ``seq`` (``12.2`` for the second of several), else a name within its kind.
        verdict: the class: of offers the scorer's own or ``held_back``, of needs ``served`` or why not.
        title: what it is, in one line.
        sentences: why, each complete and exactly true.
        facts: the same for programs, JSON-ready.
    """

    what: str
    id: str
    verdict: str
    title: str
    sentences: tuple[str, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All sentences, one after the other."""
        return " ".join(self.sentences)

    def record(self) -> dict[str, Any]:
        """JSON-ready, without the kind."""
        return {"id": self.id, "class": self.verdict, "title": self.title, "why": self.text, **self.facts}


def explain_unit(unit: Unit, context: Context, matcher: str = "category") -> list[Told]:
    """Explain one session as the standard scorer of the protocol scores it.

    Args:
        unit: the session; an interrupted one is explained as far as its log goes.
        context: see ``scorers.base``.
        matcher: ``category``, ``embedding>=0.8`` or ``judge``; protocol ``moments`` knows the category only.

    Returns:
        Offers in order of arrival, then needs in order of opening; moments in order of time; true intents, then the
        two predicted sets.

    Raises:
        UsageError: nothing is known of what was needed, or a matcher that cannot be had.
        JudgeFailed: the judge gave no verdict on something.
    """
    whole = unit.truth
    unit = replace(unit, truth=truth_as_played(unit.log, whole))
    if context.protocol == "trajectory":
        from scorers.explaining_intents import explain_trajectory

        return explain_trajectory(unit, context, matcher)
    if not unit.truth.known:
        raise UsageError(f"unit '{unit.key}': no windows of need are known, so nothing was classified")
    if context.protocol == "moments":
        from scorers.explaining_moments import explain_moments

        if matcher != "category":
            raise UsageError("protocol 'moments' compares intentions by category; it takes no other matcher")
        return explain_moments(unit)
    from scorers.explaining_stream import explain_stream

    return explain_stream(unit, context, matcher, whole)


def seconds(ns: int) -> str:
    """A time in seconds, to the millisecond; finer where it would be 0.

    >>> seconds(14 * 10**9), seconds(-1_500_000_000), seconds(61_234_567_891), seconds(20_000), seconds(0)
    ('14 s', '-1.5 s', '61.235 s', '0.00002 s', '0 s')
    """
    whole = round(ns, -6)
    text = f"{whole / SECOND:.3f}" if whole else f"{(round(ns, -3) or ns) / SECOND:.9f}"
    return f"{text.rstrip('0').rstrip('.')} s"


def number(value: float) -> str:
    """A plain number, to four digits.

    >>> number(0.9), number(2), number(1 / 3)
    ('0.9', '2', '0.3333')
    """
    return f"{value:.4g}"


def some(names: Sequence[str], most: int = 5) -> str:
    """Names in a sentence.

    >>> some(["A"]), some(["A", "B", "C"]), some(list("ABCDEFG"))
    ('A', 'A, B and C', 'A, B, C, D, E and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else "none"
