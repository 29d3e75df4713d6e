"""The unit of work of every engine: play one session of one cell, or score a run whose sessions are played.

What costs time to open (scenarios, pasts, latency models) stays open in a process from one unit to the next, as long as
the sweep is the same.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from simulator.core.durations import duration
from simulator.core.errors import InputError, NoRoom, ProactError
from simulator.endpoint.holding import recording
from simulator.play.assemble import Choice, checked, latency_of, unit_of
from simulator.play.kept import FILE as SCORES
from simulator.play.others import NOBODY, Pasts, pasts_of
from simulator.play.player import attempt, given_of, is_private
from simulator.play.scoring import score_folder
from simulator.runs import runlog
from simulator.runs.engine import Interrupt
from simulator.runs.folder import digest, read_run, read_unit, result_record, run_record, write_json
from simulator.runs.unit import LOG, UnitPlan, UnitResult, file_digest
from simulator.session.ignored import hide
from simulator.session.play import Play
from simulator.session.scenario import plays
from simulator.sweep.axes import maker_of
from simulator.sweep.place import FILE, RUN, RUNS, SCORED, UNIT, UNITS, part_of, read_plan, score_mark, sweep_leftovers
from simulator.sweep.types import Cell, Done, Task
from simulator.timing.clock import real_ns
from simulator.timing.latency import LatencyModel

__all__ = ["code_digest", "play_task", "rate_of", "unit_plan"]

_MOST_EVENTS = 100_000  # of pasts kept open, about 50 MB
_ANEW = "the same command plays it anew"
_DAMAGED = f"its log or its truth was changed since it was played; {_ANEW}"


def play_task(task: Task) -> Done:
    """Play a unit, or score a run: to its end or not at all, whatever ends the process.

    Faults of files, agents and memories are in what is returned; a unit with one has its folder all the same.
    """
    begun = real_ns()
    kind, error, tally = _score(task) if not task.key else _play(task)
    return Done(task.run, task.key, error, kind, (real_ns() - begun) / 1e9, tally)  # type: ignore[arg-type]


@dataclass(slots=True)
class _Open:
    """What a process keeps of a sweep.

    Attributes:
        stamp: of its ``sweep.json``; another one is another start of it, whose files may have changed.
        told: what that says.
        plays: by scenario and rate, the longest unused first.
    """

    stamp: tuple[int, int, int]
    told: dict[str, Any]
    plays: OrderedDict[tuple[Path, float | None], list[Play]] = field(default_factory=OrderedDict)
    latencies: dict[str, LatencyModel | None] = field(default_factory=dict)
    others: dict[tuple[str, ...], Pasts] = field(default_factory=dict)


_opened: dict[Path, _Open] = {}


def _open(sweep: Path) -> _Open:
    stat = (sweep / FILE).stat()
    stamp = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
    found = _opened.get(sweep)
    if found is None or found.stamp != stamp:
        _opened.clear()
        found = _opened[sweep] = _Open(stamp, read_plan(sweep))
    return found


def rate_of(cell: Cell) -> float | None:
    """Snapshots a second of a cell; None for those of the recording.

    Raises:
        ValueError: it is no number above 0.
    """
    said = cell.value("rate")
    if said is None:
        return None
    rate = float(said)
    if not 1e-4 < rate <= 1000:
        raise ValueError(said)
    return rate


def code_digest(header: Mapping[str, Any]) -> str:
    """Digest of what a unit's header says of the code of its agent and its memory, prompts included."""
    return digest([header.get(name) for name in ("agent_code", "memory_code", "strategy")])


def _play_of(open_: _Open, task: Task) -> Play:
    """The session of a task under its own key, opened once in a while."""
    key = (task.scenario, rate_of(task.cell))
    found = open_.plays.pop(key, None)
    if found is None:
        found = plays([task.scenario], rate_hz=key[1])
    open_.plays[key] = found
    n = sum(_weight(one) for one in open_.plays.values())
    while n > _MOST_EVENTS and len(open_.plays) > 1:
        n -= _weight(open_.plays.popitem(last=False)[1])
    play = found[task.nth]
    return play if play.key == task.key else replace(play, key=task.key)


def _weight(found: list[Play]) -> int:
    return 200 * len(found) + sum(len(play.history) for play in found)


def _choice(cell: Cell, seed: int, scenarios: list[Path]) -> Choice:
    return checked(Choice(scenarios, seed=seed, **cell.choice))


