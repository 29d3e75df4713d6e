"""A sweep's runs read for its summary: scores and what sessions add to them, never a log.

Of each run two files are read, ``run.json`` and ``scores.json``. Only the sums that the wanted figures need stay in
memory, so that a sweep of 100,000 units takes some hundred megabytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorers.base import scorers
from scorers.headlines import HEADLINES
from scorers.pooling import Floats, Parts, Pooled, Reader
from scorers.resampled import cluster_of, pooled_of
from scorers.statistics.spread import Quantile
from simulator.core.errors import InputError, UsageError, nearest, quote
from simulator.play.kept import FILE as SCORES
from simulator.play.kept import own_scores
from simulator.runs.folder import read_run
from simulator.runs.runlog import no_collection
from simulator.session.describe_corpus import SYNTHETIC
from simulator.sweep.cell_names import cell_names
from simulator.sweep.gates import parse
from simulator.sweep.sharing import helpers

__all__ = [
    "COMPANY",
    "COST",
    "USAGE",
    "CellRuns",
    "Planned",
    "Results",
    "RunFacts",
    "Study",
    "Table",
    "UnitFacts",
    "planned",
    "read",
]

PLAN = "sweep.json"
COMPANY = ("scheduled_latency@p50", "scheduled_latency@p95", "deadline_attainment@5", "P_rt")
"""Figures that stand beside quality in every summary, or that its curves are made of."""
USAGE, COST = "usage", "cost"
"""Tables of scorer ``serving``: what was used of models, and what it cost."""
Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Planned:
    """A run as the study plans it.

    Attributes:
        folder: its name below ``runs/``.
        keys: of its units, by session.
    """

    folder: str
    seed: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell as the study plans it; ``marked``: it is measured beside others; ``model``: whom it asks, by name."""

    id: str
    name: str
    values: Mapping[str, str]
    data: str
    marked: bool
    runs: tuple[Planned, ...]
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Study:
    """What ``sweep.json`` says: what was asked for.

    Attributes:
        axes: name to values, in order.
        baseline: value of an axis that effects are held against; the first value where none is named.
        metrics: names that tables show; empty: the headlines of the protocol.
        gates: ``fail_if`` of the study.
    """

    name: str
    identity: str
    preset: str | None
    axes: Mapping[str, tuple[str, ...]]
    baseline: Mapping[str, str]
    metrics: tuple[str, ...]
    gates: tuple[str, ...]
    cells: tuple[PlannedCell, ...]


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
        facts: protocol, latency source, gate, what was run.
        invalid: reasons why its figures should not be used.
    """

    folder: str
    seed: int
    details: Mapping[str, Told]
    counts: Mapping[str, int]
    erred: int
    facts: Mapping[str, Any]
    invalid: tuple[str, ...]
    torn: int = 0


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
    def only_errors(self) -> bool:
        """Whether every decision failed or could not be read: its figures are those of no agent."""
        counts = self.counts
        bad = counts.get("error", 0) + counts.get("unparsed", 0)
        return bad > 0 and bad >= counts.get("decisions", 0)

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


def planned(sweep: Path) -> Study:
    """What a sweep's ``sweep.json`` says.

    Raises:
        InputError: there is none, or it is none.
    """
    file = sweep / PLAN
    try:
        told = json.loads(file.read_bytes())
        return _study(told)
    except OSError as error:
        raise InputError(file, f"not a sweep's folder: cannot be read ({error.strerror})") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(file, f"not a sweep's plan ({type(error).__name__}: {error})") from error


def _study(told: Told) -> Study:
    study = told["study"]
    cells = tuple(
        PlannedCell(
            str(cell["id"]), name, {str(k): str(v) for k, v in cell["values"].items()}, str(cell["data"]),
            bool(cell.get("marked")),
            tuple(Planned(str(run["run"]), int(run["seed"]), tuple(run["keys"])) for run in cell["runs"]),
            ((cell.get("choice") or {}).get("model") or {}).get("model"),
        )
        for cell, name in zip(told["cells"], cell_names(told["cells"]), strict=True)
    )  # fmt: skip
    return Study(
        name=str(study["name"]),
        identity=str(told["identity"]),
        preset=study.get("preset"),
        axes={str(axis["name"]): tuple(map(str, axis["values"])) for axis in told["axes"]},
        baseline={str(k): str(v) for k, v in (study.get("baseline") or {}).items()},
        metrics=tuple(dict.fromkeys(study.get("metrics") or ())),
        gates=tuple(study.get("fail_if") or ()),
        cells=cells,
    )


def read(sweep: str | Path, metrics: Sequence[str] = (), *, gated: bool = False) -> Results:
    """Read a sweep as far as it was played and scored.

    Args:
        sweep: its folder.
        metrics: figures that are wanted besides those of the study, by their names in letters of any size.
        gated: those that the study's gates look at are wanted too.

    Raises:
        InputError: not a sweep's folder, or a run's file that is not what it should be.
        UsageError: a metric that no run knows.
    """
    sweep = Path(sweep)
    study = planned(sweep)
    of_gates = [parse(text).metric for text in study.gates] if gated else []
    loaded = _Loaded(sweep, study, [*metrics, *of_gates])
    n_units = sum(len(run.keys) for cell in study.cells for run in cell.runs)
    with no_collection(), helpers(sweep, [*metrics, *of_gates], n_units) as others:
        shares = {n: loaded.cell(cell) for n, cell in enumerate(study.cells) if n % (others.n + 1) == 0}
        for n, (cell, known, specs) in others.found().items():
            shares[n] = cell
            loaded.take(known, specs)
        cells = tuple(shares[n] if n in shares else loaded.cell(cell) for n, cell in enumerate(study.cells))
    protocols = dict.fromkeys(run.facts["protocol"] for cell in cells for run in cell.runs)
    shown = study.metrics or tuple(dict.fromkeys(m for p in protocols for m in HEADLINES[p] if m in loaded.known))
    if study.metrics and cells and any(cell.runs for cell in cells):
        for metric in shown:
            if metric not in loaded.known:
                raise UsageError(f"metric {quote(metric)} is in no run of the sweep; {nearest(metric, loaded.known)}")
    return Results(study, cells, loaded.like, shown)


def read_share(sweep: Path, more: Sequence[str], nth: int, of: int) -> dict[int, tuple[CellRuns, list[str], list[str]]]:
    """Every so-many-th cell by its place, with the names of figures and the scorers that its runs know.

    Args:
        sweep: its folder.
        more: figures that are wanted besides those of the study.
        nth: of the cells, those at ``nth``, ``nth + of``, …
        of: how many share the work.
    """
    study = planned(sweep)
    loaded = _Loaded(sweep, study, more)
    with no_collection():
        cells = {n: loaded.cell(cell) for n, cell in enumerate(study.cells) if n % of == nth}
    return {n: (cell, list(loaded.known), list(loaded.scorers)) for n, cell in cells.items()}


class _Loaded:
    """Reads runs, and keeps of them what is wanted."""

    def __init__(self, sweep: Path, study: Study, metrics: Sequence[str]) -> None:
        self._sweep, self._study, self._more = sweep, study, tuple(metrics)
        self.like: dict[str, Pooled] = {}
        self.known: dict[str, None] = {}
        self.scorers: dict[str, None] = {}

    def cell(self, cell: PlannedCell) -> CellRuns:
        """A cell with the runs of it that are there."""
        found: list[RunFacts] = []
        units: list[tuple[UnitFacts, Mapping[str, Parts]]] = []
        unscored = 0
        for run in sorted(cell.runs, key=lambda r: r.seed):
            folder = self._sweep / "runs" / run.folder
            if (folder / SCORES).is_file():
                facts, of_units = self._run(folder, run)
                found.append(facts)
                units += of_units
            elif (folder / "run.json").is_file():  # it is written when all units have ended
                unscored += len(run.keys)
        units.sort(key=lambda u: (u[0].key, u[0].seed))
        tables = {table: self._table(table, [parts for _, parts in units]) for table in self._tables()}
        n = sum(len(run.keys) for run in cell.runs)
        return CellRuns(cell.id, cell.name, cell.values, cell.data, cell.marked, tuple(found),
                        tuple(facts for facts, _ in units), tables, n, cell.model, unscored)  # fmt: skip

    def _run(self, folder: Path, run: Planned) -> tuple[RunFacts, list[tuple[UnitFacts, Mapping[str, Parts]]]]:
        told = read_run(folder)
        scores = own_scores(folder, told)
        if scores is None:
            raise InputError(folder / SCORES, "damaged, or edited by hand; the same command again makes it anew")
        self.known.update(dict.fromkeys(scores["details"]))
        self._learn(dict.fromkeys(detail["scorer"] for detail in scores["details"].values()))
        wanted = self._wanted(scores["protocol"])
        tables = self._tables()
        units: list[tuple[UnitFacts, Mapping[str, Parts]]] = []
        torn = 0
        resolved = told["resolved"]
        for key, scored in scores["units"].items():
            header = resolved.get(key)
            if header is None:
                raise InputError(folder / "run.json", f"it names no unit {quote(key)}, of which there are scores")
            parts = scored.get("parts", {})
            facts = UnitFacts(
                key, run.seed, cluster_of(key, header), str(header.get("dataset")), str(header.get("truth")),
                int(header.get("period_ns") or 0), str(header.get("user")).startswith(SYNTHETIC),
            )  # fmt: skip
            if scored["counts"].get("not_played") or told["units"].get(key, {}).get("error") is not None:
                torn += not scored["counts"].get("not_played")
                continue  # it erred: as far as it came, it is no session like those of other cells
            units.append((facts, {table: parts[table] for table in tables if table in parts}))
        invalid = [
            f"{folder.name}, {key}: {reason}"
            for key, result in told["units"].items()
            for reason in (result.get("audit") or {}).get("invalid") or ()
        ]
        details = {m: scores["details"][m] for m in wanted if m in scores["details"]}
        of_run = {k: v for k, v in scores.get("run", {}).items() if isinstance(v, str)}
        facts_of_run = {**of_run, "protocol": scores["protocol"], "gate": scores["gate"],
                        "latency_source": scores["latency_source"],
                        "sees_truth": bool(scores.get("sees_truth"))}  # fmt: skip
        erred = len(set(run.keys) - {u.key for u, _ in units})
        counts = {k: int(v) for k, v in scores["counts"].items()}
        return RunFacts(folder.name, run.seed, details, counts, erred, facts_of_run, tuple(invalid), torn), units

    def take(self, known: Sequence[str], specs: Sequence[str]) -> None:
        """What a helper learned."""
        self.known.update(dict.fromkeys(known))
        self._learn(specs)

    def _learn(self, specs: Iterable[str]) -> None:
        """The formulas of the scorers that a run was scored by."""
        for spec in specs:
            if spec not in self.scorers:
                self.scorers[spec] = None
                self.like.update((m.metric, m) for m in pooled_of(scorers.make(spec), []))

    def _wanted(self, protocol: str) -> list[str]:
        shown = self._study.metrics or HEADLINES[protocol]
        folded = {name.casefold(): name for name in self.known}
        gated = [folded.get(name.casefold(), name) for name in self._more]
        return list(dict.fromkeys((*shown, *COMPANY, *gated)))

    def _tables(self) -> list[str]:
        protocols = HEADLINES if not self._study.metrics else ("stream",)
        wanted = dict.fromkeys(m for p in protocols for m in self._wanted(p))
        return list(dict.fromkeys([*(self.like[m].table for m in wanted if m in self.like), USAGE, COST]))

    def _table(self, table: str, units: Sequence[Mapping[str, Parts]]) -> Table:
        like = next((m for m in self.like.values() if m.table == table), None)
        has = np.array([table in parts for parts in units], bool)
        if like is None or isinstance(like.formula, Reader):
            kept = np.int64 if like is not None and isinstance(like.formula, Quantile) else None
            rows = [parts.get(table, []) for parts in units]
            return Table(has, None, rows if kept is None else [np.array(row, kept) for row in rows])
        none = [0.0] * like.columns.shape[1]
        return Table(
            has, np.array([parts.get(table, none) for parts in units], np.float64).reshape(len(units), len(none))
        )
