"""rag at the size of years: questions, appends, opening a store of a million events, and kills.

Vectors are made up as the facts ask: topics that drift, 384 dimensions, four topics to every hundred events at a time.
An embedder that looks its texts up stands in for a model, so what is timed is all of a question but the embedding.

    python -m bench memory_scale        # everything, about ten minutes
"""

from __future__ import annotations

import asyncio
import importlib
import os
import resource
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import thread_time_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.embed import likeness
from memory.index import EXACT, Index, best
from memory.journal import Journal
from memory.rag import RagMemory
from memory.shelf import Shelf
from simulator.core.rng import below, block
from simulator.core.types import Event, Query
from simulator.timing.clock import real_ns
from tests.memory.store.test_store_kills import kills

D = 384
ASKED = 300
_TOPICS = 2_000
Rows = NDArray[np.float32]


def drawn(n: int, *names: str | int) -> Rows:
    """n rows of numbers around 0, near enough to normal (sums of four)."""
    raw = block(n * D, 7, *names).view(np.uint16).reshape(n, D, 4)
    made: Rows = (raw.sum(axis=2, dtype=np.float32) - 131_070) / 37_837
    return made


def unit_rows(rows: Rows) -> Rows:
    made: Rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made


class Drift:
    """Rows of one user's past: topics that change over time, and noise of .7 of their length."""

    def __init__(self, n: int, user: int = 0) -> None:
        self.n, self.user = n, user
        self._then, self._now = (unit_rows(drawn(_TOPICS, end, user)) for end in ("first", "last"))

    def rows(self, a: int, b: int) -> Rows:
        of = (block(b - a, 7, "topic", self.user, a) % np.uint64(_TOPICS)).astype(np.intp)
        age = (np.arange(a, b, dtype=np.float32) / self.n)[:, None]
        mixed = self._then[of] * (1 - 0.3 * age) + self._now[of] * 0.3 * age
        centres = unit_rows(mixed.astype(np.float32))
        noise = drawn(b - a, "noise", self.user, a)
        return unit_rows((centres + 0.7 / D**0.5 * noise).astype(np.float32))

    def pieces(self) -> Iterator[tuple[int, Rows]]:
        for a in range(0, self.n, 20_000):
            yield a, self.rows(a, min(a + 20_000, self.n))


class Lookup:
    """Texts ``| row N`` of a user to the row N that was made for them; a text that ends in ``?`` to one near it."""

    identity, dimension = "bench-384", D

    def __init__(self) -> None:
        self.held: Rows = np.zeros((0, D), dtype=np.float32)
        self.first = 0

    def embed(self, texts: Sequence[str]) -> Rows:
        return np.array([self.held[int(t.rstrip(" |").rpartition(" ")[2]) - self.first] for t in texts])


def event(user: int, i: int) -> Event:
    return Event(f"s/{i}", f"user {user}", i * 1000, i * 1000 + 1000, "app", f"row {i}")


