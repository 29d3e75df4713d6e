"""A sweep's summary: ``summary.json``, and the tables that are made of it alone.

The same runs give the same bytes, in whatever order they were played and wherever: there is no date, host or path in
them, and everything is in the order of the study.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scorers.base import catalogue
from scorers.serving import USAGE_COLUMNS
from scorers.spending import NO_USAGE
from scorers.statistics.clusters import ENOUGH, Clusters
from scorers.statistics.interval import Interval
from simulator.sweep import latex, tables
from simulator.sweep.effects import effects
from simulator.sweep.gains import gains
from simulator.sweep.gates import Failure, Gate, check_cells
from simulator.sweep.idle_axes import idle_axes
from simulator.sweep.pooling import Figure, figures
from simulator.sweep.ranking import HOPELESS, PARTIAL, Group, Standing, groups, rank
from simulator.sweep.reading import COST, read
from simulator.sweep.results import USAGE, CellRuns, Results

__all__ = ["FILE", "SCHEMA", "Summarised", "summarise", "summary_of"]

SCHEMA = 1
FILE = "summary.json"
_LATENCIES = ("scheduled_latency@p50", "scheduled_latency@p95")
_CURVE, _SAID = "deadline_attainment@5", "P_rt"


@dataclass(frozen=True, slots=True)
class Summarised:
    """What came of a sweep.

    Attributes:
        summary: as ``summary.json`` holds it.
        failed: gates that say no, in the order of gates and cells.
    """

    summary: Mapping[str, Any]
    failed: tuple[Failure, ...] = ()


def summarise(sweep: str | Path, gates: Sequence[Gate] = (), *, modelled: bool = False,
              published: Sequence[Mapping[str, Any]] = (),
              remarks: Callable[[Mapping[str, Any]], Iterable[str]] = lambda summary: ()) -> Summarised:  # fmt: skip
    """Read a sweep's stored scores, write its summary and tables, and look whether gates are kept.

    Args:
        sweep: its folder; ``summary.json``, ``.csv``, ``.md``, ``.tex`` and ``effects.csv`` are written into it.
        gates: besides those of the study.
        modelled: gates may look at latencies that were modelled.
        published: values to stand beside ours: preset, row, column, value, source.
        remarks: what else must be known, as a summary tells: put behind its caveats.

    Raises:
        InputError: not a sweep's folder, or a file in it that is damaged.
        UsageError: a metric that no run knows, or a gate of the study that is none.
    """
    from simulator.sweep.gates import parse

    sweep = Path(sweep)
    results = read(sweep, [gate.metric for gate in gates], gated=True)
    gates = list(dict.fromkeys([*(parse(text) for text in results.study.gates), *gates]))
    summary = summary_of(results, published)
    summary["caveats"] += remarks(summary)
    write(sweep, summary)
    return Summarised(summary, tuple(check_cells(gates, results, modelled=modelled)))


def write(sweep: Path, summary: Mapping[str, Any]) -> None:
    """The summary and all tables, each written beside and renamed."""
    text = json.dumps(summary, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    files = {
        FILE: text,
        "summary.csv": tables.csv_of(summary),
        "effects.csv": tables.effects_csv(summary),
        "summary.md": tables.markdown(summary),
        "summary.tex": latex.document(summary),
    }
    for name, content in files.items():
        part = sweep / f"{name}.part"
        part.write_bytes(content.encode("utf-8", "backslashreplace"))
        part.replace(sweep / name)


def summary_of(results: Results, published: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """What ``summary.json`` holds; see docs/sweeps.md."""
    study, shown = results.study, results.metrics
    listed = _metrics(results)
    directions = {m["name"]: m["direction"] for m in listed}
    wanted = list(dict.fromkeys((*shown, *_LATENCIES)))
    found = {cell.id: figures(results, cell, wanted) for cell in results.cells}
    grouped = groups(results.cells)
    standing: dict[tuple[str, str], Standing] = {}
    for group in grouped:
        standing |= rank(results, group, found, directions)
    number = {cell.id: n for n, group in enumerate(grouped) for cell in group.cells}
    return {
        "schema": SCHEMA,
        "study": {"name": study.name, "identity": study.identity, "preset": study.preset},
        "axes": [{"name": n, "values": list(v), "varies": len(v) > 1} for n, v in study.axes.items()],
        "baseline": dict(study.baseline),
        "metrics": listed,
        "caveats": _caveats(results, grouped, standing),
        "cells": _with_gains(
            results,
            grouped,
            [_cell(results, cell, found[cell.id], standing, number.get(cell.id)) for cell in results.cells],
        ),
        "effects": [effect.told() for effect in effects(results, grouped, shown)],
        "published": [dict(row) for row in published],
    }


def _with_gains(results: Results, grouped: Sequence[Group], cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cells with what each figure is away from that of the baseline's cell: ``gain`` of a metric, where it is known."""
    away = gains(results, grouped, results.metrics)
    for cell in cells:
        for metric, figure in cell["metrics"].items():
            if (gain := away.get((cell["id"], metric))) is not None:
                figure["gain"] = gain
    return cells


