"""What is shown of a study, from its ``summary.json`` alone: a heat map of two axes with latency and cost
beside it, curves over an axis of numbers, what each value of an axis is worth.

Everything that is not an axis of the map stands at one value, which can be chosen; nothing is averaged over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.core.errors import UsageError, nearest, quote
from simulator.figures.summary import Summary, seconds
from simulator.report.charts import Cell, Change, curves, forest, heat
from simulator.report.svg import Axes, Canvas

__all__ = [
    "Maps",
    "View",
    "axes_of",
    "cells_of",
    "curves_of",
    "effects_of",
    "fixed_of",
    "is_study",
    "maps_of",
    "marks_of",
    "metric_of",
]

_BESIDE = {"p95": "latency p95 (ms)", "cost": "cost", "tokens": "tokens, all kinds"}
_MOST_EFFECTS = 60
_ROWS, _COLUMNS = ("agent", "model", "policy", "protocol", "window", "rate"), ("memory", "window", "latency", "policy")
Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class View:
    """What is looked at; what is None is chosen.

    Attributes:
        metric: a name of the summary's. ``rows``, ``columns``: axes that vary.
        fixed: for other axes that vary the value at which they stand; the baseline's, or the first, by default.
    """

    metric: str | None = None
    rows: str | None = None
    columns: str | None = None
    fixed: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Maps:
    """The map of a figure; ``beside`` it those of latency, cost and tokens, as far as they are known, by title.

    ``hatched``: some cell is. ``gains``: differences to a baseline are known at all.
    """

    picture: Canvas
    beside: Mapping[str, Canvas]
    hatched: bool
    gains: bool


def is_study(folder: Path) -> bool:
    """Whether a folder is a sweep's, and no run's."""
    return (folder / "sweep.json").is_file() and not (folder / "run.json").is_file()


def metric_of(summary: Summary, view: View) -> str:
    """The figure that is looked at.

    Raises:
        UsageError: the study has no such figure.
    """
    metrics = [str(m["name"]) for m in summary.raw["metrics"]]
    return _one_of("metric", view.metric, metrics, summary.quality or metrics[0])


def _one_of(what: str, named: str | None, known: Sequence[str], otherwise: str) -> str:
    if named is None or named == "":
        return otherwise
    if named not in known:
        raise UsageError(f"this study has no {what} {quote(named)}; {nearest(named, known)}")
    return named


def axes_of(summary: Summary, view: View) -> tuple[str, str]:
    """The axes of the map: what is studied goes across."""
    varying = summary.varying
    studied = [axis for axis in varying if axis in summary.baseline]
    across = next((a for a in (*studied, *_COLUMNS, *varying) if a in varying and a != view.rows), "")
    columns = _one_of("axis that varies", view.columns, varying, across)
    down = next((a for a in (*_ROWS, *varying) if a in varying and a != columns), "")
    rows = _one_of("axis that varies", view.rows, varying, down)
    if rows == columns and len(varying) > 1:
        rows = next(axis for axis in varying if axis != columns)
    return rows, columns


def fixed_of(summary: Summary, shown: Sequence[str], wanted: Mapping[str, str]) -> dict[str, str]:
    """At which value each axis stands that the map does not show."""
    found = {}
    for axis in summary.varying:
        if axis not in shown:
            first = summary.baseline.get(axis, summary.places(axis)[0])
            found[axis] = _one_of(f"{axis}", wanted.get(axis), summary.values(axis), first)
    return found


def maps_of(summary: Summary, metric: str, rows: str, columns: str, fixed: Mapping[str, str]) -> Maps:
    """The map of the metric, and those of latency, cost and tokens where they are known."""
    at = {(summary.at(c, rows), summary.at(c, columns)): c for c in summary.standing(fixed)}
    down = [v for v in summary.values(rows) if any(r == v for r, _ in at)] if rows else [""]
    across = [v for v in summary.values(columns) if any(c == v for _, c in at)] if columns else [""]
    direction = str(summary.metric(metric)["direction"])
    grid = [[at.get((r, c)) for c in across] for r in down]
    cells = [[None if cell is None else _cell(cell, metric) for cell in row] for row in grid]
    reach = _reach(_cell(cell, metric) for cell in summary.cells)
    picture = heat(down, across, cells, f"{metric} by {rows} and {columns}", up=direction != "down", reach=reach)
    beside = {}
    for kind, title in _BESIDE.items():
        values = [[None if cell is None else _amount(cell, kind) for cell in row] for row in grid]
        if any(v is not None and v.value is not None for row in values for v in row):
            reach = _reach(_amount(cell, kind) for cell in summary.cells)
            beside[title] = heat(down, across, values, title, up=False, reach=reach)
    hatched = any(c is not None and c.hatched for row in cells for c in row)
    gains = any((c["metrics"].get(metric) or {}).get("gain") for c in summary.cells)
    return Maps(picture, beside, hatched, gains)


def marks_of(summary: Summary, metric: str) -> str:
    """What the marks behind a metric's figures mean; of cells that nobody could test, that they were not tested."""
    told = [cell["metrics"].get(metric) or {} for cell in summary.cells]
    others = [f for f in told if f.get("value") is not None and not f.get("best")]
    untested = [f for f in others if f.get("like_best") is None]
    why = "; ".join(dict.fromkeys(str(f["no_test"]) for f in untested if f.get("no_test")))
    why = f" ({why})" if why else ""
    if not any(f.get("best") for f in told):
        return f"nothing is marked as best{why}"
    if untested and len(untested) == len(others):
        return f"★ best; the others were not tested against it{why}"
    some = f"; of the others {len(untested)} not tested{why}" if untested else ""
    return f"★ best, † not significantly worse{some}"


