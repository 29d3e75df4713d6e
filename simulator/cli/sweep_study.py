"""What ``proact sweep FILE`` does: a study is planned or played, watched and told."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from simulator.cli.columns import Columns
from simulator.cli.interrupting import listening
from simulator.cli.options import ModelOptions, split_memories
from simulator.cli.speak import Voice, counted, facts, plain
from simulator.core.errors import Exit, UsageError, quote
from simulator.endpoint.prices import read_prices
from simulator.sweep import tables
from simulator.sweep.data import BUNDLED
from simulator.sweep.engines import engine_of
from simulator.sweep.estimate import Estimate, Range, estimate
from simulator.sweep.idle_axes import unread_axes
from simulator.sweep.named import about
from simulator.sweep.parquet import ensure_installed, export
from simulator.sweep.place import ensure_ours, is_starting_over
from simulator.sweep.planning import Plan, look
from simulator.sweep.summary import FILE as SUMMARY
from simulator.sweep.sweeping import Asked, Study, Swept, Watcher, plan_of, prepared, sweep
from simulator.sweep.types import Done, Stop
from simulator.timing.clock import real_ns

__all__ = ["Options", "list_presets", "play_study", "tell_plan"]

_TOLD_ERRORS = 5
_BESIDE = "‡"
_BEAT_NS = 30 * 10**9
_LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command; see there."""

    what: str
    out: Path | None
    sessions: Sequence[Path]
    set_: Sequence[str]
    workers: int | None
    engine: str
    ray_address: str | None
    ship: bool
    measured_beside: bool
    fail_if: Sequence[str]
    fail_on_modelled: bool
    parquet: bool
    again: bool
    model: ModelOptions
    json: bool

    def asked(self) -> Asked:
        """What is said over the study's file.

        Raises:
            UsageError: ``--set`` without a value, or one of the model's options that cannot be.
        """
        set_: dict[str, list[str]] = {name: [str(value)] for name, value in self.model.shown().items()}
        given: dict[str, list[str]] = {}
        for text in self.set_:
            name, equals, values = text.partition("=")
            if not equals or not split_memories(values):
                raise UsageError(f"--set {quote(text)}: an axis with values is wanted, such as memory=none,rag")
            given.setdefault(name, []).extend(split_memories(values))
        return Asked(self.out, self.sessions, set_ | given, self.model.choice(), self.fail_if, self.fail_on_modelled,
                     self.measured_beside, self.again)  # fmt: skip

    @property
    def n_workers(self) -> int:
        """As said; else a worker for each CPU that this process may use, and one where all is played in it."""
        if self.workers is not None:
            return self.workers
        if self.engine == "inline":
            return 1
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def list_presets(*, as_json: bool) -> int:
    """Tell which studies come with proact; the exit code."""
    voice, known = Voice(as_json=as_json), about()
    for name, said in known.items():
        voice.record("preset", name=name, description=said)
    if not as_json:
        voice.say(facts("Studies that come with proact: proact sweep NAME --dry-run", known))
    voice.record("done", presets=list(known))
    return Exit.DONE


def tell_plan(options: Options) -> int:
    """Tell what would be played and what it would take; the exit code."""
    voice, asked = Voice(as_json=options.json), options.asked()
    engine = engine_of(options.engine, options.n_workers, ray_address=options.ray_address, ship=options.ship)
    study = prepared(options.what, asked)
    ensure_ours(study.folder, study.file.name)
    plan = plan_of(study, asked, dry=True)
    engine.check(plan.cells)
    look(plan, again=asked.again or is_starting_over(study.folder))
    prices = {} if options.model.prices is None else read_prices(options.model.prices)
    found = estimate(plan, options.n_workers, len(study.file.all_seeds), prices)
    if not options.json:
        voice.say(facts(f"{study.file.name}: nothing is played", _plan_told(study, plan, found, options.n_workers)))
    voice.record("done", sweep=str(study.folder), lacks=_lacking(plan), **found.told())
    return Exit.DONE


