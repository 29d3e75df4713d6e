"""``proact dataset check``: every fault of a recorded session, with counts and examples.

Nothing is changed and nothing enormous is decoded. ``damage`` means that something recorded cannot be used or is
not what it says; the command then exits non-zero. ``warning`` and ``note`` are odd, and can be lived with.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

from simulator.core.errors import InputError, quote
from simulator.core.faults import told
from simulator.core.intentions import INTENTIONS, canonical
from simulator.core.types import SECOND
from simulator.screen import pixels
from simulator.session.quality import Sieve, duplicates
from simulator.session.reader import HINT, Reader
from simulator.session.scenario_file import LEAST_WEIGHT, MOST_WEIGHT
from simulator.session.schema import FAR_NS, GAP_REASONS, KINDS, LONGEST_PATH
from simulator.session.truth import Truth

__all__ = ["Finding", "Findings", "check", "check_needs", "without_hint"]

Severity = Literal["damage", "warning", "note"]
N_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of fault: how bad, what, how often, where for example."""

    kind: str
    severity: Severity
    sentence: str
    count: int
    examples: tuple[str, ...] = ()


@dataclass(slots=True)
class Findings:
    """Collects faults by kind, in the order in which they were first met."""

    _by_kind: dict[str, tuple[Severity, str, list[str]]] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, severity: Severity, sentence: str, example: str | None = None, n: int = 1) -> None:
        """Count one more of a kind."""
        examples = self._by_kind.setdefault(kind, (severity, sentence, []))[2]
        self._counts[kind] += n
        if example is not None and len(examples) < N_EXAMPLES:
            examples.append(example)

    def all(self) -> list[Finding]:
        """All kinds, damage first."""
        order = ("damage", "warning", "note")
        made = [Finding(k, s, w, self._counts[k], tuple(e)) for k, (s, w, e) in self._by_kind.items()]
        return sorted(made, key=lambda f: order.index(f.severity))


def check(session: Path, *, intentions: tuple[str, ...] = INTENTIONS) -> list[Finding]:
    """All faults of a session folder; an empty list for a sound one.

    Args:
        session: the folder (or its ``session.db``).
        intentions: the categories that count as known, besides the aliases of the standard ones.
    """
    found = Findings()
    try:
        reader = Reader(session)
    except InputError as error:
        found.add("unreadable", "damage", "the session cannot be opened", without_hint(error))
        return found.all()
    looks = (_state, _database, _kinds, _rows, _images, _gaps, _events, _opportunities)
    with reader:
        for look in (*looks, partial(_intentions, known=intentions)):
            try:
                with told(reader.file):
                    look(reader, found)
            except InputError as error:
                found.add("damaged_table", "damage", "part of the database cannot be read", without_hint(error))
    return found.all()


def without_hint(error: InputError) -> str:
    """The sentence of an error without the advice to check: that is being done."""
    return str(error).replace(HINT, "")


def check_needs(truth: Truth) -> list[Finding]:
    """What is odd of the needs of a scenario: that there are some, and nobody could serve one."""
    found = Findings()
    if not truth.servable:
        for need in truth.opportunities:
            said = f"{quote(need.id)}: {need.opens_ns / SECOND:g} to {need.closes_ns / SECOND:g} s, {need.unservable}"
            found.add("unservable", "warning", "all needs are unservable, so a run has nothing to be right about", said)
    return found.all()


def _state(reader: Reader, found: Findings) -> None:
    state = reader.header.state
    if state == "recording":
        found.add(
            "not_closed",
            "warning",
            "the session was not closed: it is being recorded, or its recorder died (a writer repairs it)",
        )
    elif state == "recovered":
        found.add("recovered", "note", "the session was repaired after a crash", reader.header.meta.get("recovery"))


def _database(reader: Reader, found: Findings) -> None:
    for (said,) in reader.fetch("PRAGMA quick_check(10)"):
        if said != "ok":
            found.add("integrity", "damage", "SQLite finds the database damaged", str(said))


