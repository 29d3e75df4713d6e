"""The intents of a trajectory as stretches of time: from the offer that began one until it was taken back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.core.intentions import key
from simulator.runs.records import RunLog
from simulator.web.timeline_times import seconds_of

__all__ = ["intent_of", "threads"]


def intent_of(thread: str | None, intention: str, text: str) -> tuple[str, ...]:
    """What makes two offers of a trajectory one intent: their thread, else their words."""
    return (intention, text) if thread is None else (thread,)


def threads(log: RunLog, classes: Mapping[tuple[str, ...], str]) -> list[dict[str, Any]]:
    """Each intent that was offered, in order: when, until when (None: it stood at the end), and the scorer's class.

    A retraction names threads, else intentions, and takes effect before the offers of its own decision, as the scorer
    has it (``scorers.pira``).
    """
    found: list[dict[str, Any]] = []
    standing: dict[tuple[str, ...], dict[str, Any]] = {}
    said = [r for r in log.full.values() if r.get("kind") in ("offer", "silent")]
    for record in sorted(said, key=lambda r: (r["actionable_ns"], r["seq"])):
        at = seconds_of(record["actionable_ns"])
        for name in map(str, record.get("retracted") or ()):
            same = [of for of in standing if of == (name,)]
            gone: list[tuple[str, ...]] = [*same] or [
                of for of, one in standing.items() if key(one["intention"]) == key(name)
            ]
            for of in gone:
                standing.pop(of)["to_s"] = at
        for offer in record.get("offers") or ():
            of = intent_of(offer.get("thread"), str(offer["intention"]), offer.get("text") or "")
            if of in standing and offer.get("thread") is not None:
                standing[of]["intention"] = str(offer["intention"])
                continue
            one = {"from_s": at, "to_s": None, "intention": str(offer["intention"]), "class": classes.get(of)}
            standing[of] = one
            found.append(one)
    return found
