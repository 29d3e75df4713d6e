"""The decisions of a sweep as one table, ``decisions.parquet``: a row a decision, or a run of silences.

Needs the extra ``parquet``. Logs are read and written a few megabytes at a time, so memory does not grow with the
sweep.
``COLUMNS`` is the schema; docs/sweeps.md says it in words.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.core.errors import InputError, UsageError
from simulator.core.extras import install_extra
from simulator.core.faults import writing
from simulator.runs import runlog
from simulator.runs.reported import KINDS
from simulator.runs.unit import LOG
from simulator.sweep.planned import PlannedCell, planned

if TYPE_CHECKING:
    import pyarrow

__all__ = ["COLUMNS", "FILE", "SCHEMA", "ensure_installed", "export", "rows"]

FILE = "decisions.parquet"
SCHEMA = 1
_BATCH = 16_384
"""Rows held before they are written."""
_DECISIONS = ("silent", "offer", "error", "unparsed", "superseded", "cancelled")
_BITS = {"held": 1, "cold": 2, "after_end": 4}
_RELATIVE = ("content_age_ns", "release_lag_ns", "dispatch_ns", "service_ns", "dropped_before", "flags")
Row = dict[str, Any]

COLUMNS: Mapping[str, str] = {
    "cell": "word", "run": "word", "unit": "word", "seed": "int64", "kind": "word", "what": "word", "n": "int64",
    "seq": "int64", "seq_last": "int64", "snapshot": "int64", "snapshot_last": "int64",
    "captured_ns": "int64", "captured_last_ns": "int64", "content_ns": "int64", "released_ns": "int64",
    "started_ns": "int64", "first_token_ns": "int64", "actionable_ns": "int64", "actionable_last_ns": "int64",
    "service_ns": "int64", "service_max_ns": "int64", "latency_ns": "int64", "latency_max_ns": "int64",
    "dropped_before": "int64", "flags": "int64",
    **{f"tokens_{kind}" if kind != "images" else kind: "int64" for kind in KINDS},
    "cost": "float64", "throttle_ns": "int64", "retries": "int64", "memory_hits": "int64",
    "error_kind": "word", "error_text": "text", "parse_rule": "word", "offers": "offers", "retracted": "texts",
    "stages_ns": "numbers", "notes": "text",
}  # fmt: skip
"""Column to kind: ``word`` (text that comes often, kept as a dictionary), ``text``, ``int64``, ``float64``, ``texts``
(a list), ``numbers`` (name to whole number), ``offers`` (a list of intention, text, confidence, thread and
actionable_ns). Null is unknown or not said. A column ``axis.NAME`` for each axis of the study stands behind ``cell``.
"""


def export(sweep: str | Path, file: Path | None = None) -> Path:
    """Write the decisions of all units that are there; beside, then renamed.

    Args:
        sweep: its folder.
        file: where to; default ``decisions.parquet`` in the sweep's folder.

    Raises:
        UsageError: the extra ``parquet`` is not installed.
        InputError: not a sweep's folder, or a damaged log.
        NoRoom: the disk is full.
    """
    ensure_installed()
    import pyarrow as pa
    import pyarrow.parquet as pq

    sweep = Path(sweep)
    study = planned(sweep)
    file = file or sweep / FILE
    axes = list(study.axes)
    schema = _schema(pa, axes).with_metadata({"proact.decisions.schema": str(SCHEMA)})
    part = file.with_name(f"{file.name}.part")
    try:
        with writing(file), pq.ParquetWriter(part, schema, compression="zstd") as writer:
            held: list[Row] = []
            for cell in study.cells:
                for row in _of_cell(sweep, cell, axes):
                    held.append(row)
                    if len(held) >= _BATCH:
                        writer.write_table(pa.Table.from_pylist(held, schema=schema))
                        held.clear()
            if held:
                writer.write_table(pa.Table.from_pylist(held, schema=schema))
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)  # of no use to anybody
    return file


def ensure_installed() -> None:
    """Ask for the extra before there is work to lose.

    Raises:
        UsageError: it is not installed.
    """
    try:
        for name in ("pyarrow", "pyarrow.parquet"):
            importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"Parquet needs the extra parquet: {install_extra('parquet')}") from error


def _schema(pa: Any, axes: list[str]) -> pyarrow.Schema:
    word = pa.dictionary(pa.int32(), pa.string())
    offer = pa.struct([("intention", pa.string()), ("text", pa.string()), ("confidence", pa.float64()),
                       ("thread", pa.string()), ("actionable_ns", pa.int64())])  # fmt: skip
    kinds = {"word": word, "text": pa.string(), "int64": pa.int64(), "float64": pa.float64(),
             "texts": pa.list_(pa.string()), "numbers": pa.map_(pa.string(), pa.int64()),
             "offers": pa.list_(offer)}  # fmt: skip
    fields = [(name, kinds[kind]) for name, kind in COLUMNS.items()]
    return pa.schema([fields[0], *((f"axis.{axis}", word) for axis in axes), *fields[1:]])


def _of_cell(sweep: Path, cell: PlannedCell, axes: list[str]) -> Iterator[Row]:
    values = {f"axis.{axis}": cell.values.get(axis) for axis in axes}
    for run in cell.runs:
        for key in run.keys:
            log = sweep / "runs" / run.folder / "units" / key / LOG
            if runlog.has_begun(log):
                told = {"cell": cell.id, **values, "run": run.folder, "unit": key, "seed": run.seed}
                yield from (told | row for row in rows(log))


def rows(log: Path) -> Iterator[Row]:
    """The rows of a unit's log, in the order in which decisions ended.

    Raises:
        InputError: the log is damaged.
    """
    for record in runlog.records(log):
        kind = record.get("kind")
        try:
            if kind == "silence":
                yield _silences(record)
            elif kind in _DECISIONS:
                yield _decision(record)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(log, "holds a record of another schema") from error


def _silences(block: Mapping[str, Any]) -> Row:
    """A run of plain silences: first and last stamps, sums and greatest values between."""
    n = block["n"]
    last = {
        name: block[name] + _sum(block.get(f"{name}_step", 0), n - 1) for name in ("seq", "snapshot", "captured_ns")
    }
    age, lag, dispatch, service, dropped, flags = (block[name] for name in _RELATIVE)
    released = block["captured_ns"] + _at(lag, 0)
    started = released + _at(dispatch, 0)
    waits = [_at(dispatch, i) + _at(service, i) for i in range(n)] if _varies(dispatch, service) else None
    each = _at(dispatch, 0) + _at(service, 0)
    return {
        "kind": "silent", "n": n,
        "seq": block["seq"], "seq_last": last["seq"],
        "snapshot": block["snapshot"], "snapshot_last": last["snapshot"],
        "captured_ns": block["captured_ns"], "captured_last_ns": last["captured_ns"],
        "content_ns": block["captured_ns"] - _at(age, 0), "released_ns": released, "started_ns": started,
        "actionable_ns": started + _at(service, 0),
        "actionable_last_ns": last["captured_ns"] + sum(_at(c, n - 1) for c in (lag, dispatch, service)),
        "service_ns": _sum(service, n), "service_max_ns": max(service) if isinstance(service, list) else service,
        "latency_ns": sum(waits) if waits else each * n, "latency_max_ns": max(waits) if waits else each,
        "dropped_before": _sum(dropped, n), "flags": _any(flags),
    }  # fmt: skip


def _varies(*columns: Any) -> bool:
    return any(isinstance(column, list) for column in columns)


def _at(column: Any, i: int) -> int:
    return int(column[i] if isinstance(column, list) else column)


def _sum(column: Any, n: int) -> int:
    """Of n values; a constant column is one number."""
    return int(sum(column)) if isinstance(column, list) else int(column) * n


def _any(flags: Any) -> int:
    found = 0
    for bits in flags if isinstance(flags, list) else (flags,):
        found |= int(bits)
    return found


def _decision(record: Mapping[str, Any]) -> Row:
    """A decision in full."""
    service, latency = (record["actionable_ns"] - record[since] for since in ("started_ns", "released_ns"))
    used, error = record.get("tokens") or {}, record.get("error") or {}
    retracted, notes = record.get("retracted"), record.get("notes")
    return {
        "kind": record["kind"], "what": record.get("what", "decide"), "n": 1,
        **{name: record[name] for name in ("seq", "snapshot", "captured_ns", "content_ns", "released_ns", "started_ns",
                                           "actionable_ns", "dropped_before")},
        "seq_last": record["seq"], "snapshot_last": record["snapshot"], "captured_last_ns": record["captured_ns"],
        "actionable_last_ns": record["actionable_ns"], "first_token_ns": record.get("first_token_ns"),
        "service_ns": service, "service_max_ns": service, "latency_ns": latency, "latency_max_ns": latency,
        "flags": sum(_BITS[name] for name in record.get("flags", ())),
        **{f"tokens_{kind}" if kind != "images" else kind: used.get(kind) for kind in KINDS},
        "cost": record.get("cost"), "throttle_ns": record.get("throttle_ns"), "retries": record.get("retries"),
        "memory_hits": record.get("memory_hits"), "error_kind": error.get("kind"),
        "error_text": _clean(error.get("text")), "parse_rule": record.get("parse_rule"),
        "offers": [_offer(offer) for offer in record.get("offers", ())] or None,
        "retracted": None if retracted is None else [_clean(text) for text in retracted],
        "stages_ns": list((record.get("stages_ns") or {}).items()) or None,
        "notes": None if notes is None else _clean(json.dumps(notes, ensure_ascii=False)),
    }  # fmt: skip


def _offer(offer: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: _clean(offer.get(name)) for name in ("intention", "text", "thread")}
    return {**texts, "confidence": offer.get("confidence"), "actionable_ns": offer["actionable_ns"]}


def _clean(text: str | None) -> str | None:
    """A text in UTF-8: half a surrogate pair, which JSON can hold, as a question mark."""
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")
