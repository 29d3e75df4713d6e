"""One user's vectors in a matrix that grows by doubling; nearest by cosine, exact, as of an instant."""

from __future__ import annotations

import numpy as np

from memory.embed import Floats, Rows, likeness

__all__ = ["Index", "best"]


def best(scores: Floats, k: int) -> list[int]:
    """Positions of the k highest scores, best first; equal scores: the later position first."""
    n = len(scores)
    if k <= 0 or n == 0:
        return []
    if k < n:
        # Everything that ties with the k-th score takes part, so that a partition cannot pick among equals by chance.
        at_least = np.partition(scores, n - k)[n - k]
        places = np.flatnonzero(scores >= at_least)
    else:
        places = np.arange(n)
    order = np.lexsort((-places, -scores[places]))[:k]
    return [int(p) for p in places[order]]


class Index:
    """Rows with the instant from which each is known. Positions are given in order of adding and stay valid."""

    def __init__(self, dimension: int) -> None:
        self._rows: Rows = np.zeros((16, dimension), dtype=np.float32)
        self._norms: Floats = np.zeros(16, dtype=np.float64)
        self._known_ns = np.zeros(16, dtype=np.int64)
        self._n = 0
        self._newest_ns = -(2**63)

    def __len__(self) -> int:
        return self._n

    def add(self, row: Rows, norm: float, known_ns: int) -> int:
        """Append a row; its position."""
        if self._n == len(self._norms):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._norms = np.concatenate([self._norms, np.zeros_like(self._norms)])
            self._known_ns = np.concatenate([self._known_ns, np.zeros_like(self._known_ns)])
        self._n += 1
        self.replace(self._n - 1, row, norm, known_ns)
        return self._n - 1

    def replace(self, position: int, row: Rows, norm: float, known_ns: int) -> None:
        """Put another row in a position."""
        self._rows[position], self._norms[position], self._known_ns[position] = row, norm, known_ns
        self._newest_ns = max(self._newest_ns, known_ns)

    def nearest(self, row: Rows, norm: float, k: int, now_ns: int) -> list[tuple[int, float]]:
        """Positions and cosines of the k nearest rows known by ``now_ns`` with a cosine above 0, best first."""
        if norm == 0 or self._n == 0:
            return []
        scores = likeness(self._rows[: self._n], self._norms[: self._n], row, norm)
        if self._newest_ns > now_ns:
            scores[self._known_ns[: self._n] > now_ns] = -1.0
        return [(p, float(scores[p])) for p in best(scores, k) if scores[p] > 0]
