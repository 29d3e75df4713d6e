"""What ``proact run`` does: one run a memory through ``simulator.play``, watched and told."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from simulator.cli.failing import Failing
from simulator.cli.interrupting import listening
from simulator.cli.options import ModelOptions, Options
from simulator.cli.progress import Progress
from simulator.cli.show import ScoreTable, invalid
from simulator.cli.speak import Voice, counted, in_a_line, plain
from simulator.cli.timeline import Timelines
from simulator.core.errors import Exit, UsageError, nearest, quote
from simulator.endpoint.types import ModelChoice
from simulator.play.assemble import Choice
from simulator.play.kept import FILE as SCORES
from simulator.play.kept import read_scores
from simulator.play.makers import agent_maker, memory_maker
from simulator.play.player import Played, Watcher, play, slug
from simulator.runs.engine import Engine, Interrupt
from simulator.runs.folder import RunFolder
from simulator.runs.unit import TRACES, UnitPlan, UnitResult

__all__ = ["errors_of", "play_all"]

_SHOWN = 5


def play_all(scenarios: Sequence[Path], options: Options, memories: Sequence[str], asked: ModelOptions) -> int:
    """Play the scenarios with each memory; the exit code."""
    voice, runs = Voice(as_json=options.json), dict[str, Played]()
    try:
        return anyio.run(_run, scenarios, options, memories, voice, asked, runs)
    except KeyboardInterrupt:
        return _interrupted(runs, voice)


async def _run(scenarios: Sequence[Path], options: Options, memories: Sequence[str], voice: Voice,
               asked: ModelOptions, runs: dict[str, Played]) -> int:  # fmt: skip
    interrupt = Interrupt()
    options, model = asked.shown_to(options), asked.choice()
    agent_maker(options.agent)  # a wrong word is told before the first of several runs is played
    makers = [memory_maker(m) for m in memories]
    texts = [maker.text for maker in makers]
    if twice := next((text for i, text in enumerate(texts) if text in texts[:i]), None):
        raise UsageError(f"--memory: {quote(twice)} is named twice")
    for maker in [m for m in makers if not m.sees_truth] if len(makers) > 1 else ():  # a single one its run tries
        known = {"model": model} if maker.wants_model == "ModelChoice" else {}
        maker.make(seed=0, intentions=(), utc_anchor_ns=0, **known)  # any calendar will do to try it
    hear = [maker.wants_embedder for maker in makers]
    deaf = [memory for memory, hears in zip(memories, hear, strict=True) if any(hear) and not hears]
    with listening(partial(_asked_to_end, interrupt), voice.tell):
        for memory, maker in zip(memories, makers, strict=True):
            if not interrupt.asked:
                name = maker.name if maker.name not in runs else memory
                out = options.out / slug(maker.name) if options.out is not None and len(makers) > 1 else options.out
                runs[name] = await _one(scenarios, options, memory, model, out, voice, interrupt, deaf)
    return _interrupted(runs, voice) if interrupt.asked else _tell(runs, options, voice)


def _interrupted(runs: Mapping[str, Played], voice: Voice) -> int:
    """Say that it was, and how it goes on; the exit code."""
    voice.record("interrupted", runs=[str(r.folder) for r in runs.values()])
    again = shlex.join(["proact", *sys.argv[1:]])
    voice.tell(f"interrupted; finished units are kept, the one that ran starts anew. To go on: {again}")
    return Exit.INTERRUPTED


async def _one(scenarios: Sequence[Path], options: Options, memory: str, model: ModelChoice | None, out: Path | None,
               voice: Voice, interrupt: Interrupt, deaf: Sequence[str]) -> Played:  # fmt: skip
    """One run: all scenarios with one memory; ``deaf`` memories embed nothing, where others of the same command do."""
    names = [f.name for f in fields(Choice) if f.name not in ("scenarios", "memory", "model")]
    if memory in deaf:
        options = replace(options, embedder=None)
    choice = Choice(scenarios, memory=memory, model=model, **{name: getattr(options, name) for name in names})
    with _Teller(voice) as watcher:
        return await play(choice, out=out, with_twin=options.twin, again=options.again, watcher=watcher,
                          interrupt=interrupt)  # fmt: skip


def _asked_to_end(interrupt: Interrupt) -> str:
    """The first Ctrl-C lets what is in flight come to its end and saves, the second stops."""
    if interrupt.asked:
        raise KeyboardInterrupt
    interrupt.asked = True
    return "interrupted; waiting for the decision in flight; once more ends it"


def _tell(runs: dict[str, Played], options: Options, voice: Voice) -> int:
    """Scores, faults and folders of the runs; the exit code."""
    scores = {name: played.scores for name, played in runs.items() if played.scores is not None}
    voice.say(ScoreTable(scores))
    if not options.json:
        voice.say(Timelines(scores))
    broken = [sentence for played in runs.values() for sentence in invalid(played.folder)]
    for sentence in broken:
        voice.tell(sentence, "bold red")
    for name, played in runs.items():
        for line in errors_of(name, played):
            voice.tell(line, "red")
    for played in runs.values():
        voice.say(plain(f"run folder: {played.folder}"))
    folders = {name: str(played.folder) for name, played in runs.items()}
    values = {name: s["scores"] for name, s in scores.items()}
    if len(runs) == 1:
        (name,) = runs
        voice.record("done", run=folders[name], scores=values.get(name, {}), valid=not broken)
    else:
        last = next(reversed(runs.values())).folder
        voice.record("done", run=str(options.out or last.parent), scores=values, valid=not broken, runs=folders)
    return max((played.code for played in runs.values()), default=Exit.DONE)


def errors_of(name: str, played: Played) -> list[str]:
    """The most frequent errors of agent and memory, how many more there are, and where their tracebacks lie."""
    scores = played.scores or {}
    told, untold = scores.get("errors", []), scores.get("errors_untold", {"kinds": 0, "n": 0})
    lines = _nothing_but_errors(name, scores)
    lines += [f"{name}: {e['n']} x {e['kind']}: {in_a_line(e['text'], 1000)}{_and_alike(e)}" for e in told[:_SHOWN]]
    kinds = len(told[_SHOWN:]) + untold["kinds"]
    if kinds:
        n = sum(e["n"] for e in told[_SHOWN:]) + untold["n"]
        lines.append(f"{name}: and {n} errors of {kinds} more kinds, see {played.folder / SCORES}")
    traces = sorted(played.folder.glob(f"units/*/{TRACES}"))
    return [*lines, f"{name}: tracebacks in {traces[0]}"] if traces else lines


def _nothing_but_errors(name: str, scores: Mapping[str, Any]) -> list[str]:
    """A run of which half of the decisions or more came to nothing says little of how good the agent is."""
    counts = scores.get("counts", {})
    n, n_errors, n_unread = (counts.get(key, 0) for key in ("decisions", "error", "unparsed"))
    failed = n_errors + n_unread
    unread = f", {n_unread} of them unparsed" if n_unread else ""
    if not n or 2 * failed < n:
        return []
    if failed < n:
        of = counted(n, "decision")
        return [f"{name}: {failed} of {of} failed{unread}: these scores say little; --again plays it anew"]
    return [f"{name}: every decision failed ({n} of {n}{unread}): these scores are of an agent that never answered"]


def _and_alike(error: Mapping[str, Any]) -> str:
    """That an error stands for others, whose texts have other numbers."""
    return f" (and {error['texts'] - 1} like it)" if error.get("texts", 1) > 1 else ""


class _Teller(Watcher):
    """Tells people and machines how a run goes on."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._progress: Progress | None = None
        self._told_unknown = False
        self._failing = Failing(voice)

    def __enter__(self) -> _Teller:
        return self

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.__exit__(None, None, None)

    def launched(self, folder: RunFolder, missing: Sequence[UnitPlan]) -> None:
        n = len(folder.plans)
        self._voice.record("launch", run=str(folder.path), units=n, to_play=len(missing))
        if not missing:
            failed = _nothing_but_errors(str(folder.path), read_scores(folder.path) or {})
            self._voice.tell(f"{folder.path}: all of it was played before; --again plays it anew")
            for sentence in failed:
                self._voice.tell(sentence, "red")
        for sentence in (*_without_intents(folder.plans), *_unbalanced(folder.plans)):
            self._voice.tell(sentence, "yellow")
        self._progress = Progress(self._voice.progress, n, n - len(missing))
        self._progress.__enter__()

    def unit(self, plan: UnitPlan) -> None:
        assert self._progress is not None
        self._progress.unit(plan)

    def engine(self, engine: Engine) -> None:
        assert self._progress is not None
        self._failing.watch(engine)
        self._progress.watch(engine)

    def beat(self) -> None:
        assert self._progress is not None
        if not self._voice.progress.is_terminal and (said := self._progress.sentence()):
            self._voice.tell(said)

    def unit_done(self, plan: UnitPlan, result: UnitResult) -> None:
        assert self._progress is not None
        self._voice.record("unit", key=plan.key, error=result.error, cut=result.cut, tally=dict(result.tally))
        self._progress.unit_done(result)
        if result.cut is not None:
            self._voice.tell(f"unit {plan.key}: {result.cut}", "yellow")
        if result.error is not None:
            self._voice.tell(f"unit {plan.key}: {result.error}", "red")
        if (word := result.unknown_intention) is not None and not self._told_unknown:
            self._told_unknown = True
            in_use = nearest(word, plan.intentions)
            said = "which is not in use and never right (counted as unknown_intention)"
            self._voice.tell(f"the agent offers the intention {quote(word)}, {said}; {in_use}", "yellow")


def _without_intents(plans: Sequence[UnitPlan]) -> list[str]:
    """A sentence where nothing of a run of trajectories can be scored: told before an hour is spent on it."""
    if not plans or plans[0].settings.protocol != "trajectory" or any(p.truth.intents is not None for p in plans):
        return []
    want = "scenarios for it state truth.intents, as scenarios/desktop/trajectory.yaml does"
    return [f"no session states intents, so protocol trajectory gives latency only; {want}"]


def _unbalanced(plans: Sequence[UnitPlan]) -> list[str]:
    """A sentence for each unit whose sampled moments are no balanced test."""
    said = []
    for plan in plans if plans and plans[0].settings.protocol == "moments" else ():
        yes = sum(m.positive for m in plan.truth.moments)
        no = len(plan.truth.moments) - yes
        if yes != no or not yes:
            said.append(f"{plan.key}: {yes} positive and {no} negative moments, so this is no balanced test")
    return said
