"""What memories cost: the tables of docs/memory.md with times, sizes and what is found, on the real clock."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.memories import past
from bench.study_tables import shown
from memory.base import make_memory
from simulator.core.types import Query
from simulator.play.assemble import Choice, assemble
from simulator.play.probing import Probed, probe, stored_bytes
from simulator.session.scenario import plays
from simulator.timing.audit import percentile
from simulator.timing.clock import real_ns


async def costs(where: Path, memories: Sequence[str]) -> list[str]:
    """Each memory told the pasts of these users and asked at each need, on the real clock."""
    found = {play.key: play for play in plays([where])}
    lines = [
        "| memory | recall@5 | hit@5 | MRR | read p50, p95 ms | write p95 ms | tokens a recall | bytes an event |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for memory in memories:
        choice = Choice((where,), memory=memory, protocol="moments", clock="modelled",
                        latency="fixed:100ms")  # fmt: skip
        probed = Probed()
        for nth, plan in enumerate(await assemble(choice)):
            await probe(plan, found[plan.key], probed, nth=nth)
        t: Any = probed.told()
        size = "-" if t["saved_bytes"] is None else f"{t['saved_bytes'] / max(t['events'], 1):.0f}"
        cells = [memory, *(shown(t[key]) for key in ("recall@5", "hit@5", "mrr")),
                 f"{shown(t['read_ms_p50'])}, {shown(t['read_ms_p95'])}", shown(t["write_ms_p95"]),
                 f"{t['tokens_per_recall'] or 0:.0f}", size]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


async def growth(memories: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Reading, writing, upkeep and size over pasts of one user that grow tenfold."""
    columns = ("write, mean µs", "upkeep, s", "read p50 µs", "read p95 µs", "stored, MB")
    lines = [f"| memory | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for spec in memories:
        if spec in ("none", "shuffled-user", "oracle"):  # they keep nothing of their own
            continue
        rows = [await _grown(spec, n) for n in sizes]
        lines.append(f"| {spec} | {' | '.join(', '.join(cells) for cells in zip(*rows, strict=True))} |")
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [*lines, "", f"Peak memory of this process: {peak_mb:.0f} MB"]


async def _grown(spec: str, n: int) -> tuple[str, ...]:
    """The cells of one memory with n events."""
    memory, events = make_memory(spec), past(n)
    begun = real_ns()
    for event, label in events:
        await memory.observe(event)
        await memory.feedback(event, label)
    wrote_us = (real_ns() - begun) / n / 1e3
    begun, upkeep = real_ns(), getattr(memory, "maintain", None)
    if upkeep is not None:
        await upkeep(0)
    kept_s = (real_ns() - begun) / 1e9
    read_ns = []
    for event, _ in events[:: max(n // 300, 1)]:
        begun = real_ns()
        await memory.recall(Query("u", event.app, event.title, None, 0), 5, None)
        read_ns.append(real_ns() - begun)
    size = stored_bytes(memory)
    p50, p95 = (percentile(read_ns, q) / 1e3 for q in (50, 95))
    return f"{wrote_us:.0f}", f"{kept_s:.1f}", f"{p50:.0f}", f"{p95:.0f}", "-" if size is None else f"{size / 1e6:.2g}"
