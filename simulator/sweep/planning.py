"""What a study comes to: its runs, what of them is there, what is to be played, and the tasks in order."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio

from agents.base import agents
from simulator.core.errors import InputError, UsageError
from simulator.core.registry import parse_spec
from simulator.core.traits import trait
from simulator.endpoint.types import ModelChoice, shown_url
from simulator.play.kept import FILE as SCORES
from simulator.play.kept import own_scores
from simulator.play.makers import Making
from simulator.runs.config import check
from simulator.runs.folder import digest, read_run
from simulator.runs.unit import UnitPlan
from simulator.session.play import Play
from simulator.session.truth import Moment
from simulator.sweep.axes import maker_of
from simulator.sweep.data import DataSet, Session
from simulator.sweep.faults import Faults
from simulator.sweep.place import RUN, RUNS, SCORED, UNITS, found_as, score_mark, unit_stands
from simulator.sweep.types import Cell, Done, Needs, Task
from simulator.sweep.work import code_digest, rate_of, unit_plan

__all__ = ["CellFacts", "Feed", "Plan", "Run", "facts_of", "look", "runs_of"]

_OF_SESSION = (
    "session", "user", "period_ns", "end_ns", "utc_anchor_ns", "window_ns", "segmentation", "dataset", "recording",
    "person", "truth", "sample", "seed", "policy", "gate", "protocol", "memory_mode",
)  # fmt: skip
"""Fields of a header that a session has a part in: they are in its own digest, and what a cell says is in its id."""
_ADDRESS = re.compile(r"https?://[^,\s]+")
_MEASURED = ("measured", "wall", "elastic")


@dataclass(frozen=True, slots=True)
class CellFacts:
    """What is known of a cell once it was tried on a session.

    Attributes:
        inputs: digest of agent, memory, model and rules as they are now, code included; ``code``: of that alone.
        needs: of its tasks.
        protocol: of its runs; ``latency_source`` likewise.
        asks: calls to a model that one decision makes; 0 where none is asked, None where that cannot be told.
        pictures: pictures that one call sends, at most.
        marked: measured beside others.
    """

    inputs: str
    needs: Needs
    protocol: str
    latency_source: str
    latency_ns: int | None
    asks: int | None
    pictures: int
    wants_others: bool
    marked: bool
    code: str = ""


@dataclass(slots=True)
class Run:
    """A cell with a seed.

    Attributes:
        name: of its folder.
        cell: number of its cell; ``seed``.
        missing: numbers of the sessions whose units are to be played.
        n_changed: of those that were played of other inputs; ``n_erred``: that could not be played to their end;
            ``n_damaged``: whose log was cut or is gone, or whose ``unit.json`` cannot be read.
        is_scored: whether its scores are those of its units.
    """

    name: str
    cell: int
    seed: int
    missing: list[int] = field(default_factory=list)
    n_changed: int = 0
    n_erred: int = 0
    n_damaged: int = 0
    is_scored: bool = False


@dataclass(slots=True)
class Plan:
    """All of a study.

    Attributes:
        sweep: its folder.
        cells: in order, each with ``facts``.
        sets: data sets by name.
        runs: cell by cell, seed by seed.
    """

    sweep: Path
    cells: tuple[Cell, ...]
    facts: tuple[CellFacts, ...]
    sets: Mapping[str, DataSet]
    runs: list[Run]
    _digests: dict[str, str] = field(default_factory=dict)

    def sessions(self, run: Run) -> tuple[Session, ...]:
        """The sessions of a run, in order."""
        return self.sets[self.cells[run.cell].data].sessions

    def inputs(self, run: Run, session: Session) -> str:
        """Digest of all that a unit is made of."""
        facts = self.facts[run.cell]
        others = self._all_of(self.cells[run.cell].data) if facts.wants_others else ""
        return sha256(f"{facts.inputs} {run.seed} {session.inputs} {others}".encode()).hexdigest()[:32]

    def _all_of(self, data: str) -> str:
        """Digest of a whole data set."""
        if data not in self._digests:
            self._digests[data] = digest([session.inputs for session in self.sets[data].sessions])
        return self._digests[data]

    @property
    def n_units(self) -> int:
        """Units of the study."""
        return sum(len(self.sessions(run)) for run in self.runs)

    @property
    def n_missing(self) -> int:
        """Units that are to be played."""
        return sum(len(run.missing) for run in self.runs)

    @property
    def n_changed(self) -> int:
        """Units that are to be played again since what they are made of has changed."""
        return sum(run.n_changed for run in self.runs)

    @property
    def n_erred(self) -> int:
        """Units that are to be played again since they could not be played to their end."""
        return sum(run.n_erred for run in self.runs)

    @property
    def n_damaged(self) -> int:
        """Units that are to be played again since what was left of them is damaged."""
        return sum(run.n_damaged for run in self.runs)

    def task(self, run: Run, session: Session) -> Task:
        """The task of a unit."""
        facts = self.facts[run.cell]
        return Task(self.sweep, run.name, session.key, session.scenario, self.cells[run.cell], run.seed, facts.needs,
                    facts.marked, session.nth, self.inputs(run, session), facts.code, session.dataset)  # fmt: skip

    def scoring(self, run: Run, failed: Mapping[str, str] | None = None) -> Task:
        """The task that scores a run; ``failed``: by key why units could not be played."""
        facts, sessions = self.facts[run.cell], self.sessions(run)
        units = [self.inputs(run, session) for session in sessions]
        return Task(self.sweep, run.name, "", sessions[0].scenario, self.cells[run.cell], run.seed, Needs(),
                    facts.marked, 0, digest(units)[:32], units=tuple(units), failed=failed or {})  # fmt: skip


def facts_of(cells: Sequence[Cell], sets: Mapping[str, DataSet], where: Path, *, beside: bool, dry: bool = False
             ) -> tuple[CellFacts, ...]:  # fmt: skip
    """Try each cell on the first session of its data set; nothing is played.

    Args:
        cells: of the study.
        sets: data sets by name.
        where: the study's file, for messages.
        beside: measured cells may run beside others, and are marked.
        dry: make no agent and no memory: what they need (a server, a key) need not be there.

    Raises:
        InputError: a cell that cannot be played, with the reason.
    """
    tried: set[tuple[str, str]] | None = None if dry else set()
    faults: dict[str, InputError] = {}  # one of each kind: a hundred cells may be of one agent

    async def work() -> tuple[CellFacts, ...]:
        found = []
        for cell in cells:
            try:
                found.append(await _facts(cell, sets[cell.data], where, tried, beside=beside))
            except InputError as error:
                faults.setdefault(error.want, error)
        return tuple(found)

    found = anyio.run(work)
    Faults.of(faults.values()).tell()
    return found


async def _facts(
    cell: Cell, data: DataSet, where: Path, tried: set[tuple[str, str]] | None, *, beside: bool
) -> CellFacts:
    name = f"cell {cell.name}"
    try:
        rate = rate_of(cell)
    except ValueError:
        want = "snapshots a second: a number above 0, such as 0.5"
        raise InputError(where, want, field="axes.rate", value=cell.value("rate")) from None
    for session in data.sessions if rate is not None else ():
        if rate is not None and 1e9 / rate < session.period_ns * 0.999:
            own = f"{1e9 / session.period_ns:g}"
            want = f"session {session.key} was recorded at {own} a second; what lay between was never seen"
            raise InputError(where, want, field="axes.rate", value=cell.value("rate"))
    if cell.choice.get("clock") == "journal":
        raise InputError(where, "a journal is of one run, and a study makes many", field=name)
    if data.first is None:
        return _unknown(cell)
    try:
        plan = await unit_plan(cell, 0, _stand_in(data.first), _others(data, cell))
        if tried is not None:
            _try(plan, cell, tried)
        else:
            _check_class(plan, parse_spec(str(cell.choice["agent"])).name)
    except UsageError as error:
        if isinstance(error, InputError) and error.where != str(data.first.where):
            raise
        raise InputError(where, str(error), field=name) from error
    return _known(cell, plan, beside=beside)


def _stand_in(play: Play) -> Play:
    """The session with a moment that is never asked, so that none are sampled for nothing."""
    return replace(play, truth=replace(play.truth, moments=play.truth.moments or (Moment(0, False),)))


def _others(data: DataSet, cell: Cell) -> Mapping[str, Any]:
    """Whom a memory that reads another user's past could read, without their pasts."""
    wants = maker_of("memory", cell.choice["memory"]).wants_others
    return {session.user: () for session in data.sessions} if wants else {}


