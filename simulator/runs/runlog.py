r"""The run log, ``decisions.jsonl``: one header line, one line a record, one end line.

It holds only what the inputs determine (host, versions and wall times live in ``run.json``): UTF-8, ``\n``, fixed key
order, no NaN. Plain silences fold into blocks of up to 1,024 as columns: a column is a number where it is constant,
else a list; ``seq``, ``snapshot`` and ``captured_ns`` are kept as first value and differences. A torn last line is
tolerated; a log without its end line was interrupted, and is still scoreable.
"""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from simulator.core.errors import InputError
from simulator.core.files import open_plain
from simulator.runs.logcheck import ensure_possible, ensure_words
from simulator.runs.records import Flag, Ints, Kind, RunLog
from simulator.runs.reported import Reported

__all__ = ["BLOCK", "SCHEMA", "LogWriter", "has_begun", "no_collection", "read", "read_header", "records"]

SCHEMA = 1
BLOCK = 1024
_WIDTH = 9
_FULL = BLOCK * _WIDTH
_CUMULATIVE = ("seq", "snapshot", "captured_ns")
_RELATIVE = ("content_age_ns", "release_lag_ns", "dispatch_ns", "service_ns", "dropped_before", "flags")
_FLAGS = {"held": Flag.HELD, "cold": Flag.COLD, "after_end": Flag.AFTER_END}
_CODES = {kind.name.lower(): int(kind) for kind in Kind}
_STAMPS = ("seq", "snapshot", "captured_ns", "content_ns", "released_ns", "started_ns", "actionable_ns",
           "dropped_before")  # fmt: skip
_N_STAMPS = len(_STAMPS)
_stamps, _seq = itemgetter(*_STAMPS), itemgetter("seq")
_BATCH = 1 << 22
"""About so many bytes are parsed at once."""
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_escape = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


def flag_names(flags: int) -> list[str]:
    """The names of the bits that are set, in a fixed order."""
    return [name for name, bit in _FLAGS.items() if flags & bit]


class LogWriter:
    """Appends records to a new log file.

    Args:
        path: the file; it must not exist with content (a unit that was interrupted starts over).
        durable: on the disk when it is closed, whatever happens to the machine. A log that can be computed again need
            not be: a torn one is noticed by its digest.
    """

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self._durable = durable
        self._file = path.open("w", encoding="utf-8", newline="\n")
        self._silences: list[int] = []  # one row of numbers, _WIDTH to a silence

    def header(self, facts: Mapping[str, Any]) -> None:
        """Write the first line."""
        self._line({"kind": "header", "schema": SCHEMA, **facts})
        self.flush()

    def silence(self, *columns: int) -> None:
        """A plain silence: seq, snapshot, captured, content, released, started, actionable (ns), dropped, flags."""
        self._silences.extend(columns)
        if len(self._silences) >= _FULL:
            self.fold()

    def record(self, record: Mapping[str, Any]) -> None:
        """Any other record, whole."""
        if self._silences:
            self.fold()
        self._line(record)

    def fold(self) -> None:
        """Write the silences so far as one block."""
        if not self._silences:
            return
        rows = np.fromiter(self._silences, np.int64, len(self._silences)).reshape(-1, _WIDTH)
        self._silences.clear()
        seq, snapshot, captured, content, released, started, actionable, dropped, flags = rows.T
        block: dict[str, Any] = {"kind": "silence", "n": len(rows)}
        for name, column in zip(_CUMULATIVE, (seq, snapshot, captured), strict=True):
            block[name] = int(column[0])
            if len(rows) > 1:
                block[f"{name}_step"] = _column(np.diff(column))
        relative = (captured - content, released - captured, started - released, actionable - started, dropped, flags)
        block.update((name, _column(column)) for name, column in zip(_RELATIVE, relative, strict=True))
        self._line(block)

    def flush(self) -> None:
        """Hand everything so far to the operating system."""
        self.fold()
        self._file.flush()

    def sync(self) -> None:
        """Have the operating system put what it was handed on the disk; may be called from a thread."""
        os.fsync(self._file.fileno())

    def close(self, end: Mapping[str, Any] | None = None) -> None:
        """Write the end line, if the run came to one, and close."""
        self.fold()
        if end is not None:
            self._line({"kind": "end", **end})
        self.flush()
        if self._durable:
            self.sync()
        self._file.close()

    def _line(self, record: Mapping[str, Any]) -> None:
        try:
            self._file.write(_encode(record) + "\n")
        except UnicodeEncodeError:  # half a surrogate pair in somebody's text: as an escape, the file stays UTF-8
            self._file.write(_escape(record) + "\n")


