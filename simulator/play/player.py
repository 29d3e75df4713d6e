"""Plays a choice: its missing units one after the other into a run folder, then the scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import anyio

from simulator.core.errors import CassetteMiss, Exit, InputError, JournalMiss, ProactError, UsageError, nearest, quote
from simulator.core.faults import writing
from simulator.core.operators import operators
from simulator.core.types import SECOND
from simulator.endpoint.holding import recording
from simulator.endpoint.types import ModelChoice
from simulator.play.assemble import Choice, as_path, assemble, checked, twin
from simulator.play.kept import read_scores
from simulator.play.makers import Making, Named, agent_maker, memory_maker
from simulator.play.scoring import score_folder
from simulator.runs.config import check
from simulator.runs.engine import Engine, Interrupt
from simulator.runs.folder import RunFolder, digest
from simulator.runs.unit import UnitPlan, UnitResult, is_done, play_unit
from simulator.session.ignored import hide, is_hidden
from simulator.timing.clock import pause
from simulator.timing.tasks import beside

__all__ = ["Played", "Together", "Watcher", "attempt", "given_of", "is_private", "play", "run", "slug"]

_BEAT_NS = 30 * SECOND
_RULES = tuple(f.name for f in fields(Choice) if f.name not in ("scenarios", "agent", "memory"))


class Watcher:
    """Is told how a run goes on; subclass what you want to hear of."""

    def launched(self, folder: RunFolder, missing: Sequence[UnitPlan]) -> None:
        """The folder is open; these units are to be played."""

    def unit(self, plan: UnitPlan) -> None:
        """A unit is next; its engine starts when agent and memory are ready."""

    def engine(self, engine: Engine) -> None:
        """The unit's engine starts."""

    def beat(self) -> None:
        """Half a minute of real time has passed."""

    def unit_done(self, plan: UnitPlan, result: UnitResult) -> None:
        """A unit came to its end, or could not be played."""


class Together(Watcher):
    """Several watchers of one run, told in order."""

    def __init__(self, *watchers: Watcher) -> None:
        self._watchers = watchers

    def launched(self, folder: RunFolder, missing: Sequence[UnitPlan]) -> None:
        """See ``Watcher``."""
        for watcher in self._watchers:
            watcher.launched(folder, missing)

    def unit(self, plan: UnitPlan) -> None:
        """See ``Watcher``."""
        for watcher in self._watchers:
            watcher.unit(plan)

    def engine(self, engine: Engine) -> None:
        """See ``Watcher``."""
        for watcher in self._watchers:
            watcher.engine(engine)

    def beat(self) -> None:
        """See ``Watcher``."""
        for watcher in self._watchers:
            watcher.beat()

    def unit_done(self, plan: UnitPlan, result: UnitResult) -> None:
        """See ``Watcher``."""
        for watcher in self._watchers:
            watcher.unit_done(plan, result)


@dataclass(frozen=True, slots=True)
class Played:
    """A run.

    Attributes:
        folder: its run folder.
        scores: what ``scores.json`` holds; None where it was interrupted or no unit came far enough to have a log.
        results: of the units played now; those that were there before are not among them.
        code: the exit code that the command would give.
    """

    folder: Path
    scores: dict[str, Any] | None
    results: Sequence[UnitResult] = field(default_factory=tuple)
    code: Exit = Exit.DONE


def run(scenarios: str | Path | Sequence[str | Path], agent: Named = "prior", memory: Named = "rag", *,
        out: str | Path | None = None, twin: bool = False, again: bool = False, **rules: Any) -> Played:  # fmt: skip
    """Play an agent with a memory over scenarios and score it; ``play`` is the same for those who have a loop.

    Args:
        scenarios: scenario files, scenario folders, sessions, or folders of many.
        agent: a spec as on the command line, or a class or callable that makes an agent.
        memory: likewise.
        out: the run's folder; by default ``runs/AGENT-MEMORY-HASH``. What it holds finished is not played again.
        twin: play a zero-charge twin too, for ``F1_instant``.
        again: play all units anew.
        rules: ``clock``, ``latency``, ``policy``, ``protocol``, ``seed``, … as on the command line.

    Raises:
        UsageError: an unknown word, an impossible combination, a fault of a file.
    """
    named = [scenarios] if isinstance(scenarios, str | Path) else scenarios
    for name in rules:
        if name not in _RULES:
            raise UsageError(f"there is no rule {quote(name)}; {nearest(name, _RULES)}")
    choice = Choice(named, agent, memory, **rules)
    return anyio.run(lambda: play(choice, out=out, with_twin=twin, again=again))


