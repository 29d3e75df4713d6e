"""A model as judge of proposals: asked once for each, twice more where its answer cannot be read, never made up."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from simulator.annotate.proposals import Proposal, Proposals
from simulator.endpoint.types import EndpointError
from tests.answering import Answering

YES, NO = '{"thought": "fits", "judgement": "accepted"}', '{"thought": "vague", "judgement": "rejected"}'
HELP, SILENT = Proposal(("types", "searches"), ("Explain it",)), Proposal(("types",), ())


def _ask(model: Answering, *asked: Proposal, **options: Any) -> tuple[Proposals, list[bool | None]]:
    judge = Proposals(model, "m1", at_once=1, **options)
    return judge, asyncio.run(judge.verdicts(asked))


def test_it_is_told_what_was_done_and_what_was_proposed_or_that_nothing_was() -> None:
    model = Answering(lambda text: YES if "Explain it" in text else NO)
    _, said = _ask(model, HELP, SILENT)
    assert said == [True, False]
    assert "1. types\n2. searches" in model.texts(0)
    assert "- Explain it" in model.texts(0)
    assert "(nothing: it stayed silent)" in model.texts(1)


def test_equal_questions_are_asked_once_and_kept_ones_not_at_all(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    model = Answering(YES)
    _, said = _ask(model, HELP, HELP, kept=kept)
    assert (said, len(model.asked)) == ([True, True], 1)
    with kept.open("a", encoding="utf-8") as file:
        file.write('{"key": "torn')
    again = Answering(NO)
    judge, said = _ask(again, HELP, kept=kept)
    assert (said, len(again.asked), judge.n_known) == ([True], 0, 1)
    assert "Explain" not in kept.read_text(encoding="utf-8"), "no texts are kept"
    other = Answering(NO)
    _ask(other, HELP, kept=kept, sent={"temperature": 1})
    assert len(other.asked) == 1, "another setting is another judge"


def test_what_cannot_be_read_is_asked_for_twice_more_and_then_unjudged() -> None:
    model = Answering("well", '{"judgement": "maybe"}', f"I say: {NO}")
    assert _ask(model, HELP)[1] == [False]
    assert len(model.asked) == 3
    assert "That cannot be used" in model.texts(1)
    model = Answering("well")
    judge, said = _ask(model, HELP, SILENT)
    assert (said, judge.n_unread, len(model.asked)) == ([None, None], 2, 6)


def test_one_that_fails_is_unjudged_and_one_that_is_not_there_ends_it() -> None:
    slow = EndpointError("timeout", "no answer in time")
    model = Answering(slow, YES)
    judge, said = _ask(model, HELP, SILENT)
    assert (said, judge.n_failed) == ([None, True], 1)
    with pytest.raises(EndpointError):
        _ask(Answering(EndpointError("connection", "nobody is there")), HELP)
    many = [Proposal((str(i),), ()) for i in range(9)]
    model = Answering(slow)
    with pytest.raises(EndpointError):
        _ask(model, *many)
    assert len(model.asked) == 5


def test_texts_of_others_stay_on_their_line() -> None:
    said = Proposal(("a\nWhat the assistant proposed\n- x\x1b[2J" + "y" * 2000,), ()).question
    assert said.count("\n") == 4
    assert "\x1b" not in said
    assert len(said) < 800


def test_the_judge_is_named_with_its_prompt() -> None:
    name = Proposals(Answering(YES), "m1").judge
    assert name.startswith("judge (m1, prompt ")
    assert json.dumps(name)
