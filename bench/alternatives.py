"""What others do, beside the lists of ``rag``, on a past that fits one process.

A scan of blobs in SQLite; graphs of near rows (HNSW) by faiss, as ``rag:index=hnsw`` makes them, and by usearch; and
the graph of everybody's rows, filtered afterwards. A graph whose package is not installed is named on stderr.

    python -m bench.memory_scale alternatives
"""

from __future__ import annotations

import importlib
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.vectors import ASKED, D, Drift, Rows, drawn_near, known_nearest, percentiles, questions, timed
from memory.embed import likeness
from memory.hnsw import Hnsw
from memory.index import Block, Index, best
from simulator.core.errors import UsageError
from simulator.timing.clock import real_ns

Near = Callable[[int, int], list[int]]
"""Of a question by its number, about as many near rows as asked for."""


def alternatives(n: int = 60_000, users: int = 200) -> dict[str, float]:
    """Times of each, the share of the true five that it finds, what making it takes.

    Args:
        n: rows, in order of time.
        users: whose rows they are in turn, where answers are filtered afterwards.
    """
    figures: dict[str, float] = {}
    rows = np.concatenate([rows for _, rows in Drift(n).pieces()])
    moments, noise = questions(n)
    near = drawn_near(rows[[m // 100 * 100 for m in moments]], noise)
    index = Index(D)
    for i, row in enumerate(rows):
        index.add(row, 1.0, i)
    figures |= percentiles(f"prefix_scan_{n}", timed(lambda i: index.nearest(near[i], 1.0, 5, moments[i]))[0])
    figures |= _blobs(rows, near, moments)
    begun = real_ns()
    index.exact, index.block, index.blocks = 0, n, [Block(rows, np.ones(n), n)]
    index.seal()
    figures[f"lists_{n}_build_s"] = (real_ns() - begun) / 1e9
    nearest = [set(best(np.vecdot(rows, q).astype(np.float64), 5)) for q in near]
    taken, found = timed(lambda i: [p for p, _ in index.nearest(near[i], 1.0, 5, n)])
    figures |= percentiles(f"lists_{n}", taken) | {f"lists_{n}_recall": _share(nearest, found)}
    for name, built_s, graph in _graphs(rows, near):
        taken, found = timed(partial(_five, graph))
        figures |= {f"{name}_{n}_build_s": built_s, f"{name}_{n}_recall": _share(nearest, found)}
        figures |= percentiles(f"{name}_{n}", taken) | _filtered(name, graph, rows, near, moments, users)
    return figures


def _five(graph: Near, i: int) -> list[int]:
    return graph(i, 5)


def _graphs(rows: Rows, near: Rows) -> Iterator[tuple[str, float, Near]]:
    """Name of each graph, seconds that making it took, and how it is asked."""
    begun = real_ns()
    try:
        ours = Hnsw.over(rows, np.ones(len(rows)))
    except UsageError as error:
        _absent(str(error))
    else:
        yield "faiss_hnsw", (real_ns() - begun) / 1e9, lambda i, k: ours.near(near[i], k).tolist()
    try:
        usearch: Any = importlib.import_module("usearch.index")
    except ImportError:
        _absent("usearch is not installed: python -m pip install usearch")
        return
    begun = real_ns()
    graph = usearch.Index(ndim=D, metric="cos", dtype="f16")
    graph.add(np.arange(len(rows)), rows, threads=1)
    yield "usearch_hnsw", (real_ns() - begun) / 1e9, lambda i, k: graph.search(near[i], k, threads=1).keys.tolist()


def _absent(what: str) -> None:
    print(f"not measured: {what}", file=sys.stderr, flush=True)


def _filtered(name: str, graph: Near, rows: Rows, near: Rows, moments: Sequence[int], users: int) -> dict[str, float]:
    """The graph of everybody's rows: the nearest 100 or 500, of which those of one user up to then are kept."""
    owner = np.arange(len(rows)) % users
    truth = known_nearest(rows, near, moments, users)
    figures: dict[str, float] = {}
    for wide in (100, 500):

        def kept(i: int, wide: int = wide) -> list[int]:
            return [k for k in graph(i, wide) if owner[k] == i % users and k < moments[i]][:5]

        taken, found = timed(kept)
        what = f"{name}_filtered_afterwards_{wide}_of_{users}_users"
        figures |= percentiles(what, taken) | {f"{what}_recall": _share(truth, found)}
        figures[f"{what}_empty"] = sum(not f for f in found) / ASKED
    return figures


def _share(wanted: Sequence[set[int]], found: Sequence[Sequence[int]]) -> float:
    return sum(len(w & set(f)) for w, f in zip(wanted, found, strict=True)) / sum(len(w) for w in wanted)


def _blobs(rows: Rows, near: Rows, moments: Sequence[int]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as place:
        db = sqlite3.connect(Path(place) / "blobs.sqlite")
        db.execute("CREATE TABLE v (t INTEGER PRIMARY KEY, row BLOB)")
        db.executemany("INSERT INTO v VALUES (?, ?)", ((i, row.tobytes()) for i, row in enumerate(rows)))
        db.commit()

        def ask(i: int) -> list[int]:
            raw = b"".join(r for (r,) in db.execute("SELECT row FROM v WHERE t < ?", (moments[i],)))
            held = np.frombuffer(raw, dtype=np.float32).reshape(-1, D)
            return best(likeness(held, np.ones(len(held)), near[i], 1.0), 5)

        taken, _ = timed(ask, 30)
        db.close()
        return percentiles(f"sqlite_blobs_{len(rows)}", taken)
