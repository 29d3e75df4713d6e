"""Who helped whom: content matchers, and one-to-one matching of offers to opportunities in time.

Edges are intervals: an offer may serve an opportunity while the window is open and if its content is right. Among all
one-to-one matchings the one is taken that serves most opportunities; among those, the one of greatest worth
``Σ w·g(z)``, ``g(z) = 1 - z/2``, ``z = (a - o)/(x - o)``; among those, earlier offers, and earlier offers to windows
that opened earlier. Comparisons are in whole numbers, so nothing depends on rounding or on the order of the input.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from simulator.core.errors import UsageError, nearest, quote
from simulator.core.intentions import key
from simulator.core.protocols import Embedder
from simulator.runs.records import Ints
from simulator.session.truth import Opportunity

__all__ = [
    "AnyContent",
    "ByCategory",
    "ByEmbedding",
    "Content",
    "Judging",
    "Right",
    "Said",
    "Windows",
    "content",
    "match",
    "maximum",
]

Right = Callable[[int, Ints], NDArray[np.bool_]]
"""Of opportunity i and offers js: which of these offers is right for it."""


class Said(Protocol):
    """The content of an offer; logged offers and PIRA's entries have it."""

    @property
    def intention(self) -> str:
        """The category offered."""
        ...

    @property
    def text(self) -> str:
        """What the user reads."""
        ...


class Wanted(Protocol):
    """The content of a need."""

    @property
    def intention(self) -> str:
        """The category of help."""
        ...

    @property
    def query(self) -> str | None:
        """The user's own words."""
        ...


class Content(Protocol):
    """Decides whether the content of an offer is right for a need."""

    name: str

    def right(self, offers: Sequence[Said], needs: Sequence[Wanted]) -> Right:
        """A test over positions in the two sequences."""
        ...

    def why(self, offer: Said, need: Wanted, right: bool) -> str:
        """How the two compare, in words that end a sentence; ``right`` is what the test said of them."""
        ...


class Judging(Content, Protocol):
    """A judge of one user, in the two ways in which it is asked."""

    def in_time(self) -> Content:
        """The same, asked about each pair only once it matters: of a stream's offers few meet a need in time."""
        ...


class AnyContent:
    """Strength ``timing``: whatever was said is right."""

    name = "timing"

    def right(self, offers: Sequence[Said], needs: Sequence[Wanted]) -> Right:
        """Always true."""
        return lambda i, js: np.ones(len(js), dtype=bool)

    def why(self, offer: Said, need: Wanted, right: bool) -> str:
        """Nothing is compared."""
        return "whatever is offered counts as right"


class ByCategory:
    """``category``: the same intention, by canonical name or alias, else by folded text."""

    name = "category"

    def right(self, offers: Sequence[Said], needs: Sequence[Wanted]) -> Right:
        """Equality of intentions."""
        number: dict[str, int] = {}
        said = np.array([number.setdefault(key(o.intention), len(number)) for o in offers], np.int64)
        wanted = [number.get(key(n.intention), -1) for n in needs]
        return lambda i, js: said[js] == wanted[i]

    def why(self, offer: Said, need: Wanted, right: bool) -> str:
        """Both categories."""
        a, b = quote(offer.intention), quote(need.intention)
        if a == b:
            return f"the category is {a} in both"
        return f"{a} and {b} are {'one category' if right else 'two categories'}"


class ByEmbedding:
    """``embedding>=θ``: cosine of the offered text and the user's question at least θ.

    The offer's text stands for itself (its intention where it has none); a need's query likewise. Here a float decides,
    as the measure is one; the embedder's identity is part of the name.
    """

    def __init__(self, embedder: Embedder, threshold: float) -> None:
        if not 0 < threshold <= 1:
            raise UsageError(f"matcher embedding: the threshold must lie in (0, 1], not {quote(threshold)}")
        self._embedder, self._threshold = embedder, threshold
        self.name = f"embedding>={threshold:g} ({embedder.identity})"

    def right(self, offers: Sequence[Said], needs: Sequence[Wanted]) -> Right:
        """Cosine at or above the threshold."""
        texts = sorted({o.text or o.intention for o in offers} | {n.query or n.intention for n in needs})
        if not texts:
            return lambda i, js: np.zeros(len(js), dtype=bool)
        rows = self._embedder.embed(texts)
        place = {text: i for i, text in enumerate(texts)}
        said = np.array([place[o.text or o.intention] for o in offers], np.int64)
        wanted = [place[n.query or n.intention] for n in needs]
        return lambda i, js: (rows[said[js]] @ rows[wanted[i]] >= self._threshold).astype(bool)

    def why(self, offer: Said, need: Wanted, right: bool) -> str:
        """The cosine, and of what."""
        texts = [offer.text or offer.intention, need.query or need.intention]
        a, b = self._embedder.embed(texts)
        found = f"the cosine of {quote(texts[0])} and {quote(texts[1])} is {float(a @ b):.3f}"
        return f"{found}, {'not under' if right else 'under'} {self._threshold:g}"


