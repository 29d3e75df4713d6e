"""Objects out of models' texts: repaired where there is one reading, refused where there are two."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.loose_json import find_object

PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(PLAIN, VALUES, max_size=4)


@pytest.mark.parametrize(
    ("text", "value", "rule"),
    [
        ('{"a": 1}', {"a": 1}, "json"),
        ('Here it is:\n{"a": 1}. Good luck!', {"a": 1}, "json_in_text"),
        ('```json\n{"a": [1, 2,],}\n```', {"a": [1, 2]}, "json_repaired"),
        ("{'a': True, 'b': None, 'c': 'it'}", {"a": True, "b": None, "c": "it"}, "json_repaired"),
        ("{“a”: “ß”}", {"a": "ß"}, "json_repaired"),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}, "json_repaired"),
        ('{"a": {"b": ["c"]', {"a": {"b": ["c"]}}, "json_repaired"),
        ('```\n{"a": {"b": true}\n```', {"a": {"b": True}}, "json_repaired"),
        ('first {"a": 1}, no, rather {"a": 2}', {"a": 2}, "json_in_text"),
        ('{"a": "\\ud83d\\ude00 \\ud83d \\u0000."}', {"a": "😀 \N{REPLACEMENT CHARACTER} ."}, "json"),
        ("{'a': 'it\\'s \\q'}", {"a": "it's \\q"}, "json_repaired"),
    ],
)
def test_what_is_meant_is_read(text: str, value: dict[str, Any], rule: str) -> None:
    assert find_object(text) == (value, rule)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "[1]",
        '{"a": "cut o',
        '{"a": 12',
        '{"a": 1, "b":',
        '{"a": NaN}',
        "{'a': 'it's'}",
        "{",
        '{"a" 1}',
        "nul",
    ],
)
def test_what_was_cut_off_or_has_two_readings_is_nothing(text: str) -> None:
    assert find_object(text) is None


def test_the_last_object_that_is_accepted_counts() -> None:
    text = '{"help": true} and {"note": 1}'
    found = find_object(text, lambda value: "help" in value)
    assert found is not None
    assert found.value == {"help": True}
    assert find_object('{"note": 1}', lambda value: "help" in value) is None


@given(OBJECTS)
def test_every_json_object_is_read_as_it_is(value: dict[str, Any]) -> None:
    assert find_object(json.dumps(value)) == (value, "json")
    prose = find_object(f"So: {json.dumps(value, ensure_ascii=False)}!")
    assert prose is not None
    assert prose.value == value


@given(OBJECTS.filter(bool), st.data())
def test_a_cut_object_is_whole_or_nothing(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    found = find_object(text[: data.draw(st.integers(0, len(text) - 1))], lambda v: set(v) == set(value))
    if found is not None:  # only brackets were missing, or what is nested has the same keys
        assert json.dumps(found.value) in text or found.value == value


@given(st.text(alphabet="{}[]\",:'\\ntrue0 1`“”\ud800", max_size=300))
def test_hostile_text_raises_nothing(text: str) -> None:
    found = find_object(text)
    assert found is None or json.dumps(found.value, ensure_ascii=False).encode("utf-8") is not None


@pytest.mark.parametrize("text", ['{"a":' * 50_000, "[" * 100_000, '{"a' * 60_000, '{"a":"x" ' * 20_000, "{" * 200_000])
def test_deep_and_long_texts_end_soon(text: str) -> None:
    assert find_object(text) is None
