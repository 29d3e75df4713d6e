"""Quality against the 95th percentile of latency, and which cells nothing beats in both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator.figures.palette import COLOURS, MARKS
from simulator.figures.panel import Panel, Point
from simulator.figures.sheet import Sheet
from simulator.figures.summary import Figure, Summary

__all__ = ["BUDGET_S", "draw_pareto", "unbeaten"]

BUDGET_S = 1.0
"""A snapshot comes every second: who takes longer lags behind the screen."""
_COLOURED, _MARKED = ("agent", "model", "data"), ("memory", "window", "latency", "policy", "modality", "rate")
_LEFT_OF_ALL, _INK, _MOST_PANELS = 0.5, "#555555", 12
Placed = tuple[Mapping[str, Any], Figure, Figure]


def draw_pareto(summary: Summary, metric: str, file: Path, budget_s: float = BUDGET_S) -> Path:
    """Write a metric against p95, a panel and a front for every group of cells that may be compared: not measured and
    modelled latencies, nor other data, in one. What was given the truth is drawn, and on no front.

    Args:
        summary: of the study.
        metric: the quality.
        file: where to.
        budget_s: the limit, beyond which the ground is shaded.

    Raises:
        UsageError: the extra ``figures`` is not installed.
    """
    placed: dict[tuple[Any, str], list[Placed]] = {}
    left = 0
    for cell in summary.cells:
        quality, p95 = summary.figure(cell, metric), summary.p95_s(cell)
        if quality is None or p95 is None or cell.get("group", 0) is None:
            left += 1
        else:
            source = str(cell.get("latency_source") or "unknown source")
            placed.setdefault((cell.get("group"), source), []).append((cell, quality, p95))
    if not placed:
        with Sheet([["0"]], height_mm=40) as sheet:
            sheet["0"].nothing(f"no cell has both {summary.metric(metric)['title']} and a latency")
            return sheet.save(file)
    told = (
        [f"{left} of {len(summary.cells)} cells have no figure or no latency, or none that may be used"] if left else []
    )
    more = list(placed.items())[_MOST_PANELS:]
    told += [f"{len(more)} more panels are left out; all figures stand in summary.csv"] if more else []
    shown = list(placed.items())[:_MOST_PANELS]
    across = min(len(shown), 2)
    names = [[str(i) if i < len(shown) else "." for i in range(at, at + across)] for at in range(0, len(shown), across)]
    up = summary.metric(metric)["direction"] != "down"
    with Sheet(names, height_mm=85 * len(names)) as sheet:
        style = _Style(summary)
        for i, ((_, source), cells) in enumerate(shown):
            panel = sheet[str(i)]
            told += _panel(panel, cells, style, budget_s, up=up)
            data = f"data {summary.at(cells[0][0], 'data')}, " if "data" in summary.varying else ""
            panel.title(f"{data}latency {source}, {len(cells)} cells")
            panel.labels("p95 of scheduled latency (s)", str(summary.metric(metric)["title"]))
        sheet.key(style.key())
        sheet.note([*dict.fromkeys(told),
                    "line: what no other cell of its panel beats in both; whiskers: 95 % intervals",
                    *_ceiling(summary), *_hollow(summary), *summary.notes()])  # fmt: skip
        return sheet.save(file)


def unbeaten(points: Sequence[tuple[float, float]], *, up: bool = True) -> list[tuple[float, float]]:
    """Of (latency, quality) those to which no other is at least as good in both and better in one, by latency.

    >>> unbeaten([(2, 0.5), (1, 0.4), (3, 0.45), (1, 0.3)])
    [(1, 0.4), (2, 0.5)]
    """
    kept: list[tuple[float, float]] = []
    for x, y in sorted(points, key=lambda p: (p[0], -p[1] if up else p[1])):
        if not kept or (y > kept[-1][1] if up else y < kept[-1][1]):
            kept.append((x, y))
    return kept


def _ceiling(summary: Summary) -> list[str]:
    seen = any(cell.get("sees_truth") for cell in summary.cells)
    return ["what was given the truth is on no line: it is a ceiling"] * seen


def _hollow(summary: Summary) -> list[str]:
    """What a hollow mark means, if there is one."""
    marked = any(cell.get("marked") for cell in summary.cells)
    return ["hollow: measured beside other units on the same machine or server"] * marked


class _Style:
    """Colours by one axis, marks by another, so that neither has to tell all."""

    def __init__(self, summary: Summary) -> None:
        self._summary = summary
        self._coloured = next((a for a in _COLOURED if a in summary.varying), "")
        rest = [axis for axis in summary.varying if axis != self._coloured]
        self._marked = next((a for a in (*summary.studied, *_MARKED) if a in rest), rest[0] if rest else "")
        self._others = [axis for axis in rest if axis not in (self._marked, "data")]  # which panels tell
        self._colours = summary.values(self._coloured) if self._coloured else [""]
        self._marks = summary.values(self._marked) if self._marked else [""]

    def of(self, cell: Mapping[str, Any]) -> tuple[str, str]:
        colour = self._colours.index(self._summary.at(cell, self._coloured)) if self._coloured else 0
        mark = self._marks.index(self._summary.at(cell, self._marked)) if self._marked else 0
        if not self._coloured:  # one axis, told by both
            colour = mark
        return COLOURS[colour % len(COLOURS)], MARKS[mark % len(MARKS)]

    def key(self) -> list[tuple[str, list[tuple[str, Point]]]]:
        """What stands beside the figure."""
        said = []
        if self._coloured:
            marks = [(v, Point(0, 0, colour=COLOURS[i % len(COLOURS)])) for i, v in enumerate(self._colours)]
            said.append((self._coloured, marks))
        if self._marked:
            inks = COLOURS if not self._coloured else (_INK,)
            marks = [
                (v, Point(0, 0, colour=inks[i % len(inks)], mark=MARKS[i % len(MARKS)]))
                for i, v in enumerate(self._marks)
            ]
            said.append((self._marked, marks))
        return said

    def note(self) -> list[str]:
        """What colours and marks leave untold, counted."""
        said = []
        if self._others:
            said.append(f"not told apart here: {', '.join(self._others)}")
        twice = len(MARKS) if self._coloured else math.lcm(len(COLOURS), len(MARKS))
        if len(self._colours) > len(COLOURS) or len(self._marks) > twice:
            said.append("colours or marks come again; summary.csv tells all cells apart")
        return said


def _panel(panel: Panel, cells: Sequence[Placed], style: _Style, budget_s: float, *, up: bool) -> list[str]:
    """Draw one source of latencies; what has to be said below."""
    above = [p95.value for _, _, p95 in cells if p95.value > 0]
    floor = min([*above, budget_s]) * _LEFT_OF_ALL if above else budget_s / 10
    points = []
    for cell, quality, p95 in cells:
        colour, mark = style.of(cell)
        ends = None if p95.ends is None or p95.value <= 0 else (max(p95.ends[0], floor / 2), p95.ends[1])
        points.append(
            Point(p95.value or floor, quality.value, ends, quality.ends, colour, mark, bool(cell.get("marked")))
        )
    panel.scale_x(log=True)
    panel.points(points)
    front = unbeaten(
        [(p.x, p.y) for p, (cell, *_) in zip(points, cells, strict=True) if not cell.get("sees_truth")], up=up
    )
    right = max([2 * budget_s, *(p.x_ends[1] if p.x_ends else p.x for p in points)]) * 1.6
    if front:
        panel.front([*(x for x, _ in front), right], [*(y for _, y in front), front[-1][1]])
    panel.reach(x=(min(p.x for p in points) * 0.6, right))
    panel.decades(min(p.x for p in points) * 0.6, right)
    panel.beyond(budget_s, f"beyond {budget_s:g} s")
    said = style.note()
    if len(above) < len(cells):
        said.append(f"a latency of 0 is drawn at {floor:g} s: the axis has no 0")
    return said
