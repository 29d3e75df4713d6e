"""What memories are worth to the agent ``prior``, and what they cost: all figures of docs/memory.md.

``python -m bench.study OUT [PART…]``, in the repository, makes up users, plays every memory over them and over the
sessions that come with proact, holds each against ``none`` and ``class-prior``, and prints tables; in part ``options``
each option that papers leave open against its default. Each step is a ``proact`` command, printed as it is run; the
same call again runs only what is missing. Parts: see ``PARTS``.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.shared_past import OTHERS, share
from bench.study_costs import costs, growth
from bench.study_tables import ceilings, gains, varied
from memory.embedders.base import make_embedder
from simulator.core.errors import UsageError
from simulator.play.player import slug

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
OPTIONS = {
    "rag": ("documents=help", "documents=all", "template=paper", "documents=help,template=paper",
            "documents=all,template=paper", "index=exact"),
    "graph": ("keyword_conditional=help_only", "keyword_mean=all"),
    "personas": ("linkage=ward", "scoring=code", "match=text", "kinds=assistance"),
}  # fmt: skip
"""What is varied of each memory, against its defaults, in ``OPTION_FIGURES``; besides ``SCOPES`` and the mode."""
SCOPES = ("graph", "graph:scope=global", "graph:scope=backoff")
OPTION_FIGURES = ("accuracy", "intention_accuracy")
PARTS = ("made-up", "bundled", "options", "costs", "growth")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be studied.

    Attributes:
        out: folder for data and runs.
        users: of each recipe; ``days`` of each user, the last of which is played; ``seed`` of who they are.
        recipes: names in scenarios/recipes; ``costs`` are those of the first.
        memories: specs.
        varied: recipes of which options are varied.
        bundled: the scenarios of part ``bundled``.
        sizes: of the pasts in part ``growth``, in events.
    """

    out: Path
    users: int = 12
    days: int = 20
    seed: int = 5
    recipes: tuple[str, ...] = ("habits-strong", "office", "habits-none")
    memories: tuple[str, ...] = MEMORIES
    sizes: tuple[int, ...] = (100, 1_000, 10_000, 100_000)
    varied: tuple[str, ...] = ("habits-strong", "habits-none")
    bundled: str = "scenarios"

    def data(self, recipe: str) -> Path:
        """Where its users are."""
        return self.out / "data" / recipe


def commands(asked: Asked, part: str) -> Iterator[list[str]]:
    """The words of each ``proact`` command of a part, in order."""
    sets: list[tuple[str, str]] = []
    if part in ("made-up", "options"):
        recipes = asked.varied if part == "options" else asked.recipes
        sets = [(recipe, str(asked.data(recipe))) for recipe in recipes]
        for recipe, where in sets:
            made = f"--users {asked.users} --days {asked.days} --sessions 1 --seed {asked.seed}"
            yield ["dataset", "generate", f"scenarios/recipes/{recipe}.yaml", where, *made.split()]
    if part in ("bundled", "options"):
        sets.append(("bundled", asked.bundled))
    if part == "options":
        for name, where in sets:
            yield from _option_commands(asked, name, where)
        return
    for nth, (name, where) in enumerate(sets):
        for protocol in ("moments", "stream"):
            folder = asked.out / f"{name}-{protocol}"
            how = ["--protocol", protocol, *CLOCK.split()]
            yield ["run", where, "--memory", ",".join(asked.memories), *how, "--out", str(folder)]
            if "rag" in asked.memories and (part == "bundled" or (nth, protocol) == (0, "moments")):
                yield ["run", where, "--memory", "rag", "--embedder", "minilm", *how, "--out", str(folder / MINILM)]


def _option_commands(asked: Asked, name: str, where: str) -> Iterator[list[str]]:
    """Options, then memories that learn during the day, then scopes over pasts in which there are others."""
    how = ["--protocol", "moments", *CLOCK.split()]
    specs = [spec for memory, options in OPTIONS.items() for spec in (memory, *(f"{memory}:{o}" for o in options))]
    yield ["run", where, "--memory", ",".join(specs), *how, "--out", str(asked.out / f"{name}-options")]
    mode = ["--memory-mode", "online", "--out", str(asked.out / f"{name}-online")]
    yield ["run", where, "--memory", ",".join(OPTIONS), *how, *mode]
    shared = where if name == "bundled" else f"{where}-shared"
    yield ["run", shared, "--memory", ",".join(SCOPES), *how, "--out", str(asked.out / f"{name}-scopes")]


def _groups(asked: Asked, name: str) -> list[dict[str, Path]]:
    """Run folders of what is held against each other, the default first."""
    options, online, scopes = (asked.out / f"{name}-{kind}" for kind in ("options", "online", "scopes"))
    groups = []
    for memory in OPTIONS:
        specs = [memory, *(f"{memory}:{option}" for option in OPTIONS[memory])]
        group = {spec: options / slug(spec) for spec in specs}
        groups.append(group | {f"{memory}, `--memory-mode online`": online / memory})
    others = "" if name == "bundled" else f", told the pasts of {OTHERS} others"
    groups.append({f"{spec}{others}": scopes / slug(spec) for spec in SCOPES})
    return groups


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
    if words[1].endswith("-shared"):
        share(Path(words[1].removesuffix("-shared")), Path(words[1]))
    if "minilm" in words and not _has_minilm():
        return
    print(f"$ proact {shlex.join(words)}", file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, "-m", "simulator.cli", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}\nproact ended with {done.returncode}")


def study(asked: Asked, parts: Sequence[str] = PARTS) -> Iterator[str]:
    """The tables, line by line, after what they need was played."""
    first = asked.recipes[0]
    for part in parts:
        for words in commands(asked, part):
            _do(words)
        if part == "made-up":
            yield from ("", "## Ceilings", "", *ceilings({r: asked.data(r) for r in asked.recipes}))
        spelled = {slug(memory): memory for memory in (*asked.memories, MINILM)}
        for name in {"made-up": asked.recipes, "bundled": ("bundled",)}.get(part, ()):
            for protocol, metric in FIGURES:
                yield from ("", f"## {name}, {protocol}: {metric}", "")
                yield from gains(asked.out / f"{name}-{protocol}", spelled, metric)
        if part == "options":
            for name in (*asked.varied, "bundled"):
                for metric in OPTION_FIGURES:
                    yield from ("", f"## Options, {name}: {metric}", "", *varied(_groups(asked, name), metric))
        if part == "costs":
            yield from ("", f"## Costs, {first}", "", *asyncio.run(costs(asked.data(first), asked.memories)))
            specs = [f"{memory}:{option}" for memory, options in OPTIONS.items() for option in options]
            yield from ("", f"## Costs of options, {first}", "", *asyncio.run(costs(asked.data(first), specs)))
        if part == "growth":
            yield from ("", "## Growth", "", *asyncio.run(growth(asked.memories, asked.sizes)))


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
