"""What ``proact run`` does: one run a memory, its missing units played one after the other, then scored."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import anyio

from memory.base import make_memory
from simulator.cli.assemble import Choice, assemble, twin
from simulator.cli.options import Options
from simulator.cli.progress import Progress
from simulator.cli.score import read_scores, score_folder
from simulator.cli.show import ScoreTable, invalid
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit, InputError
from simulator.core.registry import parse_spec
from simulator.runs.engine import Interrupt
from simulator.runs.folder import RunFolder, digest
from simulator.runs.unit import UnitPlan, UnitResult, is_done, play_unit
from simulator.timing.tasks import task_group

__all__ = ["play_all"]


def play_all(scenarios: Sequence[Path], options: Options, memories: Sequence[str]) -> int:
    """Play the scenarios with each memory; the exit code."""
    return anyio.run(_run, scenarios, options, memories, Voice(as_json=options.json))


async def _run(scenarios: Sequence[Path], options: Options, memories: Sequence[str], voice: Voice) -> int:
    interrupt, scores, folders, codes = Interrupt(), dict[str, Any](), dict[str, Path](), list[Exit]()
    for memory in memories:
        make_memory(memory, seed=0, intentions=())  # a wrong word is told before the first of several runs is played
    async with task_group() as group:
        await group.start(_listen, interrupt, group.cancel_scope)
        for memory in memories:
            if interrupt.asked:
                break
            folder, scored, code = await _one(scenarios, options, memory, len(memories) > 1, voice, interrupt)
            folders[memory], codes = folder, [*codes, code]
            if scored is not None:
                scores[memory] = scored
        group.cancel_scope.cancel()
    if interrupt.asked:
        voice.record("interrupted", runs=[str(f) for f in folders.values()])
        again = shlex.join(["proact", *sys.argv[1:]])
        voice.tell(f"interrupted; what was played is kept. To go on: {again}")
        return Exit.INTERRUPTED
    voice.say(ScoreTable(scores))
    broken = [sentence for folder in folders.values() for sentence in invalid(folder)]
    for sentence in broken:
        voice.tell(sentence, "bold red")
    for folder in folders.values():
        voice.say(plain(f"run folder: {folder}"))
    one = len(memories) == 1
    values = {m: s["scores"] for m, s in scores.items()}
    last = memories[-1]
    where = str(folders[last]) if one else str(options.out or folders[last].parent)
    runs = {} if one else {"runs": {m: str(f) for m, f in folders.items()}}
    voice.record("done", run=where, scores=values.get(last, {}) if one else values, valid=not broken, **runs)
    return max(codes, default=Exit.DONE)


async def _listen(interrupt: Interrupt, scope: anyio.CancelScope, *, task_status: Any) -> None:
    """Ctrl-C: the first lets what is in flight come to its end and saves, the second stops."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            if interrupt.asked:
                scope.cancel()
            interrupt.asked = True


async def _one(scenarios: Sequence[Path], options: Options, memory: str, several: bool, voice: Voice,
               interrupt: Interrupt) -> tuple[Path, dict[str, Any] | None, Exit]:  # fmt: skip
    """One run: all scenarios with one memory."""
    choice = _choice(scenarios, options, memory)
    plans = await assemble(choice)
    folder = RunFolder(_where(options.out, choice, plans, several), plans, _given(choice))
    missing = folder.open()
    for sentence in _unbalanced(plans):
        voice.tell(sentence, "yellow")
    voice.record("launch", run=str(folder.path), units=len(plans), to_play=len(missing))
    twins = [t for t in map(twin, plans) if not is_done(_twin_of(folder, t), t)] if options.twin else []
    if not missing and not twins and (before := read_scores(folder.path)) is not None:
        return folder.path, before, Exit.DONE  # all is there: nothing is played, nothing is written
    results = await _play(folder, missing, voice, interrupt)
    await _play_twins(folder, twins, interrupt)
    if interrupt.asked:
        folder.close("interrupted")
        return folder.path, None, Exit.INTERRUPTED
    for result in (failed := [r for r in results if r.error is not None]):
        voice.tell(f"unit {result.key}: {result.error}", "red")
    folder.close("some_units_erred" if failed else "done")
    return folder.path, _scored(folder, failed), _code(results, plans)


def _scored(folder: RunFolder, failed: Sequence[UnitResult]) -> dict[str, Any] | None:
    """The run's scores; None where no unit came far enough to have a log, which its errors have told."""
    try:
        return score_folder(folder.path)
    except InputError:
        if not failed:
            raise
        return None


def _code(results: Sequence[UnitResult], plans: Sequence[UnitPlan]) -> Exit:
    failed = [r for r in results if r.error is not None]
    if not failed:
        return Exit.DONE
    return Exit.USAGE if len(failed) == len(plans) and all(r.bad_input for r in failed) else Exit.SOME_UNITS_ERRED


def _choice(scenarios: Sequence[Path], options: Options, memory: str) -> Choice:
    """The options that decide what is played, for one memory."""
    names = [f.name for f in fields(Choice) if f.name not in ("scenarios", "memory")]
    return Choice(scenarios, memory=memory, **{name: getattr(options, name) for name in names})


def _given(choice: Choice) -> dict[str, Any]:
    """What was asked for, for ``run.json``."""
    said = {f.name: getattr(choice, f.name) for f in fields(Choice)}
    return {k: [str(p) for p in v] if k == "scenarios" else str(v) for k, v in said.items() if v is not None}


def _where(out: Path | None, choice: Choice, plans: Sequence[UnitPlan], several: bool) -> Path:
    """The run's folder: as given, or named after what is run, so that the same command finds it again."""
    slug = _slug(choice.memory)
    if out is not None:
        return out / slug if several else out
    agent = _slug(parse_spec(choice.agent).name.rpartition(":")[2])
    return Path("runs") / f"{agent}-{slug}-{digest({p.key: p.header() for p in plans})[:10]}"


def _slug(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_.=" else "-" for c in text)


def _unbalanced(plans: Sequence[UnitPlan]) -> list[str]:
    """A sentence for each unit whose sampled moments are no balanced test."""
    said = []
    for plan in plans if plans and plans[0].settings.protocol == "moments" else ():
        yes = sum(m.positive for m in plan.truth.moments)
        no = len(plan.truth.moments) - yes
        if yes != no or not yes:
            said.append(f"{plan.key}: {yes} positive and {no} negative moments, so this is no balanced test")
    return said


async def _play(folder: RunFolder, missing: Sequence[UnitPlan], voice: Voice, interrupt: Interrupt) -> list[UnitResult]:
    results: list[UnitResult] = []
    with Progress(voice.progress, len(folder.plans), len(folder.plans) - len(missing)) as progress:
        for plan in missing:
            if interrupt.asked:
                break
            progress.unit(plan)
            try:
                result = await play_unit(plan, folder.unit(plan.key), interrupt, progress.watch)
            except InputError as error:
                result = UnitResult(plan.key, error=str(error), bad_input=True)
            if not interrupt.asked:
                folder.done(result)
                results.append(result)
                said = {"error": result.error, "tally": dict(result.tally)}
                voice.record("unit", key=plan.key, **said)
                progress.unit_done(result)
    return results


async def _play_twins(folder: RunFolder, twins: Sequence[UnitPlan], interrupt: Interrupt) -> None:
    """Zero-charge companions, each in its unit's folder."""
    for plan in twins:
        if not interrupt.asked:
            await play_unit(plan, _twin_of(folder, plan), interrupt)


def _twin_of(folder: RunFolder, plan: UnitPlan) -> Path:
    return folder.unit(plan.key) / "twin"
