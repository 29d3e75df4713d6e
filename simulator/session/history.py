"""A user's past before time 0: earlier sessions and event tables, as events with their labels.

An event table is JSON lines or CSV with the columns ``start``, ``end`` (ISO 8601 with zone, or seconds relative to
the session's first snapshot, negative for the past), ``app``, ``title``, ``summary``, ``assistance``, ``help``,
``intention``, ``query``, ``id``, ``user``; only the first two must be there. Where no row says ``help``, labels follow
from the assistance events by the rule of ``opportunities.label_events``; where none says ``assistance`` either, nothing
is known of needs and no event has a label.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from simulator.core.calendar import from_utc_ns, parse_utc_ns
from simulator.core.errors import InputError, nearest
from simulator.core.files import csv_rows, json_lines
from simulator.core.taxonomy import DEFAULT, Taxonomy
from simulator.core.types import SECOND, Event, Label, Snapshot
from simulator.session.opportunities import label_events, questions
from simulator.session.reader import Reader
from simulator.session.schema import FAR_NS
from simulator.session.segmentation import Cutter
from simulator.session.truth import Assist

__all__ = [
    "COLUMNS",
    "History",
    "cut_events",
    "first_query",
    "line_of",
    "merge",
    "read_session",
    "read_table",
    "recorded_assists",
    "recorded_events",
]

COLUMNS = ("start", "end", "app", "title", "summary", "assistance", "help", "intention", "query", "id", "user")
History = list[tuple[Event, Label | None]]
Canonical = Callable[[str], str]

_FARTHEST_S = 1e9
_TRUE, _FALSE = frozenset({"1", "true", "yes"}), frozenset({"0", "false", "no"})


def read_table(
    path: Path, user: str, anchor_ns: int | None, canonical: Canonical, taxonomy: Taxonomy = DEFAULT
) -> History:
    """The events of a table before time 0, in order of their ends.

    Args:
        path: ``.jsonl`` or ``.csv``.
        user: whose events they are, where no column says so.
        anchor_ns: UTC of time 0; needed when the table has calendar times.
        canonical: maps what a table calls an intention to its category; ``ValueError`` says what an unknown one may be.
        taxonomy: fills the category of an event.

    Raises:
        InputError: names file, line and column.
    """
    rows = list(_rows(path))
    events: list[Event] = []
    assists: dict[str, list[Assist]] = {}
    said: dict[str, Label] = {}
    taken: set[str] = set()
    for line, row in rows:
        event, label, assist = _event(path, line, row, user, anchor_ns, canonical, taxonomy)
        if event.id in taken:
            raise InputError(f"{path}, line {line}", "each id once", field="id", value=event.id)
        taken.add(event.id)
        events.append(event)
        if assist is not None:
            assists.setdefault(event.user, []).append(assist)
        if label is not None:
            said[event.id] = label
    if not said and any("assistance" in row for _, row in rows):
        for who in dict.fromkeys(e.user for e in events):
            asked = questions((), assists.get(who, ()))
            labelled, _ = label_events((e for e in events if e.user == who), asked)
            said |= {label.event_id: label for _, label in labelled if label is not None}
    ordered = sorted(events, key=lambda e: (e.end_ns, e.start_ns, e.id))
    return [(event, said.get(event.id)) for event in ordered]


def line_of(event: Event, label: Label | None, asked: tuple[str | None, str | None] | None = None) -> str:
    """An event with calendar times as a line of an event table, as ``read_table`` reads it.

    Args:
        event: its instants are UTC, ns since 1970.
        label: what became known of it.
        asked: intention and question of an assistance event.
    """
    row: dict[str, Any] = {"id": event.id, "start": _iso(event.start_ns), "end": _iso(event.end_ns)}
    row |= {"app": event.app, "title": event.title, "summary": event.summary}
    if event.assistance:
        intention, query = asked or (None, None)
        row |= {"assistance": True, "intention": intention, "query": query}
    elif label is not None:
        row |= {"help": label.help, "intention": label.intention, "query": label.query}
    return json.dumps({k: v for k, v in row.items() if v is not None}, ensure_ascii=False) + "\n"


def _iso(utc_ns: int) -> str:
    return from_utc_ns(utc_ns).isoformat(timespec="microseconds").replace("+00:00", "Z")


def read_session(
    folder: Path, user: str, anchor_ns: int | None, canonical: Canonical, rule: str, taxonomy: Taxonomy = DEFAULT
) -> History:
    """An earlier session as history: its events, or where it has none, what the rule cuts out of its snapshots.

    Raises:
        InputError: any fault of the session, a session that ends after time 0, no calendar time on either side.
    """
    with Reader(folder) as reader:
        header = reader.header
        if anchor_ns is None or header.utc_anchor_ns is None:
            raise InputError(reader.file, "an earlier session needs a calendar time (meta.utc_anchor_ns) on both sides")
        shift = header.utc_anchor_ns - anchor_ns
        if shift + header.end_ns > header.period_ns:
            raise InputError(reader.file, "history must end before the session starts, and this one ends after it")
        events = recorded_events(reader, taxonomy) or list(cut_events(reader, rule, taxonomy))
        assists = recorded_assists(reader, canonical)
        known = any(llm for (llm,) in reader.table("events", ("is_llm_event",)))
    moved = [replace(e, user=user, start_ns=e.start_ns + shift, end_ns=min(e.end_ns + shift, 0)) for e in events]
    asked = [replace(a, start_ns=a.start_ns + shift, end_ns=a.end_ns + shift) for a in assists]
    labelled = label_events(moved, questions((), asked))[0]
    return labelled if known else [(event, None) for event, _ in labelled]


def recorded_events(reader: Reader, taxonomy: Taxonomy = DEFAULT) -> list[Event]:
    """The events that a session's own table holds, in stream time; without those excluded by a side file."""
    header = reader.header
    columns = ("id", "start_ns", "end_ns", "app_name", "window_title", "is_llm_event", "event_summary", "excluded")
    return [
        Event(
            id=f"{header.session}/e{number}",
            user=header.user,
            start_ns=start - header.zero_ns,
            end_ns=end - header.zero_ns,
            app=app,
            title=title,
            category=taxonomy.category(app, title),
            summary=summary,
            assistance=bool(assistance),
        )
        for number, start, end, app, title, assistance, summary, excluded in reader.table(
            "events", columns, order="start_ns, id"
        )
        if start is not None and end is not None and excluded is None
    ]


