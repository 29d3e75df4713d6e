"""What is left of a value of which something was covered while recording: no rule knows half a number.

A mask ends where its window ends, and a number behind it may go on beside it. Words that reach up to a mask are filled
where they look like a part of something: a mail's name or host, figures, the beginning of an account.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from simulator.privacy.folding import with_digits
from simulator.privacy.layout import Box
from simulator.screen.ocr import Word

__all__ = ["CUT", "cut_off"]

CUT = "cut"

_REACH = 2.0  # heights of a letter between the last letter that is whole and the mask
_GAP = 1.5  # heights of a letter between words of one value
_WORDS = 8
_MAIL, _FIGURES = r"\S*@\S*", r"[+(]?\d(?:[ ./()-]{0,2}\d){5,}"
_BEFORE = re.compile(rf"(?<!\S)(?:{_MAIL}|{_FIGURES}|[A-Z]{{2}}\d{{2}}(?: ?[A-Z0-9]{{1,4}})*)\W{{0,3}}$")
_AFTER = re.compile(rf"^\W{{0,3}}(?:{_MAIL}|{_FIGURES})(?!\w)")
_PAD = 3


def cut_off(words: Sequence[Word], masks: Sequence[tuple[int, int, int, int]]) -> Iterator[Box]:
    """Boxes around the rests of values, doubtful ones.

    Args:
        words: of one reading.
        masks: x, y, width, height of what was covered, in pixels of the picture.
    """
    for x, y, width, height in masks:
        level = [w for w in words if y <= w.y + w.height / 2 < y + height]
        for line in _lines(level):
            yield from _rest([w for w in line if w.x + w.width / 2 < x], x, _BEFORE, before=True)
            yield from _rest([w for w in line if w.x + w.width / 2 >= x + width], x + width, _AFTER, before=False)


def _lines(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Words at one height, whatever blocks the reading made of them."""
    rest = sorted(words, key=lambda w: (w.y, w.x))
    while rest:
        top, bottom = rest[0].y, rest[0].y + rest[0].height
        line = [w for w in rest if top <= w.y + w.height / 2 < bottom] or rest[:1]
        rest = [w for w in rest if w not in line]
        yield sorted(line, key=lambda w: w.x)


def _rest(side: Sequence[Word], edge: int, shape: re.Pattern[str], *, before: bool) -> Iterator[Box]:
    """What of the words on one side of a mask belongs to a value that goes on behind it."""
    near: list[Word] = []
    for word in reversed(side) if before else side:
        bound = edge if not near else near[-1].x if before else near[-1].x + near[-1].width
        gap = bound - (word.x + word.width) if before else word.x - bound
        if gap > (_GAP if near else _REACH) * word.height or len(near) == _WORDS:
            break
        near.append(word)
    line = near[::-1] if before else near
    text = " ".join(word.text for word in line)
    found = next((m for said in (text, with_digits(text)) if (m := shape.search(said)) is not None), None)
    if found is None:
        return
    touched = _touched(line, *found.span())
    left, top = min(w.x for w in touched), min(w.y for w in touched)
    right, bottom = max(w.x + w.width for w in touched), max(w.y + w.height for w in touched)
    left, right = (max(0, left - _PAD), edge) if before else (edge, right + _PAD)
    top = max(0, top - _PAD)
    yield Box(left, top, right - left, bottom + _PAD - top, CUT, sure=False)


def _touched(words: Sequence[Word], start: int, end: int) -> list[Word]:
    at, found = 0, []
    for word in words:
        if at < end and at + len(word.text) > start:
            found.append(word)
        at += len(word.text) + 1
    return found
