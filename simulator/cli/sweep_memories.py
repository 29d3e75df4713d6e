"""What ``proact sweep memories`` does: data sets, a verdict, a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from simulator.cli.options import ModelOptions
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit, UsageError
from simulator.play.makers import memory_maker
from simulator.play.player import slug
from simulator.play.verdict import weigh
from simulator.play.verdict_page import page
from simulator.play.verdict_rule import DataSet, Verdict
from simulator.runs.folder import digest

__all__ = ["Asked", "sweep_memories"]

_SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
_LEFT_OUT = (
    "They are eight of the thirteen that come with proact. Left out are those made to be looked at by themselves: "
    "`noise_twins` and `two_readers` are one recording twice, which would count double, and `resumed` is about a need "
    "that is interrupted."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command."""

    memory: str
    agent: str
    out: Path | None
    generated: int
    days: int
    recipe: Path | None
    protocol: str | None
    clock: str
    latency: str | None
    embedder: str | None
    seed: int | None
    again: bool = False


def sweep_memories(scenarios: Sequence[Path] | None, bundled: Sequence[str], asked: Asked, model: ModelOptions, *,
                   as_json: bool) -> int:  # fmt: skip
    """Play, judge, write ``verdict.md`` and ``verdict.json``; the exit code."""
    voice = Voice(as_json=as_json)
    maker = memory_maker(asked.memory)
    given = {name: str(getattr(asked, name)) for name in Asked.__slots__ if name not in ("out", "again")}
    named = [str(path) for path in scenarios or ()]
    code = digest({"given": given, "scenarios": named, "model": str(model)})[:10]  # a changed memory finds the controls
    out = asked.out or Path("runs") / f"sweep-{slug(maker.name)}-{code}"
    sets = [*_given(scenarios, bundled, asked), *_generated(asked, out, voice)]

    async def work() -> Verdict:
        return await weigh(
            asked.memory, sets, out, agent=asked.agent, clock=asked.clock, latency=asked.latency, seed=asked.seed,
            embedder=asked.embedder, model=model.choice(), tell=lambda said: voice.tell(said, "dim"), again=asked.again,
        )  # fmt: skip

    verdict = anyio.run(work)
    out.mkdir(parents=True, exist_ok=True)
    told = page(verdict)
    (out / "verdict.md").write_text(told, encoding="utf-8", newline="\n")
    whole = json.dumps(verdict.told(), ensure_ascii=False, indent=1, allow_nan=False)
    (out / "verdict.json").write_text(whole + "\n", encoding="utf-8", newline="\n")
    _tell(verdict, out, told, voice)
    return Exit.DONE


def _given(scenarios: Sequence[Path] | None, bundled: Sequence[str], asked: Asked) -> list[DataSet]:
    """What was named, else what comes with proact; nothing of the latter where made-up users alone were asked for."""
    if scenarios:
        return [DataSet("named", tuple(scenarios), asked.protocol)]
    found = tuple(_SCENARIOS / name for name in bundled)
    if not all(path.is_dir() for path in found):
        if asked.generated:
            return []
        raise UsageError("the scenarios that come with proact lie in its repository; name some, or --generated 12")
    return [DataSet("bundled", found, asked.protocol, _LEFT_OUT)]


def _generated(asked: Asked, out: Path, voice: Voice) -> list[DataSet]:
    """Made-up users, a day of each, made once."""
    if not asked.generated:
        return []
    from simulator.workload import generate

    recipe = asked.recipe or _SCENARIOS / "recipes" / "habits-strong.yaml"
    where = out / "made-up-users"
    if not where.exists():
        voice.tell(f"making up {asked.generated} users", "dim")
        where.parent.mkdir(parents=True, exist_ok=True)
        generate(recipe, where, users=asked.generated, days=asked.days, seed=asked.seed or 0, sessions=1)
    return [DataSet("generated", (where,), "moments")]


def _tell(verdict: Verdict, out: Path, told: str, voice: Voice) -> None:
    for part in verdict.told()["parts"]:
        for member in part["members"]:
            voice.record("memory", data=part["data"]["name"], **member)
        for against in part["against"]:
            voice.record("against", data=part["data"]["name"], **against)
    voice.say(plain(told.partition("\n## How to read this")[0]))
    voice.say(plain(f"page: {out / 'verdict.md'}"))
    voice.record("done", memory=verdict.memory, verdict=verdict.word, why=verdict.why, out=str(out))
