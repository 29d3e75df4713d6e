"""The knowledge graph at a million events and 50,000 keywords: what an update and a query take, beside two others.

The others, in the same run and from the same events: a graph of networkx as one would write it first (nodes and edges
with a count each, which knows no "as of"), and counting anew at each question (no graph at all), which needs no update.
All answer the same question: P_help and the intentions of the app, the mean of the intentions of the title's keywords.
"""

from __future__ import annotations

import gc
import importlib
import os
import resource
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import anyio

from memory.graph import GraphMemory
from memory.journal import COUNTS, Journal
from memory.keywords import tokens
from simulator.core.intentions import INTENTIONS
from simulator.core.rng import block_below
from simulator.core.types import SECOND, Event, Label, Query
from simulator.timing.clock import real_ns
from tests.memory.graph.test_graph_snapshot import kills

networkx: Any = importlib.import_module("networkx")  # of the extra test; it has no types

EVENTS, ASKED = 1_000_000, 20_000
_APPS, _TITLES, _VOCABULARY = 120, 150_000, 50_000
_HELP_IN_100 = 12


def _word(number: int) -> str:
    """A made-up word of letters; every 5th is a pair of Chinese characters."""
    if number % 5 == 0:
        return chr(0x4E00 + number // 5 % 140) + chr(0x4F00 + number // 700)
    letters = "".join(chr(97 + (number // 26**i) % 26) for i in range(4))
    return f"x{letters}"


def titles() -> list[tuple[str, str]]:
    """App and title of every window: 3 to 7 words; a window a quarter of which are seldom seen twice."""
    words = [_word(n) for n in range(_VOCABULARY)]
    sizes = block_below(5, _TITLES, 1, "title", "size")
    apps = block_below(_APPS, _TITLES, 1, "title", "app")
    drawn = iter(block_below(_VOCABULARY, 7 * _TITLES, 1, "title", "words").tolist())
    out = []
    for i in range(_TITLES):
        said = " ".join(words[next(drawn)] for _ in range(3 + int(sizes[i])))
        out.append((f"app {apps[i]}", f"● {said} — Mozilla Firefox" if i % 9 == 0 else said))
    return out


def past(n: int, users: int) -> Iterator[tuple[Event, Label]]:
    """n events of 30 s of so many users in turn; help in 12 of 100, for one of 16 intentions."""
    windows = titles()
    which = block_below(_TITLES, n, 1, "which").tolist()
    needed = block_below(100, n, 1, "needed").tolist()
    needs = block_below(len(INTENTIONS), n, 1, "need").tolist()
    for i in range(n):
        app, title = windows[which[i]]
        user, end_ns = f"u{i % users}", (i - n + 1) * 30 * SECOND
        event = Event(f"h/{i}", user, end_ns - 30 * SECOND, end_ns, app, title)
        helped = needed[i] < _HELP_IN_100
        need = INTENTIONS[needs[i]] if helped else None
        yield event, Label(event.id, user, helped, end_ns, need, "how is this done?" if helped else None)


class Taken:
    """Real and processor time of many calls, one by one: beside other work the first also counts who else ran."""

    def __init__(self) -> None:
        self._wall: list[int] = []
        self._cpu: list[float] = []

    def __enter__(self) -> None:
        self._cpu_before, self._before = _cpu_us(), real_ns()

    def __exit__(self, *_: object) -> None:
        self._wall.append(real_ns() - self._before)
        self._cpu.append(_cpu_us() - self._cpu_before)

    def figures(self, name: str) -> dict[str, float]:
        """Medians and 99th percentiles, in microseconds."""
        wall, cpu = sorted(self._wall), sorted(self._cpu)
        at = int(0.99 * len(wall))
        told = {"p50_us": median(wall) / 1e3, "p99_us": wall[at] / 1e3, "p99_cpu_us": cpu[at]}
        return {f"{name}_{key}": value for key, value in told.items()}


def _cpu_us() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1e6


async def _ours(scope: str, users: int, events: int) -> dict[str, float]:
    memory = GraphMemory(scope)
    updates, queries, early = Taken(), Taken(), Taken()
    asked: list[Event] = []
    begun = real_ns()
    for i, (event, label) in enumerate(past(events, users)):
        if i < events - ASKED:
            await memory.observe(event)
            await memory.feedback(event, label)
            continue
        asked.append(event)
        with updates:
            await memory.observe(event)
            await memory.feedback(event, label)
    built_s = (real_ns() - begun) / 1e9
    for event in asked:
        with queries:
            await memory.recall(Query(event.user, event.app, event.title, None, 0), 5, None)
    half = -events // 2 * 30 * SECOND
    for event in asked:  # as of an earlier instant: a decision in flight, a rehearsal
        with early:
            await memory.recall(Query(event.user, event.app, event.title, None, half), 5, None)
    stats = memory.stats()
    figures = updates.figures("update") | queries.figures("query") | early.figures("query_earlier")
    return figures | {"build_s": built_s, "keywords": stats["keywords"], "edges": stats["edges"]}


async def _stored() -> dict[str, float]:
    """A store of a million events: opened for the first time, and afterwards; then asked and told more."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=os.environ.get("PROACT_BENCH_DIR")) as place:
        folder, later = Path(place), deque[tuple[Event, Label]]()
        journal = Journal(folder)
        with journal.batch():
            for event, label in past(EVENTS, 1):
                later.append((event, label))
                if len(later) == ASKED:
                    _kept(journal, *later.popleft())
        journal.close()
        for name in ("counted", "reopened", "again"):
            begun, cpu = real_ns(), _cpu_us()
            memory = GraphMemory(store=str(folder))
            figures |= {f"{name}_s": (real_ns() - begun) / 1e9, f"{name}_cpu_s": (_cpu_us() - cpu) / 1e6}
            if name != "again":
                await memory.close()
        updates, queries = Taken(), Taken()
        for event, label in later:
            with updates:
                await memory.observe(event)
                await memory.feedback(event, label)
        for event, _ in later:
            with queries:
                await memory.recall(Query(event.user, event.app, event.title, None, 0), 5, None)
        await memory.close()
        figures["counts_mb"] = next((folder / COUNTS).iterdir()).stat().st_size / 1e6
    figures |= updates.figures("update") | queries.figures("query")
    return {f"stored_{key}": value for key, value in figures.items()}


def _kept(journal: Journal, event: Event, label: Label) -> None:
    journal.observe(event)
    journal.feedback(label)


def _killed() -> dict[str, float]:
    """Kills while counts are written; asserts that answers are a rebuild's."""
    with tempfile.TemporaryDirectory() as place:
        found = kills(Path(place) / "store", 20, seed=real_ns())
    return {"stored_kills": found["kills"], "stored_kills_amid_a_file": found["amid"]}


class _Networkx:
    """Counts as attributes of a networkx graph: neither as of an instant, nor keywords chosen by what they tell."""

    def __init__(self) -> None:
        self.graph = networkx.DiGraph()

    def update(self, event: Event, label: Label) -> None:
        """Count a labelled event at its app and its first five words."""
        for node in (("app", event.app), *(("keyword", w) for w in tokens(event.title or "")[:5])):
            if node not in self.graph:
                self.graph.add_node(node, seen=0, helped=0)
            self.graph.nodes[node]["seen"] += 1
            if label.help:
                self.graph.nodes[node]["helped"] += 1
                if self.graph.has_edge(node, label.intention):
                    self.graph[node][label.intention]["n"] += 1
                else:
                    self.graph.add_edge(node, label.intention, n=1)

    def query(self, event: Event) -> tuple[dict[str, float], dict[str, float]]:
        """Shares of the app, and the mean of those of the words."""
        told: list[dict[str, float]] = []
        for node in (("app", event.app), *(("keyword", w) for w in tokens(event.title or "")[:5])):
            if node in self.graph:
                whole = self.graph.nodes[node]["seen"]
                told.append({c: edge["n"] / whole for c, edge in self.graph[node].items()})
        mean: dict[str, float] = {}
        for shares in told[1:]:
            for c, share in shares.items():
                mean[c] = mean.get(c, 0.0) + share / len(told[1:])
        return told[0] if told else {}, mean


def _counted_anew(events: list[tuple[Event, Label]], asked: Event) -> tuple[int, int]:
    """No graph: all events are looked through at each question."""
    words = set(tokens(asked.title or "")[:5])
    n = helped = 0
    for event, label in events:
        if event.app == asked.app or not words.isdisjoint((event.title or "").split()):
            n += 1
            helped += label.help
    return n, helped


def _others() -> dict[str, float]:
    other, updates, queries = _Networkx(), Taken(), Taken()
    kept: list[tuple[Event, Label]] = []
    for i, (event, label) in enumerate(past(EVENTS, 1)):
        if i < EVENTS - ASKED:
            other.update(event, label)
        else:
            with updates:
                other.update(event, label)
        kept.append((event, label))
    for event, _ in kept[-ASKED:]:
        with queries:
            other.query(event)
    figures = updates.figures("networkx_update") | queries.figures("networkx_query")
    begun = real_ns()
    for event, _ in kept[-5:]:
        _counted_anew(kept, event)
    return figures | {"counted_anew_query_ms": (real_ns() - begun) / 5e6}


async def _all() -> dict[str, float]:
    runs: list[Callable[[], Any]] = [lambda: _ours("user", 1, EVENTS), lambda: _ours("backoff", 20, EVENTS // 5)]
    figures: dict[str, float] = await _stored() | _killed()
    gc.collect()
    for name, run in zip(("one_user", "backoff_20_users_200k"), runs, strict=True):
        figures |= {f"{name}_{key}": value for key, value in (await run()).items()}
        figures[f"{name}_peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        gc.collect()
    return figures | _others()


def measure() -> dict[str, float]:
    return anyio.run(_all)
