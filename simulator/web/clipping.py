"""Texts of which a page is sent the beginning only. Pages know the end by which such a text says so (``base.js``)."""

from __future__ import annotations

__all__ = ["clip"]


def clip(text: str, most: int) -> str:
    """A text as it is sent: a long one says how much of it is left out.

    >>> clip("abcdef", 4)
    'abcd… (2 more characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most} more characters)"
