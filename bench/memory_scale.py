"""rag at the size of years: questions, appends, opening a store of a million events, and kills.

Vectors are made up as the facts ask: topics that drift, 384 dimensions, four topics to every hundred events at a time.
An embedder that looks its texts up stands in for a model, so what is timed is all of a question but the embedding.

    python -m bench memory_scale        # everything, about ten minutes
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bench.alternatives import alternatives
from bench.vectors import ASKED, D, Drift, Rows, near_rows, percentiles, timed
from memory.index import EXACT
from memory.journal import Journal
from memory.rag import RagMemory
from memory.shelf import Shelf
from simulator.core.types import Event, Query
from simulator.timing.clock import real_ns
from tests.memory.store.test_store_kills import kills


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


def asked(memory: RagMemory, lookup: Lookup, name: str, users: int, n: int, exact: bool) -> dict[str, float]:
    """Questions to a filled memory; with ``exact``, the recall of what it answers against scanning everything."""
    each = n // users
    moments, near = near_rows(each, users)
    lookup.held, lookup.first = near, 0

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
