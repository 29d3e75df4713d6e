"""One user's vectors in order of time; nearest by cosine as of an instant.

What was known by an instant is a prefix of the rows, so a search scans that prefix and filters nothing. The few rows
that came out of order are kept in a list and looked at one by one. Beyond ``EXACT`` rows, sealed blocks are searched
through lists of like rows (``segments``) or graphs of near ones (``hnsw``), never what is filtered afterwards; the
block in which the instant lies, and rows not yet sealed, are scanned exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory.embed import Floats, Rows, likeness
from memory.hnsw import Hnsw
from memory.segments import Lists, split

__all__ = ["BLOCK", "EXACT", "Block", "Index", "Nearest", "best"]

BLOCK = 65_536
EXACT = 131_072
"""Rows up to which all are scanned: 6 ms at 384 dimensions (``bench/memory_scale.py``)."""
_LISTS = 256
_LOOKED_AT = 16_384
"""Rows that a search through lists looks at, at least (and a sixtieth of all)."""
_FIRST = 1_024
_Numbers = NDArray[np.int64]


class Nearest(NamedTuple):
    """Positions of rows with their cosines, best first; ``whole``: no other visible row has a cosine above 0."""

    positions: list[int]
    scores: list[float]
    whole: bool


def best(scores: Floats, k: int) -> list[int]:
    """Positions of the k highest scores, best first; equal scores: the later position first."""
    places = _at_least_kth(scores, k)
    order = np.lexsort((-places, -scores[places]))[: max(k, 0)]
    return [int(p) for p in places[order]]


def _at_least_kth(scores: Floats, k: int) -> NDArray[np.intp]:
    """Places of the k highest scores and of all that tie with the k-th, so that no partition picks among equals."""
    n = len(scores)
    if k <= 0 or n == 0:
        return np.zeros(0, dtype=np.intp)
    if k >= n:
        return np.arange(n)
    return np.flatnonzero(scores >= np.partition(scores, n - k)[n - k])


class Block:
    """A stretch of rows, with room for ``size``; sealed, it lies in lists of like rows instead of in order of time, and
    may have a graph over them.
    """

    graph: Hnsw | None = None

    def __init__(self, rows: Rows, norms: Floats, n: int, lists: Lists | None = None) -> None:
        self.rows, self.norms, self.n, self.lists = rows, norms, n, lists
        self._unit = bool((norms[:n] == 1).all())

    def add(self, row: Rows, norm: float) -> None:
        """Put a row behind the others; room doubles up to a thousand, then is all there (untouched, it costs none)."""
        if self.n == len(self.norms):
            size = BLOCK if self.n >= _FIRST else 2 * self.n
            rows, norms = np.empty((size, self.rows.shape[1]), dtype=np.float32), np.empty(size)
            rows[: self.n], norms[: self.n] = self.rows[: self.n], self.norms[: self.n]
            self.rows, self.norms = rows, norms
        self.rows[self.n], self.norms[self.n] = row, norm
        self._unit = self._unit and norm == 1
        self.n += 1

    def seal(self, n_lists: int = _LISTS) -> None:
        """Lay the rows into lists."""
        lists = split(self.rows[: self.n], self.norms[: self.n], n_lists)
        self.rows, self.norms, self.lists = self.rows[lists.order], self.norms[lists.order], lists

    def row(self, place: int) -> tuple[Rows, float]:
        """A row by its place in time, and its length."""
        slot = place if self.lists is None else int(np.flatnonzero(self.lists.order == place)[0])
        return self.rows[slot], float(self.norms[slot])

    def cosines(self, row: Rows, norm: float, a: int, b: int) -> Floats:
        """Cosines of the slots from a to b."""
        if self._unit and norm == 1:  # to divide by 1 costs a tenth of the scan
            found: Floats = np.vecdot(self.rows[a:b], row).astype(np.float64)
            return found
        return likeness(self.rows[a:b], self.norms[a:b], row, norm)

    def scan(self, row: Rows, norm: float, first: int) -> Floats:
        """Cosines of the first rows in time; of a sealed block those of all slots, -1 where a row is not among them."""
        if self.lists is None:
            return self.cosines(row, norm, 0, first)
        scores = self.cosines(row, norm, 0, self.n)
        if first < self.n:
            scores[self.lists.order >= first] = -1.0
        return scores

    def walk(self, graph: Hnsw, row: Rows, norm: float, k: int) -> tuple[Floats, NDArray[np.int32]]:
        """Cosines of about the k nearest rows of a sealed block, and their places in time."""
        assert self.lists is not None
        slots = graph.near(row, k)
        return likeness(self.rows[slots], self.norms[slots], row, norm), self.lists.order[slots]


class _Found:
    """Scores as they are collected, with what leads back from their place to a position."""

    def __init__(self) -> None:
        self.scores: list[Floats] = []
        self._starts: list[int] = []
        self._from: list[tuple[int, NDArray[np.int32] | _Numbers | None]] = []
        self.n = 0

    def add(self, scores: Floats, offset: int, order: NDArray[np.int32] | _Numbers | None = None) -> None:
        self.scores.append(scores)
        self._starts.append(self.n)
        self._from.append((offset, order))
        self.n += len(scores)

    def best(self, k: int) -> Nearest:
        if not self.n:
            return Nearest([], [], True)
        scores = np.concatenate(self.scores) if len(self.scores) > 1 else self.scores[0]
        places = _at_least_kth(scores, k)
        places = places[scores[places] > 0]
        found = scores[places]
        order = np.argsort(-found, kind="stable")
        piece = np.searchsorted(self._starts, places, side="right") - 1
        positions = []
        for i in order:
            offset, ranks = self._from[piece[i]]
            place = int(places[i]) - self._starts[piece[i]]
            positions.append(offset + (place if ranks is None else int(ranks[place])))
        return Nearest(positions, [float(found[i]) for i in order], len(places) < k or self.n <= k)


class Index:
    """Rows with the instant from which each is known. Positions are given in order of adding and stay valid.

    Args:
        dimension: of the rows.
        block: rows in a sealed block.
        exact: rows up to which a search scans them all; None for always.
        graphs: sealed blocks get a graph of near rows beside their lists.
    """

    def __init__(self, dimension: int, block: int = BLOCK, exact: int | None = EXACT, *, graphs: bool = False) -> None:
        self.dimension, self.block, self.exact, self.graphs = dimension, block, exact, graphs
        self.blocks: list[Block] = []
        self._known_ns: _Numbers = np.zeros(16, dtype=np.int64)
        self._peaks: _Numbers = np.zeros(16, dtype=np.int64)  # the latest instant up to here: never falls
        self._late: dict[int, None] = {}
        self._n = 0
        self._directions: Rows | None = None

    def __len__(self) -> int:
        return self._n

    @property
    def known_ns(self) -> _Numbers:
        """Since when each row is known, int64 of shape (n,)."""
        return self._known_ns[: self._n]

    @property
    def disorder(self) -> int:
        """How many rows came later than their place in time."""
        return len(self._late)

    def add(self, row: Rows, norm: float, known_ns: int) -> int:
        """Append a row; its position."""
        if not self.blocks or self.blocks[-1].n == self.block or self.blocks[-1].lists is not None:
            room = min(16, self.block)
            self.blocks.append(Block(np.empty((room, self.dimension), dtype=np.float32), np.empty(room), 0))
        self.blocks[-1].add(row, norm)
        if self._n == len(self._peaks):
            self._known_ns = np.concatenate([self._known_ns, np.zeros_like(self._known_ns)])
            self._peaks = np.concatenate([self._peaks, np.zeros_like(self._peaks)])
        position, self._n = self._n, self._n + 1
        peak_ns = known_ns if position == 0 else max(int(self._peaks[position - 1]), known_ns)
        self._known_ns[position], self._peaks[position] = known_ns, peak_ns
        if known_ns < peak_ns:
            self._late[position] = None
        return position

    def extend(self, blocks: list[Block], known_ns: _Numbers) -> None:
        """Take over blocks that were stored, all but the last of them full; for an index that is still empty."""
        self.blocks, self._n = blocks, len(known_ns)
        self._known_ns = np.array(known_ns, dtype=np.int64)
        self._peaks = np.maximum.accumulate(self._known_ns) if self._n else self._known_ns
        self._late = {int(p): None for p in np.flatnonzero(self._known_ns < self._peaks)}

    def earlier(self, position: int, known_ns: int) -> None:
        """A row turns out to have been known since an earlier instant."""
        if known_ns < self._known_ns[position]:
            self._known_ns[position] = known_ns
            self._late[position] = None

    def row(self, position: int) -> tuple[Rows, float]:
        """A row and its length."""
        return self.blocks[position // self.block].row(position % self.block)

    def seal(self) -> None:
        """Lay full blocks into lists, if there is more than is scanned whole. Takes a second a block, and six more for
        its graph: not for the path of a decision.
        """
        if self.exact is not None and self._n > self.exact:
            for block in self.blocks:
                if block.lists is None and block.n == self.block:
                    block.seal()
                if self.graphs and block.lists is not None and block.graph is None:
                    block.graph = Hnsw.over(block.rows, block.norms)
            self._directions = None

    def nearest(self, row: Rows, norm: float, k: int, now_ns: int) -> list[tuple[int, float]]:
        """Positions and cosines of the k nearest rows known by ``now_ns`` with a cosine above 0, best first; ties go to
        the later one.
        """
        found = self.near(row, norm, k, now_ns)
        pairs = zip(found.positions, found.scores, strict=True)
        return sorted(pairs, key=lambda pair: (-pair[1], -pair[0]))[:k]

    def near(self, row: Rows, norm: float, k: int, now_ns: int, *, whole: bool = False) -> Nearest:
        """The k nearest rows known by ``now_ns`` with a cosine above 0, and all that tie with the last of them.

        Args:
            row: float32 of shape (d,); ``norm`` is its length.
            norm: 0 where the text says nothing: then nothing is near.
            k: how many.
            now_ns: as of when.
            whole: scan every row, however many there are.
        """
        found = _Found()
        if norm == 0 or k <= 0 or self._n == 0:
            return Nearest([], [], True)
        n = int(np.searchsorted(self._peaks[: self._n], now_ns, side="right"))
        scan_all = whole or self.exact is None or n <= self.exact
        lists: list[int] = []
        looked_through = False
        for i, block in enumerate(self.blocks):
            offset = i * self.block
            if offset >= n:
                break
            if scan_all or block.lists is None or offset + block.n > n:
                ranks = None if block.lists is None else block.lists.order
                found.add(block.scan(row, norm, min(block.n, n - offset)), offset, ranks)
                continue
            looked_through = True
            if block.graph is None:
                lists.append(i)
            else:
                scores, places = block.walk(block.graph, row, norm, k)
                found.add(scores, offset, places)
        if lists:
            self._look(found, lists, row, norm, max(_LOOKED_AT, n // 60))
        late = [p for p in self._late if p >= n and self._known_ns[p] <= now_ns]
        if late:
            rows, norms = zip(*(self.row(p) for p in late), strict=True)
            found.add(likeness(np.array(rows), np.array(norms), row, norm), 0, np.array(late, dtype=np.int64))
        nearest = found.best(k)
        return nearest._replace(whole=False) if looked_through else nearest

    def _look(self, found: _Found, sealed: list[int], row: Rows, norm: float, budget: int) -> None:
        """Score the rows of the likeliest lists of all sealed blocks together, until enough were looked at."""
        n_lists = [len(block.lists.centres) for block in self.blocks if block.lists is not None]
        if self._directions is None:
            self._directions = np.concatenate([b.lists.centres for b in self.blocks if b.lists is not None])
        # Sealed blocks are the first ones, and those that lie before now the first of these.
        likely = np.vecdot(self._directions[: sum(n_lists[: len(sealed)])], row)
        ends = np.cumsum(n_lists)
        for which in np.argsort(-likely, kind="stable"):
            i = int(np.searchsorted(ends, which, side="right"))
            block = self.blocks[sealed[i]]
            assert block.lists is not None
            j = int(which) - int(ends[i]) + n_lists[i]
            a, b = int(block.lists.starts[j]), int(block.lists.starts[j + 1])
            if a < b:
                found.add(block.cosines(row, norm, a, b), sealed[i] * self.block, block.lists.order[a:b])
                budget -= b - a
            if budget <= 0:
                break