def _metrics(results: Results) -> list[dict[str, Any]]:
    """Name, unit, direction and meaning of each metric of the tables."""
    formulas = {metric.name: metric.formula for _, metric in catalogue()}
    listed = []
    for name in results.metrics:
        detail = next((d for cell in results.cells if (d := cell.detail(name)) is not None), None)
        unit, direction = (detail["unit"], detail["direction"]) if detail is not None else ("", "-")
        listed.append({"name": name, "unit": unit, "direction": direction, "title": name,
                       "formula": formulas.get(name), "scorer": detail and detail["scorer"]})  # fmt: skip
    return listed


def _cell(results: Results, cell: CellRuns, found: Mapping[str, Figure], standing: Mapping[tuple[str, str], Standing],
          group: int | None) -> dict[str, Any]:  # fmt: skip
    clusters = Clusters.group([unit.cluster for unit in cell.units]) if cell.units else None
    return {
        "id": cell.id,
        "name": cell.name,
        "values": dict(cell.values),
        **({} if cell.model is None else {"model": cell.model}),
        "group": group,
        "runs": [f"runs/{run.folder}" for run in cell.runs],
        "seeds": [run.seed for run in cell.runs],
        "n_sessions": 0 if clusters is None else clusters.n_sessions,
        "n_users": 0 if clusters is None else clusters.n_users,
        "units": {"done": len(cell.done), "erred": cell.erred, "missing": cell.missing},
        "counts": cell.counts,
        "protocol": cell.told("protocol") or None,
        "latency_source": cell.told("latency_source") or None,
        "sees_truth": cell.sees_truth,
        "synthetic": cell.synthetic,
        "marked": cell.marked,
        "invalid": [reason for run in cell.runs for reason in run.invalid],
        "metrics": {m: _figure(found[m], standing.get((cell.id, m), Standing())) for m in results.metrics},
        **_beside(cell, found),
    }


def _figure(figure: Figure, standing: Standing) -> dict[str, Any]:
    interval = figure.interval if isinstance(figure.interval, Interval) else None
    said: dict[str, Any] = {
        "value": figure.value,
        "low": interval.low if interval is not None else None,
        "high": interval.high if interval is not None else None,
        "n": figure.n,
        "n_events": figure.n_events,
        "reason": figure.reason,
        "rank": standing.rank,
        "best": standing.best,
        "like_best": standing.like_best,
        "p_best": standing.p,
    }
    if standing.no_test is not None:
        said["no_test"] = standing.no_test
    if figure.value is not None and interval is None:
        said["no_interval"] = figure.interval
    elif interval is not None and interval.few:
        said["few"] = True
    return said