def _check_class(plan: UnitPlan, name: str) -> None:
    """Look at what an agent's class declares, without making one: what it needs may not be there yet."""
    made = agents.get(name)
    declared = {word: value for word in ("protocols", "concurrent", "background", "paced")
                if isinstance(value := trait(made, word), str | tuple | list | bool)}  # fmt: skip
    if plan.agent_code is not None or name == "remote":  # one of them may say so for itself
        declared.setdefault("concurrent", "stateless")
    check(plan.settings, SimpleNamespace(decide=len, **declared))


def _try(plan: UnitPlan, cell: Cell, tried: set[tuple[str, str]]) -> None:
    """Make its agent, and each memory of the study once: what is wrong with them is told before anything is played."""
    assert isinstance(plan.agent, Making)
    assert isinstance(plan.memory, Making)
    check(plan.settings, plan.agent.look())
    key = (plan.memory_text, str(cell.choice.get("embedder")))
    if key not in tried:
        tried.add(key)
        plan.memory.look()


def _known(cell: Cell, plan: UnitPlan, *, beside: bool) -> CellFacts:
    header = plan.header()
    s = plan.settings
    inputs = digest([cell.id, {k: v for k, v in header.items() if k not in _OF_SESSION}])
    measured = s.clock in _MEASURED
    model: ModelChoice | None = cell.choice.get("model")
    endpoint, limit = _endpoint(cell, header, model)
    records = model is not None and model.record
    latency = getattr(s.latency, "decide_ns", getattr(s.latency, "median_ns", None))
    agent = maker_of("agent", cell.choice["agent"])
    strategy = header.get("strategy") or {}
    pictures = 0 if strategy.get("modality", "text") == "text" else 1 + int(strategy.get("frames") or 0)
    return CellFacts(
        inputs, Needs(endpoint, (measured and not beside) or records, limit), s.protocol, s.latency_source,
        latency if isinstance(latency, int) else None, _asks(agent.wants_model, strategy), pictures,
        maker_of("memory", cell.choice["memory"]).wants_others, measured and beside, code_digest(header),
    )  # fmt: skip