def content(name: str, embedder: Embedder | None, judge: Content | None = None) -> Content:
    """The matcher of that name: ``category``, ``embedding>=0.8``, or ``judge`` where one is given (``scorers.judge``).

    Raises:
        UsageError: unknown, or it needs an embedder or a judge that was not given.
    """
    if name == "category":
        return ByCategory()
    if name == "judge":
        if judge is None:
            raise UsageError("matcher 'judge' needs a model: proact score RUN --scorer realtime:matcher=judge "
                             "--judge-model NAME (pira:matcher=judge for trajectories)")  # fmt: skip
        return judge
    if name.startswith("embedding>="):
        if embedder is None:
            raise UsageError(f"matcher {quote(name)} needs an embedder")
        try:
            return ByEmbedding(embedder, float(name.removeprefix("embedding>=")))
        except ValueError as error:
            raise UsageError(f"matcher {quote(name)}: the threshold is not a number") from error
    raise UsageError(f"unknown matcher {quote(name)}; {nearest(name, ['category', 'embedding>=0.8', 'judge'])}")


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows in which opportunities may be served.

    Attributes:
        opens_ns: when each opens; its worth falls from here.
        until_ns: served only before this (the close, or an earlier deadline).
        length_ns: of the whole window, over which its worth falls by half.
        weight: of each opportunity.
    """

    opens_ns: Ints
    until_ns: Ints
    length_ns: Ints
    weight: tuple[float, ...]

    @classmethod
    def of(cls, needs: Sequence[Opportunity], deadline_ns: int | None = None) -> Windows:
        """Of opportunities; with a deadline they must be served at ``opens + deadline`` at the latest."""
        opens = np.array([n.opens_ns for n in needs], np.int64)
        closes = np.array([n.closes_ns for n in needs], np.int64)
        until = closes if deadline_ns is None else np.minimum(closes, opens + deadline_ns + 1)
        return cls(opens, until, closes - opens, tuple(n.weight for n in needs))

    def __len__(self) -> int:
        return len(self.opens_ns)


def match(windows: Windows, times_ns: Ints, right: Right) -> list[int | None]:
    """For each window, the position of the offer that serves it, or None.

    Args:
        windows: when each opportunity may be served, and what that is worth.
        times_ns: arrival of each offer, in any order.
        right: content test over positions of windows and offers.
    """
    if not len(times_ns):
        return [None] * len(windows)
    order = np.argsort(times_ns, kind="stable")
    times = times_ns[order]
    low = np.searchsorted(times, windows.opens_ns, side="left")
    high = np.searchsorted(times, windows.until_ns, side="left")
    found: list[int | None] = [None] * len(windows)
    for cluster in _clusters(windows, low, high):
        # Of the offers right for a window only its k earliest can matter, k windows competing: they are worth most,
        # and whoever took a later one could take a free one of these instead.
        k = len(cluster)
        edges: list[list[int]] = []
        for i in cluster:
            span = np.arange(low[i], high[i])
            edges.append([int(j) for j in span[right(i, order[span])][:k]])
        for i, j in zip(cluster, _solve(windows, cluster, times, edges), strict=True):
            found[i] = None if j is None else int(order[j])
    return found


def maximum(right: Right, n_needs: int, n_offers: int) -> list[int | None]:
    """A one-to-one matching of most needs where time plays no part; earlier offers and earlier needs first."""
    span = np.arange(n_offers)
    values = [[(int(j), n_offers - int(j)) for j in span[right(i, span)]] for i in range(n_needs)]
    return assign(values, n_offers)


def _clusters(windows: Windows, low: Ints, high: Ints) -> list[list[int]]:
    """Windows that may compete, in order of opening: those whose ranges of offers overlap, directly or by others."""
    ranked = sorted(
        (int(i) for i in np.flatnonzero(high > low)),
        key=lambda i: (int(windows.opens_ns[i]), int(windows.until_ns[i]), i),
    )
    clusters: list[list[int]] = []
    reach = -1
    for i in ranked:
        if not clusters or low[i] >= reach:
            clusters.append([])
        clusters[-1].append(i)
        reach = max(reach, int(high[i]))
    return clusters


def _solve(windows: Windows, cluster: list[int], times: Ints, edges: list[list[int]]) -> list[int | None]:
    if len(cluster) == 1:
        return [edges[0][0] if edges[0] else None]
    offers = sorted({j for row in edges for j in row})
    rank = {j: r for r, j in enumerate(offers)}
    worth = _worths(windows, cluster, times, edges)
    n, m = len(cluster), len(offers)
    # Worth first; then earlier offers (the sum of ranks); then like order in both (the sum of products is greatest).
    order_unit = n * n * m + 1
    time_unit = n * (m * order_unit + n * m) + 1
    values = [
        [(rank[j], w * time_unit + (m - rank[j]) * order_unit + r * rank[j]) for j, w in zip(row, ws, strict=True)]
        for r, (row, ws) in enumerate(zip(edges, worth, strict=True))
    ]
    return [None if j is None else offers[j] for j in assign(values, m)]


_MOST_BITS = 2048
"""Past this many bits of common denominator worths are rounded (to 2**-64 of a weight), deterministically."""


def _worths(windows: Windows, cluster: list[int], times: Ints, edges: list[list[int]]) -> list[list[int]]:
    """``w·g(z)`` of each edge as whole numbers over one common denominator, so that equal sums are equal."""
    parts = []
    for i in cluster:
        above, below = windows.weight[i].as_integer_ratio()
        parts.append((above, below * 2 * int(windows.length_ns[i])))
    common = 1
    for _, below in parts:
        common = math.lcm(common, below)
        if common.bit_length() > _MOST_BITS:
            common = 1 << 64
            break
    out = []
    for i, (above, below), row in zip(cluster, parts, edges, strict=True):
        opens, length = int(windows.opens_ns[i]), int(windows.length_ns[i])
        out.append([above * (2 * length - (int(times[j]) - opens)) * common // below for j in row])
    return out


def assign(values: Sequence[Sequence[tuple[int, int]]], n_columns: int) -> list[int | None]:
    """One-to-one assignment of rows to columns: most rows served, then greatest total value.

    Rows are added one by one along a shortest augmenting path with dual prices (Jonker and Volgenant 1987), each path
    sought only until the first free column, so sparse and local problems stay cheap. A row's own dummy column, dearer
    than all else together, means unserved.

    Args:
        values: per row, ``(column, value)`` with values of 0 or more.
        n_columns: columns are 0 … n_columns - 1.

    Returns:
        Per row its column, or None.
    """
    top = max((v for row in values for _, v in row), default=0)
    dummy_cost = (len(values) + 1) * (top + 1)
    costs = [[*((j, top - v) for j, v in row), (n_columns + i, dummy_cost)] for i, row in enumerate(values)]
    prices = _Prices([0] * len(costs), {})
    owner: dict[int, int] = {}
    column_of: list[int] = [-1] * len(costs)
    for new in range(len(costs)):
        last, came_from = _augmenting_path(new, costs, owner, prices)
        column = last
        while column >= 0:
            row = came_from[column]
            owner[column], column_of[row], column = row, column, column_of[row]
    return [j if j < n_columns else None for j in column_of]


@dataclass(slots=True)
class _Prices:
    """Dual prices: cost - row - column is 0 on edges in use and never negative."""

    row: list[int]
    column: dict[int, int]


def _augmenting_path(
    new: int, costs: list[list[tuple[int, int]]], owner: dict[int, int], prices: _Prices
) -> tuple[int, dict[int, int]]:
    """The cheapest alternating path from a new row to a free column (Dijkstra on reduced costs); updates the prices.

    Returns:
        The free column, and for each column reached the row it was reached from.
    """
    prices.row[new] = min(c - prices.column.get(j, 0) for j, c in costs[new])
    distance: dict[int, int] = {}
    came_from: dict[int, int] = {}
    done: list[int] = []
    closed: set[int] = set()
    heap: list[tuple[int, int]] = []
    row, so_far = new, 0
    while True:
        base = so_far - prices.row[row]
        for j, c in costs[row]:
            reached = base + c - prices.column.get(j, 0)
            if j not in closed and (j not in distance or reached < distance[j]):
                distance[j], came_from[j] = reached, row
                heapq.heappush(heap, (reached, j))
        so_far, column = heapq.heappop(heap)
        while column in closed:
            so_far, column = heapq.heappop(heap)
        if column not in owner:
            break
        closed.add(column)
        done.append(column)
        row = owner[column]
    for j in done:
        prices.column[j] = prices.column.get(j, 0) + distance[j] - so_far
        prices.row[owner[j]] += so_far - distance[j]
    prices.row[new] += so_far
    return column, came_from
