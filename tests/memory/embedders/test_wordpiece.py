"""Word pieces are those of the ``tokenizers`` library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.embedders.weights import find_minilm
from memory.embedders.wordpiece import WordPiece
from simulator.core.errors import UsageError

REFERENCE = Path(__file__).resolve().parents[2] / "data" / "wordpiece_reference.jsonl"
"""400 texts (titles, Chinese, emoji, marks, random characters of 13 scripts) as ``tokenizers`` 0.23.3 reads them."""
SMALL = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "un": 3, "##want": 4, "##ed": 5, "run": 6, "##ning": 7, ",": 8, "会": 9}


def test_the_longest_piece_is_taken_and_what_does_not_come_out_is_unknown() -> None:
    split = WordPiece(SMALL)
    assert split("UNwanted,running") == (1, 3, 4, 5, 8, 6, 7, 2)
    assert split("unwanted! 会会 rün") == (1, 3, 4, 5, 0, 9, 9, 6, 2)
    assert split("unwante") == (1, 0, 2)
    assert split("run" * 40) == (1, 0, 2)


def test_a_long_text_is_cut_with_its_end_in_place() -> None:
    assert WordPiece(SMALL, limit=5)("run run run run run") == (1, 6, 6, 6, 2)


@given(st.text(max_size=60))
def test_any_text_has_pieces(text: str) -> None:
    found = WordPiece(SMALL)(text)
    assert (found[0], found[-1]) == (1, 2)
    assert len(found) <= 256


def test_pieces_are_those_of_the_library() -> None:
    try:
        split = WordPiece(find_minilm().pieces)
    except UsageError as error:
        pytest.skip(str(error))
    said = [json.loads(line) for line in REFERENCE.read_text("utf-8").splitlines()]
    assert len(said) == 400
    assert [one["text"] for one in said if list(split(one["text"])) != one["ids"]] == []