def _plan_told(study: Study, plan: Plan, found: Estimate, workers: int) -> dict[str, str]:
    n_sessions = {name: len(data.sessions) for name, data in plan.sets.items()}
    made = [name for name, data in plan.sets.items() if data.first is None]
    there = [counted(found.there, "unit") + " there"]
    there += [f"{found.changed} of other inputs, played anew"] if found.changed else []
    there += [f"{found.erred} erred, tried again"] if found.erred else []
    there += [f"{found.damaged} damaged, played anew"] if found.damaged else []
    said = {"folder": str(study.folder)}
    said |= {axis.name: ", ".join(axis.values) for axis in study.grid.axes if axis.varies or axis.name != "data"}
    said["seeds"] = ", ".join(map(str, study.file.all_seeds[:8])) + (" …" if found.seeds > 8 else "")
    said["sessions"] = ", ".join(f"{n} in {name}" for name, n in n_sessions.items())
    if any(tuple(path.name for path in data.given) == BUNDLED for data in plan.sets.values()):
        said["sessions"] += ": of the thirteen that come with proact, see docs/sweeps.md"
    if made:
        said["to be made"] = f"{', '.join(made)}: figures that hang on its length are guesses"
    said["cells"] = f"{found.cells}, {counted(found.runs, 'run')}"
    if unread := unread_axes(study.grid.axes, plan.cells):
        said["cells"] += "; " + "; ".join(unread)
    said["units"] = f"{found.units}: {', '.join(there)}, {found.missing} to play"
    said["decisions"] = "unknown" if found.decisions is None else f"about {found.decisions}"
    said["calls to models"] = "unknown" if found.calls is None else f"about {found.calls}" if found.calls else "none"
    if found.calls != 0:
        said["tokens"] = "unknown"
        if found.tokens_in is not None and found.tokens_out is not None:
            said["tokens"] = f"{_range(found.tokens_in)} in, {_range(found.tokens_out)} out, by rule of thumb"
        said["cost"] = "unknown (--prices FILE)" if found.cost is None else _range(found.cost)
    if (lacks := _lacking(plan)) is not None:
        said["lacks"] = lacks
    said["time"] = f"{_time(found.seconds)} with {counted(workers, 'worker')}, by rule of thumb"
    if found.alone:
        said["one at a time"] = f"{counted(found.alone, 'unit')}: their latency is measured (or --measured-beside)"
    return said


def _lacking(plan: Plan) -> str | None:
    """What has to be named before it can be played, in a sentence."""
    if os.environ.get("OPENAI_BASE_URL"):
        return None
    models = [cell.choice.get("model") for cell, facts in zip(plan.cells, plan.facts, strict=True) if facts.asks != 0]
    if any(model is None or (model.base_url is None and model.replays is None) for model in models):
        return "it asks a model, and no server is named: --base-url or OPENAI_BASE_URL, and --model if it has several"
    return None


def _range(ends: Range) -> str:
    low, high = (f"{x:.0f}" if x >= 100 else f"{x:.3g}" for x in ends)
    return low if low == high else f"{low} to {high}"


def _time(ends: Range) -> str:
    def told(seconds: float) -> str:
        for unit, size in (("h", 3600), ("min", 60)):
            if seconds >= 2 * size:
                return f"{seconds / size:.0f} {unit}"
        return f"{max(1, seconds):.0f} s"

    low, high = map(told, ends)
    return low if low == high else f"{low} to {high}"


def play_study(options: Options) -> int:
    """Play what is missing and summarise the whole; the exit code."""
    voice, asked, stop = Voice(as_json=options.json), options.asked(), Stop()
    if options.parquet:
        ensure_installed()  # not after hours of playing
    engine = engine_of(options.engine, options.n_workers, ray_address=options.ray_address, ship=options.ship)
    again, watcher = shlex.join(["proact", *sys.argv[1:]]), _Teller(voice, stop)
    try:
        with (
            watcher,
            listening(partial(_asked_to_end, stop, options.engine, lambda: watcher.is_playing), voice.tell),
        ):
            swept = sweep(options.what, asked, engine=engine, workers=options.n_workers, watcher=watcher, stop=stop)
    except KeyboardInterrupt:  # before anything was played, or after all was
        voice.record("interrupted", sweep=None if watcher.folder is None else str(watcher.folder), units={})
        voice.tell(f"interrupted; what was there is kept. To go on: {again}")
        return Exit.INTERRUPTED
    if swept.summary is None:
        voice.record("interrupted", sweep=str(swept.folder), units=dict(sorted(swept.ended.items())))
        voice.tell(f"interrupted; finished units are kept, those that ran start anew. To go on: {again}")
        return swept.code
    _tell(swept, voice, export(swept.folder) if options.parquet else None)
    return swept.code