def recorded_assists(reader: Reader, canonical: Canonical) -> list[Assist]:
    """The assistance events that a session's own table holds, in stream time and order.

    Raises:
        InputError: an intention that is none of the categories.
    """
    columns = ("id", "start_ns", "end_ns", "is_llm_event", "user_intention", "conversation", "excluded")
    out: list[Assist] = []
    for number, start, end, assistance, intention, conversation, excluded in reader.table("events", columns):
        if not assistance or start is None or end is None or excluded is not None:
            continue
        category = None
        if intention is not None:
            category = _category(canonical, reader.file, f"events row {number}, user_intention", intention)
        zero = reader.header.zero_ns
        out.append(Assist(start - zero, max(end, start) - zero, category, first_query(conversation)))
    return sorted(out, key=lambda a: (a.start_ns, a.end_ns))


def first_query(conversation: str | None) -> str | None:
    """The user's first question in a conversation as ProAgentBench stores it (JSON with ``user_queries``)."""
    if not conversation:
        return None
    try:
        raw = json.loads(conversation)
    except (ValueError, RecursionError):
        return None
    queries = raw.get("user_queries") if isinstance(raw, dict) else raw
    if isinstance(queries, str):
        queries = [queries]
    for query in queries if isinstance(queries, list) else []:
        text = query.get("content") or query.get("text") if isinstance(query, dict) else query
        if isinstance(text, str) and text.strip():
            return text.strip()
    return None


def cut_events(reader: Reader, rule: str, taxonomy: Taxonomy = DEFAULT) -> Iterator[Event]:
    """What a rule of ``simulator.session.segmentation`` cuts out of a session's snapshots, in stream time.

    Raises:
        InputError: a row whose time is wrong.
    """
    header = reader.header
    cutter = Cutter(header.user, header.session, rule, (g.start_ns for g in header.gaps))
    last = header.zero_ns
    for row, captured, app, title in reader.rows(("id", "captured_ns", "app_name", "window_title")):
        if type(captured) is not int or not 0 <= captured - last <= FAR_NS:
            header.check_time(row, captured, last)
        last = captured
        now = captured - header.zero_ns
        closed = cutter.push(Snapshot(0, now, now, app, title, taxonomy.category(app, title)))
        if closed:
            yield closed
    cut = cutter.flush(header.end_ns)
    if cut:
        yield cut


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, row in csv_rows(path) if path.suffix.lower() == ".csv" else json_lines(path, keys_once=True):
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}", "one JSON object a line")
        yield number, row