def _column(values: Any) -> int | list[int]:
    first = int(values[0])
    return first if (values == first).all() else values.tolist()


class _Columns:
    """Gathers columns, and what is more than columns, while a log is read."""

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.full: dict[int, dict[str, Any]] = {}
        self.writes: list[dict[str, Any]] = []
        self.reported = Reported()
        self.end: dict[str, Any] | None = None

    def add(self, records: list[dict[str, Any]]) -> None:
        """Take whole lines in.

        Raises:
            KeyError, TypeError, ValueError: one of them is not a record of this schema.
        """
        decisions = [record for record in records if record["kind"] in _CODES]
        if decisions:
            stamps = _integers(list(chain.from_iterable(map(_stamps, decisions)))).reshape(-1, _N_STAMPS)
            flags = [sum(_FLAGS[name] for name in r["flags"]) if "flags" in r else 0 for r in decisions]
            kinds = [_CODES[r["kind"]] for r in decisions]
            self.parts.append(np.concatenate((stamps.T, np.array([flags, kinds], np.int64))))
            self.full.update(zip(map(_seq, decisions), decisions, strict=True))
            self.reported.add(decisions)
            ensure_words(decisions)
        if len(decisions) == len(records):
            return
        blocks = []
        for record in records:
            kind = record["kind"]
            if kind == "silence":
                blocks.append(record)
            elif kind == "memory_write":
                self.writes.append(record)
            elif kind == "end":
                self.end = record
            elif kind != "header" and kind not in _CODES:
                raise KeyError(kind)
        if blocks:
            self._add_blocks(blocks)

    def _add_blocks(self, blocks: list[dict[str, Any]]) -> None:
        lengths = [_length(block["n"]) for block in blocks]
        n = np.array(lengths)
        starts = np.cumsum(n) - n
        cumulative = []
        for name in _CUMULATIVE:
            steps = np.zeros(int(n.sum()), np.int64)  # 0 at the head of each block
            inner = np.ones(len(steps), bool)
            inner[starts] = False
            steps[inner] = _spread([block.get(f"{name}_step", 0) for block in blocks], [k - 1 for k in lengths])
            run = np.cumsum(steps)
            cumulative.append(run + np.repeat(_integers([block[name] for block in blocks]) - run[starts], n))
        age, lag, dispatch, service, dropped, flags = (_spread([b[c] for b in blocks], lengths) for c in _RELATIVE)
        seq, snapshot, captured = cumulative
        released = captured + lag
        started = released + dispatch
        ends = (started, started + service, dropped, flags, np.full(len(seq), int(Kind.SILENT)))
        self.parts.append(np.array([seq, snapshot, captured, captured - age, released, *ends]))

    def sorted(self) -> Any:
        table = np.concatenate(self.parts, axis=1) if self.parts else np.zeros((_N_STAMPS + 2, 0), np.int64)
        return table[:, np.argsort(table[0], kind="stable")]


def _batches(path: Path) -> Iterator[tuple[int, list[dict[str, Any]], bool]]:
    """Batches of lines as records: the number of the first line, the records, and whether a torn last line follows.

    A batch is parsed at once, which is quicker than line by line and keeps each name of a field once.

    Raises:
        InputError: a line that is not a record, before the last.
    """
    try:
        with open_plain(path) as file:
            first = 1
            while lines := file.readlines(_BATCH):
                try:
                    records = json.loads(b"[" + b",".join(lines) + b"]", parse_constant=_no_number)
                    if len(records) != len(lines) or not lines[-1].endswith(b"\n"):
                        raise ValueError("not a whole record a line")
                    if not all(type(record) is dict for record in records):
                        raise ValueError("not a record")
                except (ValueError, RecursionError):
                    records, torn = _one_by_one(path, first, lines, not file.peek(1))
                    yield first, records, torn
                    if torn:
                        return
                else:
                    yield first, records, False
                first += len(lines)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a log one after the other, header and end line too, blocks of silences as they are; a torn last line
    is left out. A few megabytes are in memory at a time, however long the log is.

    Raises:
        InputError: a line that is not a record, before the last.
    """
    for _, batch, _ in _batches(path):
        yield from batch


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _one_by_one(path: Path, first: int, lines: list[bytes], at_end: bool) -> tuple[list[dict[str, Any]], bool]:
    """The records of lines of which one is broken, and whether that is the file's last, a torn one."""
    records: list[dict[str, Any]] = []
    for n, line in enumerate(lines, first):
        try:
            record = json.loads(line, parse_constant=_no_number)
            if not line.endswith(b"\n") or not isinstance(record, dict):
                raise ValueError("not a whole record")
        except (ValueError, RecursionError) as error:
            if at_end and n == first + len(lines) - 1:
                return records, True
            raise InputError(f"{path}, line {n}", "not a record of a run log") from error
        records.append(record)
    return records, False


