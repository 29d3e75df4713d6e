"""JSON objects out of what models write: in a fence, amid prose, or slightly broken. Never guessed: a value that was
cut off, or that can be read in two ways, is no value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["Found", "find_object"]

_LONGEST = 200_000  # characters; of a longer text the end is read, where answers stand
_MOST_TRIES = 200
_DEEPEST = 40
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_QUOTES = {'"': '"', "'": "'", "“": "”"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}


class Found(NamedTuple):
    """An object and how it was read: ``json`` (the text is it), ``json_in_text``, ``json_repaired``."""

    value: dict[str, Any]
    rule: str


def find_object(text: str, accept: Callable[[Mapping[str, Any]], bool] = lambda value: True) -> Found | None:
    r"""The last object in a text that is accepted; None if there is none.

    Repaired are commas before a closing bracket, single and typographic quotes, Python's words for true, false and
    null, line breaks within texts, and closing brackets that are missing at the very end. Not repaired: a text that
    ends within quotes, or quotes within quotes.

    >>> find_object('Sure:\n```json\n{"help": True, "why": \'stuck\',}\n```')
    Found(value={'help': True, 'why': 'stuck'}, rule='json_repaired')
    """
    text = text.strip()[-_LONGEST:]
    try:
        whole = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        whole = _clean(whole)
        return Found(whole, "json") if accept(whole) else None
    best: Found | None = None
    for found in _objects(text):
        if accept(found.value):
            best = found
    return best


def _objects(text: str) -> Iterator[Found]:
    decoder = json.JSONDecoder(parse_constant=_refuse)
    at, tries = text.find("{"), 0
    while at >= 0 and tries < _MOST_TRIES:
        tries += 1
        end = at + 1
        try:
            value, end = decoder.raw_decode(text, at)
            yield Found(_clean(value), "json_in_text")
        except (ValueError, RecursionError):
            try:
                value, end = _Tolerant(text).object(at, 0)
                yield Found(_clean(value), "json_repaired")
            except _Broken:
                pass
        at = text.find("{", end)


def _refuse(word: str) -> None:
    raise ValueError(word)


def _clean(value: Any, depth: int = 0) -> Any:
    """Texts without NUL and lone surrogates, which neither SQLite nor UTF-8 can hold; nothing deeper than is sane."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")
    if isinstance(value, list):
        return [_clean(one, depth + 1) for one in value] if depth < _DEEPEST else []
    if isinstance(value, dict):
        return {_clean(k): _clean(v, depth + 1) for k, v in value.items()} if depth < _DEEPEST else {}
    return value


class _Broken(Exception):
    """No object can be read here."""


class _Tolerant:
    """Reads JSON with the faults that ``find_object`` names."""

    def __init__(self, text: str) -> None:
        self._text = text

    def object(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        """The object whose bracket opens at ``at``, and where it ends."""
        made: dict[str, Any] = {}
        at = self._blank(at + 1)
        while not self._closes(at, "}"):
            key, at = self._string(at)
            at = self._blank(at)
            if self._at(at) != ":":
                raise _Broken
            made[key], at = self._value(self._blank(at + 1), depth + 1)
            at = self._separated(at, "}")
        if not made and not self._at(at):
            raise _Broken
        return made, at + 1

    def _array(self, at: int, depth: int) -> tuple[list[Any], int]:
        made: list[Any] = []
        at = self._blank(at + 1)
        while not self._closes(at, "]"):
            value, at = self._value(at, depth + 1)
            made.append(value)
            at = self._separated(at, "]")
        return made, at + 1

    def _value(self, at: int, depth: int) -> tuple[Any, int]:
        first = self._at(at)
        if depth > _DEEPEST or not first:
            raise _Broken
        if first == "{":
            return self.object(at, depth)
        if first == "[":
            return self._array(at, depth)
        if first in _QUOTES:
            return self._string(at)
        end = at
        while end < len(self._text) and end - at < 64 and self._text[end] not in ",]} \t\r\n":
            end += 1
        word = self._text[at:end]
        if word in _WORDS:
            return _WORDS[word], end
        if end >= len(self._text):
            raise _Broken  # a digit may be missing
        try:
            number = json.loads(word, parse_constant=_refuse)
        except ValueError:
            raise _Broken from None
        return number, end

    def _string(self, at: int) -> tuple[str, int]:
        closing = _QUOTES.get(self._at(at))
        if closing is None:
            raise _Broken
        made: list[str] = []
        at += 1
        while True:
            c = self._at(at)
            if not c:
                raise _Broken  # cut off: nobody knows how it went on
            if c == closing:
                return "".join(made), at + 1
            if c == "\\":
                c, at = self._escaped(at + 1)
            made.append(c)
            at += 1

    def _escaped(self, at: int) -> tuple[str, int]:
        c = self._at(at)
        if c == "u":
            digits = self._text[at + 1 : at + 5]
            if len(digits) == 4 and all(d in "0123456789abcdefABCDEF" for d in digits):
                return chr(int(digits, 16)), at + 4
        return _ESCAPES.get(c, f"\\{c}"), at

    def _separated(self, at: int, closing: str) -> int:
        """Behind a value: a comma, or the end."""
        at = self._blank(at)
        if self._at(at) == ",":
            return self._blank(at + 1)
        if not self._closes(at, closing):
            raise _Broken
        return at

    def _closes(self, at: int, closing: str) -> bool:
        """The bracket, or the end of the text (a fence counts as one), where brackets may be missing."""
        return self._at(at) == closing or at >= len(self._text) or self._text.startswith("```", at)

    def _blank(self, at: int) -> int:
        while at < len(self._text) and self._text[at].isspace():
            at += 1
        return at

    def _at(self, at: int) -> str:
        return self._text[at : at + 1]
