"""Taking the words out of run logs and truths, and leaving the numbers.

What an agent said may quote what it saw or remembered, so every text goes that is not known to be a word of proact's
own. What only has to be equal to itself (threads, names of events, a scenario's own intentions) gets a number instead:
the gate and the scorers find the same in what is left. Fields that a later version adds lose their texts too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from simulator.core.intentions import canonical
from simulator.session.schema import GAP_REASONS

__all__ = ["GONE", "Scrubber"]

GONE = "(forgotten)"
_WORD = re.compile(r"[a-z][a-z0-9_]{0,39}")
_OWN = frozenset({"kind", "what", "flags", "origin"})  # their values are words of proact's
_NUMBERED = {"thread": "thread", "event": "event", "id": "need", "opportunity": "need"}
_PARTS = {
    "opportunities": ("opens_ns", "closes_ns", "acted_ns"),
    "assists": ("start_ns", "end_ns"),
    "moments": ("t_ns",),
}


class Scrubber:
    """Scrubs the records of one unit: equal words get equal numbers throughout.

    Args:
        known: threads and intentions that stay as they are, since they stand in what is not scrubbed.
    """

    def __init__(self, known: frozenset[str] = frozenset()) -> None:
        self._known = known
        self._numbers: dict[tuple[str, str], str] = {}

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record of a run log without texts."""
        return {key: self._value(value, key) for key, value in record.items()}

    def truth(self, raw: Mapping[str, Any], touched: Callable[[int, int], bool] | None = None) -> dict[str, Any]:
        """What is true of a session, as read from ``truth.json``, without the user's own words.

        Args:
            raw: the file's contents.
            touched: whether an entry from one instant to another (stream time) is meant; None: all are, names too.
        """
        made = dict(raw)
        for part, ends in _PARTS.items():
            made[part] = [
                self._need(entry, touched is None)
                if touched is None or touched(*_reach([entry[e] for e in ends if entry[e] is not None]))
                else entry
                for entry in raw[part]
            ]
        made["intents"] = None
        if touched is None:
            made["gaps"] = [
                {**g, "reason": g["reason"] if g["reason"] in GAP_REASONS else "missing"} for g in raw["gaps"]
            ]
        return made

    def _need(self, entry: Mapping[str, Any], names: bool) -> dict[str, Any]:
        out = {**entry, "query": None}
        if names:
            for key in ("id", "opportunity"):
                if isinstance(entry.get(key), str):
                    out[key] = self._number(_NUMBERED[key], entry[key])
            if isinstance(entry.get("intention"), str):
                out["intention"] = self.intention(entry["intention"])
        return out

    def intention(self, text: str) -> str:
        """A category of proact's as it is, another one by number."""
        return text if canonical(text) is not None else self._number("intention", text)

    def _value(self, value: Any, key: str) -> Any:
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, list):
            return [self._value(one, key) for one in value]
        if not isinstance(value, str):
            return value
        if key in _OWN:
            return value if _WORD.fullmatch(value) else GONE
        if key == "intention":
            return self.intention(value)
        if key == "retracted":  # a thread, or an intention
            known = self._numbers.get(("thread", value))
            return known or (self.intention(value) if self._is_intention(value) else self._number("thread", value))
        return self._number(_NUMBERED[key], value) if key in _NUMBERED else GONE

    def _mapping(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Keys may be an agent's words too (of notes): those that are no plain words are counted together."""
        out: dict[str, Any] = {}
        for key, inner in value.items():
            if _WORD.fullmatch(key):
                out[key] = self._value(inner, key)
            elif isinstance(inner, int) and isinstance(out.get(GONE, 0), int):
                out[GONE] = out.get(GONE, 0) + inner
        return out

    def _is_intention(self, text: str) -> bool:
        return text in self._known or canonical(text) is not None or ("intention", text) in self._numbers

    def _number(self, what: str, text: str) -> str:
        if text in self._known:
            return text
        if text.startswith(f"{what} ") and text[len(what) + 1 :].isdecimal():  # numbered by an earlier call
            return text
        n = sum(kind == what for kind, _ in self._numbers) + 1
        return self._numbers.setdefault((what, text), f"{what} {n}")


def _reach(instants: list[int]) -> tuple[int, int]:
    return min(instants), max(instants)
