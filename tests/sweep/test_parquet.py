"""Decisions as a table, read back and held against the logs that they come from."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.errors import NoRoom, UsageError
from simulator.runs import runlog
from simulator.runs.records import Kind
from simulator.runs.runlog import LogWriter
from simulator.sweep import parquet
from simulator.sweep.parquet import COLUMNS, export, rows
from tests.sweep.handmade import Made

pq = pytest.importorskip("pyarrow.parquet")
MS = 10**6
Stamps = list[tuple[int, int, int, int, int, int, int]]


def silence(
    seq: int, snapshot: int, lag: int, dispatch: int, service: int, dropped: int, flags: int
) -> tuple[int, ...]:
    captured = snapshot * 1000 * MS
    released = captured + lag
    started = released + dispatch
    return seq, snapshot, captured, captured - 5, released, started, started + service, dropped, flags


def written(path: Path, silences: list[tuple[int, ...]], records: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = LogWriter(path)
    writer.header({"session": "s"})
    for one in silences:
        writer.silence(*one)
    for record in records:
        writer.record(record)
    writer.close({"released": 1})
    return path


def full(seq: int, kind: str, **more: Any) -> dict[str, Any]:
    at = seq * 1000 * MS
    return {"kind": kind, "seq": seq, "snapshot": seq, "captured_ns": at, "content_ns": at, "released_ns": at + 1,
            "started_ns": at + 2, "actionable_ns": at + 10, "dropped_before": 0, **more}  # fmt: skip


OFFER = full(7, "offer", tokens={"in": 9, "out": 3, "reasoning": 0, "cached": 1, "images": 2}, cost=0.5, retries=1,
             throttle_ns=4, memory_hits=2, stages_ns={"model": 6, "parse": 2}, notes={"seen": 1},
             flags=["held", "cold"],
             offers=[{"intention": "Translation", "text": "half \ud800 a pair", "confidence": 0.5,
                      "thread": "t", "actionable_ns": 7_000_000_009}],
             retracted=["old"])  # fmt: skip
ERROR = full(8, "error", error={"kind": "timeout", "text": "too long | 'quoted'"})


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    made = Made(tmp_path, {"agent": ["a"], "memory": ["none", "rag"]})
    for memory in ("none", "rag"):
        made.cell({"agent": "a", "memory": memory}, None, keys=["s0", "s1", "not-played"])
    made.write()
    for run in ("a-none-s0", "a-rag-s0"):
        for key in ("s0", "s1"):
            log = tmp_path / "runs" / run / "units" / key / "decisions.jsonl"
            written(log, [silence(n, 2 * n, 1, n, 10 + n, 1, n % 2) for n in range(5)], [OFFER, ERROR])
    return tmp_path


def test_the_table_holds_silences_as_runs_and_all_else_in_full(sweep: Path) -> None:
    file = export(sweep)
    table = pq.read_table(file)
    assert file.name == "decisions.parquet"
    assert table.schema.metadata[b"proact.decisions.schema"] == b"1"
    assert [n for n in table.schema.names if not n.startswith("axis.")] == list(COLUMNS)
    found = table.to_pylist()
    assert len(found) == 2 * 2 * 3
    assert [r["n"] for r in found[:3]] == [5, 1, 1]
    run, offer, error = found[:3]
    assert (run["kind"], run["axis.memory"], run["unit"], run["seed"]) == ("silent", "none", "s0", 0)
    assert (run["seq"], run["seq_last"], run["snapshot"], run["snapshot_last"]) == (0, 4, 0, 8)
    assert (run["service_ns"], run["service_max_ns"]) == (10 + 11 + 12 + 13 + 14, 14)
    assert (run["latency_ns"], run["latency_max_ns"]) == (60 + 0 + 1 + 2 + 3 + 4, 18)
    assert (run["dropped_before"], run["flags"]) == (5, 1)
    assert run["actionable_last_ns"] == 8 * 1000 * MS + 1 + 4 + 14
    assert run["offers"] is None
    assert (offer["tokens_in"], offer["images"], offer["cost"], offer["flags"]) == (9, 2, 0.5, 3)
    assert offer["offers"] == [{**OFFER["offers"][0], "text": "half ? a pair"}]
    assert (dict(offer["stages_ns"]), offer["retracted"], json.loads(offer["notes"])) == (
        OFFER["stages_ns"], ["old"], {"seen": 1},
    )  # fmt: skip
    assert (error["error_kind"], error["error_text"]) == ("timeout", "too long | 'quoted'")
    assert (error["tokens_in"], error["cost"]) == (None, None)
    assert {r["axis.memory"] for r in found} == {"none", "rag"}


SILENCES = st.lists(st.tuples(*[st.integers(0, 50)] * 5, st.integers(0, 3)), min_size=1, max_size=12)


@given(SILENCES)
def test_runs_of_silences_add_up_to_the_decisions_of_the_log(tmp_path_factory: Any, steps: Any) -> None:
    path = tmp_path_factory.mktemp("logs") / "decisions.jsonl"
    snapshot, listed = 0, []
    for seq, (step, lag, dispatch, service, dropped, flags) in enumerate(steps):
        snapshot += 1 + step
        listed.append(silence(seq, snapshot, lag, dispatch, service, dropped, flags))
    written(path, listed, [])
    log, found = runlog.read(path), list(rows(path))
    assert (log.kind == Kind.SILENT).all()
    assert sum(r["n"] for r in found) == len(log)
    (run,) = found
    assert run["service_ns"] == int((log.actionable_ns - log.started_ns).sum())
    assert run["latency_ns"] == int((log.actionable_ns - log.released_ns).sum())
    assert run["latency_max_ns"] == int((log.actionable_ns - log.released_ns).max())
    assert run["dropped_before"] == int(log.dropped_before.sum())
    for name, column in (("seq", log.seq), ("snapshot", log.snapshot), ("captured", log.captured_ns),
                         ("actionable", log.actionable_ns)):  # fmt: skip
        first, last = (name, f"{name}_last") if name in ("seq", "snapshot") else (f"{name}_ns", f"{name}_last_ns")
        assert (run[first], run[last]) == (column[0], column[-1])
    assert (run["content_ns"], run["released_ns"], run["started_ns"]) == (
        log.content_ns[0], log.released_ns[0], log.started_ns[0],
    )  # fmt: skip


def test_it_is_written_in_portions(sweep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_BATCH", 5)
    assert pq.ParquetFile(export(sweep)).metadata.num_row_groups == 3


def test_without_the_extra_it_says_how_to_get_it(sweep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="needs the extra parquet"):
        export(sweep)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_told_with_the_tables_place(sweep: Path) -> None:
    part = sweep / "decisions.parquet.part"
    part.symlink_to("/dev/full")
    with pytest.raises(NoRoom, match=r"decisions\.parquet: there is no room left on the disk"):
        export(sweep)
    assert not part.is_symlink(), "half a table is of no use to anybody"