async def unit_plan(cell: Cell, seed: int, play: Play, others: Pasts = NOBODY,
                    latencies: dict[str, LatencyModel | None] | None = None) -> UnitPlan:  # fmt: skip
    """The unit of a cell, a seed and a session: the very one that ``proact run`` would play.

    Args:
        cell: the cell.
        seed: the seed.
        play: the session, under the key of its unit.
        others: pasts of the data set's users, for a memory that wants them.
        latencies: latency models that were read before, by their text.

    Raises:
        UsageError: an impossible combination.
        InputError: a fault of a file.
    """
    choice, known = _choice(cell, seed, [play.where]), {} if latencies is None else latencies
    text = choice.latency or ""
    if text not in known:
        known[text] = latency_of(choice)
    window = None if choice.window is None else duration("window", choice.window, above_0=True)
    return await unit_of(play, choice, known[text], window, others)


async def _pasts(open_: _Open, task: Task) -> Pasts:
    """The pasts of all users of the task's data set, read once, for a memory that reads somebody else's."""
    if not maker_of("memory", task.cell.choice["memory"]).wants_others:
        return NOBODY
    choice = task.cell.choice
    key = (task.cell.data, str(choice.get("protocol")), str(choice.get("memory_mode")), str(rate_of(task.cell)))
    if key not in open_.others:
        given = [Path(path) for path in open_.told["data"][task.cell.data]["given"]]
        found = plays(given, rate_hz=rate_of(task.cell))
        open_.others[key] = await pasts_of(found, _choice(task.cell, task.seed, given))
    return open_.others[key]


def _play(task: Task) -> tuple[str, str | None, Mapping[str, int]]:
    units = task.sweep / RUNS / task.run / UNITS
    units.mkdir(parents=True, exist_ok=True)
    part = part_of(units, task.key, f"{os.getpid()}-{real_ns()}")
    part.mkdir()
    header, durable = {}, True
    try:
        open_ = _open(task.sweep)
        play = _play_of(open_, task)

        async def work() -> tuple[UnitPlan, UnitResult]:
            plan = await unit_plan(task.cell, task.seed, play, await _pasts(open_, task), open_.latencies)
            _ensure_as_planned(task, plan)
            with recording(task.cell.choice.get("model")):
                return plan, await attempt(plan, part, Interrupt())

        plan, result = anyio.run(work)
        header, durable = plan.header(), plan.is_costly
        if is_private(plan):
            hide(task.sweep)
    except NoRoom:
        shutil.rmtree(part, ignore_errors=True)
        raise
    except InputError as error:
        result = UnitResult(task.key, error=str(error), bad_input=True)
    except ProactError as error:
        result = UnitResult(task.key, error=str(error))
    _write_unit(part, task.inputs, header, result, durable=durable)
    _name(part, units / task.key)
    kind = "done" if result.error is None else "bad_input" if result.bad_input else "erred"
    return kind, result.error, dict(result.tally)


def _ensure_as_planned(task: Task, plan: UnitPlan) -> None:
    """Refuse what was changed since the sweep was planned: a cell would be of two agents, and nobody would know.

    Raises:
        ProactError: with what has changed.
    """
    changed = "the code of agent or memory" if task.code and task.code != code_digest(plan.header()) else None
    if task.dataset and task.dataset != plan.dataset:
        changed = f"the session {task.key}"
    if changed is not None:
        raise ProactError(f"not played: {changed} was changed while the sweep ran; {_ANEW}")


def _write_unit(part: Path, inputs: str, header: Mapping[str, Any], result: UnitResult, *, durable: bool) -> None:
    size = (part / LOG).stat().st_size if result.error is None else None
    told = {"schema": 1, "inputs": inputs, "header": digest(header), "log_size": size, **result_record(result)}
    if durable:
        write_json(part / UNIT, told)
    else:
        text = json.dumps(told, ensure_ascii=False, allow_nan=False)
        (part / UNIT).write_text(text + "\n", encoding="utf-8", errors="backslashreplace", newline="\n")


def _name(part: Path, folder: Path) -> None:
    """Give a finished unit its name, in place of one of other inputs."""
    for _ in range(3):
        try:
            part.rename(folder)
        except OSError:  # there is one: it goes out of the way under a name that the next start clears away
            old = part.with_name(part.name + "-old")
            folder.rename(old)
            shutil.rmtree(old, ignore_errors=True)
        else:
            return
    part.rename(folder)