def _event(
    path: Path,
    line: int,
    row: Mapping[str, Any],
    user: str,
    anchor_ns: int | None,
    canonical: Canonical,
    taxonomy: Taxonomy,
) -> tuple[Event, Label | None, Assist | None]:
    where = f"{path}, line {line}"
    for key in row:
        if key not in COLUMNS:
            raise InputError(where, f"unknown column; {nearest(key, COLUMNS)}", field=key)
    start, end = (_instant(where, row, key, anchor_ns) for key in ("start", "end"))
    if end < start:
        raise InputError(where, "the event ends before it starts", field="end", value=row["end"])
    if end > 0:
        raise InputError(where, "history must lie before the session's first snapshot", field="end", value=row["end"])
    intention = None
    if (said := row.get("intention")) is not None:
        intention = _category(canonical, where, "intention", said)
    app, title, summary, query = (_words(where, row, key) for key in ("app", "title", "summary", "query"))
    user = _words(where, row, "user") or user
    assistance = _truth(where, row, "assistance") or False
    event_id = _id(where, row) or f"{path.stem}/{line}"
    event = Event(event_id, user, start, end, app, title, taxonomy.category(app, title), summary, assistance=assistance)
    helped = _truth(where, row, "help")
    label = None if helped is None else Label(event_id, user, helped, end, intention, query)
    assist = Assist(start, end, intention, query) if assistance else None
    return event, label, assist


def _category(canonical: Canonical, where: Path | str, field: str, said: object) -> str:
    try:
        return canonical(str(said))
    except ValueError as error:
        raise InputError(where, str(error), field=field, value=said) from None


def _instant(where: str, row: Mapping[str, Any], key: str, anchor_ns: int | None) -> int:
    value = row.get(key)
    if value is None:
        raise InputError(where, "this column is missing", field=key)
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        pass
    except OverflowError:
        raise InputError(
            where, "must be a number of seconds, within 31 years of the session", field=key, value=value
        ) from None
    else:
        if not math.isfinite(seconds) or isinstance(value, bool):
            raise InputError(where, "must be a finite number of seconds", field=key, value=value)
        if abs(seconds) > _FARTHEST_S:
            raise InputError(where, "seconds within 31 years of the session", field=key, value=value)
        return round(seconds * SECOND)
    try:
        utc = parse_utc_ns(str(value))
    except (ValueError, OverflowError):
        want = "seconds before the session (negative) or an ISO time with zone, such as 2025-10-20T09:30:00Z"
        raise InputError(where, want, field=key, value=value) from None
    if anchor_ns is None:
        raise InputError(where, "calendar times need a session that knows its own (meta.utc_anchor_ns)", field=key)
    return utc - anchor_ns


def _id(where: str, row: Mapping[str, Any]) -> str | None:
    value = row.get("id")
    if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
        raise InputError(where, "must be a text or a whole number", field="id", value=value)
    return str(value) if value or value == 0 else None


def _truth(where: str, row: Mapping[str, Any], key: str) -> bool | None:
    value = row.get(key)
    if value is None or isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise InputError(where, "true or false", field=key, value=value)


def _words(where: str, row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(where, "must be a text", field=key, value=value)
    return value


def merge(parts: Sequence[History], session: str) -> tuple[tuple[Event, Label | None], ...]:
    """Several pasts as one, in order of the events' ends, with ids that are unique.

    Tables and earlier sessions may share a name, also with the session whose past this is; a memory would leave out an
    event whose id it knows. So the ids of a part of which some are taken get the part's number, as in ``2:past/1``.

    Args:
        parts: events with labels, ids unique within each.
        session: whose past it is; the ids ``session/0``, ``session/1``, … are its own.
    """
    taken: set[str] = set()
    out: History = []
    for n, part in enumerate(parts, 1):
        named = part
        while any(e.id in taken or _of_session(e.id, session) for e, _ in named):
            named = [_renamed(pair, f"{n}:") for pair in named]
        taken.update(e.id for e, _ in named)
        out += named
    return tuple(sorted(out, key=lambda p: (p[0].end_ns, p[0].start_ns, p[0].id)))


def _of_session(event_id: str, session: str) -> bool:
    name, _, number = event_id.rpartition("/")
    return name == session and number.isdecimal()


def _renamed(pair: tuple[Event, Label | None], prefix: str) -> tuple[Event, Label | None]:
    event, label = pair
    name = prefix + event.id
    return replace(event, id=name), None if label is None else replace(label, event_id=name)
