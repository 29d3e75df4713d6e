"""The whole way of a study: its file to a plan, the plan through an engine, and what comes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scorers.base import catalogue
from simulator.core.errors import Exit, InputError, UsageError, likely, nearest, quote
from simulator.core.faults import writing
from simulator.endpoint.types import ModelChoice
from simulator.runs.folder import digest, proact_version
from simulator.session.scenario import SUFFIXES
from simulator.sweep import gates as gating
from simulator.sweep.axes import shown_choice
from simulator.sweep.cell_facts import facts_of
from simulator.sweep.cells import Grid, grid
from simulator.sweep.data import DataSet, data_sets
from simulator.sweep.draw import Drawn, draw, left_out
from simulator.sweep.engines import engine_of
from simulator.sweep.faults import Faults
from simulator.sweep.first_call import ask_servers
from simulator.sweep.named import find
from simulator.sweep.named import names as presets
from simulator.sweep.papers import published_of
from simulator.sweep.place import (
    RUNS,
    STARTING_OVER,
    UNITS,
    default_folder,
    ensure_ours,
    is_starting_over,
    locked,
    remove_runs,
    rename_runs,
    sweep_leftovers,
    write_plan,
)
from simulator.sweep.planning import Feed, Plan, look, runs_of
from simulator.sweep.study import StudyFile, load
from simulator.sweep.summary import Summarised, summarise
from simulator.sweep.types import Done, Engine, Stop

__all__ = ["Asked", "Study", "Swept", "Watcher", "plan_of", "prepared", "sweep"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says over a study's file.

    Attributes:
        out: the sweep's folder; by default one that is named after what is studied.
        sessions: to play instead of the study's own.
        set_: values by axis, over those of the file.
        model: the model that agents ask, under what the axis ``model`` says.
        fail_if: gates besides those of the study.
        modelled_gates: gates may look at latencies that were modelled.
        beside: measured units may run beside others, and are marked.
        again: play all units anew.
    """

    out: Path | None = None
    sessions: Sequence[Path] = ()
    set_: Mapping[str, Sequence[str]] = field(default_factory=dict)
    model: ModelChoice | None = None
    fail_if: Sequence[str] = ()
    modelled_gates: bool = False
    beside: bool = False
    again: bool = False


@dataclass(frozen=True, slots=True)
class Study:
    """A study with its cells.

    Attributes:
        file: as it was read; ``where`` it is, ``preset`` its name where it is one.
        grid: its axes and cells.
        identity: SHA-256 of all that it says, sessions and code of others aside.
        folder: of its sweep.
    """

    file: StudyFile
    where: Path
    preset: str | None
    grid: Grid
    identity: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Swept:
    """A sweep.

    Attributes:
        folder: of it.
        plan: as it was before the first unit was played.
        ended: how many units ended how.
        summary: what came of it; None where it was interrupted.
        drawn: figures and tables of a paper's layout, and why figures were left out, where they were.
        code: the exit code that the command would give.
    """

    folder: Path
    plan: Plan
    ended: Mapping[str, int]
    summary: Summarised | None
    drawn: Drawn | None = None
    code: Exit = Exit.DONE


class Watcher:
    """Is told how a sweep goes on; subclass what you want to hear of."""

    def tell(self, said: str) -> None:
        """A sentence."""

    def launched(self, study: Study, plan: Plan, n_gone: int) -> None:
        """The folder is open, and what is missing known; ``n_gone`` runs of it are in the study no more."""

    def done(self, done: Done) -> None:
        """A unit, or the scoring of a run, has ended."""

    def summarising(self) -> None:
        """All is played; the summary is made."""


def prepared(what: str | Path, asked: Asked) -> Study:
    """Read a study.

    Args:
        what: its file, or a preset's name.
        asked: what the command line says over it.

    Raises:
        InputError: a fault of the file, with the field.
        UsageError: a gate that is none.
    """
    where, preset = _study_file(what)
    file, faults = load(where), Faults()
    made: Grid | None = None
    with faults.noted():
        made = grid(file, where, model=asked.model, set_=asked.set_)
    protocols = [None] if made is None else [cell.choice.get("protocol") for cell in made.cells]
    for name in file.metrics:
        with faults.noted():
            _check_metric(name, protocols, where, "metrics")
    for place, text in [("fail_if", t) for t in file.fail_if] + [("--fail-if", t) for t in asked.fail_if]:
        with faults.noted():
            gate = gating.parse(text)
            _check_metric(gate.metric, protocols, where, place, gate=gate.text)
    faults.tell()
    assert made is not None
    says = file.model_dump(mode="json") | {"axes": [[a.name, a.values] for a in made.axes]}
    says["sessions"] = [str(p) for p in asked.sessions] or says["sessions"]
    identity = digest([says, [cell.id for cell in made.cells]])
    return Study(file, where, preset, made, identity, asked.out or default_folder(file.name, identity))


