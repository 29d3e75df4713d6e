"""The ablation heat map: two axes of a study, a figure in each cell, hatched where it is not told from the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.figures.shades import cells
from simulator.figures.sheet import COLUMN_MM, PAGE_MM, Sheet
from simulator.figures.summary import Part, Summary

__all__ = ["draw_ablation"]

_ROWS, _COLUMNS = ("agent", "model", "data"), ("memory", "window", "modality", "latency", "policy", "rate")
_MOST_PANELS = 12
_CELL_MM, _AROUND_MM, _SLANT_MM = 9.0, 17.0, 9.0
_BESIDE_MM, _SCALE_MM = 24.0, 14.0
_INTERVAL_MM, _LETTER_MM = 14.0, 1.35


@dataclass(frozen=True, slots=True)
class _Room:
    """How panels lie: ``across`` beside each other; whether cells have room for intervals, and columns for names."""

    across: int
    intervals: bool
    slanted: bool

    @staticmethod
    def of(n_panels: int, columns: Sequence[str]) -> _Room:
        """As many beside each other as leave room for intervals, two at most."""
        across = 2 if n_panels > 1 and _width(2) / len(columns) >= _INTERVAL_MM else 1
        cell = _width(across) / len(columns)
        slanted = max(map(len, columns)) * _LETTER_MM > cell
        return _Room(across, cell >= _INTERVAL_MM, slanted)


def _width(across: int) -> float:
    return (PAGE_MM - _SCALE_MM) / across - _BESIDE_MM


def draw_ablation(summary: Summary, metric: str, file: Path, axes: tuple[str, str] | None = None) -> Path:
    """Write the heat map of a metric; further axes that vary make further panels with one scale.

    Args:
        summary: of the study.
        metric: the figure in each cell.
        file: where to.
        axes: what goes down and what across; None chooses those that leave the fewest panels.

    Raises:
        UsageError: the extra ``figures`` is not installed.
    """
    down, across = axes or _axes(summary)
    rows, columns = (summary.values(axis) if axis else [""] for axis in (down, across))
    parts = summary.parts([axis for axis in (down, across) if axis])
    shown = parts[:_MOST_PANELS]
    known = [f.value for cell in summary.cells if (f := summary.figure(cell, metric)) is not None]
    if not known:
        with Sheet([["0"]], height_mm=40) as sheet:
            sheet["0"].nothing(f"{summary.metric(metric)['title']}: no cell has a figure")
            return sheet.save(file)
    room = _Room.of(len(shown), columns)
    names = [[str(i) if i < len(shown) else "." for i in range(at, at + room.across)]
             for at in range(0, len(shown), room.across)]  # fmt: skip
    one = max(_AROUND_MM + _SLANT_MM * room.slanted + _CELL_MM * len(rows), 36.0)
    width = COLUMN_MM if len(columns) == len(shown) == 1 else PAGE_MM
    with Sheet(names, width_mm=width, height_mm=len(names) * one + 10) as sheet:
        for i, part in enumerate(shown):
            table, told, hatched = _panel(summary, metric, part, (down, rows), (across, columns), room)
            cells(
                sheet[str(i)], table, rows, columns, told=told, hatched=hatched, scale=(min(known), max(known)),
                meaning=_meaning(summary, metric) if i == len(shown) - 1 else "", slanted=room.slanted,
            )  # fmt: skip
            sheet[str(i)].title(part.name or f"{summary.metric(metric)['title']}, {_of(part)}")
            sheet[str(i)].labels(across, down)
        sheet.note([*_hatching(summary, metric, room), *_left_out(parts, shown), *summary.notes()])
        return sheet.save(file)


def left_out(summary: Summary, axes: tuple[str, str] | None = None) -> int:
    """How many panels ``draw_ablation`` leaves out: it has room for twelve."""
    parts = summary.parts([axis for axis in axes or _axes(summary) if axis])
    return max(0, len(parts) - _MOST_PANELS)


def _axes(summary: Summary) -> tuple[str, str]:
    """What goes down and what across; empty where nothing is left to vary.

    Across goes what is studied, an axis of the baseline; of several axes those that have the most values are shown, so
    that there are few panels, and data sets stand in panels of their own if anything else can go down.
    """
    varying = summary.varying
    if len(varying) < 2:
        return (varying or [""])[0], ""
    order = [*_COLUMNS, *_ROWS, *varying]

    def first(axes: Sequence[str]) -> str:
        return min(axes, key=lambda a: (a == "data", -len(summary.places(a)), order.index(a)))

    across = first(summary.studied or varying)
    return first([axis for axis in varying if axis != across]), across


def _panel(
    summary: Summary, metric: str, part: Part, down: tuple[str, list[str]], across: tuple[str, list[str]], room: _Room
) -> tuple[list[list[float | None]], list[list[str]], list[tuple[int, int]]]:
    """Values, words and what is hatched, of one panel."""
    at = {(summary.at(c, down[0]), summary.at(c, across[0])): c for c in part.cells}
    table: list[list[float | None]] = []
    told: list[list[str]] = []
    hatched = []
    for i, row in enumerate(down[1]):
        table.append([])
        told.append([])
        for j, column in enumerate(across[1]):
            cell = at.get((row, column))
            figure = None if cell is None else summary.figure(cell, metric)
            table[-1].append(None if figure is None else figure.value)
            told[-1].append(_words(cell, metric, room))
            if figure is not None and cell is not None and summary.undecided(cell, metric):
                hatched.append((i, j))
    return table, told, hatched


def _words(cell: Mapping[str, Any] | None, metric: str, room: _Room) -> str:
    """The figure, its interval below it; "none" for a cell that has none and "·" for one that is not in the study."""
    if cell is None:
        return "·"
    figure = Summary.figure(cell, metric)
    if figure is None:
        return "none"
    star = "*" if cell["metrics"][metric].get("best") else ""
    if figure.ends is None or not room.intervals:
        return f"{_number(figure.value)}{star}"
    return f"{_number(figure.value)}{star}\n[{_number(figure.ends[0])}, {_number(figure.ends[1])}]"


def _number(value: float) -> str:
    """Three digits behind the point for shares, fewer for what is larger."""
    return f"{value:.3f}" if abs(value) < 2 else f"{value:.1f}" if abs(value) < 1000 else f"{value:.0f}"


def _hatching(summary: Summary, metric: str, room: _Room) -> list[str]:
    """What hatching and stars mean, if there are any."""
    figures = [cell["metrics"][metric] for cell in summary.cells if metric in cell["metrics"]]
    said = []
    if any(found.get("gain") for found in figures):
        against = ", ".join(f"{axis} {value}" for axis, value in summary.baseline.items())
        said.append(
            f"hatched: the 95 % interval of the difference to {against} (all else equal, same sessions) holds 0, "
            "or no session differs"
        )
    elif summary.studied:
        said.append(
            "not hatched: differences to the baseline are not computed in a study of this size; see effects.csv"
        )
    if any(found.get("best") for found in figures):
        said.append("*: the best of those that it can be compared with")
    return [*said, "below each figure its 95 % interval" if room.intervals else "intervals stand in summary.csv"]


def _meaning(summary: Summary, metric: str) -> str:
    said = summary.metric(metric)
    unit = "" if said["unit"] in ("", "0-1", "1") else f" ({said['unit']})"
    return f"{said['title']}{unit}" + (", less is better" if said["direction"] == "down" else "")


def _of(part: Part) -> str:
    """How many sessions and users a part's cells rest on."""
    sessions, users = ({cell[name] for cell in part.cells} for name in ("n_sessions", "n_users"))
    return " and ".join(
        f"{min(n)} {word}" if len(n) == 1 else f"{min(n)} to {max(n)} {word}"
        for n, word in ((sessions, "sessions"), (users, "users"))
    )


def _left_out(parts: list[Part], shown: list[Part]) -> list[str]:
    left = len(parts) - len(shown)
    said = f"{left} more panels are left out (figures: ['heatmap:DOWN,ACROSS'] chooses axes); all stand in summary.csv"
    return [said] if left else []