def _beside(cell: CellRuns, found: Mapping[str, Figure]) -> dict[str, Any]:
    """Latency, tokens, money and the curve of deadlines: what quality is held against."""
    p50, p95 = (found[name] for name in _LATENCIES)
    tokens, why = _tokens(cell)
    cost, unknown = _cost(cell)
    return {
        "latency_ms": {"p50": p50.value, "p95": p95.value, "reason": p95.reason},
        "tokens": tokens,
        "tokens_reason": why,
        "cost": cost,
        "cost_reason": unknown,
        "deadline": _deadlines(cell),
    }


def _tokens(cell: CellRuns) -> tuple[dict[str, int] | None, str | None]:
    """What was used of models in all units, or why that is unknown."""
    table = cell.tables.get(USAGE)
    if table is None or table.columns is None or not table.has.any():
        return None, "unknown: nothing was scored"
    used = dict(zip(USAGE_COLUMNS, table.columns.sum(axis=0).tolist(), strict=True))
    if not used["reports"]:
        return None, NO_USAGE
    return {name.removeprefix("tokens_"): int(n) for name, n in used.items() if name not in ("hours", "reports")}, None


def _cost(cell: CellRuns) -> tuple[float | None, str | None]:
    """Money in all, or why it is unknown, which is never 0."""
    table = cell.tables.get(COST)
    if table is not None and table.columns is not None and table.has.all() and table.has.any():
        return float(f"{table.columns[:, 0].sum():.9g}"), None
    why = next((d["reason"] for run in cell.runs if (d := run.details.get("cost")) and d.get("reason")), None)
    if table is not None and table.columns is not None and table.has.any():
        return None, f"unknown: no cost was reported of {int((~table.has).sum())} of {len(table.has)} units"
    if why in (None, NO_USAGE) and _tokens(cell)[0] is not None:
        return None, "unknown: tokens were reported, and no unit says what it cost"
    return None, why or NO_USAGE


def _deadlines(cell: CellRuns) -> dict[str, Any] | None:
    """F1_rt if only offers within so many seconds of the opening of a need counted as right.

    Each deadline has a matching of its own (``deadline_attainment``); what came later stays an offer that was made.
    """
    curves = [run.details.get(_CURVE) for run in cell.runs]
    said = [run.details.get(_SAID) for run in cell.runs]
    known = [(c, s) for c, s in zip(curves, said, strict=True) if c and s and c.get("curve") and "classes" in s]
    if not known or len(known) < len(cell.runs) or any(run.torn for run in cell.runs):
        return None
    needs = sum(c["n"] for c, _ in known)
    offers = sum(sum(s["classes"].values()) for _, s in known)
    taus = [tau for tau, _ in known[0][0]["curve"]]
    served = [sum(round(c["curve"][i][1] * c["n"]) for c, _ in known) for i in range(len(taus))]
    return {"tau_s": taus, "F1_rt": [2 * n / (offers + needs) for n in served]}