def _study_file(said: str | Path) -> tuple[Path, str | None]:
    """The file of a study, and the preset's name where it is one."""
    path = Path(said)
    if path.is_file():
        return path, None
    if (file := find(str(said))) is not None:
        return file, str(said)
    if path.suffix.lower() in SUFFIXES or len(path.parts) > 1:
        raise InputError(path, "there is no such study file")
    raise InputError(path, f"neither a study file nor a preset; {nearest(str(said), presets())}")


def _check_metric(name: str, protocols: Sequence[str | None], where: Path, place: str, *, gate: str = "") -> None:
    """Refuse what no run will know, before anything is played; a protocol of None is the scenario's affair.

    A gate's metric is named in letters of any size.
    """
    known = {metric.name: metric.protocols for _, metric in catalogue()}
    named = name if name in known or not gate else next((n for n in known if n.casefold() == name.casefold()), name)
    if named not in known:
        want = f"there is no such metric; {likely(name, known)}`proact list metrics` names all"
    elif None not in protocols and not set(protocols) & set(known[named]):
        want = f"a figure of protocol {', '.join(known[named])}, which no cell has"
    else:
        return
    if place.startswith("--"):
        raise UsageError(f"{place} {quote(gate)}: {want}")
    raise InputError(where, want, field=place, value=gate or name)


def plan_of(study: Study, asked: Asked, *, dry: bool = False, watcher: Watcher | None = None) -> Plan:
    """What a study comes to: its data sets are read (or made, unless ``dry``), its cells tried, nothing is played.

    Raises:
        InputError: a fault of a session, or a cell that cannot be played.
        UsageError: see ``data_sets``.
    """
    used = list(dict.fromkeys(cell.data for cell in study.grid.cells))
    tell = (watcher or Watcher()).tell
    sets = data_sets(study.file, study.where, used, study.folder, dry=dry, sessions=asked.sessions, tell=tell)
    facts = facts_of(study.grid.cells, sets, study.where, beside=asked.beside, dry=dry)
    runs = runs_of(study.grid.cells, study.file.all_seeds)
    return Plan(study.folder.absolute(), study.grid.cells, facts, sets, runs)


def sweep(what: str | Path, asked: Asked | None = None, *, engine: Engine | str = "processes", workers: int = 1,
          watcher: Watcher | None = None, stop: Stop | None = None) -> Swept:  # fmt: skip
    """Play what is missing of a study, score it, and summarise the whole.

    The same call again finds the same folder: what is finished stays, and what was made of inputs that have changed
    since is played anew.

    Args:
        what: its file, or a preset's name.
        asked: what is said over it.
        engine: where units are played, by name or itself.
        workers: how many side by side.
        watcher: is told how it goes on.
        stop: set ``draining`` to have it stop when what runs has ended, ``now`` to have it stop at once.

    Raises:
        UsageError: a wrong word, an impossible combination, a fault of a file, or another process in the folder.
        NoRoom: the disk is full.
    """
    asked, watcher, stop = asked or Asked(), watcher or Watcher(), stop or Stop()
    study = prepared(what, asked)
    runner = engine_of(engine, workers) if isinstance(engine, str) else engine
    ensure_ours(study.folder, study.file.name)
    with writing(study.folder):
        lock = locked(study.folder)
    try:
        with writing(study.folder):
            plan = plan_of(study, asked, watcher=watcher)
            runner.check(plan.cells)
            again = asked.again or is_starting_over(study.folder)  # which was stopped while it cleared away
            n_gone = _make_room(study, plan, again=again, watcher=watcher)
        watcher.launched(study, plan, n_gone)
        ended: Counter[str] = Counter()
        _play(plan, runner, watcher, stop, ended)
        with writing(study.folder):
            if stop.draining or stop.now or ended["interrupted"]:
                write_plan(study.folder, _told(study, plan, "interrupted"))
                return Swept(study.folder, plan, ended, None, code=Exit.INTERRUPTED)
            return _concluded(study, plan, asked, watcher, ended)
    finally:
        lock.release()


