"""What memories are worth to the agent ``prior``, and what they cost: all figures of docs/memory-study.md.

``python -m bench.study OUT [PART…]``, in the repository, makes up users, plays every memory over them and over the
sessions that come with proact, holds each against ``none`` and ``class-prior``, and prints tables. Each step is a
``proact`` command, printed as it is run; the same call again runs only what is missing. Parts: see ``PARTS``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.memories import past
from memory.base import make_memory
from memory.embedders.base import make_embedder
from scorers.statistics.interval import Interval
from simulator.core.errors import UsageError
from simulator.core.types import Query
from simulator.play.assemble import Choice, assemble
from simulator.play.comparing import Row, compare
from simulator.play.player import slug
from simulator.play.probing import Probed, probe, stored_bytes
from simulator.session.scenario import plays
from simulator.timing.audit import percentile
from simulator.timing.clock import real_ns

MEMORIES = (
    "none", "class-prior", "recency", "random", "shuffled-user", "window",
    "rag", "graph", "personas", "rag+graph", "graph+personas", "oracle",
)  # fmt: skip
MINILM = "rag-minilm"
"""``rag`` again with the sentence model: over the first recipe in moments and over what is bundled (19,000
different titles take minutes); left out where it is not installed."""
FIGURES = (
    ("moments", "accuracy"),
    ("moments", "intention_accuracy"),
    ("stream", "F1_rt"),
    ("stream", "timely_utility"),
)
"""Named before anything was looked at; the first of each protocol is not lost by silence alone, nor is the last."""
CLOCK = "--clock modelled --latency fixed:100ms"
CEILINGS = ("intention_floor", "intention_window", "intention_all", "balanced_accuracy", "f1_floor", "f1")
PARTS = ("made-up", "bundled", "costs", "growth")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be studied.

    Attributes:
        out: folder for data and runs.
        users: of each recipe; ``days`` of each user, the last of which is played; ``seed`` of who they are.
        recipes: names in scenarios/recipes; ``costs`` are those of the first.
        memories: specs.
        sizes: of the pasts in part ``growth``, in events.
    """

    out: Path
    users: int = 12
    days: int = 20
    seed: int = 5
    recipes: tuple[str, ...] = ("habits-strong", "office", "habits-none")
    memories: tuple[str, ...] = MEMORIES
    sizes: tuple[int, ...] = (100, 1_000, 10_000, 100_000)

    def data(self, recipe: str) -> Path:
        """Where its users are."""
        return self.out / "data" / recipe


def commands(asked: Asked, part: str) -> Iterator[list[str]]:
    """The words of each ``proact`` command of a part, in order."""
    sets: list[tuple[str, str]] = []
    if part == "made-up":
        sets = [(recipe, str(asked.data(recipe))) for recipe in asked.recipes]
        for recipe, where in sets:
            made = f"--users {asked.users} --days {asked.days} --sessions 1 --seed {asked.seed}"
            yield ["dataset", "generate", f"scenarios/recipes/{recipe}.yaml", where, *made.split()]
    elif part == "bundled":
        sets = [("bundled", "scenarios")]
    for nth, (name, where) in enumerate(sets):
        for protocol in ("moments", "stream"):
            folder = asked.out / f"{name}-{protocol}"
            how = ["--protocol", protocol, *CLOCK.split()]
            yield ["run", where, "--memory", ",".join(asked.memories), *how, "--out", str(folder)]
            if "rag" in asked.memories and (part == "bundled" or (nth, protocol) == (0, "moments")):
                yield ["run", where, "--memory", "rag", "--embedder", "minilm", *how, "--out", str(folder / MINILM)]


def _has_minilm() -> bool:
    try:
        make_embedder("minilm")
    except UsageError:
        return False
    return True


def _do(words: Sequence[str]) -> None:
    """Run a command in a process of its own, unless that cannot or need not be; the study ends where it fails."""
    if words[:2] == ["dataset", "generate"] and Path(words[3]).exists():
        return
    if "minilm" in words and not _has_minilm():
        return
    print(f"$ proact {shlex.join(words)}", file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, "-m", "simulator.cli", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}\nproact ended with {done.returncode}")


def gains(folder: Path, memories: Sequence[str], metric: str) -> Iterator[str]:
    """A table of one figure: each memory's, and its gains on none and on class-prior over the same sessions."""
    spelled = {slug(memory): memory for memory in (*memories, MINILM)}
    names = [name for name in spelled if (folder / name / "scores.json").exists()]
    yield f"| memory | {metric} [95 %] | gain on none, p | gain on class-prior [95 %] | p | would show from |"
    yield "|---|---|---|---|---|---|"
    on = {base: _against(folder, base, [n for n in names if n not in ("none", base)], metric)
          for base in ("none", "class-prior")}  # fmt: skip
    for name in names:
        scores = json.loads((folder / name / "scores.json").read_text("utf-8"))["details"][metric]
        ends = scores.get("interval")
        silence, prior = on["none"].get(name), on["class-prior"].get(name)
        cells = [
            spelled[name],
            _shown(scores["value"]) + (f" [{_shown(ends['low'])}, {_shown(ends['high'])}]" if ends else ""),
            f"{_gain(silence)}, {_p(silence)}" if silence and silence.found else "-",
            _gain(prior, ends=True),
            _p(prior),
            _shown(prior.found.detectable if prior and prior.found else None),
        ]
        yield f"| {' | '.join(cells)} |"