def _asked_to_end(stop: Stop, engine: str, is_playing: Callable[[], bool] = lambda: True) -> str:
    """The first Ctrl-C lets units in flight end, the second stops; where none is in flight the first one stops."""
    if not is_playing():
        if stop.now:  # it is ending, and takes along what it had started
            return "stopping"
        stop.draining = stop.now = True
        raise KeyboardInterrupt
    if stop.draining and (stop.now or engine == "inline"):
        stop.now = True
        raise KeyboardInterrupt
    if stop.draining:
        stop.now = True
        return "stopping"
    stop.draining = True
    return "interrupted; waiting for the units in flight; once more ends them"


class _Teller(Watcher):
    """Tells people and machines how a sweep goes on."""

    def __init__(self, voice: Voice, stop: Stop) -> None:
        self.is_playing = False
        self.folder: Path | None = None
        self._voice, self._stop = voice, stop
        self._is_over = threading.Event()
        self._beats = threading.Thread(target=self._watch, name="proact-beat", daemon=True)
        self._bar: Progress | None = None
        self._ended: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._n_units = self._n_there = 0
        self._told_ns = real_ns()

    def __enter__(self) -> _Teller:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        if self._beats.is_alive():
            self._beats.join()
        if self._bar is not None:
            self._bar.stop()

    def tell(self, said: str) -> None:
        self._voice.tell(said, "dim")

    def launched(self, study: Study, plan: Plan, n_gone: int) -> None:
        self._n_units, n = plan.n_units, plan.n_missing
        self._n_there = self._n_units - n
        self._voice.record(
            "launch", sweep=str(study.folder), study=study.file.name, cells=len(plan.cells), runs=len(plan.runs),
            units=self._n_units, to_play=n, changed=plan.n_changed, erred=plan.n_erred,
            damaged=plan.n_damaged,
        )  # fmt: skip
        if not n:
            self._voice.tell(f"{study.folder}: all of it was played before; --again plays it anew")
        elif self._n_there or plan.n_changed or plan.n_damaged:
            self._voice.tell(f"{study.folder}: {self._n_there} of {self._n_units} units are there")
        if plan.n_changed:
            of = counted(plan.n_changed, "unit")
            self._voice.tell(f"{of} of inputs that have changed since: played anew", "yellow")
        if plan.n_erred:
            self._voice.tell(f"{counted(plan.n_erred, 'unit')} erred before: tried again", "yellow")
        if plan.n_damaged:
            self._voice.tell(f"{counted(plan.n_damaged, 'unit')} cut or damaged since: played anew", "yellow")
        for said in unread_axes(study.grid.axes, plan.cells):
            self._voice.tell(said, "dim")
        if n_gone:
            self._voice.tell(f"{counted(n_gone, 'run')} of it are in the study no more, and in no figure", "dim")
        alone = sum(len(run.missing) for run in plan.runs if plan.facts[run.cell].needs.alone)
        if alone:
            of = counted(alone, "unit")
            self._voice.tell(f"{of} one at a time, since latency is measured; --measured-beside or axis latency", "dim")
        self._bar = _bar(self._voice.progress)
        self._bar.add_task("units", total=self._n_units, completed=self._n_there, said="")
        self._bar.start()
        self.folder, self.is_playing = study.folder, True
        self._beats.start()

    def done(self, done: Done) -> None:
        if not done.key:
            self._voice.record("scored", run=done.run, error=done.error)
        else:
            self._ended[done.kind] += 1
            self._voice.record("unit", run=done.run, key=done.key, kind=done.kind, error=done.error,
                               seconds=round(done.seconds, 6), tally=dict(done.tally))  # fmt: skip
        if done.error is not None and done.kind != "interrupted":
            self._errors[done.error] += 1
            if len(self._errors) <= _TOLD_ERRORS and self._errors[done.error] == 1:
                self._voice.tell(f"{done.run} {done.key}: {done.error}", "red")
        self._show()

    def _watch(self) -> None:
        """Show now and then what goes on, also where nothing ends any more."""
        while not self._is_over.wait(_LOOK_S):
            if self.is_playing:
                self._show()

    def _show(self) -> None:
        ended = dict(self._ended)  # a copy: two threads come here
        n = self._n_there + sum(ended.values())
        failed = sum(count for kind, count in ended.items() if kind != "done")
        said = ", ".join(filter(None, (f"{counted(failed, 'unit')} failed" if failed else "", self._slowest())))
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=n, said=said)
        if not self._voice.progress.is_terminal and real_ns() - self._told_ns > _BEAT_NS:
            self._told_ns = real_ns()
            self._voice.tell(f"{n} of {self._n_units} units" + (f", {said}" if said else ""))

    def _slowest(self) -> str:
        """The unit that has run longest, where that is long: it may hang."""
        begun_ns, (run, key) = min(((at, task) for task, at in list(self._stop.running.items())), default=(0, ("", "")))
        took_s = (real_ns() - begun_ns) // 10**9
        return f"{run} {key} has run for {took_s} s" if run and took_s * 10**9 >= _BEAT_NS else ""

    def summarising(self) -> None:
        self.is_playing = False
        if self._stop.draining:  # asked for when all had been played
            raise KeyboardInterrupt
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], said="summarising")


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[said]}", markup=False), console=console, transient=True,
        disable=not console.is_terminal, refresh_per_second=5,
    )  # fmt: skip