def _asks(wants: str | None, strategy: Mapping[str, Any]) -> int | None:
    """Calls of one decision, as the strategy's own facts say."""
    if wants is None:
        return 0
    k = strategy.get("k", 1)
    stages = strategy.get("stages", 1)
    return int(k) * int(stages) if isinstance(k, int) and isinstance(stages, int) else None


def _endpoint(cell: Cell, header: Mapping[str, Any], model: ModelChoice | None) -> tuple[str | None, int | None]:
    """The server that a cell asks, as it may be shown, and how many calls it may have in flight."""
    if "model" in header and (model is None or model.replays is None):
        url = (model.base_url if model is not None else None) or os.environ.get("OPENAI_BASE_URL") or "the default"
        return shown_url(url), (model or ModelChoice()).concurrency
    for text in (cell.choice["memory"], cell.choice["agent"], str(cell.choice.get("embedder", ""))):
        if found := _ADDRESS.search(str(text)):
            return shown_url(found[0]), None
    return None, None


def _unknown(cell: Cell) -> CellFacts:
    """Of a cell whose data are yet to be made: what its choice alone tells."""
    agent = maker_of("agent", cell.choice["agent"])
    clock = str(cell.choice.get("clock", "measured"))
    source = "measured" if clock in _MEASURED else clock
    asks = 0 if agent.wants_model is None else None
    return CellFacts("", Needs(), str(cell.choice.get("protocol", "stream")), source, None, asks, 0, False, False)


