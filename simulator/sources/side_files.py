"""Side files of ProAgentBench: what later passes said of events, keyed by (user, event).

CSV, JSON or JSON lines. Rows name a user (``user``, ``user_id``, ``participant``; may be absent when one user is
imported), an event (``event_id``, ``id``), and any of: ``reason`` or ``exclude`` (leave the event out),
``user_intention`` or ``intention`` with ``confidence``, ``llm_platform`` or ``platform``. JSON may also be a mapping
``{user: {event: …}}`` or ``{user: [event, …]}``; a lone text as value is the reason of an exclusion.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.files import csv_rows, json_lines, read_text
from simulator.core.intentions import canonical
from simulator.sources.foreign import ForeignEvent, Ledger

__all__ = ["Remark", "apply", "load"]

_USER = ("user", "user_id", "participant", "participant_id", "uid")
_EVENT = ("event_id", "event", "id")
_REASON = ("reason", "exclude", "excluded", "exclusion_reason")
_INTENTION = ("user_intention", "intention", "intent")
_PLATFORM = ("llm_platform", "platform")
_NO = frozenset({"", "0", "false", "no", "none"})


@dataclass(frozen=True, slots=True)
class Remark:
    """What one row says of one event."""

    where: str
    user: str | None
    event: int
    excluded: str | None = None
    intention: str | None = None
    confidence: float | None = None
    platform: str | None = None


def load(paths: Sequence[Path]) -> list[Remark]:
    """All remarks of all files, in order.

    Raises:
        InputError: a file that cannot be read, a row without an event, a confidence that is no number.
    """
    return [_remark(where, row) for path in paths for where, row in _rows(path)]


def apply(
    remarks: Iterable[Remark], user: str, events: Sequence[ForeignEvent], ledger: Ledger, *, only_user: bool
) -> None:
    """Write the remarks on this user's events into them.

    A second intention for an event replaces the first only with a higher confidence. ``only_user``: remarks that name
    no user are meant for this one.
    """
    by_id = {event.id: event for event in events}
    for remark in remarks:
        if remark.user != user and not (remark.user is None and only_user):
            continue
        event = by_id.get(remark.event)
        if event is None:
            ledger.add("left out", "remarks of side files on events that do not exist", remark.where)
            continue
        if remark.excluded is not None:
            event.excluded = remark.excluded
            ledger.add("noted", "events excluded by a side file", f"event {event.id}: {remark.excluded}")
        if remark.platform is not None:
            event.platform = remark.platform
        if remark.intention is not None:
            _intention(event, remark, ledger)


def _intention(event: ForeignEvent, remark: Remark, ledger: Ledger) -> None:
    known = canonical(remark.intention or "")
    if known is None:
        ledger.add("left out", "intentions that are none of the 16 categories", f"{remark.where}: {remark.intention}")
    elif event.intention is None or (remark.confidence or 0.0) > (event.confidence or 0.0):
        event.intention, event.confidence = known, remark.confidence
    elif event.intention != known:
        ledger.add("left out", "second intentions of an event, less sure than the first", remark.where)


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        yield from ((f"{path}, line {number}", row) for number, row in csv_rows(path))
    elif suffix == ".jsonl":
        for number, raw in json_lines(path):
            yield from _objects(f"{path}, line {number}", raw)
    elif suffix == ".json":
        try:
            raw = json.loads(read_text(path))
        except ValueError as error:
            raise InputError(path, f"not JSON ({error})") from error
        yield from _objects(str(path), raw)
    else:
        raise InputError(path, "a side file is .csv, .json or .jsonl")


def _objects(where: str, raw: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(raw, dict) and any(k in raw for k in _EVENT):
        yield where, raw
    elif isinstance(raw, list):
        for i, one in enumerate(raw):
            if not isinstance(one, dict):
                raise InputError(f"{where}[{i}]", "must be an object with event_id")
            yield f"{where}[{i}]", one
    elif isinstance(raw, dict):
        for user, events in raw.items():
            pairs = (
                events.items() if isinstance(events, dict) else [(e, "excluded") for e in _list(where, user, events)]
            )
            for event, said in pairs:
                row = said if isinstance(said, dict) else {"reason": said}
                if isinstance(event, dict):
                    yield f"{where}, {user}", {"user": user, **event}
                else:
                    yield f"{where}, {user}", {"user": user, "event_id": event, **row}
    else:
        raise InputError(where, "must be a list of objects, or a mapping by user")


def _list(where: str, user: str, events: Any) -> list[Any]:
    if not isinstance(events, list):
        raise InputError(where, "must be a list or a mapping of events", field=user)
    return events


def _remark(where: str, row: Mapping[str, Any]) -> Remark:
    event = _first(row, _EVENT)
    try:
        number = int(str(event).strip())
    except ValueError:
        raise InputError(where, "must be a whole number", field="event_id", value=event) from None
    user, reason = _first(row, _USER), _first(row, _REASON)
    intention, platform, sure = _first(row, _INTENTION), _first(row, _PLATFORM), _first(row, ("confidence",))
    excluded = None
    if reason is not None and str(reason).strip().lower() not in _NO:
        excluded = "no reason given" if str(reason).strip().lower() in ("1", "true", "yes") else str(reason)
    return Remark(
        where=where,
        user=None if user is None else str(user),
        event=number,
        excluded=excluded,
        intention=None if intention is None else str(intention),
        confidence=None if sure is None else _confidence(where, sure),
        platform=None if platform is None else str(platform),
    )


def _confidence(where: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(where, "must be a number", field="confidence", value=value)
    return number


def _first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[n] for n in names if row.get(n) not in (None, "")), None)