class _NoStamp(ValueError):
    """What should be a whole number of 64 bits is none."""


def _integers(values: list[Any]) -> Ints:
    column = np.array(values) if values else np.zeros(0, np.int64)
    if column.dtype != np.int64 or column.ndim != 1:
        raise _NoStamp
    return column


def _length(n: Any) -> int:
    if type(n) is not int or n < 1:
        raise ValueError("a block without a length")
    return n


def _spread(values: list[Any], lengths: list[int]) -> Ints:
    """The values of a column of blocks one after the other: each block's is a number, or a list of its length."""
    if all(type(value) is int for value in values):
        return np.repeat(_integers(values), lengths)
    column: list[int] = []
    for value, n in zip(values, lengths, strict=True):
        if type(value) is list and len(value) != n:
            raise ValueError(f"a column of {len(value)} in a block of {n}")
        column.extend(value if type(value) is list else [value] * n)
    return _integers(column)


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the search for garbage off: the records of a log are millions of things, none of which is any."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def has_begun(path: Path) -> bool:
    """Whether a file holds at least one whole line: a kill may leave an empty log, or half a header."""
    try:
        with open_plain(path) as file:
            return file.readline().endswith(b"\n")
    except FileNotFoundError:
        return False


def has_ended(path: Path) -> bool:
    """Whether the last whole line is an end line; only the tail of the file is read."""
    size, tail = path.stat().st_size, 1 << 12
    with open_plain(path) as file:
        while True:
            file.seek(max(0, size - tail))
            lines = file.read().split(b"\n")
            if len(lines) > 2 or tail >= size:  # the last line is whole here: a newline stands before it and after it
                break
            tail *= 8
    try:
        return lines[-1] == b"" and len(lines) > 1 and json.loads(lines[-2]).get("kind") == "end"
    except (ValueError, AttributeError):
        return False


def read_header(path: Path) -> dict[str, Any]:
    """The first line.

    Raises:
        InputError: not a run log, or of a newer schema.
    """
    try:
        with open_plain(path) as file:
            lines = [file.readline()]
            records, _ = _one_by_one(path, 1, lines, not file.peek(1))
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error
    header = records[0] if records else {}
    if header.get("kind") != "header":
        raise InputError(path, "not a run log: it does not begin with a header")
    if header.get("schema") != SCHEMA:
        raise InputError(path, f"this version reads schema {SCHEMA}", field="schema", value=header.get("schema"))
    return header


def read(path: Path) -> RunLog:
    """Read a log as columns; a million silences take about 90 MB.

    Raises:
        InputError: not a run log, a newer schema, a broken line before the last, or what cannot have been.
    """
    header = read_header(path)
    columns, torn = _Columns(), False
    with no_collection():
        for first, records, ends_torn in _batches(path):
            torn = torn or ends_torn
            try:
                columns.add(records)
            except (KeyError, TypeError, ValueError, AttributeError):
                _say_which(path, first, records)
                raise
    table = columns.sorted()
    seq, snapshot, captured, content, released, started, actionable, dropped = map(np.ascontiguousarray, table[:8])
    flags, kind = table[8].astype(np.uint8), table[9].astype(np.uint8)
    log = RunLog(
        header, seq, snapshot, captured, content, released, started, actionable, dropped, kind, flags,
        columns.full, columns.writes, columns.end, torn, columns.reported,
    )  # fmt: skip
    ensure_possible(path, log)
    return log


def _say_which(path: Path, first: int, records: list[dict[str, Any]]) -> None:
    """Raise for the first record of a batch that is not one of this schema."""
    for n, record in enumerate(records, first):
        try:
            _Columns().add([record])
        except _NoStamp as error:
            raise InputError(f"{path}, line {n}", "holds a stamp that is not an integer of 64 bits") from error
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{path}, line {n}", f"not a record of schema {SCHEMA} ({error})") from error
