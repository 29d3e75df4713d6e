"""A sweep's runs read for its summary: scores and what sessions add to them, never a log.

Of each run two files are read, ``run.json`` and ``scores.json``. Only the sums that the wanted figures need stay in
memory, so that a sweep of 100,000 units takes some hundred megabytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scorers.base import scorers
from scorers.headlines import HEADLINES
from scorers.pooling import Parts, Pooled, Reader
from scorers.resampled import cluster_of, pooled_of
from scorers.statistics.spread import Quantile
from simulator.core.errors import InputError, UsageError, nearest, quote
from simulator.play.kept import FILE as SCORES
from simulator.play.kept import own_scores
from simulator.runs.folder import read_run
from simulator.runs.runlog import no_collection
from simulator.session.describe_corpus import SYNTHETIC
from simulator.sweep.gates import parse
from simulator.sweep.planned import Planned, PlannedCell, Study, planned
from simulator.sweep.results import USAGE, CellRuns, Results, RunFacts, Table, UnitFacts
from simulator.sweep.sharing import helpers

__all__ = ["COMPANY", "COST", "read", "read_share"]

COMPANY = ("scheduled_latency@p50", "scheduled_latency@p95", "deadline_attainment@5", "P_rt")
"""Figures that stand beside quality in every summary, or that its curves are made of."""
UNWRITTEN = "personas_failed"
"""The note of scores that counts personas which keep the text they had without a model (``memory.persona_writer``)."""
COST = "cost"
"""The table of scorer ``serving`` with what was paid for models."""


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
                        "sees_truth": bool(scores.get("sees_truth")),
                        "model": any("model" in header for header in resolved.values())}  # fmt: skip
        erred = len(set(run.keys) - {u.key for u, _ in units})
        counts = {k: int(v) for k, v in scores["counts"].items()}
        unwritten = int(scores.get("notes", {}).get(UNWRITTEN, 0)), _personas(told["units"].values())
        return RunFacts(
            folder.name, run.seed, details, counts, erred, facts_of_run, tuple(invalid), torn, unwritten
        ), units

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


def _personas(units: Iterable[Mapping[str, Any]]) -> int:
    """How many texts of personas were asked of a model, or known from before, as the memories of the units tell."""
    wanted = (UNWRITTEN, "personas_known", "personas_written")
    told = [stat for unit in units for stat in (unit.get("memory_stats") or {}).items()]
    return sum(int(n) for name, n in told if name.rpartition(".")[2] in wanted)  # of a combination with its part's name