def runs_of(cells: Sequence[Cell], seeds: Sequence[int]) -> list[Run]:
    """A run for each cell and seed; its name holds the cell's id, by which it is found again."""
    return [Run(f"{cell.name}-{cell.id}-s{seed}", i, seed) for i, cell in enumerate(cells) for seed in seeds]


def look(plan: Plan, *, again: bool) -> None:
    """See what is there of each run, also under the name that it had in the study as it was; nothing is written.

    Args:
        plan: gets what is missing of each of its runs.
        again: all is to be played anew.
    """
    runs = plan.sweep / RUNS
    there = found_as(runs, [run.name for run in plan.runs])
    for run in plan.runs:
        sessions = plan.sessions(run)
        if again or run.name not in there:
            run.missing = list(range(len(sessions)))
            continue
        folder, stand = f"{runs}/{there[run.name]}", []
        for i, session in enumerate(sessions):
            state, log = unit_stands(f"{folder}/{UNITS}/{session.key}", plan.inputs(run, session))
            stand.append((session.key, state, log))
            if state != "done":
                run.missing.append(i)
                run.n_changed += state == "changed"
                run.n_erred += state == "erred"
                run.n_damaged += state == "damaged"
        if not run.missing:
            run.is_scored = _is_scored(Path(folder), score_mark(stand))


def _is_scored(folder: Path, mark: str) -> bool:
    """Whether the scores of a run are those of its units, and there, whole. Files that were written after their mark
    are read, since somebody has changed them; to read all of a large sweep takes too long.
    """
    try:
        with (folder / SCORED).open("rb") as file:
            said, since = file.read().decode("utf-8", "replace").strip(), os.fstat(file.fileno()).st_mtime_ns
        if said != mark:
            return False
        if max((folder / name).stat().st_mtime_ns for name in (RUN, SCORES)) <= since:
            return True
        told = read_run(folder)
        return told["identity"] == digest(told["resolved"]) and own_scores(folder, told) is not None
    except (OSError, InputError):
        return False


class Feed(Iterator[Task | None]):
    """The tasks of a plan as an engine asks for them: units cell by cell, and each run's scoring behind its last unit.

    Args:
        plan: looked at before.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._units = self._all_units()
        self._ready = deque(run for run in plan.runs if not run.missing and not run.is_scored)
        self._left = {run.name: len(run.missing) for run in plan.runs if run.missing}
        self._runs = {run.name: run for run in plan.runs}
        self._failed: dict[str, dict[str, str]] = {}
        self._n_out = 0
        self._is_empty = False

    def _all_units(self) -> Iterator[Task]:
        for run in self._plan.runs:
            sessions = self._plan.sessions(run)
            for i in run.missing:
                yield self._plan.task(run, sessions[i])

    def __next__(self) -> Task | None:
        if self._ready:
            self._n_out += 1
            run = self._ready.popleft()
            return self._plan.scoring(run, self._failed.pop(run.name, None))
        if not self._is_empty:
            task = next(self._units, None)
            if task is not None:
                self._n_out += 1
                return task
            self._is_empty = True
        if self._n_out:
            return None
        raise StopIteration

    def done(self, done: Done) -> None:
        """A task has ended: with the last one of its run that run can be scored."""
        self._n_out -= 1
        if not done.key or done.kind == "interrupted":
            return
        if done.error is not None:
            self._failed.setdefault(done.run, {})[done.key] = done.error
        self._left[done.run] -= 1
        if not self._left[done.run]:
            self._ready.append(self._runs[done.run])
