"""From words to boxes: whatever blocks OCR cuts a screen into, what people read as one is found as one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.privacy.layout import Box, boxes
from simulator.privacy.rules import load_rules
from simulator.screen.ocr import Word

RULES = load_rules()


def row(text: str, x: int, y: int, line: int, paragraph: int | None = None) -> list[Word]:
    """Words of 8 pixels a letter, 12 high, a letter apart."""
    made = []
    for word in text.split(" "):
        made.append(Word(word, x, y, 8 * len(word), 12, line, line if paragraph is None else paragraph, 90.0))
        x += 8 * (len(word) + 1)
    return made


def covers(found: list[Box], words: list[Word]) -> bool:
    return all(
        any(
            b.x <= w.x and b.y <= w.y and w.x + w.width <= b.x + b.width and w.y + w.height <= b.y + b.height
            for b in found
        )
        for w in words
    )


def test_a_number_is_one_box_with_the_gaps_between_its_words() -> None:
    words = row("to DE89 3704 0044 0532 0130 00 now", 10, 10, 0)
    (box,) = [b for b in boxes(words, RULES) if b.kind == "iban"]
    assert covers([box], words[1:7])
    assert not covers([box], words[:1])
    assert not covers([box], words[7:])


def test_a_number_that_wraps_is_a_box_in_each_line() -> None:
    words = [*row("on file 123-45-", 10, 10, 0, 0), *row("6789 and more", 10, 30, 1, 0)]
    found = boxes(words, RULES)
    assert [b.kind for b in found] == ["us_ssn", "us_ssn"]
    assert covers(found, [words[2], words[3]])


def test_it_does_so_too_when_ocr_makes_two_paragraphs_of_two_lines() -> None:
    words = [*row("on file 123-45-", 10, 10, 0), *row("6789 and more", 10, 30, 1)]
    assert covers(boxes(words, RULES), [words[2], words[3]])


def test_a_key_that_wraps_within_a_word_is_found_whole() -> None:
    words = [*row("X=ghp_abcd1234abcd1234abcd", 10, 10, 0), *row("1234abcd1234 done", 10, 30, 1)]
    found = boxes(words, RULES)
    assert covers(found, words[:2])
    assert not covers(found, words[2:])


def test_a_label_and_its_field_are_read_together_over_two_blocks() -> None:
    words = [*row("Password:", 10, 10, 0), *row("hunter2", 300, 11, 1)]
    assert covers(boxes(words, RULES), words[1:])


def test_a_label_above_its_field_says_what_is_in_it() -> None:
    words = [*row("Card number", 10, 10, 0), *row("Full name", 400, 10, 1), *row("40123", 10, 34, 2),
             *row("Jane 55555", 400, 34, 3)]  # fmt: skip
    found = boxes(words, RULES)
    assert covers(found, [words[4]])
    assert not covers(found, [words[6]])


def test_text_below_that_is_far_away_or_beside_is_no_field() -> None:
    words = [*row("Password", 10, 10, 0), *row("elsewhere", 400, 34, 1), *row("far", 10, 200, 2)]
    assert boxes(words, RULES) == []


def test_no_words_no_boxes() -> None:
    assert boxes([], RULES) == []


@given(
    st.lists(
        st.builds(
            Word,
            st.text(min_size=1, max_size=12).filter(str.strip),
            st.integers(0, 3000),
            st.integers(0, 2000),
            st.integers(1, 500),
            st.integers(1, 60),
            st.integers(0, 20),
            st.integers(0, 5),
            st.floats(0, 100),
        ),
        max_size=30,
    )
)
def test_words_in_any_places_make_boxes_within_reach_of_words(words: list[Word]) -> None:
    for box in boxes(words, RULES):
        assert box.x >= 0
        assert box.y >= 0
        assert box.width > 0
        assert box.height > 0
        assert box.x + box.width <= max(w.x + w.width for w in words) + 8


@pytest.mark.parametrize("n", [2_000])
def test_a_screen_full_of_words_takes_a_second_at_most(n: int) -> None:
    from simulator.timing.clock import real_ns

    words = [w for i in range(n // 10) for w in row("password 12 34 56 78 90 a@b 00 11 22", 10, 14 * i, i)]
    started = real_ns()
    boxes(words, RULES)
    assert real_ns() - started < 5_000_000_000
