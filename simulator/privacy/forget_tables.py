"""Forgetting rows of files that hold an event a line: histories, stored memories, accounts of imports.

Whose a row is says its own column, or else the scenarios that name the table. A row that says no time goes with the
stretch: nobody can show that it is of another one. One whose time counts from a session that nobody can place (it is
damaged, gone, or without calendar) is told and left, as the session is: else one damaged session took a whole past with
it. Lines that stay keep their bytes.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator.core.calendar import parse_utc_ns
from simulator.core.errors import InputError
from simulator.core.faults import told
from simulator.core.types import SECOND
from simulator.privacy.disk import remove, replace
from simulator.privacy.items import Item, Place, Unreached
from simulator.privacy.span import Span
from simulator.session.history import COLUMNS

__all__ = ["ACCOUNT", "PAST", "SPLIT", "is_table", "plan_account", "plan_memory", "plan_table"]

PAST, ACCOUNT, SPLIT = "past.jsonl", "import.json", "split.json"
_TEXTS = ("title", "summary", "query")
_Line = tuple[bytes, Mapping[str, Any] | None]  # its bytes and its row; {}: a head or a blank, None: not readable


def is_table(path: Path) -> bool:
    """Whether a file is an event table as histories are: it has ``start`` and ``end`` and no unknown column."""
    try:
        with told(path):
            row = next((row for _, row in _lines(path) if row), None)
    except InputError:
        return False
    return row is not None and {"start", "end"} <= set(row) <= set(COLUMNS)


def plan_table(path: Path, user: str, span: Span, places: Sequence[Place]) -> list[Item | Unreached]:
    """What of a history is the user's, and what of it nobody can place in time.

    Args:
        path: ``.jsonl`` or ``.csv``.
        user: whose.
        span: when.
        places: the scenarios that name the table, each with whose it is there and since when times count.

    Raises:
        InputError: the file cannot be read.
    """
    with told(path):
        lines = list(_lines(path))
    rows = [row for _, row in lines if row]
    places = places or _imported(path)
    owners = sorted({place.user for place in places})
    if not owners and not all(row.get("user") for row in rows):
        said = "a history that no scenario here names, and its rows do not say whose they are"
        return [Unreached(path, said, only_maybe=True)]
    if user in owners and len(owners) > 1 and not all(row.get("user") for row in rows):
        others = ", ".join(owner for owner in owners if owner != user)
        said = f"a history that scenarios of {others} name too, and its rows do not say whose they are"
        return [Unreached(path, said)]
    owner = owners[0] if owners else None

    def goes(row: Mapping[str, Any] | None) -> bool | None:
        if row is None:
            return owner == user
        return bool(row) and (row.get("user") or owner) == user and _touches(row, span, places)

    judged = [(line, row, goes(row)) for line, row in lines]
    kept = [(line, row) for line, row, gone in judged if not gone]
    n, n_rows = len(lines) - len(kept), sum(row != {} for _, row in lines)
    n_open = sum(gone is None for *_, gone in judged)
    said = f"rows that count from a session whose time nobody can tell (damaged, gone, without calendar) stay: {n_open}"
    found: list[Item | Unreached] = [Unreached(path, said)] if n_open else []
    if not n:
        return found
    unused = span.everything and n == n_rows and all(owner == user for owner in owners)
    content = None if unused else b"".join(line for line, _ in kept)
    stays = _words(row for _, row in kept if row)
    gone = Item("history", path, f"{n} of {n_rows} rows", lambda: _put(path, content), _words(rows) - stays)
    return [gone, *found]


def plan_memory(path: Path, user: str) -> Item | None:
    """A stored memory's events of the user, all of them: their times count from a session that it does not name, and
    it can be made anew from what is left of the history.

    Raises:
        InputError: the file cannot be read.
    """
    with told(path):
        lines = list(_lines(path))
    kept = [line for line, row in lines if row and _of_event(row) != user]  # a line that cannot be read goes too
    gone = [row["event"] for _, row in lines if row and _of_event(row) == user]
    if not gone:
        return None
    said = f"{len(gone)} of {len(lines)} remembered events, whenever they were"
    texts = frozenset(e[key] for e in gone for key in ("title", "summary") if isinstance(e.get(key), str))
    return Item("memory", path, said, lambda: _put(path, b"".join(kept) or None), texts)


def plan_account(path: Path, user: str, span: Span) -> Item | None:
    """The account of an import: its lines on the user, or with a span their examples. Or that of a split, which is of
    one user, and of no time.

    Raises:
        InputError: the file cannot be read.
    """
    with told(path):
        said = json.loads(path.read_bytes())
    if path.name == SPLIT:
        whole = span.everything and isinstance(said, dict) and said.get("user") == user and "cuts_utc_ns" in said
        return Item("account", path, "the whole file", lambda: _put(path, None)) if whole else None
    if (lines := _account_of(said)) is None:
        return None
    mine = [line for line in lines if line.get("user") == user]

    def written(left: list[dict[str, Any]]) -> bytes:
        return _json({**said, "account": left} if isinstance(said, dict) else left)

    if span.everything:
        kept = [line for line in lines if line not in mine]
        content = None if all(line.get("user") in (user, "", None) for line in kept) else written(kept)
        return Item("account", path, f"{len(mine)} lines", lambda: _put(path, content)) if mine else None
    if not any(line.get("examples") for line in mine):
        return None
    content = written([{**line, "examples": []} if line in mine else line for line in lines])
    return Item("account", path, "its examples", lambda: _put(path, content))


def _account_of(said: Any) -> list[dict[str, Any]] | None:
    """The lines of an import's account, which earlier versions wrote bare; None if it is none, or was never ended."""
    lines = said.get("account") if isinstance(said, dict) else said
    is_one = isinstance(lines, list) and all(isinstance(line, dict) and "outcome" in line for line in lines)
    return lines if is_one else None


