"""How long memories and the prior agent take: ``python bench/measure_memory.py`` from the project's folder."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agents.prior import Prior
from agents.testing import FakeMeter, observe
from memory.base import HashEmbedder, LabelBook, View, make_memory
from simulator.core.rng import below, unit
from simulator.core.types import SECOND, Event, Label, Query
from simulator.timing.clock import real_ns

APPS = ("chromium", "code", "thunar", "libreoffice", "telegram", "gnome-terminal")
_WORDS = """
review draft fix update plan budget report asyncio stream deploy python train table invoice garden recipe travel berlin
museum contract lecture exam notes parser cluster index
"""
WORDS = _WORDS.split()


def past(n: int) -> list[tuple[Event, Label]]:
    """n events of 30 s ending at 0, about n/4 different titles, help often in two apps and seldom elsewhere."""
    out = []
    for i in range(n):
        which = below(max(n // 4, 10), 1, "title", i)
        app = APPS[below(len(APPS), 1, "app", which)]
        words = [WORDS[below(len(WORDS), 1, "word", which, j)] for j in range(4)]
        title = f"{' '.join(words)} {which % 97} — {app.title()}"
        event = Event(f"h/{i}", "u", (i - n) * 30 * SECOND, (i - n + 1) * 30 * SECOND, app, title)
        needed = unit(1, "help", i) < (0.6 if app in ("code", "libreoffice") else 0.08)
        need = ("Coding/Programming" if app == "code" else "Document Editing") if needed else None
        question = f"how to {words[0]} {words[1]}?" if needed else None
        out.append((event, Label(event.id, "u", needed, event.end_ns, need, question)))
    return out


def spent_us(work: Callable[[], object], times: int = 1) -> float:
    """Real microseconds a call takes on average."""
    begun = real_ns()
    for _ in range(times):
        work()
    return (real_ns() - begun) / times / 1e3


async def memory_times(spec: str, n: int) -> None:
    memory, events = make_memory(spec), past(n)
    begun = real_ns()
    for event, label in events:
        await memory.observe(event)
        await memory.feedback(event, label)
    write_us = (real_ns() - begun) / n / 1e3
    built = ""
    if hasattr(memory, "_build"):
        built = f", one build {spent_us(lambda: memory._build('u')) / 1e3:.0f} ms"
    taken = []
    for event, _ in events[:900:3]:
        begun = real_ns()
        await memory.recall(Query("u", event.app, event.title, None, 0), 5, None)
        taken.append((real_ns() - begun) / 1e3)
    taken.sort()
    p50, p99 = median(taken), taken[int(0.99 * len(taken))]
    print(f"{spec:10s} {n:6d} events: write {write_us:6.0f} µs, query p50 {p50:5.0f} p99 {p99:5.0f} µs{built}")


async def prior_times(spec: str) -> None:
    memory, book, agent, meter, events = make_memory(spec), LabelBook(), Prior(threshold=1.0), FakeMeter(), past(2000)
    for event, label in events:
        await memory.observe(event)
        book.add(event, label)
        await memory.feedback(event, label)
    seen = []
    for i in range(20_000):
        event = events[i // 60][0]
        view = View(memory, book, "u", i * SECOND, event.app, event.title, None, meter)
        since_ns = i // 60 * 60 * SECOND
        seen.append(observe(i, app=event.app, title=event.title, since_ns=since_ns, memory=view, meter=meter))  # type: ignore[arg-type]
    begun = real_ns()
    for observation in seen:
        await agent.decide(observation)
    print(f"prior with {spec:10s} {(real_ns() - begun) / len(seen) / 1e3:5.1f} µs a snapshot, a new window a minute")


async def main() -> None:
    titles = [f"{event.app} {event.title}" for event, _ in past(10_000)]
    different = list(dict.fromkeys(titles))
    cold, warm = HashEmbedder(), HashEmbedder()
    print(
        f"embed: {spent_us(lambda: [cold.counts(t) for t in different]) / len(different):.1f} µs a new title,", end=" "
    )
    print(f"{spent_us(lambda: [warm.counts(t) for t in titles]) / len(titles):.1f} µs a title as they repeat")
    for spec in ("window", "rag", "graph", "personas"):
        for n in (1_000, 2_000, 10_000):
            await memory_times(spec, n)
    for spec in ("rag", "graph", "personas", "none"):
        await prior_times(spec)


if __name__ == "__main__":
    asyncio.run(main())