def _kinds(reader: Reader, found: Findings) -> None:
    """Values that are not of their column's kind, of all tables: SQLite keeps whatever it was given."""
    for table, kinds in KINDS.items():
        have = {row[1] for row in reader.fetch(f"PRAGMA table_info({table})")}
        tested = {
            column: f"typeof({column}) NOT IN ({', '.join(repr(s) for s in kind.stored)})"
            for column, kind in kinds.items()
            if column in have
        }
        if not tested:
            continue
        asked = ", ".join(f"SUM({test}), MIN(CASE WHEN {test} THEN rowid END)" for test in tested.values())
        (told_of,) = reader.fetch(f"SELECT {asked} FROM {table}")
        for i, column in enumerate(tested):
            n, first = told_of[2 * i : 2 * i + 2]
            if n:
                example = f"{table} row {first}, {column}: {kinds[column].words}"
                found.add("mistyped", "damage", "values are not of their column's kind", example, n)
        _texts(reader, table, [c for c in tested if kinds[c].name == "TEXT"], found)


def _texts(reader: Reader, table: str, columns: list[str], found: Findings) -> None:
    """Texts that are not UTF-8; read as bytes, since SQLite would stop at the first and quote it."""
    asked = ", ".join(f"CASE typeof({c}) WHEN 'text' THEN CAST({c} AS BLOB) END" for c in columns)
    for row, *texts in reader.stream(f"SELECT rowid, {asked} FROM {table} ORDER BY rowid"):
        for column, raw in zip(columns, texts, strict=True):
            try:
                if raw is not None:
                    raw.decode("utf-8")
            except UnicodeDecodeError:
                found.add("not_utf8", "damage", "texts are not UTF-8", f"{table} row {row}, {column}")


def _rows(reader: Reader, found: Findings) -> None:
    """Times and names of all rows of all monitors, in one pass."""
    last: dict[int, int] = {}
    ticks: dict[int, int] = {}
    sql = (
        "SELECT id, tick, captured_ns, monitor, app_name IS NULL, window_title IS NULL, late_ms "
        "FROM screenshots ORDER BY id"
    )
    for row, tick, captured, monitor, no_app, no_title, late in reader.stream(sql):
        if type(captured) is not int:
            found.add("time", "damage", "captured_ns is not an integer", f"row {row}: {quote(captured)}")
            continue
        if captured < last.get(monitor, captured):
            found.add("time_backwards", "damage", "time runs backwards", f"row {row}: {captured} after {last[monitor]}")
        elif captured - last.get(monitor, captured) > FAR_NS:
            try:
                reader.header.check_time(row, captured, last[monitor])
            except InputError:
                example = f"row {row}: {captured} after {last[monitor]}"
                found.add("time_jump", "damage", "over 7 days between two rows and no gap", example)
        if tick == ticks.get(monitor):
            found.add("tick_twice", "warning", "two rows of one tick and monitor", f"row {row}: tick {tick}")
        last[monitor], ticks[monitor] = max(captured, last.get(monitor, captured)), tick
        if no_app:
            found.add("no_app", "note", "rows without an application", f"row {row}")
        if no_title:
            found.add("no_title", "note", "rows without a window title", f"row {row}")
        if isinstance(late, int | float) and late > reader.header.period_ns / 1e6:
            found.add("late", "note", "rows taken more than a period late", f"row {row}: {late:g} ms")


