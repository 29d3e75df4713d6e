"""Rectangles of pixels, and what is left of one where others lie in front."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Rect", "left_over"]


class Rect(NamedTuple):
    """Left and top edge, width and height, in pixels; edges may be negative, sizes are not."""

    x: int
    y: int
    width: int
    height: int


def left_over(rect: Rect, covers: Iterable[Rect]) -> list[Rect]:
    """Disjoint rectangles that hold every pixel of ``rect`` outside of all ``covers``, and none inside of one."""
    parts = [rect] if rect.width > 0 and rect.height > 0 else []
    for cover in covers:
        parts = [piece for part in parts for piece in _without(part, cover)]
    return parts


def _without(part: Rect, cover: Rect) -> list[Rect]:
    right, bottom = part.x + part.width, part.y + part.height
    left_in, right_in = max(part.x, cover.x), min(right, cover.x + cover.width)
    top_in, bottom_in = max(part.y, cover.y), min(bottom, cover.y + cover.height)
    if left_in >= right_in or top_in >= bottom_in:
        return [part]
    pieces = (
        Rect(part.x, part.y, part.width, top_in - part.y),
        Rect(part.x, bottom_in, part.width, bottom - bottom_in),
        Rect(part.x, top_in, left_in - part.x, bottom_in - top_in),
        Rect(right_in, top_in, right - right_in, bottom_in - top_in),
    )
    return [piece for piece in pieces if piece.width > 0 and piece.height > 0]
