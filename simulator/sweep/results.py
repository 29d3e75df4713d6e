"""What came of a sweep: cells, their runs and units, and the sums that figures are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorers.pooling import Floats, Pooled
from scorers.serving import USAGE_COLUMNS
from simulator.play.failing import mostly_failed
from simulator.sweep.planned import Study

__all__ = ["USAGE", "CellRuns", "Results", "RunFacts", "Table", "UnitFacts"]

USAGE = "usage"
"""The table of scorer ``serving`` with what was used of models."""
_REPORTS = USAGE_COLUMNS.index("reports")

Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """What tells whether two units may be held against each other, and what hangs together.

    Attributes:
        cluster: person, recording and name, for ``Clusters.group``.
        dataset: SHA-256 of what was played; ``truth`` likewise of what is true of it at this period.
        synthetic: its user is made up.
    """

    key: str
    seed: int
    cluster: tuple[str, str, str]
    dataset: str
    truth: str
    period_ns: int
    synthetic: bool = False

    @property
    def recording(self) -> str:
        """What it is a version of."""
        return self.cluster[1]


@dataclass(frozen=True, slots=True)
class Table:
    """What the units of a cell add to a table of sums.

    Attributes:
        has: which units have it, shape (n_units,).
        columns: shape (n_units, k), 0 where a unit has none; None for a distribution, which is in ``parts``.
        parts: as ``scores.json`` keeps them, of a distribution as arrays; empty where ``columns`` holds them.
    """

    has: NDArray[np.bool_]
    columns: Floats | None
    parts: Sequence[Any] = ()

    def of(self, like: Pooled, rows: NDArray[np.int64]) -> Pooled:
        """A metric of it over some units."""
        if self.columns is None:
            return like.of([self.parts[i] for i in rows])
        if self.columns.shape[1] != like.columns.shape[1]:
            raise ValueError(f"{like.metric}: {like.columns.shape[1]} parts a session are due")
        return Pooled(like.metric, self.columns[rows], like.formula, like.table)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run that was scored.

    Attributes:
        details: of the wanted metrics, as in ``scores.json``.
        counts: what happened; ``erred``: units that were not played or ended in an error; ``torn``: those of them
            that left a log, which is in ``details`` and in no figure of the cell.
        facts: protocol, latency source, gate, what was run; ``model``: whether one was asked.
        invalid: reasons why its figures should not be used.
        unwritten: personas for which the model gave no text that can be used, of how many that it was to write.
    """

    folder: str
    seed: int
    details: Mapping[str, Told]
    counts: Mapping[str, int]
    erred: int
    facts: Mapping[str, Any]
    invalid: tuple[str, ...]
    torn: int = 0
    unwritten: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class CellRuns:
    """A cell with what came of it: see ``PlannedCell``.

    Attributes:
        marked: measured beside others.
        runs: those that were scored, in order of seed.
        units: of these runs, in order of key and seed; tables have a row each.
        planned: units that the study has of it.
        model: whom it asks, by name; None where nobody is asked or nobody said.
        unscored: units of runs that ended without any score, since none of them came far enough.
    """

    id: str
    name: str
    values: Mapping[str, str]
    data: str
    marked: bool
    runs: tuple[RunFacts, ...]
    units: tuple[UnitFacts, ...]
    tables: Mapping[str, Table]
    planned: int
    model: str | None = None
    unscored: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Of all its runs."""
        total: Counter[str] = Counter()
        for run in self.runs:
            total.update(run.counts)
        return dict(total)

    @property
    def erred(self) -> int:
        """Units that could not be played, or not to their end."""
        return sum(run.erred for run in self.runs) + self.unscored

    @property
    def mostly_failed(self) -> bool:
        """Whether its figures are those of no agent, see ``simulator.play.failing.mostly_failed``."""
        asks = self.told("protocol") == "trajectory" and any(run.facts.get("model") for run in self.runs)
        return mostly_failed(self.counts, self._reports, seldom=asks)

    @property
    def _reports(self) -> int:
        """Decisions that told what they used of a model."""
        table = self.tables.get(USAGE)
        return 0 if table is None or table.columns is None else int(table.columns[:, _REPORTS].sum())

    @property
    def unwritten(self) -> tuple[int, int]:
        """Personas, over all its runs, that are extractive though a model was to write them; of how many."""
        return sum(run.unwritten[0] for run in self.runs), sum(run.unwritten[1] for run in self.runs)

    @property
    def sees_truth(self) -> bool:
        """Whether its agent or memory was given the truth: a ceiling."""
        return any(run.facts["sees_truth"] for run in self.runs)

    @property
    def synthetic(self) -> bool:
        """Whether some of its users are made up."""
        return any(unit.synthetic for unit in self.units)

    @property
    def missing(self) -> int:
        """Units that are in no scored run yet."""
        return max(0, self.planned - self.erred - len(self.done))

    @property
    def done(self) -> tuple[UnitFacts, ...]:
        """Units that were scored."""
        return self.units

    def told(self, fact: str) -> str:
        """A fact of its runs; all there are where they differ."""
        return " + ".join(dict.fromkeys(str(run.facts[fact]) for run in self.runs if run.facts.get(fact) is not None))

    def detail(self, metric: str) -> Told | None:
        """What the first run that knows the metric says of it."""
        return next((run.details[metric] for run in self.runs if metric in run.details), None)


@dataclass(frozen=True, slots=True)
class Results:
    """A sweep as far as it came.

    Attributes:
        like: by metric, its formula over sums; of those that have one.
        metrics: names that the tables show, in order.
    """

    study: Study
    cells: tuple[CellRuns, ...]
    like: Mapping[str, Pooled] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