def _make_room(study: Study, plan: Plan, *, again: bool, watcher: Watcher | None = None) -> int:
    """See what is there, and clear away what is in the way; how many runs of before are in the study no more.

    To play all anew is to remove all first: whenever that is stopped, no unit of before is left beside new ones.
    """
    folder, names = study.folder, [run.name for run in plan.runs]
    look(plan, again=again)
    ask_servers(plan)
    rename_runs(folder / RUNS, names)
    if again and (old := [name for name in names if (folder / RUNS / name).exists()]):
        (watcher or Watcher()).tell(f"{folder}: what was played before is removed")
        write_plan(folder, _told(study, plan, STARTING_OVER))
        remove_runs(folder, old)
    write_plan(folder, _told(study, plan, "running"))
    for run in plan.runs:
        if run.missing:
            sweep_leftovers(folder / RUNS / run.name / UNITS)
    known = set(names)
    there = sorted(p.name for p in (folder / RUNS).iterdir()) if (folder / RUNS).is_dir() else []
    return sum(name not in known for name in there)


def _play(plan: Plan, engine: Engine, watcher: Watcher, stop: Stop, ended: Counter[str]) -> None:
    feed = Feed(plan)

    def done(one: Done) -> None:
        feed.done(one)
        if one.key:
            ended[one.kind] += 1
        elif one.kind != "done":  # a run that cannot be scored
            ended["unscored" if one.kind != "interrupted" else "interrupted"] += 1
        watcher.done(one)

    with _in_order(stop):
        engine.run(feed, done, stop)


@contextmanager
def _in_order(stop: Stop) -> Iterator[None]:
    """An interrupt that an engine lets through is one that stops."""
    try:
        yield
    except KeyboardInterrupt:
        stop.draining = stop.now = True


def _concluded(study: Study, plan: Plan, asked: Asked, watcher: Watcher, ended: Counter[str]) -> Swept:
    """The summary, the figures and the exit code of a sweep of which all was played."""
    watcher.summarising()
    gates = [gating.parse(text) for text in asked.fail_if]
    made = summarise(study.folder, gates, modelled=asked.modelled_gates, published=published_of(study.preset),
                     remarks=lambda summary: left_out(summary, study.file.figures))  # fmt: skip
    units = [cell["units"] for cell in made.summary["cells"]]  # some are found at fault only when they are scored
    failed = any(kind != "done" for kind in +ended) or any(told["erred"] or told["missing"] for told in units)
    write_plan(study.folder, _told(study, plan, "some_units_erred" if failed else "done"))
    drawn = draw(study.folder, made.summary, study.file.figures)
    code = Exit.GATE_FAILED if made.failed else Exit.DONE
    if failed:
        code = Exit.USAGE if ended["bad_input"] == plan.n_units else Exit.SOME_UNITS_ERRED
    return Swept(study.folder, plan, ended, made, drawn, code)


def _told(study: Study, plan: Plan, status: str) -> dict[str, Any]:
    """What ``sweep.json`` says."""
    file, folder_runs = study.file, iter(plan.runs)
    seeds = file.all_seeds
    keys = {name: [s.key for s in data.sessions] for name, data in plan.sets.items()}
    says = file.model_dump(mode="json", exclude_defaults=True) | {
        "preset": study.preset,
        "baseline": dict(study.grid.baseline),
        "axes": {axis.name: list(axis.values) for axis in study.grid.axes},
    }
    return {
        "proact": proact_version(),
        "status": status,
        "name": file.name,
        "identity": study.identity,
        "study": says,
        "axes": [{"name": a.name, "values": list(a.values), "varies": a.varies} for a in study.grid.axes],
        "seeds": list(seeds),
        "data": {name: _data_told(data) for name, data in plan.sets.items()},
        "cells": [
            {
                "id": cell.id,
                "name": cell.name,
                "values": dict(cell.values),
                "data": cell.data,
                "choice": shown_choice(cell.choice),
                "protocol": facts.protocol,
                "latency_source": facts.latency_source,
                "endpoint": facts.needs.endpoint,
                "alone": facts.needs.alone,
                "marked": facts.marked,
                "runs": [{"run": next(folder_runs).name, "seed": seed, "keys": keys[cell.data]} for seed in seeds],
            }
            for cell, facts in zip(plan.cells, plan.facts, strict=True)
        ],
    }


def _data_told(data: DataSet) -> dict[str, Any]:
    names = ("key", "nth", "session", "user", "end_ns")
    return {
        "given": [str(path) for path in data.given],
        "sessions": [
            {"scenario": str(s.scenario), **{name: getattr(s, name) for name in names}} for s in data.sessions
        ],
    }