def _reach(cells: Iterable[Cell]) -> tuple[float, float] | None:
    """From the least to the greatest figure of the whole study, so that every map of it has the same shades."""
    values = [cell.value for cell in cells if cell.value is not None]
    return (min(values), max(values)) if values else None


def _cell(cell: Told, metric: str) -> Cell:
    """A cell of the map; hatched where it is not told from the baseline."""
    found: Told = cell["metrics"].get(metric) or {}
    gain: Told = found.get("gain") or {}
    mark = " ★" if found.get("best") else (" †" if found.get("like_best") else "")
    return Cell(
        found.get("value"),
        found.get("low"),
        found.get("high"),
        Summary.undecided(cell, metric),
        mark,
        _note(cell, found, gain),
    )


def _note(cell: Told, found: Told, gain: Told) -> str:
    units = cell["units"]
    said = [str(found.get("reason"))] if found.get("value") is None and found.get("reason") else []
    if gain.get("value") is not None:
        said.append(f"{gain['value']:+.4g} to the baseline")
    if units["erred"] or units["missing"]:
        said.append(f"{units['erred']} units erred, {units['missing']} missing")
    if cell.get("marked"):
        said.append("measured beside others")
    return "; ".join(said)


def _amount(cell: Told, kind: str) -> Cell:
    if kind == "p95":
        return Cell((cell.get("latency_ms") or {}).get("p95"), note="unknown")
    if kind == "cost":
        return Cell(cell.get("cost"), note="unknown")
    tokens = cell.get("tokens")
    total = None if tokens is None else sum(n for name, n in tokens.items() if name in ("in", "out"))
    return Cell(None if total is None else float(total), note="unknown")


def curves_of(summary: Summary, metric: str, rows: str, columns: str, fixed: Mapping[str, str]) -> dict[str, Axes]:
    """The metric along each axis of lengths or numbers, by caption: a picture a row of the map, a line a column."""
    found = {}
    for axis in summary.varying:
        values = summary.places(axis)
        places = {value: x for value in values if (x := _place(value)) is not None}
        if len(places) < 2 or len(places) < len(values):
            continue
        others = [a for a in (columns, rows) if a and a != axis]
        lines_of, panels_of = (others[0] if others else ""), (others[1] if len(others) > 1 else "")
        free = {a: v for a, v in fixed.items() if a != axis}
        cells = summary.standing(free)
        for panel in summary.values(panels_of) if panels_of else [""]:
            here = [c for c in cells if not panels_of or summary.at(c, panels_of) == panel]
            lines: dict[str, list[tuple[float, float]]] = {}
            for cell in here:
                value = (cell["metrics"].get(metric) or {}).get("value")
                x = places.get(summary.at(cell, axis))
                if value is not None and x is not None:
                    lines.setdefault(summary.at(cell, lines_of) if lines_of else metric, []).append((x, value))
            if any(len(points) > 1 for points in lines.values()):
                unit = " (s)" if seconds(values[0]) is not None else ""
                label = f"{metric} along {axis}" + (f", {panels_of} {panel}" if panels_of else "")
                told = {name: sorted(points) for name, points in lines.items()}
                positive = all(x > 0 for points in told.values() for x, _ in points)
                found[label] = curves(told, (f"{axis}{unit}", metric), label, log_x=positive)
    return found


def _place(value: str) -> float | None:
    if (found := seconds(value)) is not None:
        return found
    try:
        return float(value)
    except ValueError:
        return None


def effects_of(summary: Summary, metric: str) -> tuple[list[dict[str, Any]], Canvas | None]:
    """What each value of an axis is worth, as rows and as a picture."""
    direction = str(summary.metric(metric)["direction"])
    found = [e for e in summary.raw["effects"] if e["metric"] == metric]
    changes = [
        Change(_what(e), direction, e["gain"], e["low"], e["high"], e["adjusted"], e.get("reason"))
        for e in found[:_MOST_EFFECTS]
    ]
    keys = (
        "data",
        "axis",
        "value",
        "against",
        "first",
        "second",
        "gain",
        "low",
        "high",
        "adjusted",
        "n",
        "n_cells",
        "reason",
    )
    label = f"what each value is worth in {metric}"
    picture = forest(changes, label, first="baseline", second="value", one_scale=True) if changes else None
    return [{key: e.get(key) for key in keys} for e in found], picture


def _what(effect: Told) -> str:
    data = f" ({effect['data']})" if effect.get("data") else ""
    return f"{effect['axis']}: {effect['value']} – {effect['against']}{data}"


def cells_of(summary: Summary, metric: str) -> list[dict[str, Any]]:
    """All cells as rows."""
    return [_row(cell, metric) for cell in summary.cells]


def _row(cell: Told, metric: str) -> dict[str, Any]:
    found: Told = cell["metrics"].get(metric) or {}
    latency: Told = cell.get("latency_ms") or {}
    return {
        "name": cell["name"],
        **{key: found.get(key) for key in ("value", "low", "high", "n", "n_events", "best", "like_best", "reason")},
        "p50": latency.get("p50"),
        "p95": latency.get("p95"),
        "cost": cell.get("cost"),
        "units": dict(cell["units"]),
        "latency_source": cell.get("latency_source"),
        "marked": bool(cell.get("marked")),
        "runs": list(_runs(cell)),
    }


def _runs(cell: Told) -> Iterator[str]:
    for run in cell.get("runs", ()):
        yield str(run)
