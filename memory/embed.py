"""Texts to vectors without a model: words, letter trigrams and CJK pairs, hashed into 512 signed counts.

Counts are small integers (at most 127 in size), so the length of a vector squared is at most 512 x 127² < 2**24 and
every partial sum of a product of two vectors is an integer that float32 holds exactly, in whatever order a matrix
library adds. Square root and division of IEEE doubles are exactly rounded. So scores, orders and ties are the same
on every machine, which holds for no learned embedding (``time-and-charging.md``, Reproducible to the byte).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from memory.keywords import STOP_WORDS, fold, is_wide, pairs, runs
from simulator.core.protocols import Embedder

__all__ = ["Floats", "HashEmbedder", "Rows", "likeness", "vectors"]

Rows = NDArray[np.float32]
Floats = NDArray[np.float64]

_DIMENSION = 512
_LIMIT = 1_000
"""Characters of a text that are read: titles are shorter, and counts stay small."""


class HashEmbedder:
    """Words and their letters, hashed into 512 counts: knows no meaning, needs nothing, the same on every machine.

    Args:
        cache: how many texts' vectors are kept; titles repeat heavily. A full cache is emptied, which changes the cost
            of a call and never its result.
    """

    identity = "hash512-v1"
    dimension = _DIMENSION

    def __init__(self, cache: int = 16_384) -> None:
        self._cache: dict[str, tuple[Rows, float]] = {}
        self._room = cache

    def counts(self, text: str) -> tuple[Rows, float]:
        """Signed counts as float32 of shape (512,), and their Euclidean length; read-only, shared by callers."""
        hit = self._cache.get(text)
        if hit is not None:
            return hit
        slots = np.bincount(np.array(_features(text), dtype=np.intp), minlength=2 * _DIMENSION)
        row = np.clip(slots[0::2] - slots[1::2], -127, 127)
        norm = float(np.sqrt(np.float64(row @ row)))
        made = (row.astype(np.float32), norm)
        made[0].flags.writeable = False
        if len(self._cache) >= self._room:
            self._cache.clear()
        if self._room:
            self._cache[text] = made
        return made

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length rows, float32 of shape (len(texts), 512); a text without letters gives a row of zeros."""
        rows, norms = vectors(self, texts)
        return (rows / np.where(norms > 0, norms, 1.0)[:, None]).astype(np.float32)


def vectors(embedder: Embedder, texts: Sequence[str]) -> tuple[Rows, Floats]:
    """Rows and their lengths, from whichever embedder: exact counts where it has them, else its unit rows.

    Returns:
        float32 of shape (len(texts), d) and float64 of shape (len(texts),); a length of 0 marks a text that says
        nothing. The cosine of two rows is their product over the product of their lengths.
    """
    if isinstance(embedder, HashEmbedder):
        made = [embedder.counts(t) for t in texts]
        rows = np.array([m[0] for m in made], dtype=np.float32).reshape(len(made), embedder.dimension)
        return rows, np.array([m[1] for m in made], dtype=np.float64)
    rows = np.asarray(embedder.embed(texts), dtype=np.float32)
    return rows, np.where((rows != 0).any(axis=1), 1.0, 0.0)


def likeness(rows: Rows | Floats, norms: Floats, row: Rows | Floats, norm: float) -> Floats:
    """Cosines of rows with one row, float64 of shape (len(rows),); 0 where either says nothing.

    Row by row (``vecdot``) and not as a matrix product: libraries spread those over threads, and on a busy machine one
    query then waits a whole time slice for its other half (8 ms instead of 0.1 ms, measured).
    """
    dots = np.vecdot(rows, row).astype(np.float64)
    lengths = norms * norm
    found: Floats = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
    return found


def _features(text: str) -> list[int]:
    """Slots of all features of a text; a feature that weighs two is listed twice."""
    out: list[int] = []
    for run in runs(fold(text[:_LIMIT])):
        if is_wide(run):
            out.extend(_slot(c) for c in run)
            for pair in pairs(run):
                out += 2 * [_slot(pair)]
        elif run not in STOP_WORDS:
            out += 2 * [_slot(run)]
            edged = f"<{run}>"
            out.extend(_slot(edged[i : i + 3]) for i in range(len(edged) - 2))
    return out


@lru_cache(maxsize=1 << 16)
def _slot(feature: str) -> int:
    """A feature's place and sign in [0, 1024): even slots add, odd ones take away, which cancels collisions."""
    digest = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=2).digest()
    return int.from_bytes(digest, "big") & (2 * _DIMENSION - 1)
