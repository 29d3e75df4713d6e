import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.hnsw import Hnsw, kept
from memory.index import Index
from memory.journal import Journal
from memory.rag import RagMemory
from simulator.core.errors import UsageError
from simulator.core.rng import below, block_below
from simulator.core.types import Event, Query
from tests.memory.blocks import small_blocks

pytest.importorskip("faiss", reason="the extra faiss is not installed")

N, D, BLOCK = 6_000, 24, 1_024
Graphs = list[tuple[bytes, Any, Any]]


def past() -> Any:
    """Rows around sixty topics."""
    topics = (block_below(2001, 60 * D, 1, "topics").astype(np.float32) - 1000).reshape(60, D)
    noise = (block_below(2001, N * D, 1, "noise").astype(np.float32) - 1000).reshape(N, D)
    rows = topics[block_below(60, N, 1, "of")] + 0.6 * noise
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def filled() -> Index:
    index = Index(D, block=BLOCK, exact=BLOCK, graphs=True)
    for i, row in enumerate(past()):
        index.add(row, 1.0, i)
    index.seal()
    assert [block.graph is not None for block in index.blocks] == [True] * 5 + [False]
    return index


def test_nearly_all_of_the_nearest_are_found_by_way_of_graphs(filled: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filled, "_look", None)  # lists are not looked into
    rows = past()
    for now_ns in (N, 4_500, 1_500):
        hits = 0
        for i in range(0, N, 60):
            asked = rows[i] + 0.1 * rows[i - 1]
            norm = float(np.linalg.norm(asked))
            exact = dict(_true(filled, asked, norm, now_ns))
            found = filled.nearest(asked, norm, 5, now_ns)
            assert [p for p, _ in found] == sorted({p for p, _ in found}, key=lambda p: (-exact[p], -p))
            assert all(score == pytest.approx(exact[p], abs=1e-6) for p, score in found)
            hits += len(set(list(exact)[:5]) & {p for p, _ in found})
        assert hits / (5 * (N // 60)) >= 0.95


def _true(index: Index, asked: Any, norm: float, now_ns: int) -> list[tuple[int, float]]:
    near = index.near(asked, norm, N, now_ns, whole=True)
    return list(zip(near.positions, near.scores, strict=True))


@settings(deadline=None, max_examples=60)
@given(st.integers(-1, N), st.integers(0, N - 1), st.integers(1, 40))
def test_the_future_is_never_found_and_the_block_of_now_is_scanned(filled: Index, now: int, which: int, k: int) -> None:
    row = past()[which]
    found = filled.near(row, 1.0, k, now)
    assert all(p <= now for p in found.positions)
    assert len(found.positions) >= min(k, sum(score > 0 for _, score in _true(filled, row, 1.0, now)))
    if which <= now and which // BLOCK == (now + 1) // BLOCK:  # in the block of now: scanned, so it is found
        assert found.positions[0] == which


def test_the_same_rows_make_the_same_graph() -> None:
    rows = past()[:2_000]
    first, again = Hnsw.over(rows, np.ones(2_000)), Hnsw.over(rows, np.ones(2_000))
    assert bytes(first) == bytes(again)
    read = Hnsw.out_of(bytes(first))
    assert all((read.near(row, 7) == first.near(row, 7)).all() for row in rows[:50])


def test_lengths_change_nothing_and_rows_that_say_nothing_do_no_harm() -> None:
    rows = past()[:2_000].copy()
    lengths = np.array([1.0 + below(9, 3, i) for i in range(2_000)])
    rows[::7] = 0
    norms = np.where(np.arange(2_000) % 7 == 0, 0.0, lengths)
    scaled = Hnsw.over((rows * lengths[:, None]).astype(np.float32), norms)
    hits = 0
    for i in range(1, 700, 7):
        true = set(np.argsort(-(rows @ rows[i]), kind="stable")[:5].tolist())
        hits += len(true & set(scaled.near(rows[i], 5).tolist()))
    assert hits >= 475


@pytest.fixture
def small() -> Iterator[pytest.MonkeyPatch]:
    with small_blocks() as patch:
        yield patch


def keep(folder: Path, *parsers: int, user: str = "ada") -> None:
    journal = Journal(folder)
    for i in parsers:
        journal.observe(Event(f"{user}/{i}", user, i, i + 1, "code", f"parser {i} of {i % 3}"))
    journal.close()


async def told(folder: Path, index: str = "hnsw", user: str = "ada") -> list[tuple[str, float]]:
    memory = RagMemory("all", index=index, store=str(folder))
    found = []
    for now_ns in (3, 6, 9, 100):
        items = await memory.recall(Query(user, "code", "parser 3 of 0", None, now_ns), 4, None)
        found += [(item.text, item.score) for item in items]
    await memory.close()
    return found


def graphs(folder: Path) -> list[Path]:
    return sorted((folder / "vectors").glob("*/hnsw/*/*"))


async def test_graphs_are_made_once_for_a_store_and_found_again(tmp_path: Path, small: pytest.MonkeyPatch) -> None:
    keep(tmp_path, *range(10))
    exact = await told(tmp_path, "exact")
    assert graphs(tmp_path) == []
    first = await told(tmp_path)
    assert first == exact
    made = graphs(tmp_path)
    assert [p.suffix for p in made] == [".faiss"] * 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Hnsw, "over", None)
        assert await told(tmp_path) == first
    # More of the past: what is sealed already has its graphs, and only the new block's is made.
    keep(tmp_path, *range(10, 14))
    grown = await told(tmp_path)
    assert grown == await told(tmp_path, "exact")
    assert set(made) < set(graphs(tmp_path))
    assert len(graphs(tmp_path)) == 3


async def test_how_a_store_is_first_asked_changes_nothing_for_who_asks_next(
    tmp_path: Path, small: pytest.MonkeyPatch
) -> None:
    keep(tmp_path, *range(10))
    await told(tmp_path, "exact")
    memory = RagMemory("all", store=str(tmp_path))
    assert [block.lists is not None for block in memory._shelves["ada"].index.blocks] == [True, True, False]
    await memory.close()


@pytest.mark.parametrize("damage", ["zeroed", "truncated", "empty", "missing", "a folder"])
async def test_a_damaged_graph_is_made_anew(tmp_path: Path, small: pytest.MonkeyPatch, damage: str) -> None:
    keep(tmp_path, *range(10))
    first = await told(tmp_path)
    file = graphs(tmp_path)[0]
    whole = file.read_bytes()
    file.unlink()
    if damage == "a folder":
        file.mkdir()
        assert await told(tmp_path) == first
        return
    if damage != "missing":
        file.write_bytes({"zeroed": bytes(len(whole)), "truncated": whole[:-9], "empty": b""}[damage])
    assert await told(tmp_path) == first
    assert file.read_bytes() == whole


async def test_graphs_of_what_is_gone_are_removed(tmp_path: Path, small: pytest.MonkeyPatch) -> None:
    keep(tmp_path, *range(10))
    keep(tmp_path, *range(10), user="bob")
    await told(tmp_path)
    before = graphs(tmp_path)
    (before[0].parent / f"{before[0].name.partition('.')[0]}.123.new").write_bytes(b"of a process that was killed")
    journal = Journal(tmp_path)
    journal.forget("ada", 0, 1_000)
    journal.close()
    assert graphs(tmp_path) == []
    assert await told(tmp_path) == []
    assert await told(tmp_path, user="bob") != []
    assert len(graphs(tmp_path)) == 2


def test_where_nothing_can_be_written_graphs_are_made_in_this_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    rows = past()[:100]
    (graph,) = kept(tmp_path / "file", [(b"some", rows, np.ones(100))])
    assert graph.near(rows[5], 1).tolist() == [5]


def test_what_is_left_of_another_process_or_version_is_cleared_away(tmp_path: Path) -> None:
    rows = past()[:100]
    stretch: Graphs = [(b"some", rows, np.ones(100))]
    kept(tmp_path, stretch)
    (tmp_path / "abc.1.new").write_bytes(b"half")
    (tmp_path / "abc.00000000.faiss").write_bytes(b"other")
    kept(tmp_path, [*stretch, (b"more", rows[:50], np.ones(50))])
    assert {p.name[:3] for p in tmp_path.iterdir()}.isdisjoint({"abc"})
    assert len(list(tmp_path.iterdir())) == 2


def test_without_faiss_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(UsageError, match=r"index=hnsw needs faiss: .*faiss"):
        RagMemory(index="hnsw")
    RagMemory(index="auto")


def test_the_header_names_the_version_whose_graphs_are_walked() -> None:
    import faiss

    assert RagMemory.header_facts({"index": "hnsw"}) == {"index": f"faiss {faiss.__version__}"}
    assert RagMemory.header_facts({}) == {}


async def test_a_memory_without_a_store_walks_graphs_too(small: pytest.MonkeyPatch) -> None:
    memory, exact = RagMemory("all", index="hnsw"), RagMemory("all", index="exact")
    for i in range(12):
        event = Event(f"s/{i}", "ada", i, i + 1, "code", f"parser {i} of {i % 3}")
        for one in (memory, exact):
            await one.observe(event)
            await one.maintain(0)
    shelf = memory._users["ada"]
    assert [block.graph is not None for block in shelf.index.blocks] == [True, True, True]
    for now_ns in range(0, 14, 2):
        query = Query("ada", "code", "parser 3 of 0", None, now_ns)
        assert await memory.recall(query, 4, None) == await exact.recall(query, 4, None)
