"""Models' answers as fields: mended where there is one reading, refused where there is none, never filled in."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.annotate.repair import KINDS, MOST_WORDS, EventPart, IntentPart, Unreadable, read_event, read_intent
from simulator.core.intentions import INTENTIONS
from tests.annotate.studies import CHAT, said_event, said_intent


def intent(text: str) -> IntentPart:
    return read_intent(text, INTENTIONS)


def test_a_good_answer_is_read_as_it_is() -> None:
    part = read_event(CHAT)
    assert (part.assistance, part.platform, part.kind, part.mended) == (True, "ChatGPT", "chat", [])
    assert intent(said_intent()) == IntentPart("Why does it fail?", "Error Correction", 0.8, "An error is shown.", [])


@pytest.mark.parametrize(
    ("word", "means"), [("yes", True), ("No", False), ("是", True), ("否", False), (1, True), ("0", False)]
)
def test_yes_and_no_in_words_are_read_and_told(word: Any, means: bool) -> None:
    part = read_event(json.dumps({"assistance": word, "summary": "x"}))
    assert (part.assistance, part.mended) == (means, ["assistance_word"])


@pytest.mark.parametrize("value", ["maybe", "", None, 2, [], {}, 0.5])
def test_neither_yes_nor_no_is_no_answer(value: Any) -> None:
    with pytest.raises(Unreadable, match="neither true nor false"):
        read_event(json.dumps({"assistance": value, "summary": "x"}))


@pytest.mark.parametrize("summary", [None, "", "null", 7])
def test_an_answer_without_a_summary_is_none(summary: Any) -> None:
    with pytest.raises(Unreadable, match="summary"):
        read_event(said_event(False, summary=summary))


@pytest.mark.parametrize("summary", ["word " * 30, "检查解析器的测试为什么失败" * 10])
def test_a_summary_has_twenty_words_at_most(summary: str) -> None:
    part = read_event(said_event(False, summary=summary))
    assert part.summary is not None
    assert len(part.summary.split()) <= MOST_WORDS
    assert len(part.summary) <= max(2 * MOST_WORDS + 1, len("word " * MOST_WORDS))
    assert part.mended == ["summary_cut"]


def test_what_is_no_assistance_event_has_no_platform_and_no_conversation() -> None:
    part = read_event(said_event(False, platform="ChatGPT", type="chat", conversation={"user_queries": ["x"]}))
    assert (part.platform, part.kind, part.conversation) == (None, None, None)


@pytest.mark.parametrize(
    ("conversation", "queries"),
    [
        ({"user_queries": "one", "llm_responses": []}, ["one"]),
        ({"user_queries": ["a", None, 3, "b"]}, ["a", "b"]),
        ("just this", ["just this"]),
        ('{"user_queries": ["q"]}', ["q"]),
    ],
)
def test_a_conversation_becomes_the_form_that_sessions_keep(conversation: Any, queries: list[str]) -> None:
    part = read_event(said_event(True, conversation=conversation))
    assert json.loads(part.conversation or "")["user_queries"] == queries


@pytest.mark.parametrize("conversation", [None, [], {}, "null", {"user_queries": ["…", "..."]}, 5])
def test_a_conversation_of_nothing_is_none(conversation: Any) -> None:
    assert read_event(said_event(True, conversation=conversation)).conversation is None


@pytest.mark.parametrize(
    ("value", "means"),
    [(0.5, 0.5), (1, 1.0), (0, 0.0), ("0.7", 0.7), ("85%", 0.85), (85, 0.85), ("1 %", 0.01),
     (1.5, None), (-1, None), (101, None), ("high", None), (True, None), (None, None), ("nan", None), ("1e999", None)],
)  # fmt: skip
def test_a_confidence_is_a_share_or_unknown(value: Any, means: float | None) -> None:
    assert intent(said_intent(confidence=value)).confidence == pytest.approx(means)


def test_an_intention_of_another_name_is_read_and_told_and_a_strange_one_is_refused() -> None:
    part = intent(said_intent("code programming"))
    assert (part.intention, part.mended) == ("Coding/Programming", ["intention_alias"])
    with pytest.raises(Unreadable, match="none of the list"):
        intent(said_intent("gardening"))
    with pytest.raises(Unreadable, match="none of the list"):
        read_intent(said_intent("Translation"), ["Debug"])
    assert read_intent(said_intent("debug"), ["Debug"]).intention == "Debug"


def test_an_intention_that_is_not_told_has_no_confidence() -> None:
    part = intent(said_intent(None))
    assert (part.intention, part.confidence) == (None, None)


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)


@given(st.fixed_dictionaries(dict.fromkeys(("assistance", "platform", "type", "summary", "conversation"), JSONISH)))
def test_whatever_is_in_an_object_is_fields_or_refused(value: dict[str, Any]) -> None:
    try:
        part = read_event(json.dumps(value))
    except Unreadable:
        return
    assert isinstance(part, EventPart)
    assert part.summary
    assert part.kind in (None, *KINDS)
    assert part.conversation is None or set(json.loads(part.conversation)) == {"user_queries", "llm_responses"}
    for text in (part.platform, part.summary, part.conversation):
        assert text is None or (text.encode("utf-8") and "\0" not in text and len(text.splitlines()) == 1)


@given(st.text(alphabet="{}[]\",:'\\ntrue0 1`assitnceo“”\ud800", max_size=300) | st.text(max_size=100))
def test_hostile_text_is_refused_and_raises_nothing_else(text: str) -> None:
    for read in (read_event, intent):
        with contextlib.suppress(Unreadable):
            read(text)
