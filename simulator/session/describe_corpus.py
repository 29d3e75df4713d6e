"""What a corpus holds, in numbers: one user's parts or everybody's, pooled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from simulator.core.calendar import from_utc_ns
from simulator.core.errors import InputError
from simulator.core.intentions import INTENTIONS, canonical
from simulator.core.types import SECOND
from simulator.session.describe_parts import Part
from simulator.session.rhythm import burstiness_of, power_law, times_between_s

__all__ = ["pooled"]

_MOST_APPS = 20
_Hours = dict[str, float]


SYNTHETIC = "synthetic-"
"""So the names of users begin whom ``proact dataset generate`` made up."""


def pooled(parts: Sequence[Part]) -> dict[str, Any]:
    """The numbers of some parts together; unknown is None.

    ``by_hour`` holds two tables of 7 weekdays (Monday first) by 24 hours: events, and of these the assistance events,
    by their starts in each part's own zone. A request that only a scenario states is an assistance event that the
    recording does not hold; it counts in ``assistance_events`` and in both tables.
    """
    happenings = [h for part in parts for h in part.events]
    stated = [r for part in parts if part.requests_from == "stated" for r in part.requests]
    n_events = len(happenings) + len(stated)
    n_assistance = sum(h.assistance for h in happenings) + len(stated)
    lengths = [(h.end_ns - h.start_ns) / SECOND for h in happenings]
    return {
        "sessions": sum(part.session is not None for part in parts),
        "tables": sum(part.session is None for part in parts),
        "users": len({part.user for part in parts}),
        "synthetic_users": len({part.user for part in parts if part.user.startswith(SYNTHETIC)}),
        "hours": sum(part.recorded_ns for part in parts) / SECOND / 3600,
        "pictures": _pictures(parts),
        "events": n_events,
        "assistance_events": n_assistance,
        "assistance_share": n_assistance / n_events if n_events else None,
        "stated_requests": len(stated),
        "median_event_s": float(np.median(lengths)) if lengths else None,
        "parts_cut_by_rule": sum(part.events_from == "rule" for part in parts),
        "apps_hours": _hours(((h.app, h.end_ns - h.start_ns) for h in happenings), _MOST_APPS),
        "classes_hours": _hours(((h.kind, h.end_ns - h.start_ns) for h in happenings), None),
        "platforms": dict(sum((part.platforms for part in parts), Counter[str]()).most_common()),
        "requests": _requests(parts),
        "by_hour": _by_hour(parts),
        "rhythm": {"along_the_calendar": _rhythm(_along(parts)), "within_sessions": _rhythm(_within(parts))},
    }


def _pictures(parts: Sequence[Part]) -> dict[str, int]:
    names = ("n_rows", "n_with", "n_described", "n_without", "n_distinct", "n_gone")
    return {name: sum(getattr(part.pictured, name) for part in parts) for name in names}


def _hours(pairs: Iterable[tuple[str, int]], most: int | None) -> _Hours:
    total: Counter[str] = Counter()
    for name, length_ns in pairs:
        total[name] += length_ns
    return {name: ns / SECOND / 3600 for name, ns in sorted(total.items(), key=lambda p: (-p[1], p[0]))[:most]}


def _requests(parts: Sequence[Part]) -> dict[str, Any]:
    """How many, and for what: all 16 categories, then what scenarios call otherwise."""
    every = [r.intention for part in parts for r in part.requests]
    named = Counter(canonical(i) or i for i in every if i is not None)
    order = [*INTENTIONS, *sorted(set(named) - set(INTENTIONS))]
    n = sum(named.values())
    return {
        "n": len(every),
        "intention_unknown": len(every) - n,
        "intentions": {name: {"n": named[name], "share": named[name] / n if n else None} for name in order},
    }


def _by_hour(parts: Sequence[Part]) -> dict[str, Any]:
    events, assistance = (np.zeros((7, 24), np.int64) for _ in range(2))
    left_out = 0
    for part in parts:
        stated = [r.at_ns for r in part.requests] if part.requests_from == "stated" else []
        if not part.anchored:
            left_out += len(part.events) + len(stated)
            continue
        zone = _zone(part)
        for h in part.events:
            at = _weekday_hour(h.start_ns, zone)
            events[at] += 1
            assistance[at] += h.assistance
        for at_ns in stated:
            at = _weekday_hour(at_ns, zone)
            events[at] += 1
            assistance[at] += 1
    return {"events": events.tolist(), "assistance": assistance.tolist(), "left_out_without_calendar": left_out}


@lru_cache(maxsize=1 << 16)
def _of_quarter(quarter: int, zone: ZoneInfo) -> tuple[int, int]:
    local = from_utc_ns(quarter * 900 * SECOND).astimezone(zone)
    return local.weekday(), local.hour


def _weekday_hour(utc_ns: int, zone: ZoneInfo) -> tuple[int, int]:
    """Offsets of zones are whole quarters of an hour in our time, and change at whole quarters."""
    return _of_quarter(utc_ns // (900 * SECOND), zone)


def _zone(part: Part) -> ZoneInfo:
    try:
        return ZoneInfo(part.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InputError(
            part.where, "must be an IANA zone, such as Europe/Berlin", field="zone", value=part.zone
        ) from None


def _along(parts: Sequence[Part]) -> NDArray[np.float64]:
    """Times between a user's requests along the calendar, over all sessions of that user, nights included."""
    by_user: dict[str, list[int]] = {}
    for part in parts:
        if part.anchored:
            by_user.setdefault(part.user, []).extend(r.at_ns for r in part.requests)
    return _joined([times_between_s(times) for times in by_user.values()])


def _within(parts: Sequence[Part]) -> NDArray[np.float64]:
    """Times between the requests of one session."""
    return _joined([times_between_s([r.at_ns for r in part.requests]) for part in parts])


def _joined(pieces: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.sort(np.concatenate(pieces)) if pieces else np.zeros(0)


def _rhythm(between_s: NDArray[np.float64]) -> Mapping[str, Any]:
    return {
        "n": len(between_s),
        "burstiness": burstiness_of(between_s),
        "power_law": asdict(power_law(between_s)),
        "power_law_cut": asdict(power_law(between_s, cut=True)),
        "times_between_s": [round(float(t), 3) for t in between_s],
    }
