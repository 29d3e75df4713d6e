"""Curves of a study: quality against the length of the history, and against a deadline for answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator.figures.palette import COLOURS, DASHES, MARKS
from simulator.figures.panel import Line, Panel
from simulator.figures.sheet import Sheet
from simulator.figures.summary import Part, Summary, seconds

__all__ = ["draw_context", "draw_deadline"]

Cells = Sequence[Mapping[str, Any]]
_A_PANEL, _MOST_PANELS = 7, 12
_NAN = float("nan")


def draw_context(summary: Summary, metric: str, file: Path) -> Path:
    """Write quality against the length of the history (axis ``window``), with bands of intervals.

    Raises:
        UsageError: the extra ``figures`` is not installed.
    """
    windows = sorted((s, text) for text in summary.values("window") if (s := seconds(text)) is not None)

    def line(name: str, cells: Cells, n: int) -> Line | None:
        at = [(s, f) for cell in cells if (s := seconds(summary.at(cell, "window"))) is not None
              and (f := summary.figure(cell, metric)) is not None]  # fmt: skip
        at.sort(key=lambda pair: pair[0])
        if not at:
            return None
        ends = [figure.ends or (_NAN, _NAN) for _, figure in at]
        return _line(name, [s for s, _ in at], [f.value for _, f in at], n, ends=ends)

    def finish(panel: Panel) -> None:
        panel.scale_x(log=True, ticks=[s for s, _ in windows], told=[text for _, text in windows])
        panel.labels("history shown to the agent", _title(summary, metric))

    return _draw(summary, "window", line, finish, file, f"{_title(summary, metric)}: fewer than two lengths of history",
                 enough=len(windows) > 1, extra=["bands: 95 % intervals"])  # fmt: skip


def draw_deadline(summary: Summary, file: Path) -> Path:
    """Write F1 if only offers count that come within so many seconds of the opening of a need.

    Raises:
        UsageError: the extra ``figures`` is not installed.
    """
    curves = [curve for cell in summary.cells if (curve := cell.get("deadline"))]
    metric = next((name for curve in curves for name in curve if name != "tau_s"), "F1_rt")

    def line(name: str, cells: Cells, n: int) -> Line | None:
        curve = cells[0].get("deadline")
        if not curve:
            return None
        at = [(t, q) for t, q in zip(curve["tau_s"], curve[metric], strict=True) if t > 0 and q is not None]
        return _line(name, [t for t, _ in at], [q for _, q in at], n, mark=False) if at else None

    def finish(panel: Panel) -> None:
        taus = sorted({t for curve in curves for t in curve["tau_s"] if t > 0})
        panel.scale_x(log=True, ticks=[t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60) if taus[0] <= t <= taus[-1]])
        panel.labels(
            "offers count that come so soon after a need opens (s)", f"{_title(summary, metric)} by the deadline"
        )

    return _draw(summary, "", line, finish, file, "no cell has a curve of quality against the deadline",
                 enough=bool(curves), extra=[], stand="curves stand in summary.json (deadline)")  # fmt: skip


def _draw(summary: Summary, along: str, line: Callable[[str, Cells, int], Line | None],
          finish: Callable[[Panel], None], file: Path, nothing: str, *, enough: bool,
          extra: Iterable[str], stand: str = "figures stand in summary.csv") -> Path:  # fmt: skip
    """A panel for every few lines, all with the same reach upwards."""
    groups = [
        part for whole in summary.groups(_A_PANEL, along) if enough for part in _panels(summary, whole, along, line)
    ]
    if not groups:
        with Sheet([["0"]], height_mm=40) as sheet:
            sheet["0"].nothing(nothing)
            return sheet.save(file)
    shown = groups[:_MOST_PANELS]
    names = [[str(i), str(i + 1) if i + 1 < len(shown) else "."] for i in range(0, len(shown), 2)]
    reach = _reach([group for _, group in shown])
    with Sheet(names if len(shown) > 1 else [["0"]], height_mm=68 * len(names) + 6) as sheet:
        for i, (name, group) in enumerate(shown):
            panel = sheet[str(i)]
            panel.lines(group, log_x=True)
            panel.reach(y=reach)
            finish(panel)
            panel.title(name or (group[0].name if len(group) == 1 else ""))
        left = sum(len(group) for _, group in groups[_MOST_PANELS:])
        told = [f"{left} more curves are left out; all {stand}"] if left else []
        fixed = summary.fixed()
        sheet.note([*extra, *told, *([fixed] if fixed else []), *summary.notes()])
        return sheet.save(file)


def _panels(summary: Summary, part: Part, along: str,
            line: Callable[[str, Cells, int], Line | None]) -> list[tuple[str, list[Line]]]:  # fmt: skip
    """The curves of a part, so few a panel."""
    found = summary.lines(part.cells, along)
    lines = [made for n, (name, cells) in enumerate(found) if (made := line(name, cells, n)) is not None]
    return [(part.name, lines[at : at + _A_PANEL]) for at in range(0, len(lines), _A_PANEL)]


def _line(name: str, xs: Sequence[float], ys: Sequence[float], n: int, *, mark: bool = True,
          ends: Sequence[tuple[float, float]] = ()) -> Line:  # fmt: skip
    """The nth line, told from its neighbours by colour, dash and mark."""
    at = n % _A_PANEL
    return Line(
        name, xs, ys, COLOURS[at], DASHES[at % len(DASHES)], mark=MARKS[at] if mark else "",
        low=[low for low, _ in ends], high=[high for _, high in ends],
    )  # fmt: skip


def _reach(groups: Sequence[Sequence[Line]]) -> tuple[float, float]:
    """From where to where all panels go: all figures and bands, a little room, and 0 if it is near."""
    known = [v for group in groups for line in group for v in (*line.ys, *line.low, *line.high) if v == v]
    low, high = min(known), max(known)
    room = 0.06 * ((high - low) or abs(high) or 1.0)
    return (0.0 - room if 0 <= low < (high - low) else low - room), high + room


def _title(summary: Summary, metric: str) -> str:
    return str(summary.metric(metric)["title"])
