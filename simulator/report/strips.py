"""What happened when in each session of a run: needs, and hits, misses, late and unwanted offers, from its scores.

Nothing here judges: the classes are the scorers' own, as ``scores.json`` holds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from simulator.core.types import SECOND

__all__ = ["KINDS", "Kind", "Mark", "Need", "Strip", "strips"]

Kind = Literal["hit", "miss", "late", "false"]
KINDS: tuple[Kind, ...] = ("hit", "miss", "late", "false")

_OF_CLASS: Mapping[str, Kind] = {
    "on_time": "hit",
    "stale": "late",
    "early": "false",
    "redundant": "false",
    "wrong_content": "false",
    "false_alarm": "false",
}
"""What a surfaced offer of each class is here: all that is neither on time nor late interrupted for nothing."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at an instant.

    Attributes:
        kind: ``hit`` (served a need), ``miss`` (a need that closed unserved, at its end), ``late`` (right when
            captured, and arrived when the need had closed), ``false`` (any other offer that surfaced).
        verdict: the scorer's own class of it.
        what: the intention.
        of: the need that it is about, if any. ``seq``: its decision, None of a miss.
        captured_ns: of the snapshot it rests on, None of a miss.
    """

    kind: Kind
    t_ns: int
    verdict: str
    what: str
    of: str | None = None
    seq: int | None = None
    captured_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """A scored need: its name, when it was open, what was wanted, whether it was served."""

    id: str
    opens_ns: int
    closes_ns: int
    intention: str
    served: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """One session of a run.

    Attributes:
        key: of the unit. ``end_ns``: how long it was played.
        needs: in order of opening. ``marks``: in order of time.
        note: why nothing can be told, of a session without truth for instance.
    """

    key: str
    end_ns: int
    needs: tuple[Need, ...]
    marks: tuple[Mark, ...]
    note: str | None = None

    @property
    def counts(self) -> dict[Kind, int]:
        """How many marks of each kind there are."""
        found = Counter(mark.kind for mark in self.marks)
        return {kind: found[kind] for kind in KINDS}


def strips(scores: Mapping[str, Any]) -> list[Strip]:
    """The sessions of a run, in order of key; none of a protocol in which nothing has an instant (``trajectory``)."""
    if scores["protocol"] == "trajectory":
        return []
    return [_strip(key, unit) for key, unit in sorted(scores["units"].items())]


def _strip(key: str, unit: Mapping[str, Any]) -> Strip:
    end_ns = int(unit["counts"].get("seconds_played", 0)) * SECOND
    if unit["counts"].get("not_played"):
        return Strip(key, end_ns, (), (), "not played")
    if "moments" in unit:
        marks = sorted(_of_moments(unit["moments"]), key=lambda m: m.t_ns)
        return Strip(key, max([end_ns, *(m.t_ns for m in marks)]), (), tuple(marks))
    if "unjudged" in unit:
        return Strip(key, end_ns, (), (), "not judged")
    if "opportunities" not in unit:
        return Strip(key, end_ns, (), (), "nothing is known of what was needed")
    needs = tuple(
        Need(n["id"], n["opens_ns"], n["closes_ns"], n["intention"], n["served_by"] is not None)
        for n in unit["opportunities"]
    )
    marks = [*_of_offers(unit["offers"]), *(_missed(n) for n in needs if not n.served)]
    marks.sort(key=lambda m: (m.t_ns, KINDS.index(m.kind), m.seq or 0))
    return Strip(key, max([end_ns, *(m.t_ns for m in marks)]), needs, tuple(marks))


def _of_offers(offers: list[Mapping[str, Any]]) -> Iterator[Mark]:
    for o in offers:
        kind = _OF_CLASS[o["class"]]
        yield Mark(kind, o["actionable_ns"], o["class"], o["intention"], o["opportunity"], o["seq"], o["captured_ns"])


def _missed(need: Need) -> Mark:
    return Mark("miss", need.closes_ns, "missed", need.intention, need.id)


def _of_moments(moments: list[Mapping[str, Any]]) -> Iterator[Mark]:
    """A positive moment is hit or missed, whatever the answer was; a negative one that got no ``no`` a false alarm."""
    for m in moments:
        said_yes = m["answer"] == "yes"
        if m["positive"]:
            kind: Kind = "hit" if said_yes else "miss"
            yield Mark(kind, m["t_ns"], m["answer"], m["intention"] or "")
        elif m["answer"] != "no":
            yield Mark("false", m["t_ns"], m["answer"], m["offered"] or "")
