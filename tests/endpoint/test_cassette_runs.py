"""Runs whose models are replayed: the same log everywhere, charged by what was recorded, and no call made up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import CassetteMiss, Exit, UsageError
from simulator.core.types import MS, SECOND, SILENT
from simulator.endpoint.cassette import load
from simulator.endpoint.types import ModelChoice
from simulator.play.player import run
from simulator.runs.records import Kind
from tests.endpoint.asks import choice
from tests.endpoint.faults import FaultServer
from tests.endpoint.replaying import Asker, unit
from tests.worlds import Played, play

ROOT = Path(__file__).resolve().parents[2]


def record(tmp_path: Path, server: FaultServer, name: str = "slowly", **more: Any) -> ModelChoice:
    """The choice that replays a run's calls."""
    path = tmp_path / "cassette.jsonl"
    play(unit(choice(server.url(name), cassette=path, record=True), **more), tmp_path / "recorded")
    return choice(cassette=path)


def stamps(path: Path, nth: int = 0, **asked: Any) -> list[int]:
    entries = load(path / "cassette.jsonl").entries.values()
    return [e["answer"]["stamps"]["done"] for e in entries if e["nth"] == nth and asked.items() <= e["asked"].items()]


def at(played: Played, snapshot: int) -> dict[str, Any]:
    """The full record of the decision on a snapshot."""
    (record,) = [r for r in played.log.full.values() if r["snapshot"] == snapshot]
    return dict(record)


def test_the_same_cassette_in_two_processes_gives_the_same_log_to_the_byte(tmp_path: Path, server: FaultServer) -> None:
    record(tmp_path, server, remembers=True)
    logs = []
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-m", "tests.endpoint.replaying", tmp_path / "cassette.jsonl", tmp_path / seed],
            cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, timeout=60,
        )  # fmt: skip
        logs.append((tmp_path / seed / "decisions.jsonl").read_bytes())
    assert logs[0] == logs[1]
    assert logs[0].count(b"\n") > 5
    made = (tmp_path / "recorded" / "decisions.jsonl").read_bytes()
    assert logs[0] == made, "and the log of the run in which it was recorded"


