"""What a corpus is made of, as far as its description needs it: sessions, scenarios and event tables, one `Part` each.

A *request* is the user turning to an assistant. A recording shows it as an assistance event; where it shows none, a
scenario may state it (``assists``, or needs with ``acted_s``); an event table has it in its rows.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from simulator.core.errors import InputError
from simulator.core.faults import told
from simulator.core.intentions import canonical
from simulator.core.types import Event, Label
from simulator.session.history import cut_events, read_table, recorded_assists, recorded_events
from simulator.session.reader import Header, Reader
from simulator.session.truth import Truth, active_ns

__all__ = ["Happening", "Part", "Pictured", "Request", "is_table", "of_session", "of_table"]

TABLES = (".jsonl", ".csv")
_UNKNOWN = "(unknown)"
_LATEST_NS = 4_000_000_000 * 10**9  # 2096: a table's calendar times lie before it


class Happening(NamedTuple):
    """An event: nanoseconds since 1970 UTC, or of stream time where the part knows no calendar."""

    start_ns: int
    end_ns: int
    app: str
    kind: str
    assistance: bool


class Request(NamedTuple):
    """The user turned to an assistant at that instant, which counts as a happening's does."""

    at_ns: int
    intention: str | None


@dataclass(frozen=True, slots=True)
class Pictured:
    """Rows and their pictures.

    Attributes:
        n_rows: rows of all monitors that are read.
        n_with: rows that name a picture.
        n_described: rows without one that a description of the scene stands in for.
        n_without: rows with neither.
        n_distinct: pictures that rows name.
        n_gone: of these the ones whose file is not there.
    """

    n_rows: int = 0
    n_with: int = 0
    n_described: int = 0
    n_without: int = 0
    n_distinct: int = 0
    n_gone: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """One session or event table.

    Attributes:
        where: the file or folder.
        anchored: whether it knows its calendar, and instants are UTC.
        zone: IANA zone in which its weekdays and hours are told.
        recorded_ns: what it covers, without its gaps; of a table the time in its events.
        events_from: ``table``, ``rule`` (cut out of the snapshots), ``none``.
        requests_from: ``recorded``, ``stated`` (by the scenario), ``none``.
        requests: in order of time.
        platforms: assistance events by the assistant used.
        session: header of the session; None for a table.
    """

    where: Path
    name: str
    user: str
    anchored: bool
    zone: str
    recorded_ns: int
    events: tuple[Happening, ...]
    events_from: str
    requests: tuple[Request, ...]
    requests_from: str
    platforms: Counter[str]
    pictured: Pictured
    session: Header | None


def is_table(path: Path) -> bool:
    """Whether the path names an event table."""
    return path.suffix.lower() in TABLES


def of_session(
    folder: Path, truth: Truth | None = None, *, monitor: int | None = None, rule: str = "app_title"
) -> Part:
    """A recorded session.

    Args:
        folder: the session.
        truth: what a scenario says of it.
        monitor: see ``Reader``.
        rule: how events are cut out of snapshots, where the session's own table holds none.

    Raises:
        InputError: the session cannot be read.
    """
    with told(folder), Reader(folder, monitor=monitor) as reader:
        header = reader.header
        events, source = recorded_events(reader), "table"
        if not events:
            events = list(cut_events(reader, rule))
            source = "rule" if events else "none"
        shift = header.utc_anchor_ns or 0
        requests, said = _requests(reader, truth)
        return Part(
            where=folder,
            name=header.session,
            user=header.user if truth is None else truth.user,
            anchored=header.utc_anchor_ns is not None,
            zone=header.zone,
            recorded_ns=active_ns(header),
            events=_happenings(events, shift),
            events_from=source,
            requests=tuple(Request(r.at_ns + shift, r.intention) for r in requests),
            requests_from=said,
            platforms=_platforms(reader),
            pictured=_pictured(reader),
            session=header,
        )


def of_table(path: Path, zone: str = "UTC") -> list[Part]:
    """An event table (``simulator.session.history``), one part a user; ``zone`` tells its weekdays and hours.

    Raises:
        InputError: any fault of the table.
    """
    user, shift = path.absolute().parent.name if path.stem == "history" else path.stem, 0  # as imports lay them
    with told(path):
        try:
            pairs = read_table(path, user, None, _named)
        except InputError:
            shift = _LATEST_NS
            pairs = read_table(path, user, shift, _named)
    users = dict.fromkeys(event.user for event, _ in pairs)
    return [_table_part(path, who, [p for p in pairs if p[0].user == who], shift, zone) for who in users]


def _table_part(path: Path, user: str, pairs: list[tuple[Event, Label | None]], shift: int, zone: str) -> Part:
    asked = {label.available_ns: label.intention for _, label in pairs if label is not None and label.help}
    starts = sorted(event.start_ns for event, _ in pairs if event.assistance) or sorted(asked)
    events = [event for event, _ in pairs]
    return Part(
        where=path,
        name=path.stem,
        user=user,
        anchored=bool(shift),
        zone=zone,
        recorded_ns=sum(event.end_ns - event.start_ns for event in events),
        events=_happenings(events, shift),
        events_from="table",
        requests=tuple(Request(at + shift, asked.get(at)) for at in starts),
        requests_from="recorded" if starts else "none",
        platforms=Counter(),
        pictured=Pictured(),
        session=None,
    )


def _named(text: str) -> str:
    return canonical(text) or text


def _requests(reader: Reader, truth: Truth | None) -> tuple[list[Request], str]:
    own = [Request(a.start_ns, a.intention) for a in recorded_assists(reader, _named)]
    if own or truth is None:
        return own, "recorded" if own else "none"
    stated = [Request(a.start_ns, a.intention) for a in truth.assists] or [
        Request(n.acted_ns, n.intention) for n in truth.opportunities if n.acted_ns is not None
    ]
    return sorted(stated, key=lambda r: r.at_ns), "stated" if stated else "none"


def _happenings(events: Iterable[Event], shift: int) -> tuple[Happening, ...]:
    return tuple(
        Happening(e.start_ns + shift, e.end_ns + shift, e.app or _UNKNOWN, e.category or _UNKNOWN, e.assistance)
        for e in events
    )


def _platforms(reader: Reader) -> Counter[str]:
    rows = reader.table("events", ("is_llm_event", "llm_platform", "excluded"))
    return Counter(platform or _UNKNOWN for llm, platform, excluded in rows if llm and excluded is None)


def _pictured(reader: Reader) -> Pictured:
    monitor = reader.header.monitor
    where, args = ("", ()) if monitor is None else (" WHERE monitor = ?", (monitor,))
    sql = (
        "SELECT file_path, COUNT(*), SUM(file_path IS NULL AND COALESCE(scene_description, '') <> '') "
        f"FROM screenshots{where} GROUP BY file_path"
    )
    files, n_rows, n_with, n_described = [], 0, 0, 0
    for file, n, described in reader.fetch(sql, args):
        n_rows += n
        n_described += described
        if file is not None:
            files.append(str(file))
            n_with += n
    n_gone = _n_gone(reader.folder, files)
    return Pictured(n_rows, n_with, n_described, n_rows - n_with - n_described, len(files), n_gone)


def _n_gone(folder: Path, files: list[str]) -> int:
    """How many are not there; folders are listed once each, which is quicker than to ask for 10,000 files."""
    there: dict[str, set[str]] = {}
    gone = 0
    for file in files:
        parent, _, name = file.rpartition("/")
        if parent not in there:
            try:
                there[parent] = set(os.listdir(folder / parent))
            except OSError:
                there[parent] = set()
        gone += name not in there[parent]
    return gone
