"""Axes that say nothing to some cells, and axes that changed nothing: cells that differ in one value only, and have the
same figures to the digit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.sweep.axes import NOTHING, Axis
from simulator.sweep.results import CellRuns
from simulator.sweep.types import Cell

__all__ = ["idle_axes", "unread_axes"]


def unread_axes(axes: Sequence[Axis], cells: Sequence[Cell]) -> list[str]:
    """A sentence for each axis that says nothing to some of the cells, which have no value of it and are there once.

    Args:
        axes: of a study.
        cells: of it.
    """
    found = []
    for axis in axes:
        others = [value for value in axis.values if value != NOTHING]
        if NOTHING in axis.values and len(others) != 1:  # with one value there is nothing to be played twice
            n = sum(cell.value(axis.name) == NOTHING for cell in cells)
            of = f"{n} of {len(cells)} cells" if others else "any cell"
            found.append(f"{axis.name} says nothing to {of}; such a cell is played once")
    return found


def idle_axes(cells: Sequence[CellRuns], metrics: Sequence[str]) -> list[str]:
    """A sentence for each axis of which all values gave the same figures, with all else alike.

    Args:
        cells: of one sweep.
        metrics: the figures that are looked at; cells of which none is known are left out.
    """
    known = [cell for cell in cells if any(v is not None for _, values in _figures(cell, metrics) for v in values)]
    said = []
    for axis in dict.fromkeys(axis for cell in known for axis in cell.values if axis != "data"):
        beside: dict[tuple[tuple[str, str], ...], list[CellRuns]] = {}
        for cell in known:
            beside.setdefault(_others(cell.values, axis), []).append(cell)
        several = [found for found in beside.values() if len(found) > 1]
        same = [found for found in several if len({_figures(cell, metrics) for cell in found}) == 1]
        if same:
            of = "wherever it varies" if len(same) == len(several) else f"in {len(same)} of {len(several)} places"
            where = "" if len(same) == len(several) else f", such as {same[0][0].name}"
            said.append(f"{axis} changed no figure of these tables {of}{where}: what it sets may not be read there")
    return said


def _others(values: Mapping[str, str], axis: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in values.items() if name != axis)


def _figures(cell: CellRuns, metrics: Sequence[str]) -> tuple[tuple[int, tuple[float | None, ...]], ...]:
    """By seed, the values of the metrics."""
    return tuple((run.seed, tuple(run.details[m]["value"] if m in run.details else None for m in metrics))
                 for run in cell.runs)  # fmt: skip
