from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import index as indexing
from memory.embed import likeness
from memory.index import Index
from memory.segments import split
from simulator.core.rng import block_below

ROWS = st.lists(
    st.tuples(st.lists(st.integers(-2, 2), min_size=3, max_size=3), st.integers(0, 30)), min_size=1, max_size=40
)
ASKED = st.lists(st.integers(-2, 2), min_size=3, max_size=3).filter(any)


def filled(rows: list[tuple[list[int], int]], exact: int | None = 16, seal_at: int = 10**6) -> Index:
    index = Index(3, block=8, exact=exact)
    for i, (values, known_ns) in enumerate(rows):
        row = np.array(values, dtype=np.float32)
        index.add(row, float(np.sqrt(row @ row)), known_ns)
        if i == seal_at:
            index.seal()
    return index


def brute(rows: list[tuple[list[int], int]], asked: list[int], k: int, now_ns: int) -> list[tuple[int, float]]:
    """All that is known by then, scored one by one."""
    found = []
    for i, (values, known_ns) in enumerate(rows):
        row = np.array([values], dtype=np.float32)
        norm = np.sqrt((row * row).sum(axis=1)).astype(np.float64)
        score = float(likeness(row, norm, np.array(asked, dtype=np.float32), float(np.linalg.norm(asked)))[0])
        if known_ns <= now_ns and score > 0:
            found.append((i, score))
    return sorted(found, key=lambda f: (-f[1], -f[0]))[:k]


@given(ROWS, ASKED, st.integers(0, 9), st.integers(-1, 31), st.booleans())
def test_rows_in_any_order_of_time_are_found_as_of_any_instant(
    rows: list[tuple[list[int], int]], asked: list[int], k: int, now_ns: int, in_order: bool
) -> None:
    rows = sorted(rows, key=lambda r: r[1]) if in_order else rows
    row = np.array(asked, dtype=np.float32)
    want = brute(rows, asked, k, now_ns)
    for exact, seal_at in ((None, 10**6), (16, 10**6), (16, 20), (0, 39), (0, len(rows) - 1)):
        index = filled(rows, exact, seal_at)
        assert index.nearest(row, float(np.linalg.norm(asked)), k, now_ns) == want


@given(ROWS.filter(lambda rows: len(rows) > 16), ASKED, st.integers(1, 5), st.integers(0, 30))
def test_lists_that_are_left_out_cost_neighbours_and_never_show_the_future(
    rows: list[tuple[list[int], int]], asked: list[int], k: int, now_ns: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "_LOOKED_AT", 3)
        index = filled(rows, 0, len(rows) - 1)
        found = index.nearest(np.array(asked, dtype=np.float32), float(np.linalg.norm(asked)), k, now_ns)
    every = dict(brute(rows, asked, len(rows), now_ns))
    assert all(every[position] == score for position, score in found)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_of_many_like_rows_nearly_all_of_the_nearest_are_found_through_lists() -> None:
    n, d = 6_000, 24
    topics = (block_below(2001, 60 * d, 1, "topics").astype(np.float32) - 1000).reshape(60, d)
    noise = (block_below(2001, n * d, 1, "noise").astype(np.float32) - 1000).reshape(n, d)
    rows = topics[block_below(60, n, 1, "of")] + 0.6 * noise
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index: Any = Index(d, block=1024, exact=1024)
    for i, row in enumerate(rows):
        index.add(row, 1.0, i)
    index.seal()
    assert sum(block.lists is not None for block in index.blocks) == 5
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "_LOOKED_AT", n // 6)
        for now_ns in (n, 4_500, 1_500):
            hits = 0
            for i in range(0, n, 60):
                asked = rows[i] + 0.1 * rows[i - 1]
                norm = float(np.linalg.norm(asked))
                exact = index.near(asked, norm, 5, now_ns, whole=True)
                want = set(exact.positions[:5])
                found = index.nearest(asked, norm, 5, now_ns)
                assert all(p <= now_ns for p, _ in found)
                hits += len(want & {p for p, _ in found})
            assert hits / (5 * (n // 60)) >= 0.95


def test_a_split_holds_every_row_once_and_in_order_of_time() -> None:
    rows = (block_below(200, 500 * 4, 1, "rows").astype(np.float32) - 100).reshape(500, 4)
    norms = np.sqrt((rows * rows).sum(axis=1)).astype(np.float64)
    lists = split(rows, norms, 16)
    assert sorted(lists.order) == list(range(500))
    assert lists.starts[-1] == 500
    for a, b in zip(lists.starts, lists.starts[1:], strict=False):
        assert list(lists.order[a:b]) == sorted(lists.order[a:b])
    again = split(rows, norms, 16)
    assert (again.order == lists.order).all()


def test_a_row_that_proves_to_be_older_is_found_earlier() -> None:
    index, row = Index(3, block=8), np.array([1, 0, 0], dtype=np.float32)
    for known_ns in (10, 20, 30):
        index.add(row, 1.0, known_ns)
    index.earlier(2, 5)
    assert [p for p, _ in index.nearest(row, 1.0, 5, 7)] == [2]
    assert [p for p, _ in index.nearest(row, 1.0, 5, 10)] == [2, 0]
    assert index.disorder == 1
