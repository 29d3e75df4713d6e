"""What strangers say of us, made fit to be shown: no key in it, not even a piece of one; short, and one line."""

from __future__ import annotations

import re

from simulator.core.errors import quote

__all__ = ["holds_key", "shown"]

_PIECE = 8  # characters: a shorter piece of a key tells nothing
_WORDS = 16  # characters of a key that look like words and tell it all the same
_LOOKS_LIKE_KEY = re.compile(r"\b(?:sk|pk|key|token|hf|gsk)[-_][A-Za-z0-9_\-*.]{4,}|\bBearer\s+\S+", re.IGNORECASE)


def shown(text: str, key: str | None, limit: int = 200) -> str:
    """A server's words as part of a sentence: pieces of the key blotted out, cut to ``limit`` characters."""
    return quote(_LOOKS_LIKE_KEY.sub("[key]", _blotted(text[:100_000], key)), limit)[1:-1]


def holds_key(text: str, key: str | None) -> bool:
    """Whether a text tells the key, or a piece of it.

    A piece is 8 characters with a digit among them or with letters in both cases, or any 16: a key of words for servers
    that want none, such as ``sk-no-key-required``, must not have answers thrown away that say ``required``.
    """
    if key is None or len(key) < _PIECE:
        return False
    return key in text or any(piece in text for piece in _pieces(key))


def _pieces(key: str) -> list[str]:
    short = [key[i : i + _PIECE] for i in range(len(key) - _PIECE + 1)]
    long = [key[i : i + _WORDS] for i in range(len(key) - _WORDS + 1)]
    return [piece for piece in short if not _is_word(piece)] + long


def _is_word(piece: str) -> bool:
    return not any(c.isdigit() for c in piece) and (piece == piece.lower() or piece == piece.upper())


def _blotted(text: str, key: str | None) -> str:
    if not key:
        return text
    if len(key) < _PIECE:
        return text.replace(key, "[key]")
    out = bytearray(len(text))  # 1: belongs to a piece of the key
    for i in range(len(key) - _PIECE + 1):
        at = text.find(key[i : i + _PIECE])
        while at >= 0:
            out[at : at + _PIECE] = b"\1" * _PIECE
            at = text.find(key[i : i + _PIECE], at + 1)
    if 1 not in out:
        return text
    marked = "".join("\0" if out[i] else c for i, c in enumerate(text))
    return re.sub("\0+", "[key]", marked)
