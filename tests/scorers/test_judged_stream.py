"""A model, or an embedding, as the matcher of a stream: what it did not say is never assumed."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from memory.embed import HashEmbedder
from scorers.base import Unit, score_run
from scorers.judge import Judge
from scorers.realtime_metrics import rests_on_content
from simulator.core.errors import UsageError
from simulator.endpoint.types import EndpointError
from tests.answering import Answering
from tests.logs import D, log, need, truth

NONE = '{"pairs": []}'
NEEDS = [
    need("A", 10, 30, "Debug", query="why does the loop not end?"),
    need("B", 50, 60, "Translation", query="what does Gemüse mean?"),
    need("C", 80, 90, "Debug"),
]
SAID = [
    D(12, 14, [{"intention": "Code Explanation", "text": "the loop never changes its condition"}]),
    D(51, 52, [{"intention": "Translation", "text": "shall I book a flight?"}]),
    D(81, 82, [{"intention": "Debug", "text": "anything"}]),
    D(200, 201, [{"intention": "Debug", "text": "said when nothing is needed"}]),
]


def by_rule(question: str) -> str:
    return '{"pairs": [{"a": 1, "b": 1}]}' if "loop not end" in question and "condition" in question else NONE


def score(model: Answering, kept: Path | None = None) -> dict[str, Any]:
    with Judge(model, "m1", kept=kept) as judge:
        units = [Unit("s", log(SAID), truth(3600, NEEDS))]
        names = ["realtime:matcher=judge"]
        return score_run(units, "stream", "off", names=names, judge=lambda key: judge.matcher({"city": "Oslo"}))


def test_the_model_says_what_is_right_whatever_the_categories_are() -> None:
    model = Answering(by_rule)
    told = score(model)
    classes = [o["class"] for o in told["units"]["s"]["offers"]]
    assert classes == ["on_time", "wrong_content", "on_time", "false_alarm"]
    assert told["scores"]["R_rt"] == pytest.approx(2 / 3)
    assert told["scores"]["R_rt@timing"] == 1
    assert "city: Oslo" in model.texts(0)


def test_only_pairs_that_meet_in_time_are_asked_about_and_each_once() -> None:
    model = Answering(by_rule)
    score(model)
    # A with its offer, B with its, and B with the offer that still stands when it opens (stream_f1); C has no words.
    assert len(model.asked) == 3
    assert all("nothing is needed" not in model.texts(n) for n in range(len(model.asked)))


def test_figures_that_rest_on_the_judge_say_so_and_others_do_not() -> None:
    told = score(Answering(by_rule))
    for name, detail in told["details"].items():
        if rests_on_content(name):
            assert detail["matcher"].startswith("matcher=judge (m1, prompt "), name
            assert detail["matcher"].endswith(", not official"), name
        else:
            assert "matcher" not in detail, name


@pytest.mark.parametrize("answer", ["no", EndpointError("timeout", "late")])
def test_unjudged_every_figure_that_rests_on_content_is_null_with_the_reason(answer: Any) -> None:
    told = score(Answering(answer))
    for name, detail in told["details"].items():
        if rests_on_content(name):
            assert detail["value"] is None, name
            assert detail["reason"].startswith("1 of 1 sessions unjudged: the judge"), name
    assert told["scores"]["R_rt@timing"] == 1
    assert told["scores"]["interruptions_per_hour"] == 4
    assert told["units"]["s"]["unjudged"].startswith("the judge")


def test_one_session_unjudged_leaves_no_figure_of_all_and_those_of_the_others() -> None:
    units = [Unit(f"s{n}", log(SAID), truth(3600, needs)) for n, needs in enumerate((NEEDS, [need("X", 80, 90)]))]
    with Judge(Answering("no"), "m1") as judge:
        names = ["realtime:matcher=judge"]
        told = score_run(units, "stream", "off", names=names, judge=lambda key: judge.matcher(None))
    assert told["details"]["F1_rt"]["reason"].startswith("1 of 2 sessions unjudged")
    assert told["scores"]["F1_rt@timing"] is not None
    assert told["units"]["s0"]["scores"]["F1_rt"] is None
    assert told["units"]["s1"]["scores"]["R_rt"] == 1


def test_what_was_judged_before_is_not_asked_again(tmp_path: Path) -> None:
    kept = tmp_path / "judge.jsonl"
    first = score(Answering(by_rule), kept)
    again = Answering(EndpointError("server", "down"))
    assert score(again, kept)["scores"] == first["scores"]
    assert not again.asked


def test_a_stream_without_a_judge_says_what_is_missing() -> None:
    with pytest.raises(UsageError, match="realtime:matcher=judge --judge-model NAME"):
        score_run([Unit("s", log(SAID), truth(3600, NEEDS))], "stream", names=["realtime:matcher=judge"])


def test_an_embedding_matches_words_and_names_itself() -> None:
    said = [D(12, 14, [{"intention": "?", "text": "why does the loop not end"}]), D(51, 52, ["Translation"])]
    units = [Unit("s", log(said), truth(3600, NEEDS))]
    told = score_run(units, "stream", "off", names=["realtime:matcher=embedding>=0.8"], embedder=HashEmbedder())
    assert [o["class"] for o in told["units"]["s"]["offers"]] == ["on_time", "wrong_content"]
    assert told["details"]["F1_rt"]["matcher"].startswith("matcher=embedding>=0.8 (")


def test_the_table_names_the_matcher_that_figures_rest_on() -> None:
    from rich.console import Console

    from simulator.cli.show import ScoreTable

    console = Console(width=200, record=True, quiet=False, file=StringIO())
    console.print(ScoreTable({"mine": score(Answering(by_rule))}))
    assert "mine: matcher=judge (m1, prompt " in console.export_text()
