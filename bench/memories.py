"""How long the memories, the embedder and the agent ``prior`` take, on made-up events."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

import anyio

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


async def memory_times(spec: str, n: int) -> dict[str, float]:
    memory, events = make_memory(spec), past(n)
    begun = real_ns()
    for event, label in events:
        await memory.observe(event)
        await memory.feedback(event, label)
    figures = {"write_us": (real_ns() - begun) / n / 1e3}
    maintain = getattr(memory, "maintain", None)
    if maintain is not None:
        begun = real_ns()
        await maintain(0)
        figures["maintain_ms"] = (real_ns() - begun) / 1e6
    taken = []
    for event, _ in events[:900:3]:
        begun = real_ns()
        await memory.recall(Query("u", event.app, event.title, None, 0), 5, None)
        taken.append((real_ns() - begun) / 1e3)
    taken.sort()
    figures |= {"query_p50_us": median(taken), "query_p99_us": taken[int(0.99 * len(taken))]}
    return {f"{spec}_{n}_{name}": value for name, value in figures.items()}


async def prior_us(spec: str) -> float:
    """Microseconds a snapshot, a new window a minute."""
    memory, book, agent, meter, events = make_memory(spec), LabelBook(), Prior(threshold=1.0), FakeMeter(), past(2000)
    for event, label in events:
        await memory.observe(event)
        book.add(event, label)
        await memory.feedback(event, label)
    if (maintain := getattr(memory, "maintain", None)) is not None:  # as a run does before time 0
        await maintain(0)
    seen = []
    for i in range(20_000):
        event = events[i // 60][0]
        view = View(memory, book, "u", i * SECOND, event.app, event.title, None, meter)
        since_ns = i // 60 * 60 * SECOND
        seen.append(observe(i, app=event.app, title=event.title, since_ns=since_ns, memory=view, meter=meter))
    begun = real_ns()
    for observation in seen:
        await agent.decide(observation)
    return (real_ns() - begun) / len(seen) / 1e3


async def _all() -> dict[str, float]:
    titles = [f"{event.app} {event.title}" for event, _ in past(10_000)]
    different = list(dict.fromkeys(titles))
    cold, warm = HashEmbedder(), HashEmbedder()
    figures = {"embed_new_us": spent_us(lambda: [cold.counts(t) for t in different]) / len(different)}
    figures["embed_repeating_us"] = spent_us(lambda: [warm.counts(t) for t in titles]) / len(titles)
    for spec in ("window", "rag", "graph", "personas"):
        for n in (1_000, 10_000):
            figures |= await memory_times(spec, n)
    for spec in ("none", "rag", "graph", "personas"):
        figures[f"prior_{spec}_snapshot_us"] = await prior_us(spec)
    return figures


def measure() -> dict[str, float]:
    return anyio.run(_all)