def _imported(path: Path) -> list[Place]:
    """Whose a history is that an import put beside its account."""
    try:
        with told(path):
            lines = _account_of(json.loads((path.parent / ACCOUNT).read_bytes())) or []
            return [Place(user) for user in sorted({line["user"] for line in lines if line["user"]})]
    except (InputError, LookupError):
        return []


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def _put(path: Path, content: bytes | None) -> list[Unreached]:
    if content is None:
        remove(path)
    else:
        replace(path, content)
    return []


def _of_event(row: Mapping[str, Any]) -> Any:
    event = row.get("event")
    return event.get("user") if isinstance(event, dict) else None


def _lines(path: Path) -> Iterator[_Line]:
    """Each line with its end, and the row that it holds."""
    data = path.read_bytes()
    if path.suffix.lower() == ".csv":
        yield from _csv_lines(data.decode("utf-8-sig"))
        return
    for line in data.splitlines(keepends=True):
        try:
            row = json.loads(line) if line.strip() else {}
        except (ValueError, RecursionError):
            row = None
        yield line, row if isinstance(row, dict) else None


def _csv_lines(text: str) -> Iterator[_Line]:
    """The head, then each row with the lines that it spans: a quoted field may hold ends of lines."""
    csv.field_size_limit(2**31 - 1)
    lines = list(io.StringIO(text, newline=""))
    reader, done, head = csv.reader(lines), 0, list[str]()
    for fields in reader:
        raw = "".join(lines[done : reader.line_num]).encode()
        done = reader.line_num
        yield raw, {k: v for k, v in zip(head, fields, strict=False) if v} if head else {}
        head = head or fields


def _touches(row: Mapping[str, Any], span: Span, places: Sequence[Place]) -> bool | None:
    """Whether an event was in the span, seen from any of the places that the table has; yes for one that says no time,
    None for one of which a place cannot tell.
    """
    if span.everything:
        return True
    seen: list[bool | None] = []
    for zero in [place.zero_ns for place in places] or [None]:
        try:
            start, end = (_instant(row.get(key), zero) for key in ("start", "end"))
        except (ValueError, OverflowError):
            return True
        seen.append(None if start is None or end is None else span.touches(start, end))
    return True if True in seen else None if None in seen else False


def _instant(value: Any, zero_ns: int | None) -> int | None:
    """An instant of a row; None for seconds from a time 0 that is not known.

    Raises:
        ValueError, OverflowError: neither seconds nor an instant.
    """
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return parse_utc_ns(str(value))
    since = round(seconds * SECOND)
    return None if zero_ns is None else zero_ns + since


def _words(rows: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(row[key] for row in rows for key in _TEXTS if isinstance(row.get(key), str))
