"""What is done to pixels: filling boxes, telling pictures that are nearly the same, finding the same letters again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from simulator.privacy.layout import Box

__all__ = ["FILL", "TITLE", "Grey", "Stencil", "grey", "grounds", "likeness", "paint", "stencils", "uncovered"]

FILL = (128, 128, 128)
"""Boxes are filled, in the colour of what was masked at capture: what is blurred or made coarse can be read again."""

TITLE = "title"
"""The kind of a box that is a title bar."""

Grey = NDArray[np.uint8]
_INK = 48  # levels of grey off the background: letters with their edges, not the noise of a picture
_LEAST_INK = 24  # pixels: one letter
_RULED = 0.6  # of a row's or column's pixels: no row of letters is so black
_BLOCK = 32


def paint(image: Image.Image, boxes: Iterable[Box]) -> Image.Image:
    """A copy (RGB) with every box filled."""
    made = image.convert("RGB") if image.mode != "RGB" else image.copy()
    draw = ImageDraw.Draw(made)
    for box in boxes:
        if box.width > 0 and box.height > 0:
            draw.rectangle((box.x, box.y, box.x + box.width - 1, box.y + box.height - 1), fill=FILL)
    return made


def grey(image: Image.Image) -> Grey:
    """Levels of grey, uint8 of shape (height, width)."""
    return np.asarray(image.convert("L"))


def likeness(a: Grey, b: Grey) -> float:
    """The share of blocks of 32 pixels that are equal in two pictures; 0 for different sizes."""
    if a.shape != b.shape:
        return 0.0
    differs = a != b
    rows = np.add.reduceat(differs, np.arange(0, a.shape[0], _BLOCK), axis=0, dtype=np.int32)
    blocks = np.add.reduceat(rows, np.arange(0, a.shape[1], _BLOCK), axis=1)
    return float((blocks == 0).mean())


@dataclass(frozen=True, slots=True)
class Stencil:
    """The letters of a box that was found in one picture, to be looked for at the same place in another.

    While a number is typed, and where OCR fails in one of two equal places, the rules see nothing; but the letters
    that are there are some of those that were found, to the pixel.

    Attributes:
        box: where.
        ink: which pixels of it are letters.
        shape: of the picture: height, width.
        by_row: each row of pixels has a background of its own, as title bars that change from light to dark do.
    """

    box: Box
    ink: NDArray[np.bool_]
    shape: tuple[int, ...]
    by_row: bool = False

    def fits(self, picture: Grey) -> bool:
        """Whether the picture shows the same letters there, or some of them and little else (a caret, say)."""
        if picture.shape != self.shape:
            return False
        there = _ink(_cut(picture, self.box), self.by_row)
        n = int(there.sum())
        if n < max(_LEAST_INK, int(self.ink.sum()) // 12):
            return False
        return int((there & self.ink).sum()) >= 0.7 * n


def stencils(picture: Grey, boxes: Sequence[Box]) -> list[Stencil]:
    """The stencils of a picture's boxes; none of those without a letter, or as good as filled with ink."""
    made = []
    for box in boxes:
        cut = _cut(picture, box)
        if cut.size:
            by_row = box.kind == TITLE
            ink = _ink(cut, by_row)
            if _LEAST_INK <= int(ink.sum()) <= 0.6 * ink.size:
                made.append(Stencil(box, ink, picture.shape, by_row))
    return made


def _cut(picture: Grey, box: Box) -> Grey:
    return picture[max(0, box.y) : box.y + box.height, max(0, box.x) : box.x + box.width]


def grounds(cut: Grey) -> NDArray[np.int16]:
    """The most frequent level of grey of each row of pixels."""
    return np.array([np.bincount(row, minlength=256).argmax() for row in cut], dtype=np.int16)


def _ink(cut: Grey, by_row: bool = False) -> NDArray[np.bool_]:
    """Which pixels are letters: off the background, and not of a line ruled through the box (a field's frame)."""
    whole = np.bincount(cut.ravel(), minlength=256).argmax().astype(np.int16)
    background = grounds(cut)[:, None] if by_row else whole
    ink: NDArray[np.bool_] = np.abs(cut.astype(np.int16) - background) > _INK
    ink[ink.mean(axis=1) > _RULED] = False
    ink[:, ink.mean(axis=0) > _RULED] = False
    return ink


def uncovered(boxes: Mapping[str, Sequence[Box]], key: str, box: Box) -> bool:
    """Whether none of a picture's own boxes covers this one."""
    return not any(own.covers(box) for own in boxes.get(key, ()))
