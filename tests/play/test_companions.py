"""``pass^k`` of run folders: companions are the same run under other seeds, or they are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import _call
from simulator.core.errors import UsageError
from simulator.core.types import SECOND
from simulator.play.player import run
from simulator.play.scoring import score_folder
from simulator.session.store import Writer

SCENARIO = """
session: session
user: u
truth:
  opportunities:
    - {opens_s: 2, closes_s: 6, intention: Translation}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    with Writer(tmp_path / "session", user="u") as writer:
        for tick in range(10):
            writer.add(tick=tick, captured_ns=tick * SECOND, app_name="a", window_title="t")
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    return tmp_path


def played(study: Path, seed: int, name: str, **rules: Any) -> Path:
    rules = {"clock": "modelled", "latency": "fixed:100ms", "agent": "oracle", **rules}
    agent = rules.pop("agent")
    return run([study / "scenario.yaml"], agent, "none", out=study / name, seed=seed, **rules).folder


def test_companions_give_pass_of_k(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [played(study, seed, f"run{seed}") for seed in (1, 2, 3)]
    told = score_folder(runs[0], companions=runs[1:], save=False)
    assert (told["scores"]["pass^k"], told["details"]["pass^k"]["k"]) == (1, 3)
    capsys.readouterr()
    assert _call(["score", str(runs[0]), "--companion", str(runs[1])]) == 0
    out = capsys.readouterr().out
    assert "pass^k: 1.000, k = 2, n1" in out
    assert "not saved" in out
    assert json.loads((runs[0] / "scores.json").read_text())["scores"]["pass^k"] is None


def test_what_differs_in_more_than_the_seed_is_no_companion(study: Path) -> None:
    mine = played(study, 1, "mine")
    for rules, said in (
        ({"agent": "silent"}, "agent is 'silent' there and 'oracle' in"),
        ({"latency": "fixed:200ms"}, "latency is 'fixed:200ms' there"),
    ):
        other = played(study, 2, f"other-{next(iter(rules))}", **rules)
        with pytest.raises(UsageError, match=said):
            score_folder(mine, companions=[other], save=False)
    asked = [played(study, seed, f"moments{seed}", protocol="moments") for seed in (1, 2)]
    with pytest.raises(UsageError, match="protocol 'moments' does not have"):
        score_folder(asked[0], companions=asked[1:], save=False)
    with pytest.raises(UsageError, match="it has the seed of"):
        score_folder(mine, companions=[played(study, 1, "again")], save=False)


def test_an_interrupted_companion_is_refused(study: Path) -> None:
    mine, other = played(study, 1, "mine"), played(study, 2, "other")
    (log,) = other.glob("units/*/decisions.jsonl")
    log.write_text("\n".join(log.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(UsageError, match="was interrupted"):
        score_folder(mine, companions=[other], save=False)


def test_feedback_in_a_units_folder_is_read(study: Path) -> None:
    mine = played(study, 1, "mine")
    (unit,) = (mine / "units").iterdir()
    before = score_folder(mine, save=False)
    (offer,) = before["units"][unit.name]["offers"]
    assert "acceptance_rate" not in before["scores"]
    (unit / "feedback.jsonl").write_text(json.dumps({"seq": offer["seq"], "said": "accepted"}) + "\n")
    assert score_folder(mine, save=False)["scores"]["acceptance_rate"] == 1
