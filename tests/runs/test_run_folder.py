"""A run on disk: found again by what it is, finished where it is missing, left alone where it is another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import InputError, UsageError
from simulator.runs.folder import RunFolder, digest, read_run, read_units, write_json
from simulator.runs.unit import LOG, UnitPlan, UnitResult, is_done
from tests.worlds import names, plan, play, screen


def plans(**more: Any) -> list[UnitPlan]:
    return [plan(screen("aab", session=f"s{i}"), names, key=f"u{i}", **more) for i in range(2)]


def run(folder: RunFolder) -> list[str]:
    """Play what is missing; the keys played."""
    missing = folder.open()
    for unit in missing:
        folder.done(play(unit, folder.unit(unit.key)).result)
    folder.close("done")
    return [unit.key for unit in missing]


def test_the_same_run_again_does_nothing(tmp_path: Path) -> None:
    assert run(RunFolder(tmp_path / "r", plans(), {"agent": "x"})) == ["u0", "u1"]
    before = {p: p.read_bytes() for p in (tmp_path / "r").rglob("decisions.jsonl")}
    assert run(RunFolder(tmp_path / "r", plans(), {"agent": "x"})) == []
    assert {p: p.read_bytes() for p in before} == before
    told = read_run(tmp_path / "r")
    assert told["status"] == "done"
    assert told["units"]["u0"]["tally"]["decisions"] == 3, "what was known of finished units stays"
    file = (tmp_path / "r" / "run.json").read_bytes()
    assert RunFolder(tmp_path / "r", plans(), {"agent": "x"}).open() == []
    assert (tmp_path / "r" / "run.json").read_bytes() == file


def test_only_what_is_missing_torn_or_unfinished_is_played(tmp_path: Path) -> None:
    def damage(how: str) -> list[str]:
        folder = tmp_path / how
        run(RunFolder(folder, plans(), {}))
        log = folder / "units" / "u1" / LOG
        lines = log.read_bytes().splitlines(keepends=True)
        match how:
            case "gone":
                log.unlink()
            case "empty":
                log.write_bytes(b"")
            case "half a header":
                log.write_bytes(lines[0][:20])
            case "torn":
                log.write_bytes(b"".join(lines)[:-5])
            case "without end":
                log.write_bytes(b"".join(lines[:-1]))
        played = run(RunFolder(folder, plans(), {}))
        assert log.read_bytes() == b"".join(lines)
        return played

    for how in ("gone", "empty", "half a header", "torn", "without end"):
        assert damage(how) == ["u1"], how


def test_another_run_in_the_folder_is_refused_with_the_first_difference(tmp_path: Path) -> None:
    run(RunFolder(tmp_path / "r", plans(), {}))
    for other, says in (
        (plans(seed=4), r"\(u0: seed is '0' there and '4' here\)"),
        (plans(latency="fixed:1s"), r"latency is 'fixed:0s' there and 'fixed:1s' here"),
        (plans(policy="stride:2"), "policy is 'latest_only' there and 'stride:2' here"),
        (plans()[:1], r"\(unit u1 is only there\)"),
        ([replace(p, dataset="other") for p in plans()], "dataset is 'data' there"),
    ):
        with pytest.raises(UsageError, match=says):
            RunFolder(tmp_path / "r", other, {}).open()
    assert read_run(tmp_path / "r")["status"] == "done", "and nothing was touched"


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty and holds no run"):
        RunFolder(tmp_path, plans(), {}).open()
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_what_identifies_a_run_is_what_was_resolved_not_how_it_was_typed(tmp_path: Path) -> None:
    one = RunFolder(tmp_path, plans(), {"latency": "fixed:1000ms"})
    two = RunFolder(tmp_path, plans(), {"latency": "fixed:1s"})
    assert one.identity == two.identity
    assert one.identity != RunFolder(tmp_path, plans(seed=1), {}).identity


def test_a_unit_is_done_only_with_a_whole_log_of_the_same_inputs(tmp_path: Path) -> None:
    unit = plans()[0]
    assert not is_done(tmp_path, unit)
    play(unit, tmp_path)
    assert is_done(tmp_path, unit)
    assert not is_done(tmp_path, plans(seed=1)[0])


def test_a_run_that_is_going_on_says_so_and_keeps_what_is_done(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, plans(), {"agent": "x"})
    folder.open()
    told = read_run(tmp_path)
    assert told["status"] == "running"
    assert told["given"] == {"agent": "x"}
    assert told["resolved"]["u0"]["seed"] == 0
    folder.done(UnitResult("u0", error="a reason"))
    told = read_run(tmp_path)
    assert told["units"]["u0"]["error"] == "a reason"
    assert told["units"]["u1"] == {}
    assert set(told["host"]) >= {"python", "system", "cpus"}
    assert not list(tmp_path.glob("*.part"))


def test_units_are_read_in_order_of_their_keys_as_far_as_they_came(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, plans()[::-1], {})
    run(folder)
    log = folder.unit("u1") / LOG
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:3]))
    read = read_units(tmp_path)
    assert [(key, len(log), log.complete) for key, log, _ in read] == [("u0", 3, True), ("u1", 2, False)]
    (folder.unit("u1") / LOG).unlink()
    assert [key for key, _, _ in read_units(tmp_path)] == ["u0"]


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"a": float("nan")})
    assert json.loads(path.read_text()) == {"a": 1}


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert digest([1, 2]) != digest([2, 1])


@pytest.mark.parametrize(("text", "says"), [("{", "not a run file"), ("[]", "not a run file"), ("{}", "not a run file"),
                                            ('{"schema":9}', "this version reads schema 1")])  # fmt: skip
def test_what_is_no_run_file_is_told(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(InputError, match=says):
        read_run(tmp_path)
    with pytest.raises(InputError, match="there is no such folder"):
        read_run(tmp_path / "nowhere")
