"""Text that is to be seen on a picture and that OCR did not read: "nothing found" must not stand for "not readable".

What looks like text is told by its strokes: in a piece of 24 by 12 pixels, at least four rows of pixels with three
changes from light to dark or back, and as many from row to row. A picture has text that was not read where such pieces
lie beside all words that were read with some confidence, and either are most of what looks like text there, or stand
together in stretches. Measured on 70 distinct pictures of the bundled scenarios, read as English: the pieces beside the
words are 38 % of a picture at most, and 61 in stretches; but 75 % and 937 at least on the four pages in Chinese among
them, and 76 % on a terminal with xterm's bitmap font.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from simulator.privacy.picture import Grey
from simulator.screen.ocr import Word

__all__ = ["has_unread_text"]

_WIDTH, _HEIGHT = 24, 12  # pixels of a piece: some letters of a line
_STROKE = 48  # levels of grey from one pixel to the next
_STROKES, _ROWS = 3, 4  # of each of so many rows of pixels
_SURE = 50.0  # of 100: what tesseract makes up of letters that it does not know is mostly below
_LEAST, _SHARE = 10, 0.5  # pieces unread, and of all that look like text
_LONG, _MANY = 4, 100  # pieces side by side, and how many of such stretches in all


def has_unread_text(picture: Grey, words: Iterable[Word]) -> bool:
    """Whether a good part of what looks like text was not read.

    Args:
        picture: levels of grey, shape (height, width).
        words: of all readings.
    """
    text, unread = _pieces(picture, words)
    n = int(unread.sum())
    return (n >= _LEAST and n > _SHARE * int(text.sum())) or _in_stretches(unread) >= _MANY


def _pieces(picture: Grey, words: Iterable[Word]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which pieces of the picture look like text, and which of them have most of their strokes beside all words."""
    strokes = np.zeros(picture.shape, dtype=bool)
    strokes[:, 1:] = np.abs(np.diff(picture.astype(np.int16), axis=1)) > _STROKE
    by_row = _counts(strokes)
    n = by_row.sum(axis=1)
    text = (by_row >= _STROKES).sum(axis=1) >= _ROWS
    text &= n >= 2 * _STROKES * _ROWS
    across = np.zeros(picture.shape, dtype=bool)  # frames and columns change along a row alone
    across[1:] = np.abs(np.diff(picture.astype(np.int16), axis=0)) > _STROKE
    text &= _counts(across).sum(axis=1) >= _STROKES * _ROWS
    for word in words:
        if word.confidence >= _SURE:  # the edges of letters are grey: they lie a little beside the box
            top, left = max(0, word.y - 3), max(0, word.x - 2)
            strokes[top : word.y + word.height + 3, left : word.x + word.width + 2] = False
    unread: NDArray[np.bool_] = text & (2 * _counts(strokes).sum(axis=1) > n)
    return text, unread


def _counts(strokes: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Strokes by piece and row of pixels: shape (rows of pieces, rows of pixels, pieces in a row)."""
    height, width = (size // step for size, step in zip(strokes.shape, (_HEIGHT, _WIDTH), strict=True))
    cut = strokes[: height * _HEIGHT, : width * _WIDTH]
    counts: NDArray[np.int64] = cut.reshape(height, _HEIGHT, width, _WIDTH).sum(axis=3)
    return counts


def _in_stretches(unread: NDArray[np.bool_]) -> int:
    """How many pieces stand in rows of four and more."""
    edges = np.zeros((unread.shape[0], unread.shape[1] + 2), dtype=np.int8)
    edges[:, 1:-1] = unread
    steps = np.diff(edges, axis=1)
    lengths = np.nonzero(steps == -1)[1] - np.nonzero(steps == 1)[1]  # both in order, row by row
    return int(lengths[lengths >= _LONG].sum())