def _tell(swept: Swept, voice: Voice, decisions: Path | None) -> None:
    """The table, what failed, and where all of it lies."""
    assert swept.summary is not None
    assert swept.drawn is not None
    summary = swept.summary.summary
    if not voice.as_json:
        voice.say(_table(summary))
        for mark in _legend(summary):
            voice.say(plain(mark))
    for said in summary["caveats"]:
        voice.tell(said, "yellow")
    failed = {kind: n for kind, n in sorted(swept.ended.items()) if kind != "done"}
    if failed:
        told = ", ".join(f"{n} {kind}" for kind, n in failed.items())
        voice.tell(f"units that did not come to their end: {told}; the same command tries them again", "red")
    for gate in swept.summary.failed:
        voice.tell(f"gate {gate.gate}{f' in {gate.cell}' if gate.cell else ''}: {gate.why}", "bold red")
    if swept.drawn.left is not None:
        voice.tell(f"figures left out: {swept.drawn.left}", "yellow")
    voice.say(plain(f"summary: {swept.folder / 'summary.md'}"))
    if decisions is not None:
        voice.say(plain(f"decisions: {decisions}"))
    voice.record(
        "done", sweep=str(swept.folder), summary=str(swept.folder / SUMMARY), ended=dict(sorted(swept.ended.items())),
        files=[str(path) for path in swept.drawn.files], decisions=None if decisions is None else str(decisions),
        figures_left_out=swept.drawn.left,
        gates=[{"gate": g.gate, "cell": g.cell, "why": g.why, "value": g.value} for g in swept.summary.failed],
    )  # fmt: skip


def _legend(summary: Mapping[str, Any]) -> list[str]:
    """What the marks of the table mean, a line each, of those that stand in it."""
    return [
        "* best of those it can be compared with",
        *[f"{tables.LIKE} not significantly worse than the best"] * tables.daggers(summary),
        *[f"{_BESIDE} measured beside other units"] * any(cell["marked"] for cell in summary["cells"]),
    ]


def _table(summary: Mapping[str, Any]) -> Columns:
    """Cells with their headline figures, as far as a screen has room for."""
    metrics = tables.headline(summary)
    rows = []
    for cell in summary["cells"]:
        figures = [_figure(cell["metrics"][m["name"]]) for m in metrics]
        p95 = tables.number(cell["latency_ms"]["p95"]) + (_BESIDE if cell["marked"] else "")
        rows.append(
            (plain(cell["name"]), [*figures, Text(p95), Text(tables.units(cell)), Text(str(tables.failed(cell)[0]))])
        )
    return Columns("cell", (*(m["name"] for m in metrics), "p95 ms", "units", "errors"), rows)


def _figure(figure: Mapping[str, Any]) -> Text:
    text = tables.number(figure["value"])
    mark = "*" if figure["best"] else tables.LIKE if figure["like_best"] else " "
    return Text(text + mark, "bold" if figure["best"] else "")
