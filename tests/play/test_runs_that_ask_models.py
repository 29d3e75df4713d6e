"""Runs whose agents ask a model: over HTTP, from a cassette, from a journal; what the log says of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import _call
from simulator.cli.options import ModelOptions
from simulator.core.errors import Exit, InputError, UsageError
from simulator.core.lock import FolderLock, is_locked
from simulator.core.types import MS, SECOND, SILENT
from simulator.endpoint import Model
from simulator.endpoint.types import ModelChoice
from simulator.play.assemble import Choice
from simulator.play.makers import agent_maker, with_params
from simulator.play.models import model_of
from simulator.play.player import Played, run
from simulator.runs.config import Settings
from simulator.runs.folder import read_units
from simulator.runs.records import RunLog
from tests.endpoint.faults import FAULTS, LAST, FaultServer, Wire, chunk

ROOT = Path(__file__).resolve().parents[2]
DESKTOP, TRAJECTORY = ROOT / "scenarios" / "desktop", ROOT / "scenarios" / "desktop" / "trajectory.yaml"
KEY = "sk-planted-0123456789abcdef"
SPARSE: dict[str, Any] = {"policy": "stride:25", "memory": "none"}


async def helpful(wire: Wire) -> None:
    """Answers in the form that was asked for."""
    asked = str(wire.asked.json["messages"])
    said = "1. Need help: Yes\n2. Intention category: Error Correction\n3. Offer: Shall I look?"
    if "CREATE" in asked:  # at each of hundreds of frames
        said = '{"action": "CREATE", "intent": "find a train", "category": "Information Lookup"}'
    elif '"intents"' in asked:
        said = '{"intents": [{"intent": "find a train", "category": "Information Lookup"}]}'
    elif wire.nth % 2:
        said = "1. Need help: No"
    pieces = (chunk(said[i : i + 20]) for i in range(0, len(said), 20))
    await wire.stream(*pieces, chunk(finish="stop"), *LAST, gap_ns=0 if "CREATE" in asked else MS)


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setitem(FAULTS, "helpful", helpful)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with FaultServer() as server:
        yield server.url("helpful")


def log_of(played: Played) -> RunLog:
    ((_, log, _),) = read_units(played.folder)
    return log


def test_what_stands_before_the_host_of_an_address_is_refused_before_anything_is_written(
    url: str, tmp_path: Path
) -> None:
    model = ModelChoice("m", url.replace("//", "//me:hidden-word@"), max_retries=0)
    with pytest.raises(UsageError, match="a user or a password in it") as caught:
        run(DESKTOP, "zero-shot:ocr=none", out=tmp_path / "run", model=model, memory="none", policy="stride:90")
    assert "hidden-word" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def no_key_in(folder: Path) -> None:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if KEY.encode() in file.read_bytes()]


def test_a_run_tells_what_it_asked_and_how_and_never_the_key(url: str, tmp_path: Path) -> None:
    model = ModelChoice("small", url, temperature=0.5, extra_body={"top_k": 3})
    played = run(DESKTOP, "zero-shot:ocr=none", out=tmp_path / "run", model=model, **SPARSE)
    log = log_of(played)
    assert played.code == Exit.DONE
    told = log.header["model"]
    assert (told["model"], told["sent"]) == ("small", {"temperature": 0.5, "top_k": 3})
    assert log.header["strategy"]["modality"] == "text"
    assert len(log.header["strategy"]["prompts"]) == 12
    records = list(log.full.values())
    assert [r["kind"] for r in records] == ["offer", "silent"] * (len(records) // 2)
    first = records[0]
    assert (first["parse_rule"], first["offers"][0]["intention"]) == ("format", "Error Correction")
    assert first["tokens"]["in"] == 100
    assert first["cost"] is None
    assert first["started_ns"] < first["first_token_ns"] < first["actionable_ns"]
    no_key_in(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [("thinks", "keywords, category unread"), ("reasons", "keywords, category unread"), ("only_thinks", "model_empty"),
     ("length", "model_length")],
)  # fmt: skip
def test_what_a_model_thinks_and_what_was_cut_is_never_its_answer(
    url: str, tmp_path: Path, name: str, said: str
) -> None:
    model = ModelChoice("m", url.replace("helpful", name))
    played = run(DESKTOP, "zero-shot:ocr=none", "none", out=tmp_path, model=model, policy="stride:90")
    records = list(log_of(played).full.values())
    assert played.code == Exit.DONE
    assert {r["error"]["kind"] if "error" in r else r["parse_rule"] for r in records} == {said}


def test_pictures_are_read_or_shown_as_the_modality_says(url: str, tmp_path: Path) -> None:
    played = run(DESKTOP, "zero-shot:modality=image,frames=1", out=tmp_path, model=ModelChoice("m", url), memory="none",
                 policy="stride:90")  # fmt: skip
    images = [r["tokens"]["images"] for r in log_of(played).full.values()]
    assert images == [1, 2, 2]


def test_a_recorded_run_replays_without_a_server_and_so_does_its_twin(url: str, tmp_path: Path) -> None:
    cassette = tmp_path / "calls.jsonl"
    agent = "self-consistency:k=3,concurrent=true,ocr=none"
    model = ModelChoice("m", url, cassette=cassette, record=True)
    live = run(DESKTOP, agent, out=tmp_path / "live", model=model, twin=True, **SPARSE)
    logs = []
    for name in ("one", "two"):
        again = run(DESKTOP, agent, out=tmp_path / name, model=ModelChoice("m", cassette=cassette), twin=True,
                    clock="modelled", latency="cassette", **SPARSE)  # fmt: skip
        assert again.code == Exit.DONE
        logs.append((again.folder / "units" / "desktop" / "decisions.jsonl").read_bytes())
    assert logs[0] == logs[1]
    one, first = log_of(again), log_of(live)
    assert [o.intention for o in one.offers()] == [o.intention for o in first.offers()]
    assert one.header["latency_source"] == "cassette"
    assert one.header["model"]["cassette"]
    assert str(tmp_path) not in json.dumps(one.header)
    service = (one.actionable_ns - one.started_ns).tolist()
    assert all(5 * MS < ns < SECOND for ns in service), "three calls side by side, of some milliseconds each"
    no_key_in(tmp_path)


def test_a_call_that_the_cassette_does_not_hold_fails_the_unit(url: str, tmp_path: Path) -> None:
    cassette = tmp_path / "calls.jsonl"
    model = ModelChoice("m", url, cassette=cassette, record=True)
    run(DESKTOP, "zero-shot:ocr=none", out=tmp_path / "live", model=model, **SPARSE)
    other = run(DESKTOP, "cot:ocr=none", out=tmp_path / "other", model=ModelChoice("m", cassette=cassette), **SPARSE)
    assert other.code == Exit.SOME_UNITS_ERRED
    assert "the cassette does not hold this call" in str(other.results[0].error)


def test_the_journal_of_a_run_needs_no_model_at_all(url: str, tmp_path: Path) -> None:
    model = ModelChoice("m", url)
    live = run(DESKTOP, "zero-shot:ocr=none", out=tmp_path / "live", model=model, **SPARSE)
    again = run(DESKTOP, "zero-shot:ocr=none", out=tmp_path / "again", model=model, clock="journal",
                journal=tmp_path / "live", **SPARSE)  # fmt: skip
    assert again.code == Exit.DONE
    assert log_of(again).offers() == log_of(live).offers()
    with pytest.raises(UsageError, match="its model"):
        run(DESKTOP, "zero-shot:ocr=none", out=tmp_path / "third", model=ModelChoice("other", url), clock="journal",
            journal=tmp_path / "live", **SPARSE)  # fmt: skip


@pytest.mark.parametrize("agent", ["naive:modality=text,ocr=none", "pirf:modality=text,ocr=none"])
def test_trajectories(url: str, tmp_path: Path, agent: str) -> None:
    played = run(TRAJECTORY, agent, "none", out=tmp_path, model=ModelChoice("m", url), clock="modelled",
                 latency="fixed:1s")  # fmt: skip
    assert played.code == Exit.DONE
    assert played.scores is not None
    units = read_units(played.folder)
    assert len(units) == 3
    for _, log, _ in units:
        last = log.full[int(log.seq[-1])]
        assert last["what"] == "finish"
        assert last["offers"][0]["text"] == "find a train"


def test_naive_is_refused_where_it_would_never_be_asked(url: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="add --protocol trajectory"):
        run(DESKTOP, "naive", out=tmp_path / "run", model=ModelChoice("m", url))
    assert not (tmp_path / "run").exists()


def test_a_model_that_nobody_asks_and_a_server_that_nobody_names_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="neither the agent 'prior' nor the memory 'none' asks one"):
        run(DESKTOP, "prior", "none", out=tmp_path / "a", model=ModelChoice("m"))
    with pytest.raises(UsageError, match="OPENAI_BASE_URL"):
        run(DESKTOP, "zero-shot", "none", out=tmp_path / "b", model=ModelChoice("m"))
    with pytest.raises(UsageError, match="a ModelChoice"):
        run(DESKTOP, "zero-shot", "none", out=tmp_path / "c", model="m")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------------------------- options


def test_options_become_a_choice_and_none_is_no_choice(tmp_path: Path) -> None:
    assert ModelOptions().choice() is None
    assert ModelOptions(modality="both", frames=2).choice() is None
    said = ModelOptions("m", "http://h/v1", temperature=0.0, top_p=0.5, max_tokens=9, model_seed=3,
                        extra_body='{"a": 1}', cassette=tmp_path / "c", record=True, max_retries=0)  # fmt: skip
    assert said.choice() == ModelChoice("m", "http://h/v1", 0.0, 0.5, 9, 3, {"a": 1}, max_retries=0,
                                        cassette=tmp_path / "c", record=True)  # fmt: skip
    for wrong in (ModelOptions(extra_body="[1]"), ModelOptions(extra_body="{"), ModelOptions(record=True),
                  ModelOptions(temperature=-1.0), ModelOptions(temperature=float("inf")),
                  ModelOptions(extra_body='{"a": NaN}'), ModelOptions(extra_body='{"a": [1e999]}'),
                  ModelOptions(extra_body='{"model": "m"}'), ModelOptions("a\nb")):  # fmt: skip
        with pytest.raises(UsageError):
            wrong.choice()
    for blank in ("", "  "):
        assert ModelOptions(blank).choice() is None
        assert ModelOptions(blank, "http://h/v1").choice() == ModelChoice(None, "http://h/v1")


def test_no_other_file_is_recorded_into(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "README.md"
    for kept in ("# Mine\n", '{"a": 1}\n', '{"kind": "cassette"'):
        notes.write_text(kept)
        with pytest.raises(InputError, match="not a cassette"):
            ModelOptions("m", url, cassette=notes, record=True).choice()
        model = ModelChoice("m", url, cassette=notes, record=True)
        with pytest.raises(InputError, match="not a cassette"):
            run(DESKTOP, "zero-shot:ocr=none", out=tmp_path / "run", model=model, **SPARSE)
        words = ["--agent", "zero-shot", "--model", "m", "--base-url", url, "--cassette", str(notes), "--record"]
        assert _call(["run", str(DESKTOP), *words, "--out", str(tmp_path / "run")]) == Exit.USAGE
        assert "not a cassette" in capsys.readouterr().err
        assert notes.read_text() == kept
    assert not (tmp_path / "run").exists()


def test_a_run_keeps_others_from_its_cassette_from_the_first_unit_to_the_last(url: str, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    held: list[bool] = []

    class Agent:
        async def decide(self, observation: Any) -> Any:
            held.append(is_locked(tape))
            return SILENT

        def __init__(self, model: Model) -> None: ...

    model = ModelChoice("m", url, cassette=tape, record=True)
    run(DESKTOP, Agent, out=tmp_path / "run", model=model, **SPARSE)
    assert held
    assert all(held)
    assert not is_locked(tape)
    lock = FolderLock(tape, "")
    try:
        with pytest.raises(UsageError, match="another proact records into"):
            run(DESKTOP, Agent, out=tmp_path / "other", model=model, **SPARSE)
        assert not (tmp_path / "other").exists()
    finally:
        lock.release()
    run(DESKTOP, Agent, out=tmp_path / "other", model=model, **SPARSE)


def test_what_is_shown_becomes_parameters_of_the_agent() -> None:
    shown = ModelOptions(modality="both", frames=2, ocr="none", prompts=Path("mine")).shown()
    assert with_params("cot:stages=2", shown) == "cot:stages=2,modality=both,frames=2,ocr=none,prompts=mine"
    assert with_params("cot", {}) == "cot"
    with pytest.raises(UsageError, match="given twice"):
        with_params("cot:modality=text", shown)
    with pytest.raises(UsageError, match="comma"):
        with_params("cot", {"prompts": Path("a,b")})


def test_a_model_is_as_patient_as_a_decision_unless_something_else_was_said() -> None:
    def patience(timeout_s: int, **model: Any) -> tuple[int, int]:
        settings = Settings(timeout_ns=timeout_s * SECOND)
        made = model_of(Choice([], model=ModelChoice(**model)), settings, agent_maker("zero-shot"))
        return made.timeout_ns // SECOND, made.idle_timeout_ns // SECOND

    assert patience(60) == (60, 30)
    assert patience(600) == (600, 30)
    assert patience(10) == (10, 10)
    assert patience(600, timeout_ns=5 * SECOND) == (5, 30)


def test_samples_side_by_side_do_not_wait_for_each_other() -> None:
    def places(agent: str, **model: Any) -> int:
        return model_of(Choice([], model=ModelChoice(**model)), Settings(), agent_maker(agent)).concurrency

    assert places("self-consistency:k=9,concurrent=true") == 9
    assert places("self-consistency:k=9") == 4
    assert places("self-consistency:k=9,concurrent=true", concurrency=2) == 2


def test_a_cassette_that_is_not_there_is_told_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cassette"):
        run(DESKTOP, "zero-shot", "none", out=tmp_path / "run", model=ModelChoice("m", cassette=tmp_path / "gone"))
    assert not (tmp_path / "run").exists()


def test_the_command_takes_it_all(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = f"--agent cot:stages=2 --memory none --policy stride:90 --model m --base-url {url} --model-seed 4 --json"
    shown = f"--modality both --frames 1 --ocr none --max-retries 0 --out {tmp_path / 'run'} --extra-body"
    words = ["run", str(DESKTOP), *said.split(), *shown.split(), '{"top_k": 1}']
    assert _call(words) == Exit.DONE
    ((_, log, _),) = read_units(tmp_path / "run")
    assert log.header["agent"] == "cot:stages=2,modality=both,frames=1,ocr=none"
    assert log.header["model"]["sent"] == {"seed": 4, "top_k": 1}
    assert log.header["model"]["max_retries"] == 0
    assert KEY not in "".join(capsys.readouterr())
