"""Flips: what one side alone got right, item by item, from the scores of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scorers.explaining import seconds
from scorers.statistics.significance import McNemar, mcnemar
from simulator.play.sides import Run

__all__ = ["Flips", "Pair", "flips"]

Pair = tuple[str, Run, Run]
"""A unit's key, and the runs of both sides that hold it."""


@dataclass(frozen=True, slots=True)
class Flips:
    """What one side alone got right: opportunities served, moments answered rightly, intents found.

    ``test`` takes them for independent, which they are not within a session: too liberal, and shown second.
    """

    of: str
    both: int
    neither: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    test: McNemar


def flips(pairs: Sequence[Pair]) -> Flips | None:
    """What one side alone got right, over all units; None where units do not tell it."""
    kinds: dict[str, list[tuple[str, bool, bool]]] = {}
    for key, a, b in pairs:
        seeds = dict.fromkeys((a.seed, b.seed))
        where = key if list(seeds) == [0] else f"{key}, seed {'/'.join(map(str, seeds))}"
        here, there = (_right(run.scores["units"][key]) for run in (a, b))
        for of, item in here:
            if (of, item) in there:
                kinds.setdefault(of, []).append((f"{where}: {item}", here[of, item], there[of, item]))
    if not kinds:
        return None
    of, items = next(iter(kinds.items()))
    only_first = tuple(name for name, a, b in items if a and not b)
    only_second = tuple(name for name, a, b in items if b and not a)
    both = sum(a and b for _, a, b in items)
    neither = len(items) - both - len(only_first) - len(only_second)
    return Flips(of, both, neither, only_first, only_second, mcnemar(len(only_first), len(only_second)))


def _right(unit: Mapping[str, Any]) -> dict[tuple[str, str], bool]:
    """Each item of a unit and whether it was got right."""
    if "moments" in unit:
        return {
            ("moments", seconds(m["t_ns"])): m["answer"] == ("yes" if m["positive"] else "no") for m in unit["moments"]
        }
    if "opportunities" in unit:
        return {("opportunities", str(n["id"])): n["served_by"] is not None for n in unit["opportunities"]}
    if "retained" in (told := unit.get("intents", {})):
        matched = {entry["matched"] for entry in told["retained"]}
        true = dict.fromkeys(i["counted_as"] for i in told["true"])  # told by number: their words are a person's
        return {("intents", f"intent {n}"): text in matched for n, text in enumerate(true, 1)}
    return {}
