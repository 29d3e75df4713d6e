"""Whether what a run log says can have been: read back, it may have been edited, or be somebody else's.

Columns are looked at whole, so that a million decisions cost no more than a few passes of numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from memory.view import RECALLS
from simulator.core.errors import InputError
from simulator.runs.records import RunLog

__all__ = ["ensure_possible", "ensure_words"]

_ORDER = ("captured_ns", "released_ns", "started_ns", "actionable_ns")
"""A decision's stamps as they follow each other."""
_COUNTS = ("seq", "snapshot", "captured_ns", "dropped_before")
"""No column of these is negative; by the order of stamps no other stamp is then."""
_WRITE = ("available_ns", "started_ns", "done_ns")
_END = ("released", "never_seen", *RECALLS)


def ensure_possible(path: Path, log: RunLog) -> None:
    """Check a log that was read.

    Raises:
        InputError: what cannot have been, with the decision's seq.
    """
    for name in _COUNTS:
        _refuse(path, log, getattr(log, name) < 0, f"{name} is negative")
    for earlier, later in pairwise(_ORDER):
        _refuse(path, log, getattr(log, later) < getattr(log, earlier), f"{later} lies before {earlier}")
    if len(log) > 1:
        _refuse(path, log, np.diff(log.seq, prepend=-1) <= 0, "another decision has the same seq")
    for n, write in enumerate(log.writes):
        if not all(_whole(write.get(name)) for name in _WRITE) or not _error(write.get("error", _NO_ERROR)):
            raise InputError(path, f"memory write {n + 1}: instants are wanted under {', '.join(_WRITE)}")
    if log.end is not None:
        _ensure_end(path, log.end)


def _refuse(path: Path, log: RunLog, wrong: Any, what: str) -> None:
    if wrong.any():
        raise InputError(path, f"{what}, which cannot be", field=f"decision {log.seq[int(np.argmax(wrong))]}")


_NO_ERROR = {"kind": "", "text": ""}


def _error(value: Any) -> bool:
    return type(value) is dict and type(value.get("kind")) is str and type(value.get("text")) is str


def _texts(value: Any) -> bool:
    return type(value) is list and all(type(text) is str for text in value)


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _counted(value: Any) -> bool:
    return type(value) is dict and all(_whole(n) for n in value.values())


def _lengths(value: Any) -> bool:
    return type(value) is dict and all(type(ns) is int and -(1 << 63) <= ns < 1 << 63 for ns in value.values())


_FIELDS: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("retracted", _texts, "a list of names"),
    ("error", _error, "its kind and its text"),
    ("notes", _counted, "counts by name"),
    ("first_token_ns", _whole, "an instant"),
    ("stages_ns", _lengths, "lengths of time by name"),
)
_OFFER: Mapping[str, tuple[Any, frozenset[type], str]] = {
    "intention": (None, frozenset({str}), "a text"),
    "text": ("", frozenset({str}), "a text"),
    "thread": (None, frozenset({str, NoneType}), "a text"),
    "confidence": (None, frozenset({int, float, NoneType}), "a number from 0 to 1"),
    "actionable_ns": (None, frozenset({int}), "an instant"),
}
"""Of an offer: what is so where nothing is said, kinds of values, and what would be right."""


def ensure_words(decisions: Sequence[Mapping[str, Any]]) -> None:
    """Check what whole records of decisions say besides their stamps.

    Raises:
        ValueError: a field that holds what it cannot, with what would be right.
    """
    for record in decisions:
        for field, fits, want in _FIELDS:
            if field in record and not fits(record[field]):
                raise ValueError(f"{field}: {want} is wanted")
    if any(r["kind"] == "offer" and "offers" not in r for r in decisions):
        raise ValueError("offers: a list of offers is wanted")
    told = [r for r in decisions if "offers" in r]
    lists = [r["offers"] for r in told]
    if {*map(type, lists)} - {list} or {*map(type, chain.from_iterable(lists))} - {dict}:
        raise ValueError("offers: a list of offers is wanted")
    flat = list(chain.from_iterable(lists))
    for field, (absent, kinds, want) in _OFFER.items():
        if not kinds.issuperset([type(offer.get(field, absent)) for offer in flat]):
            raise ValueError(f"{field} of an offer: {want} is wanted")
    if not all(0 <= sure <= 1 for offer in flat if (sure := offer.get("confidence")) is not None):
        raise ValueError("confidence of an offer: a number from 0 to 1 is wanted")
    n = [len(offers) for offers in lists]
    started, ended, arrived = (np.array(column) for column in (
        [r["started_ns"] for r in told], [r["actionable_ns"] for r in told], [offer["actionable_ns"] for offer in flat]
    ))  # fmt: skip
    if ((arrived < np.repeat(started, n)) | (np.repeat(ended, n) < arrived)).any():
        raise ValueError("actionable_ns of an offer: an instant within its decision is wanted")


def _ensure_end(path: Path, end: Mapping[str, Any]) -> None:
    for name in _END:
        if name in end and not _whole(end[name]):
            raise InputError(path, "a count is wanted", field=f"end: {name}")
    if not _counted(end.get("notes", {})):
        raise InputError(path, "counts by name are wanted", field="end: notes")
    changes = end.get("changes_ns", [])
    if type(changes) is not list or not all(map(_whole, changes)) or sorted(changes) != changes:
        raise InputError(path, "instants in order are wanted", field="end: changes_ns")
