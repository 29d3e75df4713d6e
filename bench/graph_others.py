"""The counts of the knowledge graph as others would keep them, from the same events and asked the same.

Plain dictionaries; a graph of networkx (nodes and edges with a count each); rows of SQLite, upserted one event a
transaction; and counting anew at each question (no graph at all), which needs no update. None knows "as of", nor
chooses keywords by what they tell. All answer: how often help was needed in the app, and for what; the mean of what the
title's first five words tell.
"""

from __future__ import annotations

import importlib
import resource
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from memory.keywords import tokens
from simulator.core.types import Event, Label
from simulator.timing.clock import real_ns

OTHERS = ("dicts", "networkx", "sqlite", "counted_anew")


class Taken:
    """Real and processor time of many calls, one by one: beside other work the first also counts who else ran."""

    def __init__(self) -> None:
        self._wall: list[int] = []
        self._cpu: list[float] = []

    def __enter__(self) -> None:
        self._cpu_before, self._before = cpu_us(), real_ns()

    def __exit__(self, *_: object) -> None:
        self._wall.append(real_ns() - self._before)
        self._cpu.append(cpu_us() - self._cpu_before)

    def figures(self, name: str) -> dict[str, float]:
        """Medians and 99th percentiles, in microseconds."""
        wall, cpu = sorted(self._wall), sorted(self._cpu)
        at = int(0.99 * len(wall))
        told = {"p50_us": median(wall) / 1e3, "p99_us": wall[at] / 1e3, "p99_cpu_us": cpu[at]}
        return {f"{name}_{key}": value for key, value in told.items()}


def cpu_us() -> float:
    """Processor time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1e6


class Counts(Protocol):
    """Of a node: its moments, and those with help for each need."""

    def count(self, nodes: Iterable[str], need: str | None) -> None:
        """A moment at these nodes."""

    def shares(self, node: str) -> Mapping[str, float]:
        """Of each need, among the node's moments; empty for an unknown one."""


def _nodes(event: Event) -> list[str]:
    return [f"app {event.app}", *(f"word {word}" for word in tokens(event.title or "")[:5])]


def _answer(counts: Counts, event: Event) -> tuple[Mapping[str, float], dict[str, float]]:
    """Shares of the app, and the mean of those of the words that are known."""
    app, *words = (counts.shares(node) for node in _nodes(event))
    told = [shares for shares in words if shares]
    mean: dict[str, float] = {}
    for shares in told:
        for need, share in shares.items():
            mean[need] = mean.get(need, 0.0) + share / len(told)
    return app, mean


class Dicts:
    """A counter a node; under "" its moments."""

    def __init__(self) -> None:
        self._held: dict[str, Counter[str]] = {}

    def count(self, nodes: Iterable[str], need: str | None) -> None:
        for node in nodes:
            held = self._held.setdefault(node, Counter())
            held[""] += 1
            if need is not None:
                held[need] += 1

    def shares(self, node: str) -> Mapping[str, float]:
        held = self._held.get(node, Counter())
        return {need: n / held[""] for need, n in held.items() if need}


class Networkx:
    """Counts as attributes of nodes and edges."""

    def __init__(self) -> None:
        networkx: Any = importlib.import_module("networkx")  # of the extra test; it has no types
        self._graph = networkx.DiGraph()

    def count(self, nodes: Iterable[str], need: str | None) -> None:
        for node in nodes:
            if node not in self._graph:
                self._graph.add_node(node, n=0)
            self._graph.nodes[node]["n"] += 1
            if need is not None and self._graph.has_edge(node, need):
                self._graph[node][need]["n"] += 1
            elif need is not None:
                self._graph.add_edge(node, need, n=1)

    def shares(self, node: str) -> Mapping[str, float]:
        if node not in self._graph:
            return {}
        whole = self._graph.nodes[node]["n"]
        return {need: edge["n"] / whole for need, edge in self._graph[node].items()}


class Sqlite:
    """A row a node and need, and one a node, in a file (WAL, synchronous=NORMAL as our store has it)."""

    def __init__(self, folder: Path) -> None:
        self._db = sqlite3.connect(folder / "counts.sqlite", isolation_level=None)
        self._db.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
            "CREATE TABLE counts (node TEXT, need TEXT, n INTEGER, PRIMARY KEY (node, need)) WITHOUT ROWID"
        )

    def count(self, nodes: Iterable[str], need: str | None) -> None:
        rows = [(node, told) for node in nodes for told in ("", need) if told is not None]
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO counts VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1", rows)
        self._db.execute("COMMIT")

    def shares(self, node: str) -> Mapping[str, float]:
        held = dict(self._db.execute("SELECT need, n FROM counts WHERE node = ?", (node,)))
        whole = held.pop("", 1)
        return {need: n / whole for need, n in held.items()}


def _counted_anew(events: list[tuple[Event, Label]], asked: Event) -> tuple[int, int]:
    """No graph: all events are looked through at each question."""
    words = set(tokens(asked.title or "")[:5])
    n = helped = 0
    for event, label in events:
        if event.app == asked.app or not words.isdisjoint((event.title or "").split()):
            n += 1
            helped += label.help
    return n, helped


def _made(name: str, folder: Path) -> Counts:
    if name == "dicts":
        return Dicts()
    return Networkx() if name == "networkx" else Sqlite(folder)


def beside(name: str, past: Iterable[tuple[Event, Label]], n: int, asked: int) -> dict[str, float]:
    """Times of one of ``OTHERS``: of the last ``asked`` updates among n, and of as many queries."""
    if name == "counted_anew":
        kept = list(past)
        begun = real_ns()
        for event, _ in kept[-5:]:
            _counted_anew(kept, event)
        return {"counted_anew_query_ms": (real_ns() - begun) / 5e6}
    updates, queries, last = Taken(), Taken(), []
    with tempfile.TemporaryDirectory() as folder:
        counts = _made(name, Path(folder))
        for i, (event, label) in enumerate(past):
            if i < n - asked:
                counts.count(_nodes(event), label.intention)
                continue
            last.append(event)
            with updates:
                counts.count(_nodes(event), label.intention)
        for event in last:
            with queries:
                _answer(counts, event)
    return updates.figures(f"{name}_update") | queries.figures(f"{name}_query")
