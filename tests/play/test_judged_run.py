"""A run judged by a model: it is told the profile while the scenario is as it was, and verdicts stay with the run."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from scorers.judge import KEPT, Judge
from simulator.core.errors import UsageError
from simulator.core.types import SECOND
from simulator.play.player import run
from simulator.play.scoring import score_folder
from simulator.privacy.forget_run import plan_run
from simulator.privacy.items import Item
from simulator.privacy.span import Span
from simulator.session.store import Writer
from tests.answering import Answering
from tests.endpoint.faults import FaultServer

SCENARIO = """
session: session
user: u
profiles:
  vegan: {diet: vegan, city: Oslo}
  plain: {city: Oslo}
truth:
  intents:
    vegan: [find a vegan restaurant]
    plain: []
"""
OFFERS = "- {t_s: 1, intention: Information Lookup, text: look for a place to eat, thread: food}\n"
SAME = '{"pairs": [{"a": 1, "b": 1}]}'


@pytest.fixture
def study(tmp_path: Path) -> Path:
    with Writer(tmp_path / "session", user="u") as writer:
        for tick in range(4):
            writer.add(tick=tick, captured_ns=tick * SECOND, app_name="a", window_title="t")
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    (tmp_path / "offers.yaml").write_text(OFFERS)
    return tmp_path


def played(study: Path) -> Path:
    agent = f"scripted:{study / 'offers.yaml'}"
    rules: dict[str, Any] = {"clock": "modelled", "latency": "fixed:10ms", "protocol": "trajectory"}
    return run([study / "scenario.yaml"], agent, "none", out=study / "run", **rules).folder


def test_the_judge_is_told_the_profile_of_each_unit(study: Path) -> None:
    folder, model = played(study), Answering(SAME)
    with Judge(model, "m1", kept=folder / KEPT) as judge:
        told = score_folder(folder, names=["pira:matcher=judge"], judge=judge, save=False)
    assert told["scores"]["P"] == told["scores"]["R"] == 100
    assert told["scores"]["FPS"] == 1
    assert "diet: vegan" in model.texts(0)
    assert "without the profile" not in told["details"]["S_final"]["matcher"]
    assert told["details"]["S_final"]["matcher"].endswith(", not official")


def test_a_scenario_that_changed_gives_no_profile_and_the_score_says_so(study: Path) -> None:
    folder, model = played(study), Answering(SAME)
    (study / "scenario.yaml").write_text(SCENARIO + "name: other\n")
    with Judge(model, "m1") as judge:
        told = score_folder(folder, names=["pira:matcher=judge"], judge=judge, save=False)
    assert "diet" not in model.texts(0)
    assert "without the profile, not official" in told["details"]["S_final"]["matcher"]


def test_verdicts_stay_with_the_run_without_words_and_go_when_it_is_forgotten(study: Path) -> None:
    folder = played(study)
    with Judge(Answering(SAME), "m1", kept=folder / KEPT) as judge:
        score_folder(folder, names=["pira:matcher=judge"], judge=judge, save=False)
    lines = [json.loads(line) for line in (folder / KEPT).read_text().splitlines()]
    assert all(set(line) == {"key", "pairs"} for line in lines)
    item = plan_run(folder, "u", Span(), frozenset())
    assert isinstance(item, Item)
    assert not item.apply()
    assert not (folder / KEPT).exists()


def test_the_command_says_what_is_missing(study: Path) -> None:
    from simulator.cli.score import score

    folder = played(study)
    with pytest.raises(UsageError, match="--judge-model NAME"):
        score(folder, scorer=["pira:matcher=judge"])
    with pytest.raises(UsageError, match="--judge-base-url needs --judge-model"):
        score(folder, judge_base_url="http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match=r"the judge cannot be asked: .*cannot be reached"):
        score(folder, scorer=["pira:matcher=judge"], judge_model="m", judge_base_url="http://127.0.0.1:9/v1")
    assert not (folder / KEPT).exists()


def test_a_judge_that_stalls_is_waited_for_as_long_as_was_said(study: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from simulator.cli.score import score

    folder = played(study)
    capfd.readouterr()
    with FaultServer() as server:
        asked: dict[str, Any] = {"judge_model": "m", "judge_base_url": server.url("mute")}
        assert score(folder, scorer=["pira:matcher=judge"], judge_timeout="40ms", **asked) == 0
        out, err = capfd.readouterr()
        assert "asking m, the judge; an answer may take 40ms (--judge-timeout)" in err
        assert "the judge gave no answer (timeout)" in out
        with pytest.raises(UsageError, match="--judge-timeout: 'soon' is not a duration"):
            score(folder, judge_timeout="soon", **asked)


def test_without_a_word_a_judge_has_60_s_and_is_told_of_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from simulator.cli import score as command
    from simulator.cli.speak import Voice

    assert inspect.signature(command.score).parameters["judge_timeout"].default == "60s"
    now = iter(range(5 * SECOND, 1000 * SECOND, 5 * SECOND))
    monkeypatch.setattr(command, "real_ns", lambda: next(now))
    asking = command._Asking(Voice(as_json=True), "m", 60 * SECOND)
    for n in range(1, 6):
        asking(n, n // 3)
    assert capfd.readouterr().err.splitlines() == [
        "asking m, the judge; an answer may take 60s (--judge-timeout)",
        "judge: question 3, 1 before it without an answer",
        "judge: question 5, 1 before it without an answer",
    ]
