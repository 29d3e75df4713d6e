"""Embeddings of a server: charged, recorded, replayed; what fails is an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory.embedders.base import make_embedder
from simulator.core.errors import CassetteMiss, ProactError
from simulator.endpoint.types import EndpointError, ModelChoice
from simulator.play.player import Played, run
from simulator.runs.folder import read_units
from tests.endpoint.faults import FAULTS, FaultServer, Wire

ROOT = Path(__file__).resolve().parents[3]
SESSION = ROOT / "scenarios" / "shopping"
"""Some of its windows are not in the past that is told before it begins."""


async def by_letters(wire: Wire) -> None:
    """Counts of letters, one more each so that none is nothing."""
    texts = wire.asked.json["input"]
    rows = [[1 + text.lower().count(c) for c in "aeinrst"] for text in texts]
    data = [{"index": i, "embedding": row} for i, row in enumerate(rows)]
    await wire.whole(json.dumps({"data": data, "usage": {"prompt_tokens": 3}}))


async def zeros(wire: Wire) -> None:
    await wire.whole(json.dumps({"data": [{"index": 0, "embedding": [0, 0]}]}))


async def refuses(wire: Wire) -> None:
    await wire.whole('{"error": "no such model"}', status=404)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    for name, fault in {"by_letters": by_letters, "zeros": zeros, "refuses": refuses}.items():
        monkeypatch.setitem(FAULTS, name, fault)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with FaultServer() as running:
        yield running


def played(tmp_path: Path, name: str, embedder: str, **rules: Any) -> Played:
    return run(SESSION, out=tmp_path / name, embedder=embedder, **rules)


def of(done: Played) -> Any:
    ((_, log, _),) = read_units(done.folder)
    return log


def test_rows_come_at_unit_length_and_blank_texts_are_not_sent(server: FaultServer) -> None:
    made = make_embedder("endpoint:model=letters,base_url=" + server.url("by_letters"))
    rows = made.embed(["tea", "", "a rest", "tea"])
    np.testing.assert_allclose((rows**2).sum(axis=1), [1, 0, 1, 1], atol=1e-6)
    assert (made.dimension, made.identity) == (7, "endpoint/letters")
    assert [asked.json["input"] for asked in server.asked["by_letters"]] == [["tea", "a rest"]]
    made.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("fault", "error"), [("zeros", ProactError), ("refuses", EndpointError)])
def test_no_answer_is_an_error_and_never_zeros(server: FaultServer, fault: str, error: type[Exception]) -> None:
    made = make_embedder("endpoint:model=m", choice=ModelChoice(base_url=server.url(fault), max_retries=0))
    with pytest.raises(error):
        made.embed(["a"])
    made.close()  # type: ignore[attr-defined]


def test_a_run_is_charged_for_it_and_replays_it_from_the_cassette(server: FaultServer, tmp_path: Path) -> None:
    tape, spec = tmp_path / "calls.jsonl", "endpoint:model=letters"
    model = ModelChoice(base_url=server.url("by_letters"), cassette=tape, record=True)
    first = played(tmp_path, "a", spec, model=model)
    asked = len(server.asked["by_letters"])
    log = of(first)
    assert asked > 0
    assert log.header["embedder"]["name"] == "endpoint/letters"
    assert log.header["embedder"]["dimension"] is None, "it is written before the server is asked"
    (unit,) = json.loads((first.folder / "run.json").read_text())["units"].values()
    assert unit["memory_stats"]["embedder_dimension"] == 7
    assert not any("error" in r for r in [*log.full.values(), *log.writes])
    stages = [r["stages_ns"] for r in log.full.values() if "embed" in r.get("stages_ns", {})]
    assert stages
    assert all(s["embed"] > 0 for s in stages)

    replay = {"model": ModelChoice(base_url=server.url("by_letters"), cassette=tape), "clock": "modelled"}
    again = [played(tmp_path, name, spec, latency="cassette", **replay) for name in ("b", "c")]
    assert len(server.asked["by_letters"]) == asked
    logs = [(done.folder / "units" / "shopping" / "decisions.jsonl").read_bytes() for done in again]
    assert logs[0] == logs[1]
    charges = [r["actionable_ns"] - r["started_ns"] for r in of(again[0]).full.values() if "tokens" in r]
    assert charges
    assert min(charges) > 0  # the recorded times of the calls


def test_a_server_that_fails_is_an_error_of_the_decision(server: FaultServer, tmp_path: Path) -> None:
    spec = "endpoint:model=letters,base_url="
    well = played(tmp_path, "a", spec + server.url("by_letters"), agent="prior")
    last = len(server.asked["by_letters"]) - 8

    async def tires(wire: Wire) -> None:
        await (by_letters if wire.nth < last else refuses)(wire)

    server.faults["tires"] = tires
    done = played(tmp_path, "b", spec + server.url("tires"), agent="prior")
    assert not any("error" in r for r in [*of(well).full.values(), *of(well).writes])
    for records in (of(done).full.values(), of(done).writes):
        kinds = {r["error"]["kind"] for r in records if "error" in r}
        assert kinds == {"model_not_found"}
    with pytest.raises(EndpointError, match="answered with status 404"):  # at once where nothing works
        played(tmp_path, "c", spec + server.url("refuses"))


def test_a_call_that_the_cassette_does_not_hold_is_not_made(server: FaultServer, tmp_path: Path) -> None:
    tape = tmp_path / "calls.jsonl"
    made = make_embedder(
        "endpoint:model=m", choice=ModelChoice(base_url=server.url("by_letters"), cassette=tape, record=True)
    )
    made.embed(["a"])
    made.close()  # type: ignore[attr-defined]
    again = make_embedder("endpoint:model=m", choice=ModelChoice(cassette=tape))
    again.embed(["a"])
    with pytest.raises(CassetteMiss):
        again.embed(["b"])