def _images(reader: Reader, found: Findings) -> None:
    """Each distinct file once: there, inside, whole, of the size and hash that its row says."""
    sql = (
        "SELECT file_path, MIN(id), COUNT(*), MIN(file_hash), MIN(width), MIN(height), MIN(pixels_hash) "
        "FROM screenshots WHERE file_path IS NOT NULL GROUP BY file_path ORDER BY MIN(id)"
    )
    hashes: list[tuple[str, str | None]] = []
    lossless = "lossless" in reader.header.meta.get("codec", "")
    for path, row, n_rows, file_hash, width, height, digest in reader.stream(sql):
        if not isinstance(path, str):
            continue  # told as mistyped
        hashes.append((path, file_hash))
        if len(path) > LONGEST_PATH or "\0" in path:
            found.add("path", "damage", "a path is too long or holds a NUL character", f"row {row}", n_rows)
            continue
        inside = not PurePosixPath(path).is_absolute() and ".." not in PurePosixPath(path).parts and "\\" not in path
        if not inside and not Path(path).is_absolute():
            found.add("path", "damage", "a path is not relative and POSIX", f"row {row}: {quote(path)}", n_rows)
            continue
        if not inside:
            found.add("referenced", "note", "pictures lie outside the session's folder", f"row {row}", n_rows)
        _image(reader.folder / path, path, row, n_rows, file_hash, width, height, digest if lossless else None, found)
    for digest, paths in duplicates(hashes).items():
        found.add("duplicate", "note", "files with the same SHA-256", f"{digest[:12]}…: {len(paths)} files")
    _leftovers(reader, {path for path, _ in hashes}, found)


def _image(
    file: Path,
    path: str,
    row: int,
    n_rows: int,
    file_hash: str | None,
    width: int | None,
    height: int | None,
    digest: str | None,
    found: Findings,
) -> None:
    where = f"row {row}: {path if len(path) <= 200 else path[:199] + '…'}"
    try:
        there = file.is_file()
    except OSError as error:
        found.add("image_damaged", "damage", "a picture cannot be read", f"row {row}: {error.strerror}", n_rows)
        return
    if not there:
        found.add("image_missing", "damage", "rows name a picture that is not there", where, n_rows)
        return
    try:
        seen = pixels.size(file)  # from the head alone: what claims to be enormous is never decoded
        if width is not None and height is not None and seen != (width, height):
            said = f"{where}: {seen[0]}x{seen[1]} instead of {width}x{height}"
            found.add("image_size", "damage", "a picture has another size than its row says", said, n_rows)
        if file_hash is not None and len(file_hash) == 64:
            if sha256(file.read_bytes()).hexdigest() == file_hash:
                return  # the very bytes that were recorded: decoding would prove nothing more
            found.add("image_hash", "damage", "a picture is not the one recorded (SHA-256 differs)", where, n_rows)
        image = pixels.decode(file)
        if digest is not None and pixels.pixels_hash(image) != digest:
            found.add("image_pixels", "damage", "a picture has other pixels than its row says", where, n_rows)
    except pixels.TooLarge as error:
        found.add("image_too_large", "damage", "a picture claims to be enormous", f"{where}: {error.want}", n_rows)
    except InputError as error:
        found.add("image_damaged", "damage", "a picture cannot be read", f"{where}: {error.want}", n_rows)


def _leftovers(reader: Reader, known: set[str], found: Findings) -> None:
    for file in sorted((reader.folder / "screenshots").rglob("*")):
        if not file.is_file():
            continue
        name = file.relative_to(reader.folder).as_posix()
        if file.suffix == ".part":
            found.add("half_written", "warning", "half-written pictures", name)
        elif name not in known:
            found.add("orphan", "warning", "pictures that no row names", name)


def _gaps(reader: Reader, found: Findings) -> None:
    reach = None
    for start, end, reason in reader.table("gaps", ("from_tick", "to_tick", "reason"), order="from_tick, id"):
        said = f"ticks {start} to {end} ({quote(reason)})"
        if end < start:
            found.add("gap_reversed", "damage", "a gap ends before it starts", said)
            continue
        if reach is not None and start <= reach:
            found.add("gap_overlap", "warning", "two gaps overlap", said)
        if reason not in GAP_REASONS:
            found.add("gap_reason", "note", "a gap has an unknown reason", said)
        reach = end if reach is None else max(reach, end)
    inside = reader.fetch(
        "SELECT COUNT(*), MIN(s.id) FROM gaps g JOIN screenshots s ON s.tick BETWEEN g.from_tick AND g.to_tick"
    )[0]
    if inside[0]:
        found.add("row_in_gap", "warning", "rows lie inside a gap", f"row {inside[1]}", inside[0])


