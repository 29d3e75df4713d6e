"""What the page of a study shows, as JSON; the figures are those of ``simulator.report.study``."""

from __future__ import annotations

from typing import Any

from simulator.figures.summary import Summary
from simulator.report.study import (
    View,
    axes_of,
    cells_of,
    curves_of,
    effects_of,
    fixed_of,
    maps_of,
    marks_of,
    metric_of,
)

__all__ = ["ablation"]


def ablation(name: str, summary: Summary, view: View) -> dict[str, Any]:
    """All that the page draws.

    Args:
        name: of the sweep's folder.
        summary: of the sweep.
        view: what is looked at.

    Raises:
        UsageError: a metric or an axis that the study does not have.
    """
    raw = summary.raw
    metric = metric_of(summary, view)
    rows, columns = axes_of(summary, view)
    fixed = fixed_of(summary, (rows, columns), view.fixed or {})
    maps = maps_of(summary, metric, rows, columns, fixed)
    effects, picture = effects_of(summary, metric)
    return {
        "name": name,
        "study": raw["study"],
        "caveats": list(raw["caveats"]),
        "metrics": [{k: m.get(k) for k in ("name", "unit", "direction", "formula")} for m in raw["metrics"]],
        "axes": {axis: summary.values(axis) for axis in summary.varying},
        "baseline": dict(summary.baseline),
        "view": {"metric": metric, "rows": rows, "columns": columns, "fixed": fixed},
        "map": maps.picture.told(),
        "beside": [{"title": title, "map": map_.told()} for title, map_ in maps.beside.items()],
        "hatched": maps.hatched,
        "gains": maps.gains,
        "marks": marks_of(summary, metric),
        "curves": [
            {"caption": caption, "picture": drawn.told()}
            for caption, drawn in curves_of(summary, metric, rows, columns, fixed).items()
        ],
        "effects": effects,
        "effects_picture": None if picture is None else picture.told(),
        "cells": cells_of(summary, metric),
    }
