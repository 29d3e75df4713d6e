"""The knowledge graph at a million events and 50,000 keywords: what an update and a query take, beside four others.

python -m bench.graph [PART…]     # parts: see ALL
"""

from __future__ import annotations

import gc
import os
import resource
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio

from bench.graph_others import OTHERS, Taken, beside, cpu_us
from memory.graph import GraphMemory
from memory.journal import COUNTS, Journal
from simulator.core.intentions import INTENTIONS
from simulator.core.rng import block_below
from simulator.core.types import SECOND, Event, Label, Query
from simulator.timing.clock import real_ns
from tests.memory.graph.test_graph_snapshot import kills

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


async def _ours(scope: str, users: int, events: int = EVENTS) -> dict[str, float]:
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
            begun, cpu = real_ns(), cpu_us()
            memory = GraphMemory(store=str(folder))
            figures |= {f"{name}_s": (real_ns() - begun) / 1e9, f"{name}_cpu_s": (cpu_us() - cpu) / 1e6}
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
    return figures


def _kept(journal: Journal, event: Event, label: Label) -> None:
    journal.observe(event)
    journal.feedback(label)


def _killed() -> dict[str, float]:
    """Kills while counts are written; asserts that answers are a rebuild's."""
    with tempfile.TemporaryDirectory() as place:
        found = kills(Path(place) / "store", 20, seed=real_ns())
    return {"stored_kills": found["kills"], "stored_kills_amid_a_file": found["amid"]}


PARTS: dict[str, Callable[[], Any]] = {
    "stored": _stored,
    "one_user": lambda: _ours("user", 1),
    "backoff_20_users": lambda: _ours("backoff", 20),
    "global_20_users": lambda: _ours("global", 20),
}


ALL = (*PARTS, "killed", *OTHERS)


def measure(parts: Sequence[str] = ALL) -> dict[str, float]:
    """Every part, one after another; ``python -m bench.graph PART…`` for some."""
    figures: dict[str, float] = {}
    for name in parts:
        if name == "killed":
            figures |= _killed()
        elif name in OTHERS:
            figures |= beside(name, past(EVENTS, 1), EVENTS, ASKED)
        else:
            figures |= {f"{name}_{key}": value for key, value in anyio.run(PARTS[name]).items()}
            figures[f"{name}_peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        gc.collect()
    return figures


if __name__ == "__main__":
    for figure, value in measure(sys.argv[1:] or ALL).items():
        print(f"{figure:48} {value:12,.4g}", flush=True)