def filled(memory: RagMemory, lookup: Lookup, users: int, n: int) -> list[float]:
    """Feed n events of so many users, each user's in order; what appends took, in us."""
    taken = []

    async def feed() -> None:
        for user in range(users):
            for a, rows in Drift(n // users, user).pieces():
                lookup.held, lookup.first = rows, a
                for i in range(a, a + len(rows)):
                    one = event(user, i)
                    begun = real_ns()
                    await memory.observe(one)
                    taken.append((real_ns() - begun) / 1e3)

    asyncio.run(feed())
    return taken


def questions(n: int) -> tuple[list[int], Rows]:
    """A third each of early, middle and late moments, and rows near to what was in front then."""
    moments = [below(n // 20, 3, i) + (n // 30, n // 2, n - n // 20)[i % 3] for i in range(ASKED)]
    return moments, drawn(ASKED, "asked")


def timed(ask: Callable[[int], Any], n: int = ASKED) -> tuple[list[tuple[float, float]], list[Any]]:
    """What each question took, in ms of real and of processor time, the best of five, and the answers. The machine is
    shared, and what others do is no part of a question.
    """
    taken, answers = [], []
    for i in range(n):
        spent = []
        for _ in range(5):
            begun, begun_cpu = real_ns(), thread_time_ns()
            answer = ask(i)
            spent.append((real_ns() - begun, thread_time_ns() - begun_cpu))
        taken.append((min(s for s, _ in spent) / 1e6, min(s for _, s in spent) / 1e6))
        answers.append(answer)
    return taken, answers


def percentiles(name: str, taken: list[tuple[float, float]]) -> dict[str, float]:
    figures = {}
    for kind, values in zip(("", "_cpu"), zip(*taken, strict=True), strict=True):
        ordered = sorted(values)
        figures[f"{name}_p50{kind}_ms"] = ordered[len(ordered) // 2]
        figures[f"{name}_p99{kind}_ms"] = ordered[int(0.99 * len(ordered))]
    return figures


def asked(memory: RagMemory, lookup: Lookup, name: str, users: int, n: int, exact: bool) -> dict[str, float]:
    """Questions to a filled memory; with ``exact``, the recall of what it answers against scanning everything."""
    each = n // users
    moments, noise = questions(each)
    drifts = {user: Drift(each, user) for user in {i % users for i in range(ASKED)}}
    near = [drifts[i % users].rows(m // 100 * 100, m // 100 * 100 + 1)[0] for i, m in enumerate(moments)]
    lookup.held, lookup.first = unit_rows(np.array(near) + 0.5 / D**0.5 * noise), 0

    def ask(i: int) -> list[str]:
        query = Query(f"user {i % users}", "app", f"row {i}", None, moments[i] * 1000)
        work = memory.recall(query, 5, None)
        try:
            work.send(None)
        except StopIteration as done:
            return [item.source_event_ids[0] for item in done.value]
        raise AssertionError

    for i in range(0, ASKED, 30):
        ask(i)
    taken, answers = timed(ask)
    figures = percentiles(name, taken)
    figures[f"{name}_short"] = sum(len(a) < 5 for a in answers)
    if exact:
        shelf: Shelf = memory._users["user 0"]
        hits, late = 0, [i for i in range(ASKED) if moments[i] > EXACT]
        for i in late:
            true = shelf.index.near(lookup.held[i], 1.0, 5, moments[i] * 1000, whole=True).positions[:5]
            hits += len({f"s/{p}" for p in true} & set(answers[i]))
        figures[f"{name}_recall"] = hits / (5 * len(late))
    return figures


def whole(n: int, users: int, index: str = "auto") -> dict[str, float]:
    """A memory of n events of so many users: appends, questions, memory used."""
    name = f"rag_{n}_of_{users}" if index == "auto" else f"rag_{n}_of_{users}_{index}"
    lookup = Lookup()
    memory = RagMemory("all", embedder=lookup, index=index)
    taken = filled(memory, lookup, users, n)
    figures = {
        f"{name}_append_p50_us": float(np.median(taken)),
        f"{name}_append_p99_us": float(np.quantile(taken, 0.99)),
    }
    begun = real_ns()
    asyncio.run(memory.maintain(0))
    figures[f"{name}_maintain_s"] = (real_ns() - begun) / 1e9
    figures |= asked(memory, lookup, name, users, n, exact=n // users > EXACT)
    figures[f"{name}_rss_mb"] = _rss_mb()
    return figures


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if sys.platform == "linux" else 0
    return pages * resource.getpagesize() / 1e6


def alternatives(n: int = 60_000, users: int = 200) -> dict[str, float]:
    """What others do, on a past that fits: a scan of blobs in SQLite; a graph of everybody's rows, filtered afterwards;
    a graph of this user's alone. The last two need usearch and are left out without it.
    """
    figures: dict[str, float] = {}
    rows = np.concatenate([rows for _, rows in Drift(n).pieces()])
    owner = np.arange(n) % users
    moments, noise = questions(n)
    near = unit_rows(rows[[m // 100 * 100 for m in moments]] + 0.5 / D**0.5 * noise)
    truth = []
    for i, m in enumerate(moments):
        mine = np.flatnonzero(owner[:m] == i % users)
        truth.append({int(mine[p]) for p in best(np.vecdot(rows[mine], near[i]).astype(np.float64), 5)})
    index = Index(D)
    for i, row in enumerate(rows):
        index.add(row, 1.0, i)
    taken, _ = timed(lambda i: index.nearest(near[i], 1.0, 5, moments[i]))
    figures |= percentiles(f"prefix_scan_{n}", taken)
    figures |= _blobs(rows, near, moments)
    try:
        usearch: Any = importlib.import_module("usearch.index")
    except ImportError:
        return figures
    begun = real_ns()
    graph = usearch.Index(ndim=D, metric="cos", dtype="f16")
    graph.add(np.arange(n), rows, threads=1)
    figures[f"hnsw_{n}_build_s"] = (real_ns() - begun) / 1e9
    begun = real_ns()
    index.exact = 0
    index.block = n
    index.blocks = [_one_block(rows)]
    index.seal()
    figures[f"lists_{n}_build_s"] = (real_ns() - begun) / 1e9
    everything = [set(best(np.vecdot(rows, q).astype(np.float64), 5)) for q in near]
    for name, ask in (
        ("hnsw", lambda i: {int(k) for k in graph.search(near[i], 5, threads=1).keys}),
        ("lists", lambda i: {p for p, _ in index.nearest(near[i], 1.0, 5, n)}),
    ):
        taken, found = timed(ask)
        figures |= percentiles(f"{name}_{n}", taken)
        figures[f"{name}_{n}_recall"] = _share(everything, found)
    for wide in (100, 500):

        def filtered(i: int, wide: int = wide) -> set[int]:
            keys = [int(k) for k in graph.search(near[i], wide, threads=1).keys]
            return set([k for k in keys if owner[k] == i % users and k < moments[i]][:5])

        taken, found = timed(filtered)
        name = f"filtered_afterwards_{wide}_of_{users}_users"
        figures |= percentiles(name, taken)
        figures[f"{name}_recall"] = _share(truth, found)
        figures[f"{name}_empty"] = sum(not f for f in found) / ASKED
    return figures


def _one_block(rows: Rows) -> Any:
    from memory.index import Block

    return Block(rows, np.ones(len(rows)), len(rows))


def _share(wanted: Sequence[set[int]], found: Sequence[set[int]]) -> float:
    return sum(len(w & f) for w, f in zip(wanted, found, strict=True)) / sum(len(w) for w in wanted)


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


def stored(n: int = 1_000_000) -> dict[str, float]:
    """A store of n events of one user: appends one by one, a batch, the making of its vectors, opening it again."""
    figures: dict[str, float] = {}
    lookup = Lookup()
    with tempfile.TemporaryDirectory(dir=os.environ.get("PROACT_BENCH_DIR")) as place:
        folder = Path(place) / "store"
        keeper = RagMemory("all", embedder=lookup)
        keeper.open_store(folder, keep=True)
        taken = filled(keeper, lookup, 1, 10_000)
        figures |= {
            "store_append_p50_us": float(np.median(taken)),
            "store_append_p99_us": float(np.quantile(taken, 0.99)),
        }
        figures["store_append_longest_us"] = max(taken)
        asyncio.run(keeper.close())
        journal = Journal(folder)
        begun = real_ns()
        with journal.batch():
            for i in range(10_000, n):
                journal.observe(event(0, i))
        figures["store_batch_per_s"] = (n - 10_000) / ((real_ns() - begun) / 1e9)
        journal.close()
        figures["store_mb"] = (folder / "journal.sqlite").stat().st_size / 1e6
        lookup.held, lookup.first = np.concatenate([rows for _, rows in Drift(n).pieces()]), 0
        begun = real_ns()
        first = RagMemory("all", embedder=lookup, store=str(folder))
        figures["store_vectors_made_s"] = (real_ns() - begun) / 1e9
        lookup.held = lookup.held[:10]
        asyncio.run(first.close())
        begun = real_ns()
        again = RagMemory("all", embedder=lookup, store=str(folder))
        opened = real_ns()
        items = asyncio.run(again.recall(Query("user 0", "app", "row 5", None, n * 1000), 5, None))
        figures["store_reopen_s"] = (opened - begun) / 1e9
        figures["store_first_question_s"] = (real_ns() - opened) / 1e9
        assert items
        figures |= asked(again, lookup, "store", 1, n, exact=False)
        asyncio.run(again.close())
        for what in ("made", "reopen"):
            begun = real_ns()
            walked = RagMemory("all", embedder=lookup, store=str(folder), index="hnsw")
            figures[f"store_graphs_{what}_s"] = (real_ns() - begun) / 1e9
            asyncio.run(walked.close())
        figures["store_graphs_mb"] = sum(p.stat().st_size for p in folder.glob("vectors/*/hnsw/*/*")) / 1e6
    return figures


def killed() -> dict[str, float]:
    begun = real_ns()
    with tempfile.TemporaryDirectory() as place:
        found = kills(Path(place) / "store", 20, seed=begun)
    return {"kills": 20, "kills_events": found["events"], "kills_s": (real_ns() - begun) / 1e9}


PARTS: dict[str, Callable[[], dict[str, float]]] = {
    "10k": lambda: whole(10_000, 1),
    "100k": lambda: whole(100_000, 1),
    "100k_of_20": lambda: whole(100_000, 20),
    "1m_of_20": lambda: whole(1_000_000, 20),
    "1m": lambda: whole(1_000_000, 1),
    "1m_hnsw": lambda: whole(1_000_000, 1, "hnsw"),
    "alternatives": alternatives,
    "stored": stored,
    "killed": killed,
}


def measure() -> dict[str, float]:
    """Every part, one after another; ``python -m bench.memory_scale PART…`` for some."""
    figures = {"load": os.getloadavg()[0]}
    for part in PARTS.values():
        figures |= part()
    return figures


if __name__ == "__main__":
    for chosen in sys.argv[1:] or list(PARTS):
        print(f"# {chosen}, load {os.getloadavg()}")
        for figure, value in PARTS[chosen]().items():
            print(f"{figure:48} {value:12,.4g}", flush=True)