def _score(task: Task) -> tuple[str, str | None, Mapping[str, int]]:
    """Write ``run.json`` and ``scores.json`` of a run, and last the mark by which it is known that they are there.

    What was played before of other inputs, or was damaged since, is in no figure: such a unit has erred.
    """
    run, told = task.sweep / RUNS / task.run, _open(task.sweep).told
    sessions = told["data"][task.cell.data]["sessions"]
    (run / UNITS).mkdir(parents=True, exist_ok=True)
    sweep_leftovers(run / UNITS)
    for name in (SCORED, SCORES):
        (run / name).unlink(missing_ok=True)
    inputs = dict(zip((session["key"] for session in sessions), task.units, strict=True))
    for key in inputs:
        if (why := _unfit(run / UNITS / key, inputs[key], task.failed.get(key))) is not None:
            _err(run / UNITS, key, inputs[key], why)
    given = given_of(_choice(task.cell, task.seed, [Path(p) for p in told["data"][task.cell.data]["given"]]))
    stand = _record(task, run, sessions, given)
    try:
        lost = score_folder(run)["lost"]
    except InputError as fault:
        lost = _broken(run)
        if not lost and all(state == "done" for _, state, _ in stand):
            return "erred", str(fault), {}
        # without broken ones: no unit came far enough to have a log, which its own error tells
    if lost:
        for key in lost:
            _err(run / UNITS, key, inputs[key], _DAMAGED)
        stand = _record(task, run, sessions, given)
        try:
            score_folder(run)
        except InputError as fault:
            if len(lost) < len(inputs):
                return "erred", str(fault), {}
    (run / SCORED).write_text(score_mark(stand) + "\n", encoding="utf-8")
    return "done", None, {}


def _unfit(folder: Path, inputs: str, failed: str | None) -> str | None:
    """Why what lies in a unit's folder is not the unit that was asked for; None where it is, or tells its own error."""
    told = _unit_told(folder)
    if told.get("inputs") == inputs and told["error"] is not None:
        return None
    if failed is not None:  # its worker was killed, or the disk is full: what lies there is of before
        return failed
    if told.get("inputs") != inputs:
        return f"it is gone, or of other inputs than the sweep's; {_ANEW}"
    try:
        return None if told["log_sha256"] in (None, file_digest(folder / LOG)) else _DAMAGED
    except (OSError, InputError):
        return _DAMAGED


def _err(units: Path, key: str, inputs: str, why: str) -> None:
    """A unit that has erred in place of whatever lies there."""
    part = part_of(units, key, f"{os.getpid()}-{real_ns()}")
    part.mkdir()
    _write_unit(part, inputs, {}, UnitResult(key, error=why), durable=False)
    _name(part, units / key)


def _broken(run: Path) -> list[str]:
    """Units whose log or truth cannot be read, or is another than the one that was played."""
    told, found = read_run(run), []
    for key in sorted(told["resolved"]):
        try:
            if runlog.has_begun(run / UNITS / key / LOG):
                read_unit(run, told, key)
        except InputError:
            found.append(key)
    return found


def _record(task: Task, run: Path, sessions: list[dict[str, Any]], given: Mapping[str, Any]
            ) -> list[tuple[str, str, str]]:  # fmt: skip
    """Write ``run.json``; how each unit stands, of which the mark is made."""
    resolved: dict[str, Any] = {}
    units: dict[str, Any] = {}
    stand: list[tuple[str, str, str]] = []
    for session in sessions:
        key = session["key"]
        folder = run / UNITS / key
        unit = _unit_told(folder)
        resolved[key] = {"session": session["session"], "user": session["user"], "seed": task.seed}
        if runlog.has_begun(folder / LOG):
            resolved[key] = {k: v for k, v in runlog.read_header(folder / LOG).items() if k not in ("kind", "schema")}
        units[key] = {k: v for k, v in unit.items() if k not in ("schema", "inputs", "header", "log_size")}
        state = "missing" if not unit else "done" if unit["error"] is None else "erred"
        stand.append((key, state, str(unit.get("log_sha256", ""))))
    failed = any(state != "done" for _, state, _ in stand)
    record = run_record("some_units_erred" if failed else "done", given, resolved, task.seed, units)
    record["sweep"] = {"cell": task.cell.id, "inputs": task.inputs, "beside": task.marked}
    write_json(run / RUN, record)
    return stand


def _unit_told(folder: Path) -> dict[str, Any]:
    """What a unit's folder says of it; nothing where there is none, or it is damaged."""
    try:
        found = json.loads((folder / UNIT).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and {"inputs", "error", "log_sha256"} <= found.keys() else {}