def _caveats(results: Results, grouped: Sequence[Group], standing: Mapping[tuple[str, str], Standing]) -> list[str]:
    """What must be known before figures of this summary are compared."""
    cells, said = results.cells, []
    erred, missing, planned = (sum(n) for n in zip(*((c.erred, c.missing, c.planned) for c in cells), strict=True))
    if failed := [c.name for c in cells if c.mostly_failed]:
        said.append("half or more of the decisions that should have said something failed or could not be read: "
                    f"their figures say little, and are not ranked: {_names(failed)}")  # fmt: skip
    if erred or missing:
        said.append(f"of {planned} units {erred} erred and {missing} are missing: cells rest on different sessions; "
                    "tests use only what both cells have")  # fmt: skip
    if partial := [c.name for c in cells if _is_partial(c, results, standing)]:
        said.append(f"they lack units that others have, and are not ranked: {_names(partial)}")
    if unwritten := [f"{c.name} ({_of(*c.unwritten)})" for c in cells if c.unwritten[0]]:
        said.append("the model gave no text that can be used for some personas, which stay extractive: "
                    f"{_names(unwritten)}")  # fmt: skip
    if len(grouped) > 1:
        said.append(f"cells of {len(grouped)} groups are ranked apart, since figures across them must not be compared: "
                    + "; ".join(_told(group) for group in grouped))  # fmt: skip
    if seeing := [c.name for c in cells if c.sees_truth]:
        said.append(f"the agent or its memory was given the truth in {_names(seeing)}: a ceiling, which is not ranked")
    said += _synthetic(cells)
    if invalid := [c.name for c in cells if any(run.invalid for run in c.runs)]:
        said.append(f"INVALID, and not ranked: {_names(invalid)}")
    if marked := [c.name for c in cells if c.marked]:
        said.append(f"measured beside other units, so that latencies are those of a busy machine: {_names(marked)}")
    if sources := [c for c in cells if c.told("latency_source") == "modelled"]:
        said.append("latencies are modelled, not measured" + ("" if len(sources) == len(cells) else
                    f", in {_names([c.name for c in sources])}"))  # fmt: skip
    said += idle_axes(cells, (*results.metrics, *_LATENCIES))
    if any(len(c.runs) > 1 for c in cells):
        said.append("percentiles of latency over several seeds are read from steps of 1 %: up to 0.5 % off")
    counts = [Clusters.group([u.cluster for u in c.units]) for c in cells if c.units]
    if counts and min(len(c) for c in counts) < ENOUGH:
        least = min(counts, key=len)
        said.append(f"{len(least)} {least.unit}{'' if len(least) == 1 else 's'} in some cells: a test needs {ENOUGH}, "
                    "and intervals over fewer are too narrow")  # fmt: skip
    hopeless = dict.fromkeys(s.no_test for s in standing.values() if s.no_test and s.no_test.endswith(HOPELESS))
    said += [f"{reason}, whatever the figures are: no cell of those is marked as like the best" for reason in hopeless]
    if counts and all(c.unit == "session" for c in counts):
        n_users = max(c.n_users for c in counts)
        if n_users < ENOUGH:
            said.append(f"intervals and tests speak for {'this user' if n_users == 1 else f'these {n_users} users'}")
    return said


def _is_partial(cell: CellRuns, results: Results, standing: Mapping[tuple[str, str], Standing]) -> bool:
    """Whether it has no rank for want of units; one of which nothing at all was scored is in no group."""
    if not cell.units:
        return bool(cell.erred or cell.missing) and any(other.units for other in results.cells)
    told = [standing.get((cell.id, metric)) for metric in results.metrics]
    return any(s is not None and s.no_test is not None and s.no_test.endswith(PARTIAL) for s in told)


def _synthetic(cells: Sequence[CellRuns]) -> list[str]:
    """Data that is made up is called so, and is not reported beside what was recorded without a word."""
    made = dict.fromkeys(c.data for c in cells if c.synthetic)
    others = [d for d in dict.fromkeys(c.data for c in cells if c.units) if d not in made]
    if not made:
        return []
    beside = f"; beside figures of {_names(others)} only with this word" if others else ""
    return [f"synthetic data, of people made up from a recipe, no evidence about people: {_names(list(made))}{beside}"]


def _told(group: Group) -> str:
    data, protocol, source, marked = group.rules
    facts = ", ".join(filter(None, (f"data {data}", protocol, f"latency {source}", marked)))
    return f"{facts} ({len(group.cells)} cell{'' if len(group.cells) == 1 else 's'})"


def _of(n: int, whole: int) -> str:
    """So many of all; of how many is left out where it is not known."""
    return f"{n} of {whole}" if whole >= n else str(n)


def _names(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more cells" if len(names) > most else ""
    return ", ".join(names[:most]) + more
