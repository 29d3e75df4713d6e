"""An agent that says what a file tells it to, when it tells it to: for demonstrations, tests and worked examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from agents.base import agents
from simulator.core.errors import InputError, nearest
from simulator.core.files import json_lines
from simulator.core.types import SECOND, SILENT, Decision, Observation, Offer, Setup
from simulator.core.yaml_files import read_yaml

__all__ = ["Scripted"]

_FIELDS = ("t_s", "intention", "text", "confidence", "thread")


@dataclass(frozen=True, slots=True)
class _Line:
    t_ns: int
    offer: Offer
    where: str


@agents.register("scripted")
class Scripted:
    """Makes each offer of a file at the first snapshot captured at or after its time.

    The file is a YAML list or JSON lines of ``{t_s, intention, text, confidence, thread}``; time and intention are
    needed, seconds count from the session's first snapshot.

    Args:
        file: the path.
        intentions: in use; empty: any.

    Raises:
        InputError: no such file, a line that is not such an offer, or an intention that is not in use.
    """

    inline = True
    reads_window = False

    def __init__(self, file: str, intentions: Sequence[str] = ()) -> None:
        lines = [_read(raw, where) for where, raw in _entries(Path(file))]
        self._lines = sorted(lines, key=lambda line: line.t_ns)
        self._next = 0
        self._check(intentions)

    async def open(self, setup: Setup) -> None:
        """Check that the intentions are in use.

        Raises:
            InputError: an intention that the run does not know.
        """
        self._check(setup.intentions)

    def _check(self, intentions: Sequence[str]) -> None:
        for line in self._lines if intentions else ():
            said = line.offer.intention
            if said not in intentions:
                raise InputError(line.where, nearest(said, intentions), field="intention", value=said)

    async def decide(self, observation: Observation) -> Decision:
        """What is due."""
        seen_ns = observation.snapshot.captured_ns
        first = self._next
        while self._next < len(self._lines) and self._lines[self._next].t_ns <= seen_ns:
            self._next += 1
        if first == self._next:
            return SILENT
        return Decision(tuple(line.offer for line in self._lines[first : self._next]))


def _entries(path: Path) -> list[tuple[str, Any]]:
    """What the file lists, each with its place in words."""
    if path.suffix.lower() == ".jsonl":
        return [(f"{path}, line {number}", raw) for number, raw in json_lines(path)]
    listed = read_yaml(path)
    if not isinstance(listed, list):
        raise InputError(path, "a list of offers is wanted, each with t_s and intention")
    return [(f"{path}: offer {number}", raw) for number, raw in enumerate(listed, 1)]


def _read(raw: Any, where: str) -> _Line:
    if not isinstance(raw, dict):
        raise InputError(where, "an offer is a mapping with t_s and intention")
    for key in raw:
        if key not in _FIELDS:
            raise InputError(where, f"unknown field; {nearest(str(key), _FIELDS)}", value=key)
    t_s: Any = raw.get("t_s")
    if not _is_number(t_s) or t_s < 0:
        raise InputError(where, "seconds since the first snapshot are wanted, 0 or more", field="t_s", value=t_s)
    _check_text(raw, "intention", where, needed=True)
    _check_text(raw, "text", where)
    _check_text(raw, "thread", where)
    sure = raw.get("confidence")
    if sure is not None and not (_is_number(sure) and 0 <= sure <= 1):
        raise InputError(where, "a number from 0 to 1 is wanted", field="confidence", value=sure)
    offer = Offer(raw["intention"], raw.get("text") or "", None if sure is None else float(sure), raw.get("thread"))
    return _Line(int((Decimal(str(t_s)) * SECOND).to_integral_value()), offer, where)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_text(raw: dict[str, Any], field: str, where: str, *, needed: bool = False) -> None:
    value = raw.get(field)
    if (value is None and not needed) or (isinstance(value, str) and (value.strip() or not needed)):
        return
    raise InputError(where, "a text is wanted", field=field, value=value)
