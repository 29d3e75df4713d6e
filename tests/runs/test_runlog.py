"""The run log: what is written is read, what is torn is tolerated, what is broken is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.core.errors import InputError
from simulator.runs import runlog
from simulator.runs.records import Flag, Kind
from simulator.runs.runlog import BLOCK, LogWriter

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
COLUMNS = (
    "seq",
    "snapshot",
    "captured_ns",
    "content_ns",
    "released_ns",
    "started_ns",
    "actionable_ns",
    "dropped_before",
)
HEADER = {"session": "s", "seed": 3}


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """Silences and others in order of seq: (9 columns, kind)."""
    found: list[tuple[int, ...]] = []
    seq = snapshot = captured = 0
    regular = draw(st.booleans())
    for _ in range(draw(st.integers(0, 40))):
        step = 10**9 if regular else draw(st.integers(0, 3 * 10**9))
        seq, snapshot, captured = seq + draw(st.integers(1, 3)), snapshot + draw(st.integers(1, 4)), captured + step
        content = captured - (0 if regular else draw(st.integers(0, 10**10)))
        started = captured + (0 if regular else draw(st.integers(0, 10**10)))
        actionable = started + draw(st.sampled_from([0, 350_000_000, 10**12]))
        dropped, flags = draw(st.integers(0, 5)), draw(st.integers(0, 7))
        kind = draw(st.sampled_from([Kind.SILENT] * 4 + [Kind.OFFER, Kind.ERROR]))
        found.append((seq, snapshot, captured, content, captured, started, actionable, dropped, flags, int(kind)))
    return found


def record(row: tuple[int, ...], **more: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"kind": Kind(row[9]).name.lower(), **dict(zip(COLUMNS, row, strict=False))}
    made: dict[str, Any] = {"offers": []} if row[9] == Kind.OFFER else {}
    return {**said, **made, **more, "flags": runlog.flag_names(row[8])}


@given(rows(), st.sets(st.integers(0, 39), max_size=5), st.booleans())
@quick
def test_what_is_written_is_read(tmp_path: Path, written: list[tuple[int, ...]], flushes: set[int], ends: bool) -> None:
    path = tmp_path / "log"
    log = LogWriter(path)
    log.header(HEADER)
    for i, row in enumerate(written):
        if i in flushes:
            log.flush()
        if row[9] == Kind.SILENT:
            log.silence(*row[:9])
        else:
            log.record(record(row, offers=[{"intention": "x", "actionable_ns": row[6]}]))
    log.close({"released": 9} if ends else None)
    read = runlog.read(path)
    table = np.array(written, np.int64).reshape(-1, 10)
    for i, name in enumerate(COLUMNS):
        assert getattr(read, name).tolist() == table[:, i].tolist(), name
    assert read.flags.tolist() == table[:, 8].tolist()
    assert read.kind.tolist() == table[:, 9].tolist()
    assert sorted(read.full) == [row[0] for row in written if row[9] != Kind.SILENT]
    assert len(read.offers()) == sum(row[9] == Kind.OFFER for row in written)
    assert read.offers() is read.offers()  # made once: thousands of them take longer than all else that is asked
    assert read.complete is ends
    assert not read.torn
    assert read.header == {"kind": "header", "schema": 1, **HEADER}


@given(rows(), st.data())
@quick
def test_a_log_cut_anywhere_is_read_up_to_there(
    tmp_path: Path, written: list[tuple[int, ...]], data: st.DataObject
) -> None:
    path = tmp_path / "log"
    log = LogWriter(path)
    log.header(HEADER)
    for row in written:
        log.record(record(row))
    log.close({"released": 9})
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    cut = data.draw(st.integers(first, len(whole)))
    path.write_bytes(whole[:cut])
    read = runlog.read(path)
    lines = whole[:cut].count(b"\n") - 1
    assert len(read) == min(lines, len(written))
    assert read.torn is (whole[cut - 1 : cut] != b"\n")
    assert read.complete is (cut == len(whole))


def test_blocks_fold_at_1024_and_constant_columns_are_numbers(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "log")
    log.header(HEADER)
    for i in range(BLOCK + 1):
        log.silence(i, i, i * 10**9, i * 10**9, i * 10**9, i * 10**9, i * 10**9 + 5, 0, 0)
    log.close()
    header, whole, rest = (json.loads(line) for line in (tmp_path / "log").read_text().splitlines())
    assert header["kind"] == "header"
    assert whole == {
        "kind": "silence", "n": 1024, "seq": 0, "seq_step": 1, "snapshot": 0, "snapshot_step": 1, "captured_ns": 0,
        "captured_ns_step": 10**9, "content_age_ns": 0, "release_lag_ns": 0, "dispatch_ns": 0, "service_ns": 5,
        "dropped_before": 0, "flags": 0,
    }  # fmt: skip
    assert rest["n"] == 1
    assert len(runlog.read(tmp_path / "log")) == BLOCK + 1


def test_silences_before_a_record_are_written_before_it(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "log")
    log.header(HEADER)
    log.silence(0, 0, 0, 0, 0, 0, 1, 0, 2)
    log.record({"kind": "memory_write", "seq": 1})
    log.close()
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "log").read_text().splitlines()]
    assert kinds == ["header", "silence", "memory_write"]


def test_the_header_is_on_its_way_at_once(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "log")
    log.header(HEADER)
    assert runlog.read_header(tmp_path / "log")["session"] == "s"
    assert runlog.has_begun(tmp_path / "log")
    log.close()
    assert not runlog.has_begun(tmp_path / "none")


@given(st.text(alphabet=st.characters(exclude_categories=[])))
@quick
def test_every_text_is_kept_and_the_file_is_utf8(tmp_path: Path, text: str) -> None:
    log = LogWriter(tmp_path / "log")
    log.header(HEADER)
    said = {"intention": "x", "text": text, "actionable_ns": 1}
    log.record(record((0, 0, 0, 0, 0, 0, 1, 0, 0, 1), offers=[said]))
    log.close()
    raw = (tmp_path / "log").read_bytes()
    raw.decode("utf-8")
    assert raw.count(b"\n") == 2
    assert runlog.read(tmp_path / "log").offers()[0].text == text


def test_nan_never_enters_a_log(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "log")
    with pytest.raises(ValueError, match="not JSON compliant"):
        log.record({"kind": "error", "cost": float("nan")})
    log.close()


GOOD = '{"kind":"header","schema":1}'
ROW = json.dumps(record((0, 0, 0, 0, 0, 0, 1, 0, 0, 1), offers=[]))
BLOCK_LINE = (
    '{"kind":"silence","n":2,"seq":0,"seq_step":1,"snapshot":0,"snapshot_step":1,"captured_ns":0,"captured_ns_step":5,'
    '"content_age_ns":0,"release_lag_ns":0,"dispatch_ns":0,"service_ns":[1,2],"dropped_before":0,"flags":0}'
)
LATER = BLOCK_LINE.replace('"seq":0', '"seq":1')


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "does not begin with a header"),
        (["{"], "does not begin with a header"),
        ([ROW], "does not begin with a header"),
        (['{"kind":"header","schema":2}'], "schema: '2': this version reads schema 1"),
        (['{"kind":"header"}'], "this version reads schema 1"),
        ([GOOD, "{", ROW], "line 2: not a record of a run log"),
        ([GOOD, "[]", ROW], "line 2: not a record of a run log"),
        ([GOOD, "\udcff", ROW], "line 2: not a record of a run log"),
        ([GOOD, '{"kind":"odd"}', ROW], "line 2: not a record of schema 1"),
        ([GOOD, '{"seq":0}', ROW], "line 2: not a record of schema 1"),
        ([GOOD, ROW.replace('"actionable_ns"', '"x"'), ROW], "line 2: not a record of schema 1"),
        ([GOOD, ROW.replace('"flags": []', '"flags": ["tepid"]'), ROW], "line 2: not a record of schema 1"),
        ([GOOD, BLOCK_LINE.replace('"service_ns":[1,2]', '"service_ns":[1,2,3]'), ROW], "line 2: not a record"),
        ([GOOD, BLOCK_LINE.replace('"n":2', '"n":"2"'), ROW], "line 2: not a record"),
        ([GOOD, ROW.replace('"seq": 0', '"seq": "zero"'), ROW], "not an integer of 64 bits"),
        ([GOOD, ROW.replace('"seq": 0', f'"seq": {10**30}'), ROW], "not an integer of 64 bits"),
        ([GOOD, ROW.replace('"seq": 0', '"seq": null'), ROW], "not an integer of 64 bits"),
    ],
)
def test_what_is_broken_is_told_in_a_sentence(lines: list[str], says: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", errors="surrogateescape")
    with pytest.raises(InputError) as told:
        runlog.read(path)
    assert says in str(told.value)
    assert str(path) in str(told.value)


def test_a_log_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        runlog.read(tmp_path / "log")


def test_unknown_fields_of_a_later_writer_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(GOOD + "\n" + ROW[:-1] + ', "mood": "good"}\n' + LATER[:-1] + ',"mood":1}\n')
    assert len(runlog.read(path)) == 3


def test_flags_have_names_in_a_fixed_order() -> None:
    assert runlog.flag_names(Flag.HELD | Flag.COLD | Flag.AFTER_END) == ["held", "cold", "after_end"]
    assert runlog.flag_names(0) == []


@pytest.mark.parametrize("n_changes", [0, 10, 30_000])
def test_an_end_is_seen_from_the_tail_of_a_log(n_changes: int, tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    writer = LogWriter(path)
    writer.header({"session": "s"})
    writer.flush()
    assert not runlog.has_ended(path)
    writer.close({"changes_ns": [10**15 + n for n in range(n_changes)]})
    assert runlog.has_ended(path)
    path.write_bytes(path.read_bytes()[:-1])
    assert not runlog.has_ended(path), "its last line is torn"


@pytest.mark.parametrize("size", [1, 200, 1 << 22])
def test_how_many_lines_are_parsed_at_once_changes_nothing(size: int, tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "log"
    later = json.dumps(record((2, 2, 9, 9, 9, 9, 9, 0, 0, 1), offers=[]))
    path.write_text("\n".join([GOOD, BLOCK_LINE, later, '{"kind":"end","released":3}', '{"kind":"offer","se']))
    monkeypatch.setattr(runlog, "_BATCH", size)
    read = runlog.read(path)
    assert read.torn
    assert read.complete
    assert read.captured_ns.tolist() == [0, 5, 9]
    assert list(read.full) == [2]
    path.write_text("\n".join([GOOD, BLOCK_LINE, later, '{"kind":"odd"}', later]))
    with pytest.raises(InputError, match="line 4: not a record of schema 1"):
        runlog.read(path)


def test_two_records_on_a_line_are_not_taken_for_two_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("\n".join([GOOD, f"{ROW},{ROW}", ""]) + "\n")
    with pytest.raises(InputError, match="line 2: not a record of a run log"):
        runlog.read(path)
