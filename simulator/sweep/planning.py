"""What a study comes to: its runs, what of them is there, what is to be played, and the tasks in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from simulator.core.errors import InputError
from simulator.play.kept import FILE as SCORES
from simulator.play.kept import own_scores
from simulator.runs.folder import digest, read_run
from simulator.sweep.cell_facts import CellFacts
from simulator.sweep.data import DataSet, Session
from simulator.sweep.place import RUN, RUNS, SCORED, UNITS, found_as, score_mark, unit_stands
from simulator.sweep.types import Cell, Done, Needs, Task

__all__ = ["Feed", "Plan", "Run", "look", "runs_of"]


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
