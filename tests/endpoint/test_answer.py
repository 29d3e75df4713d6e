"""Whatever a server streams, the outcome is an answer or an error of a kind; what was thought is never said."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simulator.core.types import ImageRef
from simulator.endpoint.answer import Gathered, apart, error_text, estimated, usage_of
from simulator.endpoint.types import ERROR_KINDS, EndpointError, Message

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


DELTA = st.fixed_dictionaries(
    {},
    optional={
        name: st.text(max_size=5) | VALUES
        for name in ("content", "reasoning", "reasoning_content", "refusal", "role", "tool_calls")
    },
)
CHOICE = st.fixed_dictionaries(
    {},
    optional={
        "index": st.sampled_from([0, 1, None]) | VALUES,
        "delta": DELTA | VALUES,
        "message": DELTA | VALUES,
        "finish_reason": st.sampled_from(["stop", "length", None]) | VALUES,
    },
)
CHUNK = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(CHOICE, max_size=3) | VALUES,
        "usage": VALUES | st.fixed_dictionaries({"prompt_tokens": VALUES, "completion_tokens": VALUES}),
        "model": VALUES,
        "error": VALUES,
    },
)
PAYLOADS = st.lists(
    CHUNK.map(lambda said: json.dumps(said).encode()) | st.binary(max_size=20) | st.just(b"[DONE]"), max_size=6
)


@given(PAYLOADS)
def test_any_stream_is_an_answer_or_an_error_of_a_kind(payloads: list[bytes]) -> None:
    got, kind = Gathered(), None
    messages = [Message("user", ("hello",))]
    try:
        for i, payload in enumerate(payloads):
            if got.take(payload, i):
                break
        got.check()
    except EndpointError as error:
        kind = error.kind
    text, reasoning = apart(got.pieces)
    (text + reasoning).encode("utf-8")  # no half of a character is left
    assert kind in ERROR_KINDS or (kind is None and text.strip() and got.finish)
    usage = usage_of(got.usage, got.pieces, messages, 0)
    assert min(usage.tokens_in, usage.tokens_out, usage.reasoning, usage.cached) >= 0


@given(VALUES)
def test_any_error_object_has_a_text(said: Any) -> None:
    assert isinstance(error_text({"error": said}), str)
    assert isinstance(error_text({"detail": [said]}), str)


PIECE = st.sampled_from(
    ["<think>", "</think>", "<THINK>", "<thinking>", "</thinking>", "Yes", " ", "\n", "<", ">", "th"]
)


@given(st.lists(PIECE, max_size=10), st.lists(st.integers(0, 60), max_size=6))
def test_thoughts_are_kept_apart_however_the_text_is_cut(words: list[str], cuts: list[int]) -> None:
    whole = "".join(words)
    at = [0, *sorted(min(c, len(whole)) for c in cuts), len(whole)]
    pieces = [(i, "t", whole[a:b]) for i, (a, b) in enumerate(pairwise(at))]
    text, reasoning = apart(pieces)
    assert (text, reasoning) == apart([(0, "t", whole)])
    assert "</think>" not in text.lower()
    assert "<think>" not in text.lower()


def test_ways_of_thinking_aloud() -> None:
    def said(text: str) -> tuple[str, str]:
        return apart([(0, "t", text)])

    assert said("<think>a</think>Yes<think>b</think>, no") == ("Yes, no", "a\nb")
    assert said("thought of by the template</think>\n\nYes") == ("Yes", "thought of by the template")
    assert said("<think>never closed") == ("", "never closed")
    assert said("1 < 2 and <b>bold</b>") == ("1 < 2 and <b>bold</b>", "")
    assert apart([(0, "r", "a"), (1, "t", "<think>b</think>c")]) == ("c", "a\nb")


def test_parts_and_both_names_of_reasoning_are_understood() -> None:
    got = Gathered()
    delta = {"reasoning": "same", "reasoning_content": "same", "content": [{"type": "thinking", "thinking": ["x"]},
             {"type": "text", "text": "Yes"}, 7]}  # fmt: skip
    got.add({"choices": [{"index": 1, "delta": {"content": "another"}}, {"delta": delta, "finish_reason": "stop"}]}, 5)
    got.check()
    assert apart(got.pieces) == ("Yes", 'same["x"]')


def test_figures_that_cannot_be_are_not_believed() -> None:
    asked = [Message("user", ("Grüße an alle", ImageRef(Path("x"))))]
    pieces = [(0, "t", "abcd")]
    guess = estimated(pieces, asked, 1)
    assert (guess.tokens_in, guess.tokens_out, guess.images, guess.estimated) == (4, 1, 1, True)
    for count in (-1, True, "5", None, 1.5):
        assert usage_of({"prompt_tokens": count, "completion_tokens": 2}, pieces, asked, 1) == guess
    assert usage_of({}, pieces, asked, 1) == guess
    more = {"prompt_tokens": 5, "completion_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 9},
            "prompt_tokens_details": {"cached_tokens": 99}}  # fmt: skip
    usage = usage_of(more, pieces, asked, 0)
    assert (usage.tokens_out, usage.reasoning, usage.cached) == (0, 3, 5)