def _events(reader: Reader, found: Findings) -> None:
    columns = ("id", "start_ns", "end_ns", "is_llm_event", "conversation", "excluded")
    shots = dict(
        reader.fetch("SELECT event_id, COUNT(*) FROM screenshots WHERE event_id IS NOT NULL GROUP BY event_id")
    )
    sieve, reach, known = Sieve(), None, set()
    for number, start, end, assistance, conversation, excluded in reader.table("events", columns, order="start_ns, id"):
        known.add(number)
        where = f"event {number}"
        if start is None or end is None:
            found.add("event_open", "note", "events without start or end", where)
            continue
        if end < start:
            found.add("event_reversed", "damage", "an event ends before it starts", where)
            continue
        if reach is not None and start < reach:
            found.add("event_overlap", "warning", "events overlap", where)
        reach = end if reach is None else max(reach, end)
        sieve.reason(
            start, end, shots.get(number, 0) if shots else None, assistance=bool(assistance), excluded=excluded
        )
        if conversation and not _is_json(conversation):
            found.add("conversation", "warning", "a conversation is not JSON", where)
    for reason, n in sieve.left_out.items():
        found.add(f"quality: {reason}", "note", f"events left out of scoring: {reason}", n=n)
    for odd, n in sieve.flagged.items():
        found.add(f"quality: {odd}", "note", f"events to look at: {odd}", n=n)
    for number, n in shots.items():
        if number not in known and isinstance(number, int):
            found.add("event_unknown", "warning", "rows name an event that does not exist", f"event {number}", n)


def _opportunities(reader: Reader, found: Findings) -> None:
    zero, end = reader.header.zero_ns, reader.header.end_ns
    latest = end + reader.header.period_ns
    last: dict[str, tuple[int, str]] = {}
    columns = ("id", "opens_ns", "closes_ns", "intention", "acted_ns", "weight")
    for name, opens, closes, intention, acted, weight in reader.table(
        "opportunities", columns, order="opens_ns, closes_ns, id"
    ):
        where = f"opportunity {quote(name)}: {(opens - zero) / SECOND:g} to {(closes - zero) / SECOND:g} s"
        if closes <= opens:
            found.add("window_reversed", "damage", "a window closes before it opens", where)
            continue
        if not 0 <= opens - zero < end:
            found.add("window_outside", "damage", "a window opens outside the session", where)
        elif closes - zero > latest:
            found.add("window_beyond", "damage", "a window closes after the session's end", where)
        if acted is not None and acted - zero > latest:
            found.add("acted_beyond", "damage", "the user acted after the session's end", where)
        if acted is not None and acted < opens:
            found.add("acted_before", "damage", "the user acted before the window opened", where)
        if not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
            said = f"a weight does not lie between {LEAST_WEIGHT:g} and {MOST_WEIGHT:,.0f}"
            found.add("weight", "damage", said, where)
        reach, other = last.get(intention, (opens, ""))
        if opens < reach:
            found.add("window_overlap", "damage", "windows of one intention overlap", f"{where} and {quote(other)}")
        last[intention] = max((reach, other), (closes, str(name)))


def _intentions(reader: Reader, found: Findings, known: tuple[str, ...]) -> None:
    folded = {k.casefold() for k in known}
    for table, column in (
        ("opportunities", "intention"),
        ("events", "user_intention"),
        ("labels", "intention"),
        ("annotations", "intention"),
    ):
        for number, said in reader.table(table, ("id", column)):
            if said is not None and str(said).casefold() not in folded and canonical(str(said)) not in known:
                found.add("intention", "damage", "an unknown intention", f"{table} {number}: {quote(said)}")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
