"""The judge: a model as a matcher, marked as what it is; what it did not say is never assumed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.base import Unit, score_run
from scorers.judge import Judge, JudgeFailed
from scorers.pira import Entry
from simulator.core.errors import UsageError
from simulator.endpoint.types import EndpointError
from simulator.session.truth import Intent
from tests.answering import Answering, Said
from tests.logs import D, log, truth

NONE = '{"pairs": []}'
SARI = {"diet": "vegetarian"}


def thread(name: str, text: str) -> dict[str, str]:
    return {"intention": "Information Lookup", "text": text, "thread": name}


def score(model: Answering, kept: Path | None = None, profile: Any = None) -> dict[str, Any]:
    said = [D(0, 1, [thread("1", "find a place to eat"), thread("2", "book a flight to Jakarta")])]
    intents = (Intent("find a vegetarian restaurant"), Intent("get a plane ticket"))
    units = [
        Unit("s", log(said), truth(60, intents={"A": intents})),
        Unit("t", log([D(0, 1)]), truth(60, intents={"A": ()})),
    ]
    with Judge(model, "m1", kept=kept) as judge:
        return score_run(units, "trajectory", names=["pira:matcher=judge"], judge=lambda key: judge.matcher(profile))


def by_rule(question: str) -> str:
    """Among themselves nothing is the same; of predictions and truth only the flights are."""
    both = "vegetarian" in question and "Jakarta" in question
    return '{"pairs": [{"a": 2, "b": 2}]}' if both else NONE


def test_pairs_that_the_model_names_are_matched() -> None:
    model = Answering(by_rule)
    told = score(model, profile=SARI)
    assert told["scores"]["P"] == told["scores"]["R"] == 50
    matched = [e["matched"] for e in told["units"]["s"]["intents"]["retained"]]
    assert matched == [None, "get a plane ticket"]
    assert "diet: vegetarian" in model.texts(0)
    assert "1. Information Lookup: find a place to eat" in model.texts(1)
    assert model.closed == 1


def test_a_result_names_model_and_prompt_and_says_that_it_is_not_official() -> None:
    for profile, end in ((SARI, ""), (None, ", without the profile")):
        told = score(Answering(by_rule), profile=profile)
        said = told["details"]["S_final"]["matcher"]
        assert said.startswith("matcher=judge (m1, prompt ")
        assert said.endswith(f"{end}, not official")


def test_what_was_judged_before_is_not_asked_again(tmp_path: Path) -> None:
    kept = tmp_path / "judge.jsonl"
    first = score(Answering(by_rule), kept)
    again = Answering(EndpointError("server", "down"))
    assert score(again, kept)["scores"] == first["scores"]
    assert not again.asked
    assert "Jakarta" not in kept.read_text()
    kept.write_text(kept.read_text()[:-20])  # torn by a kill: asked again
    assert score(Answering(by_rule), kept)["scores"] == first["scores"]


@pytest.mark.parametrize(
    "first",
    [
        "I think 1 and 2.",
        '{"pairs": [{"a": 1, "b": 99}]}',
        '{"pairs": "all"}',
        '{"pairs": [[true, 1]]}',
        '{"pairs": [[1]]}',
    ],
)
def test_an_answer_that_cannot_be_used_is_asked_for_once_more(first: str) -> None:
    model = Answering(first, NONE)
    assert score(model)["scores"]["R"] == 0
    assert "cannot be used" in model.texts(1)


@pytest.mark.parametrize("answers", [("no", "no"), (EndpointError("timeout", "no answer"),)])
def test_a_sample_without_a_verdict_leaves_no_figure(answers: Sequence[Said]) -> None:
    told = score(Answering(*answers))
    assert told["scores"]["S_final"] is None
    assert told["scores"]["FPS"] is None
    assert told["details"]["S_final"]["reason"].startswith("1 of 2 samples unjudged: the judge")
    assert told["units"]["t"]["scores"]["FPS"] == 0
    assert "unjudged" in told["units"]["s"]["intents"]


def test_whoever_waits_is_told_before_each_question(tmp_path: Path) -> None:
    said: list[tuple[int, int, int]] = []
    model = Answering("no", "no", EndpointError("timeout", "late"), NONE)
    with Judge(model, "m", asking=lambda asked, failed: said.append((asked, failed, len(model.asked)))) as judge:
        for name in "abc":
            with suppress(JudgeFailed):
                judge.same(None, [name], ["x"])
    assert said == [(1, 0, 0), (2, 0, 1), (3, 0, 2), (4, 1, 3)]


def test_after_five_questions_in_a_row_without_an_answer_nobody_is_asked_any_more() -> None:
    late = EndpointError("timeout", "late")
    model = Answering(*[late] * 4, NONE, late)
    with Judge(model, "m") as judge:
        for n in range(9):
            with suppress(JudgeFailed):
                judge.same(None, [str(n)], ["x"])
        with pytest.raises(EndpointError, match="late"):
            judge.same(None, ["9"], ["x"])
    assert judge.n_asked == 10


def test_nobody_to_ask_ends_the_scoring() -> None:
    with pytest.raises(EndpointError, match="no such host"):
        score(Answering(EndpointError("connection", "no such host")))


def test_without_a_judge_the_matcher_says_what_is_missing() -> None:
    unit = Unit("s", log([D(0, 1)]), truth(60, intents={"A": ()}))
    with pytest.raises(UsageError, match="--judge-model NAME"):
        score_run([unit], "trajectory", names=["pira:matcher=judge"])


def test_near_duplicates_are_merged_whichever_way_round_they_are_named() -> None:
    with Judge(Answering('{"pairs": [[2, 1]]}'), "m") as judge:
        two = [Entry("Translation", "the letter"), Entry("Translation", "that letter")]
        right = judge.matcher(None).right(two, two)
        assert right(0, np.array([0, 1])).tolist() == [True, True]


def test_equal_words_are_the_same_without_being_asked_about() -> None:
    model = Answering(NONE)
    with Judge(model, "m") as judge:
        one = [Entry("Translation", "the letter")]
        assert judge.matcher(None).right(one, one)(0, np.array([0])).tolist() == [True]
    assert not model.asked


def test_long_lists_are_asked_in_parts_and_every_pair_is_reached() -> None:
    def last_of_both(question: str) -> str:
        a, b = (part.strip().splitlines() for part in question.split("List A")[1].split("List B"))
        pairs = [{"a": i, "b": j} for i, x in enumerate(a, 1) for j, y in enumerate(b, 1) if x[-3:] == y[-3:]]
        return json.dumps({"pairs": pairs})

    said = [Entry("x", f"said {n:03}") for n in range(90)]
    true = [Entry("x", f"true {n:03}") for n in range(50)]
    with Judge(Answering(last_of_both), "m") as judge:
        right = judge.matcher(None).right(said, true)
        every = np.arange(90)
        assert [right(i, every).nonzero()[0].tolist() for i in range(50)] == [[i] for i in range(50)]


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4), st.text(max_size=30))
def test_what_strangers_wrote_stays_on_its_line(texts: list[str], value: str) -> None:
    model = Answering(NONE)
    with Judge(model, "m") as judge:
        judge.matcher({"k": value}).right([Entry("c", t) for t in texts], [Entry("c", "other")])
    asked = model.texts(0).split("What is known of the user\n")[-1].splitlines()
    assert [line for line in asked if line.startswith("List ")] == ["List A", "List B"]
    assert all(re.fullmatch(r"k: .*||List [AB]|\d+\. c.*", line) for line in asked)
