"""Embedding, keywords, index, and the words of items."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.embed import HashEmbedder, vectors
from memory.index import Index, best
from memory.keywords import Tally, WordCounts, tokens
from memory.wording import MARK, estimate_tokens, one_line, render_lines, within_budget
from simulator.core.types import MemoryItem

ROOT = Path(__file__).parents[2]


def test_titles_split_into_english_words_and_chinese_pairs_without_stop_words() -> None:
    assert tokens("The asyncio Guide (2) — Local Docs") == ["asyncio", "guide", "local", "docs"]
    assert tokens("季度报告") == ["季度", "度报", "报告"]
    assert tokens("打开 report终稿_v2.docx") == ["report", "终稿", "v2", "docx"]
    assert tokens("…  12 — a") == []


def test_the_rarer_word_tells_more_and_ties_go_to_the_earlier_one() -> None:
    words = WordCounts()
    for n in range(8):
        words.add("budget draft", n)
    words.add("parser draft", 8)
    assert words.top("draft budget parser", 8, 2) == ("parser", "budget")
    assert words.top("zebra apple", 8) == ("zebra", "apple")


def test_word_counts_are_read_as_of_the_moment_asked_about() -> None:
    words = WordCounts()
    words.add("alpha", 0)
    assert words.top("alpha beta", 5, 1) == ("beta",)
    for n in range(10):
        words.add("beta", 100 + n)
    assert words.top("alpha beta", 5, 1) == ("beta",)
    assert words.top("alpha beta", 200, 1) == ("alpha",)


@given(st.lists(st.integers(-50, 50)), st.integers(-60, 60))
def test_a_tally_never_counts_what_came_later(instants: list[int], now_ns: int) -> None:
    tally = Tally()
    for ns in instants:
        tally.add(ns)
    assert tally.upto(now_ns) <= sum(ns <= now_ns for ns in instants)
    assert tally.upto(max(instants, default=0)) == len(instants)
    latest = tally.latest(now_ns)
    assert latest is None or latest <= now_ns


def test_embeddings_are_unit_rows_and_the_same_in_every_process() -> None:
    texts = ["asyncio guide — Local Docs", "会议记录 草稿", "", "…"]
    rows = HashEmbedder().embed(texts)
    assert rows.shape == (4, 512)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 1, 0, 0], atol=1e-6)
    code = f"from memory.embed import HashEmbedder; print(HashEmbedder().embed({texts!r}).tobytes().hex())"
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == rows.tobytes().hex()


def test_the_hash_of_this_version_is_pinned() -> None:
    row, norm = HashEmbedder().counts("Quarterly report 季度报告")
    assert (int(row.sum()), int((row != 0).sum()), round(norm**2)) == PINNED


PINNED = (-7, 23, 41)


def test_like_titles_are_nearer_than_unlike_ones() -> None:
    embedder = HashEmbedder()
    near = embedder.embed(
        ["pip install fails - Terminal", "pip install failed", "holiday photos", "预算报告", "预算报告 终稿"]
    )
    assert near[0] @ near[1] > 0.4 > near[0] @ near[2]
    assert near[3] @ near[4] > 0.4 > near[3] @ near[2]


@given(st.text(max_size=3000), st.text(max_size=3000))
def test_products_of_counts_are_exact_integers(a: str, b: str) -> None:
    rows, norms = vectors(HashEmbedder(cache=0), [a, b])
    assert np.abs(rows).max() <= 127
    assert norms.max() ** 2 < 2**24
    assert float(rows[0] @ rows[1]) == int(rows[0].astype(np.int64) @ rows[1].astype(np.int64))


def test_a_full_cache_changes_no_result() -> None:
    small, large = HashEmbedder(cache=2), HashEmbedder()
    texts = [f"title {n % 5}" for n in range(20)]
    assert all((small.counts(t)[0] == large.counts(t)[0]).all() for t in texts)


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(0, 35))
def test_the_best_are_the_highest_and_the_latest_among_equals(values: list[int], k: int) -> None:
    want = sorted(range(len(values)), key=lambda i: (-values[i], -i))[:k]
    assert best(np.array(values, dtype=np.float64), k) == want


def test_an_index_answers_as_of_an_instant_while_it_grows() -> None:
    embedder = HashEmbedder()
    index = Index(512)
    for n in range(100):
        row, norm = embedder.counts(f"note number {n}")
        assert index.add(row, norm, n) == n
    row, norm = embedder.counts("note number 70")
    ((place, cosine),) = index.nearest(row, norm, 1, 1000)
    assert (place, round(cosine, 9)) == (70, 1.0)
    assert all(p <= 50 for p, _ in index.nearest(row, norm, 100, 50))


@given(st.lists(st.integers(0, 20), max_size=12), st.integers(0, 12), st.none() | st.integers(0, 60))
def test_a_budget_is_kept_and_every_item_left_out_is_counted(sizes: list[int], k: int, budget: int | None) -> None:
    items = [MemoryItem("x", 1.0, tokens=n) for n in sizes]
    kept, left_out = within_budget(items, k, budget)
    assert len(kept) <= k
    assert budget is None or sum(i.tokens + MARK for i in kept) <= budget
    assert len(kept) == k or len(kept) + left_out == len(items)


@given(st.lists(st.text(max_size=60), max_size=9), st.text(max_size=40), st.integers(0, 120))
def test_a_budget_covers_the_heading_and_the_marks_of_what_is_shown(
    texts: list[str], heading: str, budget: int
) -> None:
    items = [MemoryItem(text, 1.0, tokens=estimate_tokens(text)) for text in texts]
    kept, _ = within_budget(items, 9, budget, heading)
    assert estimate_tokens(render_lines(kept, heading)) <= budget


def test_tokens_are_estimated_and_lines_are_flat() -> None:
    assert (estimate_tokens(""), estimate_tokens("abcde"), estimate_tokens("报告")) == (0, 2, 2)
    assert one_line(" a\n\x1b[31mb\u2028 c ", 8) == "a [31mb…"
    assert one_line(None) == ""
