r"""The run log, ``decisions.jsonl``: one header line, one line a record, one end line.

It holds only what the inputs determine (host, versions and wall times live in ``run.json``): UTF-8, ``\n``, fixed key
order, no NaN. Plain silences fold into blocks of up to 1,024 as columns: a column is a number where it is constant,
else a list; ``seq``, ``snapshot`` and ``captured_ns`` are kept as first value and differences. A torn last line is
tolerated; a log without its end line was interrupted, and is still scoreable.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simulator.core.errors import InputError
from simulator.runs.records import Flag, Kind, RunLog

__all__ = ["BLOCK", "SCHEMA", "LogWriter", "has_begun", "read", "read_header"]

SCHEMA = 1
BLOCK = 1024
_WIDTH = 9
_FULL = BLOCK * _WIDTH
_CUMULATIVE = ("seq", "snapshot", "captured_ns")
_RELATIVE = ("content_age_ns", "release_lag_ns", "dispatch_ns", "service_ns", "dropped_before", "flags")
_FLAGS = {"held": Flag.HELD, "cold": Flag.COLD, "after_end": Flag.AFTER_END}
_KINDS = {kind.name.lower(): kind for kind in Kind}
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_escape = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


def flag_names(flags: int) -> list[str]:
    """The names of the bits that are set, in a fixed order."""
    return [name for name, bit in _FLAGS.items() if flags & bit]


class LogWriter:
    """Appends records to a new log file.

    Args:
        path: the file; it must not exist with content (a unit that was interrupted starts over).
    """

    def __init__(self, path: Path) -> None:
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
    """Gathers columns while a log is read."""

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.rows: list[tuple[int, ...]] = []

    def add(self, row: tuple[int, ...]) -> None:
        self.rows.append(row)

    def add_block(self, block: Mapping[str, Any]) -> None:
        self.flush()
        n = block["n"]
        cumulative = [
            np.cumsum(np.concatenate(([block[c]], np.broadcast_to(np.asarray(block.get(f"{c}_step", 0)), n - 1))))
            for c in _CUMULATIVE
        ]
        age, lag, dispatch, service, dropped, flags = (np.broadcast_to(np.asarray(block[c]), n) for c in _RELATIVE)
        seq, snapshot, captured = cumulative
        released = captured + lag
        started = released + dispatch
        kind = np.full(n, Kind.SILENT)
        self.parts.append(
            np.array(
                [seq, snapshot, captured, captured - age, released, started, started + service, dropped, flags, kind]
            )
        )

    def flush(self) -> None:
        if self.rows:
            self.parts.append(np.array(self.rows, dtype=np.int64).T)
            self.rows = []

    def sorted(self) -> Any:
        self.flush()
        table = np.concatenate(self.parts, axis=1) if self.parts else np.zeros((10, 0), np.int64)
        return table[:, np.argsort(table[0], kind="stable")]


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Each line as a record; None for a torn last one.

    Raises:
        InputError: a line that is not a record, before the last.
    """
    try:
        with path.open("rb") as file:
            for n, line in enumerate(file, 1):
                try:
                    record = json.loads(line)
                    if not line.endswith(b"\n") or not isinstance(record, dict):
                        raise ValueError("not a whole record")
                except ValueError as error:
                    if next(file, None) is None:
                        yield n, None
                        return
                    raise InputError(f"{path}, line {n}", "not a record of a run log") from error
                yield n, record
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error


def has_begun(path: Path) -> bool:
    """Whether a file holds at least one whole line: a kill may leave an empty log, or half a header."""
    try:
        with path.open("rb") as file:
            return file.readline().endswith(b"\n")
    except FileNotFoundError:
        return False


def has_ended(path: Path) -> bool:
    """Whether the last whole line is an end line; only the tail of the file is read."""
    size, tail = path.stat().st_size, 1 << 12
    with path.open("rb") as file:
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
    _, header = next(_lines(path), (0, None))
    if header is None or header.get("kind") != "header":
        raise InputError(path, "not a run log: it does not begin with a header")
    if header.get("schema") != SCHEMA:
        raise InputError(path, f"this version reads schema {SCHEMA}", field="schema", value=header.get("schema"))
    return header


def read(path: Path) -> RunLog:
    """Read a log as columns; a million silences take about 90 MB.

    Raises:
        InputError: not a run log, a newer schema, or a broken line before the last.
    """
    header = read_header(path)
    columns, full, writes = _Columns(), {}, []
    end, torn = None, False
    for n, record in _lines(path):
        if record is None:
            torn = True
            continue
        kind = record.get("kind")
        try:
            if kind == "silence":
                columns.add_block(record)
            elif kind in _KINDS:
                columns.add(_row(record, _KINDS[kind]))
                full[record["seq"]] = record
            elif kind == "memory_write":
                writes.append(record)
            elif kind == "end":
                end = record
            elif kind != "header":
                raise KeyError(kind)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}, line {n}", f"not a record of schema {SCHEMA} ({error})") from error
    try:
        table = columns.sorted()
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(path, "holds a stamp that is not an integer of 64 bits") from error
    seq, snapshot, captured, content, released, started, actionable, dropped = map(np.ascontiguousarray, table[:8])
    flags, kind = table[8].astype(np.uint8), table[9].astype(np.uint8)
    return RunLog(
        header, seq, snapshot, captured, content, released, started, actionable, dropped, kind, flags,
        full, writes, end, torn,
    )  # fmt: skip


def _row(record: Mapping[str, Any], kind: Kind) -> tuple[int, ...]:
    stamps = (record[c] for c in ("seq", "snapshot", "captured_ns", "content_ns", "released_ns", "started_ns"))
    flags = sum(_FLAGS[name] for name in record.get("flags", ()))
    return (*stamps, record["actionable_ns"], record["dropped_before"], flags, kind)