async def play(choice: Choice, *, out: str | Path | None = None, with_twin: bool = False, again: bool = False,
               watcher: Watcher | None = None, interrupt: Interrupt | None = None) -> Played:  # fmt: skip
    """Play what is missing of a choice and score the whole; see ``run``.

    Args:
        choice: what to play.
        out: see ``run``, like ``with_twin`` and ``again``.
        with_twin: see ``out``.
        again: see ``out``.
        watcher: is told how it goes on.
        interrupt: set it to have the run stop soon.
    """
    watcher, interrupt = watcher or Watcher(), interrupt or Interrupt()
    choice = checked(choice)
    plans = await assemble(choice)
    all_twins = [twin(plan) for plan in plans] if with_twin else []
    folder = RunFolder(default_folder(choice, plans) if out is None else as_path("out", out), plans, given_of(choice))
    twins = [t for t in all_twins if again or not is_done(folder.twin(t.key), t)]
    _try_first([*folder.look(again=again)[:1], *twins[:1]], choice.model)
    missing = folder.open(again=again)
    if any(map(is_private, plans)):
        hide(folder.path)
    watcher.launched(folder, missing)
    if not missing and not twins and (before := read_scores(folder.path)) is not None:
        folder.release()
        return Played(folder.path, before)  # all is there: nothing is played, nothing is written

    async def beat() -> None:
        while True:
            await pause(_BEAT_NS)
            watcher.beat()

    try:
        with recording(choice.model):
            async with beside(beat):
                results = await _play_units(folder, missing, watcher, interrupt)
                lame = await _play_twins(folder, twins, interrupt)
    except BaseException:
        folder.close("stopped")
        raise
    if interrupt.asked:
        folder.close("interrupted")
        return Played(folder.path, None, results, Exit.INTERRUPTED)
    failed = [r for r in (*results, *lame) if r.error is not None]
    folder.close("some_units_erred" if failed else "done")
    return Played(folder.path, _scored(folder, failed), results, _code(failed, plans))


def is_private(plan: UnitPlan) -> bool:
    """Whether git leaves out the recording that a unit plays, as it was recorded here: its log holds words of it."""
    header = getattr(plan.source, "header", None)
    session: Path | None = getattr(header, "folder", None)
    return session is not None and (is_hidden(session) or is_hidden(session.absolute().parent))


def _try_first(coming: Sequence[UnitPlan], model: ModelChoice | None) -> None:
    """Make the first agent and memory before a folder is made: what is wrong with them is mostly so with all. Then see
    that nobody else records into the cassette.
    """
    for plan in coming:
        assert isinstance(plan.agent, Making)
        assert isinstance(plan.memory, Making)
        check(plan.settings, None if plan.journal is not None else plan.agent.look())
        plan.memory.look()
    with recording(model if coming else None):
        pass


async def _play_units(folder: RunFolder, missing: Sequence[UnitPlan], watcher: Watcher,
                      interrupt: Interrupt) -> list[UnitResult]:  # fmt: skip
    results: list[UnitResult] = []
    for plan in missing:
        if interrupt.asked:
            break
        watcher.unit(plan)
        result = await attempt(plan, folder.unit(plan.key), interrupt, watcher.engine)
        if not interrupt.asked:
            folder.done(result)
            results.append(result)
            watcher.unit_done(plan, result)
    return results


async def _play_twins(folder: RunFolder, twins: Sequence[UnitPlan], interrupt: Interrupt) -> list[UnitResult]:
    """Zero-charge companions, each in its unit's folder; what went wrong with them."""
    lame = []
    for plan in twins:
        if not interrupt.asked:
            result = await attempt(plan, folder.twin(plan.key), interrupt, None)
            if result.error is not None:
                lame.append(replace(result, key=f"{plan.key}/twin"))
    return lame


async def attempt(plan: UnitPlan, where: Path, interrupt: Interrupt,
                  watch: Callable[[Engine], None] | None = None) -> UnitResult:  # fmt: skip
    """Play a unit; one whose recording or journal is at fault does not end the others."""
    try:
        with writing(where):
            return await play_unit(plan, where, interrupt, watch)
    except (InputError, JournalMiss) as error:
        return UnitResult(plan.key, error=str(error), bad_input=True)
    except CassetteMiss as error:
        return UnitResult(plan.key, error=str(error))
    except ProactError:
        raise
    except Exception as error:  # noqa: BLE001 - a fault of ours in one unit must not cost the others
        operators().error("a unit failed by a fault of proact's own", unit=plan.key, exc_info=error)
        return UnitResult(plan.key, error=f"a fault of proact's own: {type(error).__name__}")


def _scored(folder: RunFolder, failed: Sequence[UnitResult]) -> dict[str, Any] | None:
    """The run's scores; None where no unit came far enough to have a log, which its errors have told."""
    try:
        return score_folder(folder.path)
    except InputError:
        if not failed:
            raise
        return None


def _code(failed: Sequence[UnitResult], plans: Sequence[UnitPlan]) -> Exit:
    if not failed:
        return Exit.DONE
    return Exit.USAGE if len(failed) == len(plans) and all(r.bad_input for r in failed) else Exit.SOME_UNITS_ERRED


def given_of(choice: Choice) -> dict[str, Any]:
    """What was asked for, for ``run.json``."""
    said = {f.name: getattr(choice, f.name) for f in fields(Choice)}
    said |= {"agent": agent_maker(choice.agent).text, "memory": memory_maker(choice.memory).text}
    if choice.model is not None:  # without userinfo of its address
        said["model"] = json.dumps(choice.model.header, sort_keys=True)
    return {k: [str(p) for p in v] if k == "scenarios" else str(v) for k, v in said.items() if v is not None}


def default_folder(choice: Choice, plans: Sequence[UnitPlan]) -> Path:
    """Named after what is run, so that the same choice finds it again."""
    names = (agent_maker(choice.agent).name, memory_maker(choice.memory).name)
    return Path("runs") / f"{'-'.join(map(slug, names))}-{digest({p.key: p.header() for p in plans})[:10]}"


def slug(text: str) -> str:
    """A name as part of a folder's name."""
    return "".join(c if c.isalnum() or c in "-_.=" else "-" for c in text)
