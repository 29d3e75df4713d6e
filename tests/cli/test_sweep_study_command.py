"""``proact sweep FILE``: records, exit codes, what is said beforehand, Ctrl-C, and one sentence for each mistake."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from simulator.cli import app, sweep_study
from simulator.cli.speak import Voice
from simulator.cli.sweep_study import _asked_to_end
from simulator.core.errors import Exit, UsageError
from simulator.core.types import MS, SECOND
from simulator.sweep.named import names
from simulator.sweep.types import Stop
from simulator.timing.clock import real_ns, rest
from tests.sweep.small import LATENCY, session, world, write

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    world(tmp_path, 2, axes={"agent": "always", "memory": ["none", "rag"], "latency": LATENCY})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def proact(*words: object) -> int:
    return int(app()([str(w) for w in words], exit_on_error=False, print_error=False))


def records(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_records_tell_how_it_goes_and_end_in_done(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert proact("sweep", "study.yaml", "--engine", "inline", "--out", "out", "--json") == Exit.DONE
    found = records(capsys)
    assert [r["event"] for r in found] == ["launch", *(["unit", "unit", "scored"] * 2), "done"]
    assert (found[0]["cells"], found[0]["units"], found[0]["to_play"]) == (2, 4, 4)
    assert found[-1]["ended"] == {"done": 4}
    assert Path(found[-1]["summary"]).is_file()
    assert proact("sweep", "study.yaml", "--engine", "inline", "--out", "out", "--json") == Exit.DONE
    assert [r["event"] for r in records(capsys)] == ["launch", "done"]


def test_without_out_the_same_command_finds_its_folder(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        proact("sweep", "study.yaml", "--engine", "inline", "--json")
    launches = [r for r in records(capsys) if r["event"] == "launch"]
    assert [r["to_play"] for r in launches] == [4, 0]
    assert launches[0]["sweep"].startswith("runs/sweep-small-")


def test_people_get_a_table_and_where_it_lies(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proact("sweep", "study.yaml", "--engine", "inline", "--out", "out")
    said = capsys.readouterr()
    assert "F1_rt" in said.out
    assert "summary: out/summary.md" in said.out


def test_each_mark_of_the_table_means_one_thing_and_has_its_line_where_it_stands() -> None:
    figure = {"value": 0.5, "low": None, "high": None, "best": True, "like_best": True}
    cell = {"name": "a", "metrics": {"F1_rt": figure}, "latency_ms": {"p95": 12.0}, "marked": True,
            "units": {"done": 1, "erred": 0, "missing": 0}, "counts": {}}  # fmt: skip
    summary = {
        "metrics": [{"name": "F1_rt", "direction": "up"}],
        "cells": [cell, {**cell, "marked": False, "metrics": {"F1_rt": {**figure, "best": False}}}],
    }
    out = io.StringIO()
    Console(file=out, width=80).print(sweep_study._table(summary))
    assert (out.getvalue().count("*"), out.getvalue().count("†"), out.getvalue().count("‡")) == (1, 1, 1)
    assert "0.500*" in out.getvalue()
    assert [line[0] for line in sweep_study._legend(summary)] == ["*", "†", "‡"]
    plain = {**summary, "cells": [{**cell, "marked": False}]}
    assert sweep_study._legend(plain) == ["* best of those it can be compared with"]


def test_a_dry_run_says_what_it_would_take_and_writes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(place.rglob("*"))
    assert proact("sweep", "study.yaml", "--dry-run", "--json", "--set", "agent=always,zero-shot") == Exit.DONE
    (told,) = records(capsys)
    assert (told["cells"], told["units"], told["there"], told["missing"]) == (4, 8, 0, 8)
    assert told["calls"] > 0
    assert told["cost"] is None
    assert sorted(place.rglob("*")) == before
    assert proact("sweep", "study.yaml", "--dry-run") == Exit.DONE
    assert "4: 0 units there, 4 to play" in capsys.readouterr().out


def test_a_dry_run_knows_what_is_there(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proact("sweep", "study.yaml", "--engine", "inline", "--out", "out", "--json")
    scenario = place / "sessions" / "s0" / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace("25.0", "24.0"))
    capsys.readouterr()
    proact("sweep", "study.yaml", "--out", "out", "--dry-run", "--json")
    (told,) = records(capsys)
    assert (told["there"], told["missing"], told["changed"]) == (2, 2, 2)


def test_changed_inputs_are_told_with_a_count(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("sweep", "study.yaml", "--engine", "inline", "--out", "out")
    proact(*words)
    scenario = place / "sessions" / "s0" / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace("25.0", "24.0"))
    capsys.readouterr()
    proact(*words)
    assert "2 units of inputs that have changed since: played anew" in capsys.readouterr().err


def test_other_sessions_and_values_can_be_given(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session(place / "other", 7)
    words = ("--sessions", "other", "--set", "memory=none", "--set", "timeout=10s,20s")
    proact("sweep", "study.yaml", "--dry-run", "--json", *words)
    (told,) = records(capsys)
    assert (told["cells"], told["units"]) == (2, 2)


def test_gates_decide_the_exit_code(place: Path) -> None:
    words = ("sweep", "study.yaml", "--engine", "inline", "--out", "out")
    assert proact(*words, "--fail-if", "F1_rt<0.99") == Exit.GATE_FAILED
    assert proact(*words, "--fail-if", "F1_rt>2") == Exit.DONE
    latency = "scheduled_latency@p95>1"
    assert proact(*words, "--fail-if", latency) == Exit.GATE_FAILED, "a modelled latency is what was put in"


def test_presets_are_listed_and_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert proact("sweep", "--json") == Exit.DONE
    assert records(capsys)[-1]["presets"] == names()
    assert proact("sweep", "paper:table2", "--dry-run", "--json") == Exit.DONE
    told = records(capsys)[-1]
    assert told["cells"] == 3
    assert "no server is named: --base-url" in told["lacks"]
    assert proact("sweep", "paper:table2", "--dry-run", "--json", "--base-url", "http://127.0.0.1:9/v1") == Exit.DONE
    assert records(capsys)[-1]["lacks"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["paper:tabel2"], "neither a study file nor a preset; did you mean 'paper:table2'?"),
        (["nowhere.yaml"], "nowhere.yaml: there is no such study file"),
        (["study.yaml", "--set", "memory"], "--set 'memory': an axis with values is wanted"),
        (["study.yaml", "--set", "memories=rag"], "there is no axis 'memories'; did you mean 'memory'?"),
        (["study.yaml", "--fail-if", "F1_rt"], "F1_rt"),
        (["study.yaml", "--workers", "0"], "--workers 0"),
        (["study.yaml", "--workers", "1.5"], "--workers '1.5': a whole number is wanted"),
        (["study.yaml", "--engine", "inline", "--workers", "2"], "leave --workers out"),
        (["study.yaml", "--out", "sessions"], "is not empty and holds no sweep"),
    ],
)
def test_a_mistake_is_one_sentence(place: Path, words: list[str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        proact("sweep", *words)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_first_interrupt_drains_and_the_second_stops() -> None:
    stop = Stop()
    assert "waiting" in _asked_to_end(stop, "processes")
    assert (stop.draining, stop.now) == (True, False)
    assert _asked_to_end(stop, "processes") == "stopping"
    assert stop.now
    with pytest.raises(KeyboardInterrupt):
        _asked_to_end(stop, "processes")
    inline = Stop(draining=True)
    with pytest.raises(KeyboardInterrupt):
        _asked_to_end(inline, "inline")


def test_sessions_are_named_from_the_file_and_code_from_where_the_command_is_typed(place: Path) -> None:
    (place / "mine.py").write_text(
        "from simulator import SILENT\nclass Mine:\n    async def decide(self, observation):\n        return SILENT\n"
    )
    axes = {"agent": "mine.py:Mine", "memory": "none", "latency": LATENCY}
    (place / "deep").mkdir()
    write(place / "deep", sessions=["../sessions"], axes=axes)
    assert proact("sweep", "deep/study.yaml", "--engine", "inline", "--out", "out", "--json") == Exit.DONE
    assert len(list(place.glob("out/runs/*/units/*/unit.json"))) == 2


def test_an_interrupt_stops_at_once_where_no_unit_is_in_flight() -> None:
    stop = Stop()
    with pytest.raises(KeyboardInterrupt):
        _asked_to_end(stop, "processes", lambda: False)
    assert _asked_to_end(stop, "processes", lambda: False) == "stopping", "what it takes along is not held up"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("when", ["plan_of", "summarise"])
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_planning_and_summarising_end_at_the_first_interrupt(
    when: str, number: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*given: object, **named: object) -> None:
        signal.raise_signal(signal.Signals[number])
        raise AssertionError("it was not obeyed")

    monkeypatch.setattr(f"simulator.sweep.sweeping.{when}", interrupted)
    assert proact("sweep", "study.yaml", "--engine", "inline", "--out", "out", "--json") == Exit.INTERRUPTED
    out, err = capsys.readouterr()
    assert json.loads(out.splitlines()[-1])["event"] == "interrupted"
    assert "To go on: proact" in err
    assert "waiting" not in err
    monkeypatch.undo()
    monkeypatch.chdir(place)
    assert proact("sweep", "study.yaml", "--engine", "inline", "--out", "out", "--json") == Exit.DONE


def test_a_unit_that_hangs_is_named_though_nothing_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sweep_study, "_BEAT_NS", 0)
    monkeypatch.setattr(sweep_study, "_LOOK_S", 0.01)
    stop = Stop(running={("a-run", "late"): real_ns(), ("a-run", "hung"): real_ns() - 90 * SECOND})
    with sweep_study._Teller(Voice(as_json=False), stop) as teller:
        teller.is_playing = True
        teller._beats.start()
        rest(50 * MS)
    assert "0 of 0 units, a-run hung has run for 90 s" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_ctrl_c_keeps_what_has_ended_says_how_to_go_on_and_the_same_command_does(tmp_path: Path) -> None:
    world(tmp_path, 2)
    write(tmp_path, seeds=40)
    words = [sys.executable, "-m", "simulator.cli", "sweep", "study.yaml", "--out", "out", "--json", "--workers", "1"]
    with subprocess.Popen(
        words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        heard = []
        for line in process.stdout:
            heard.append(json.loads(line))
            if heard[-1]["event"] == "unit" and not process.poll() and len(heard) == 3:
                process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == Exit.INTERRUPTED
    assert heard[-1]["event"] == "interrupted"
    assert heard[-1]["units"].keys() == {"done"}, "the unit in flight came to its end"
    assert "To go on: proact sweep study.yaml --out out --json --workers 1" in said
    n_done = heard[-1]["units"]["done"]
    assert n_done < 320
    assert len(list(tmp_path.glob("out/runs/*/units/*/unit.json"))) == n_done
