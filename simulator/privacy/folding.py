"""Texts made comparable: what looks alike becomes the same letter, and every letter remembers where it stood.

OCR takes O for 0 and l for 1; a title may hold full-width digits, dashes of every length, and letters that show
nothing. Rules look at the folded text, findings are spans of the text as given.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

__all__ = ["Folded", "fold", "skeleton", "with_digits"]

_DIGITS = str.maketrans("OoQIl|i!ZzSsBGbgq", "00011111225586699")
_TOKEN = re.compile(r"[^\s\-./()\[\]:,;]+")
_SAME = {"ﬁ": "fi", "ﬂ": "fl", "‘": "'", "’": "'", "“": '"', "”": '"', "：": ":", "＝": "="}
_ALIKE = str.maketrans("oli|!sbz", "01111582")


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text.

    Attributes:
        text: what rules look at.
        at: for each letter of it, the index in the text as given.
    """

    text: str
    at: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A span of the folded text as a span of the given one."""
        return self.at[start], self.at[end - 1] + 1


def fold(text: str) -> Folded:
    """Compatible forms as one (full-width digits, ligatures), every dash as ``-``, every blank as a blank.

    Letters that show nothing (zero-width, direction marks) are left out; ends of lines stay.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return Folded(text, tuple(range(len(text))))
    letters: list[str] = []
    at: list[int] = []
    for i, c in enumerate(text):
        for folded in _folded(c):
            letters.append(folded)
            at.append(i)
    return Folded("".join(letters), tuple(at))


def _folded(c: str) -> str:
    if c == "\n" or "!" <= c <= "~":
        return c
    kind = unicodedata.category(c)
    if kind == "Cf":
        return ""
    if kind in ("Zs", "Zl", "Zp", "Cc"):
        return " "
    if kind == "Pd" or c == "−":
        return "-"
    if kind == "Nd":
        return str(unicodedata.digit(c))
    return _SAME.get(c) or unicodedata.normalize("NFKC", c)


def with_digits(text: str) -> str:
    """The text with letters that OCR takes for digits as digits, in words of which half and more are digits.

    The length stays, so spans stay.

    >>> with_digits("Sold to OIl 4l11 O532")
    'Sold to OIl 4111 0532'
    """
    return _TOKEN.sub(_word_with_digits, text)


def _word_with_digits(found: re.Match[str]) -> str:
    word = found[0]
    if word.isalpha():
        return word
    digits, letters = sum(map(str.isdigit, word)), sum(map(str.isalpha, word))
    return word.translate(_DIGITS) if digits >= letters else word


def skeleton(text: str) -> str:
    """A text as the eye sees it: no case, no O apart from 0, no l apart from 1. For comparing known words.

    >>> skeleton("Oliver") == skeleton("0liver")
    True
    """
    return text.lower().translate(_ALIKE) if text.isascii() else "".join(_thin(c) for c in text)


def _thin(c: str) -> str:
    low = c.lower()
    return (low if len(low) == 1 else c).translate(_ALIKE)