def test_a_replay_in_computed_time_starts_no_thread_but_its_agents(
    tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = record(tmp_path, server)
    started: list[str] = []
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    play(unit(again), tmp_path / "replayed")
    assert started == ["lane-agent"]


def test_a_decision_is_charged_what_its_calls_took(tmp_path: Path, server: FaultServer) -> None:
    again = record(tmp_path, server, windows="acb")
    played = play(unit(again, "acb"), tmp_path / "replayed")
    assert played.log.header["latency_source"] == "cassette"
    assert played.log.header["latency"] == "cassette"
    charges = (played.log.actionable_ns - played.log.started_ns).tolist()
    messages = {
        e["asked"]["messages"][0]["parts"][0]["text"] for e in load(tmp_path / "cassette.jsonl").entries.values()
    }
    assert len(messages) == 2
    took: dict[str, dict[tuple[int, int], int]] = {}
    for e in load(tmp_path / "cassette.jsonl").entries.values():
        key = (e["asked"]["params"]["seed"], e["nth"])
        took.setdefault(e["asked"]["messages"][0]["parts"][0]["text"], {})[key] = e["answer"]["stamps"]["done"]
    c, b = sorted(took.values(), key=len)
    # Seed 0 is asked alone first, then again beside seeds 1 and 2.
    assert charges == [0, c[0, 0], b[0, 0] + max(b[0, 1], b[1, 0], b[2, 0])]
    full = at(played, 2)
    assert full["first_token_ns"] - full["started_ns"] < b[0, 0]
    assert full["tokens"]["in"] == 400
    assert "stages_ns" not in full, "nothing real is in it"


def test_a_memory_that_asks_a_model_is_charged_too(tmp_path: Path, server: FaultServer) -> None:
    again = record(tmp_path, server, windows="aacc", remembers=True)
    played = play(unit(again, "aacc", remembers=True), tmp_path / "replayed")
    (write,) = [w for w in played.log.writes if w["what"] == "observe"]
    assert 20 * MS <= write["done_ns"] - write["started_ns"] < 2 * SECOND


def test_with_measured_charges_a_replay_takes_as_long_as_it_took(tmp_path: Path, server: FaultServer) -> None:
    again = record(tmp_path, server, windows="ac")
    played = play(unit(again, "ac", clock="measured", latency=None), tmp_path / "replayed")
    (took,) = stamps(tmp_path)
    assert took <= int((played.log.actionable_ns - played.log.started_ns)[1]) < took + SECOND
    assert at(played, 1)["stages_ns"]["model"] >= 50 * MS


def test_a_call_that_takes_too_long_is_a_timeout_in_the_replay_as_well(tmp_path: Path, server: FaultServer) -> None:
    again = record(tmp_path, server, windows="c")
    played = play(unit(again, "c", timeout_ns=5 * MS), tmp_path / "replayed")
    assert played.errors == ["timeout"]
    assert int((played.log.actionable_ns - played.log.started_ns)[0]) == 5 * MS


@pytest.mark.parametrize("name", ["fails", "length", "limited_once"])
def test_failed_calls_are_records_and_the_same_again(name: str, tmp_path: Path, server: FaultServer) -> None:
    again = record(tmp_path, server, name, windows="acca")
    played = play(unit(again, "acca"), tmp_path / "replayed")
    assert played.body == (tmp_path / "recorded" / "decisions.jsonl").read_text().splitlines()[1:]
    kinds: Sequence[Kind] = [Kind(k) for k in played.log.kind]
    assert (Kind.ERROR in kinds) == (name != "limited_once")
    if name == "fails":
        assert at(played, 1)["error"]["kind"] == "model_server"
        assert "answered with status 500: out of memory" in at(played, 1)["error"]["text"]
    if name == "length":
        assert at(played, 1)["error"] == {"kind": "model_length", "text": "the answer was cut at the limit of tokens"}
    if name == "limited_once":
        assert at(played, 1)["throttle_ns"] > 20 * MS
        assert at(played, 1)["retries"] == 1


@pytest.mark.parametrize("swallows", [False, True])
@pytest.mark.parametrize("clock", ["modelled", "measured", "elastic"])
def test_a_miss_ends_the_unit_also_where_the_agent_hides_it(
    clock: str, swallows: bool, tmp_path: Path, server: FaultServer
) -> None:
    again = record(tmp_path, server, windows="ac")

    class Hiding(Asker):
        def __init__(self) -> None:
            super().__init__(again, swallows=swallows)

    rules: dict[str, Any] = {"clock": clock, "latency": "cassette" if clock == "modelled" else None}
    with pytest.raises(CassetteMiss, match="does not hold this call"):
        play(replace(unit(again, "acd", **rules), agent=Hiding), tmp_path / "replayed")


@pytest.mark.parametrize(
    ("agent", "model", "words"),
    [
        ("prior", None, "neither the agent 'prior' nor the memory 'none' makes one"),
        ("zero-shot", None, "name their --cassette FILE"),
        ("zero-shot", ModelChoice("m", "http://127.0.0.1:9/v1"), "name their --cassette FILE"),
    ],
)
def test_calls_that_nobody_makes_or_records_are_no_charges(
    agent: str, model: ModelChoice | None, words: str, tmp_path: Path
) -> None:
    rules: dict[str, Any] = {"memory": "none", "clock": "modelled", "latency": "cassette", "model": model}
    with pytest.raises(UsageError, match=words):
        run(ROOT / "scenarios" / "desktop", agent, out=tmp_path / "out", **rules)
    assert not (tmp_path / "out").exists()


def test_the_exit_code_of_a_run_tells_of_a_miss(tmp_path: Path, server: FaultServer) -> None:
    scenario = ROOT / "scenarios" / "desktop"

    class Agent:
        def __init__(self, **model: Any) -> None:
            self.model = model

        async def open(self, setup: Any) -> None:
            self.asker = Asker(
                choice(**{**self.model, "scope": None}) if "scope" in self.model else choice(**self.model)
            )
            await self.asker.open(setup)

        async def close(self) -> None:
            await self.asker.close()

        async def decide(self, observation: Any) -> Any:
            return await self.asker.decide(observation) if observation.snapshot.index == 3 else SILENT

    path = tmp_path / "cassette.jsonl"

    def recording() -> Agent:
        return Agent(base_url=server.url("ok"), cassette=path, record=True)

    def replaying() -> Agent:
        return Agent(cassette=path)

    def missing() -> Agent:
        return Agent(cassette=path, model="another")

    rules: dict[str, Any] = {"memory": "none", "clock": "modelled", "latency": "cassette"}
    assert run(scenario, recording, out=tmp_path / "1", **rules).code == Exit.DONE
    assert run(scenario, replaying, out=tmp_path / "2", **rules).code == Exit.DONE
    played = run(scenario, missing, out=tmp_path / "3", **rules)
    assert played.code == Exit.SOME_UNITS_ERRED
    (result,) = played.results
    assert 'the model is "m", asked is "another"' in str(result.error)
    assert "does not hold this call" in json.dumps(json.loads((tmp_path / "3" / "run.json").read_text()))