def _against(folder: Path, base: str, names: Sequence[str], metric: str) -> dict[str, Row]:
    """Each against one, Holm over them all."""
    found = compare([folder / base, *(folder / name for name in names)], [metric])
    return {name: comparison.rows[0] for name, comparison in zip(names, found, strict=True)}


def _gain(row: Row | None, *, ends: bool = False) -> str:
    if row is None or row.found is None or row.found.difference is None:
        return "-"
    interval = row.found.interval
    shown = f"{'+' if row.found.difference > 0 else ''}{_shown(row.found.difference)}"
    if not ends or not isinstance(interval, Interval):
        return shown
    return f"{shown} [{_shown(interval.low)}, {_shown(interval.high)}]"


def _p(row: Row | None) -> str:
    return "-" if row is None or row.adjusted is None else f"{row.adjusted:.3f}"


def _shown(x: float | None) -> str:
    return "-" if x is None else f"{x:.3f}" if abs(x) < 2 else f"{x:.1f}"


def ceilings(asked: Asked) -> Iterator[str]:
    """What could be known at best, the mean of the users."""
    yield f"| recipe | {' | '.join(CEILINGS)} | events of history |"
    yield "|---" * (len(CEILINGS) + 2) + "|"
    for recipe in asked.recipes:
        users = json.loads((asked.data(recipe) / "generated.json").read_text("utf-8"))["users"]
        means = (fmean(user["ceilings"][name] for user in users) for name in CEILINGS)
        yield f"| {recipe} | {' | '.join(map(_shown, means))} | {sum(user['n_history'] for user in users)} |"


async def costs(asked: Asked) -> list[str]:
    """Each memory told the pasts of the first recipe's users and asked at each need, on the real clock."""
    where = asked.data(asked.recipes[0])
    found = {play.key: play for play in plays([where])}
    lines = [
        "| memory | recall@5 | hit@5 | MRR | read p50, p95 ms | write p95 ms | tokens a recall | bytes an event |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for memory in asked.memories:
        choice = Choice((where,), memory=memory, protocol="moments", clock="modelled",
                        latency="fixed:100ms")  # fmt: skip
        probed = Probed()
        for nth, plan in enumerate(await assemble(choice)):
            await probe(plan, found[plan.key], probed, nth=nth)
        t: Any = probed.told()
        size = "-" if t["saved_bytes"] is None else f"{t['saved_bytes'] / max(t['events'], 1):.0f}"
        cells = [memory, *(_shown(t[key]) for key in ("recall@5", "hit@5", "mrr")),
                 f"{_shown(t['read_ms_p50'])}, {_shown(t['read_ms_p95'])}", _shown(t["write_ms_p95"]),
                 f"{t['tokens_per_recall'] or 0:.0f}", size]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


async def growth(asked: Asked) -> list[str]:
    """Reading, writing, upkeep and size over pasts of one user that grow tenfold."""
    columns = ("write, mean µs", "upkeep, s", "read p50 µs", "read p95 µs", "stored, MB")
    lines = [f"| memory | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for spec in asked.memories:
        if spec in ("none", "shuffled-user", "oracle"):  # they keep nothing of their own
            continue
        rows = [await _grown(spec, n) for n in asked.sizes]
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


def study(asked: Asked, parts: Sequence[str] = PARTS) -> Iterator[str]:
    """The tables, line by line, after what they need was played."""
    for part in parts:
        for words in commands(asked, part):
            _do(words)
        if part == "made-up":
            yield from ("", "## Ceilings", "", *ceilings(asked))
        sets = {"made-up": asked.recipes, "bundled": ("bundled",)}.get(part, ())
        for name in sets:
            for protocol, metric in FIGURES:
                yield from ("", f"## {name}, {protocol}: {metric}", "")
                yield from gains(asked.out / f"{name}-{protocol}", asked.memories, metric)
        if part == "costs":
            yield from ("", f"## Costs, {asked.recipes[0]}", "", *asyncio.run(costs(asked)))
        if part == "growth":
            yield from ("", "## Growth", "", *asyncio.run(growth(asked)))


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    told = argparse.ArgumentParser(prog="python -m bench.study", description=(__doc__ or "").splitlines()[0])
    told.add_argument("out", type=Path)
    told.add_argument("parts", nargs="*", help=", ".join(PARTS))
    told.add_argument("--users", type=int, default=12)
    told.add_argument("--days", type=int, default=20)
    told.add_argument("--seed", type=int, default=5)
    told.add_argument("--memories", default=",".join(MEMORIES))
    told.add_argument("--sizes", type=int, nargs="*", default=Asked(Path()).sizes, help="of part growth, in events")
    given = told.parse_args(words)
    for part in given.parts:
        if part not in PARTS:
            told.error(f"there is no part '{part}'; known: {', '.join(PARTS)}")
    named = tuple(given.memories.split(","))
    asked = Asked(given.out, given.users, given.days, given.seed, memories=named, sizes=tuple(given.sizes))
    for line in study(asked, given.parts or PARTS):
        print(line, flush=True)


if __name__ == "__main__":
    main()
