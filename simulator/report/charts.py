"""The figures of comparisons: paired differences, quality against latency, against the deadline, latencies, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simulator.report.svg import Axes, Canvas, Scale, cut, short

__all__ = ["Cell", "Change", "Point", "curves", "ecdf", "forest", "heat", "pareto"]

SIGNS = ("dot", "square", "triangle", "diamond", "inverted", "plus", "cross")
_COLOURS = 4


@dataclass(frozen=True, slots=True)
class Change:
    """A row of a forest plot.

    Attributes:
        name: of the metric, with its unit. ``better``: ``up``, ``down`` or another word where there is no better.
        value: the difference, None where there is none. ``low``, ``high``: its interval.
        p: adjusted; ``note``: in place of figures.
    """

    name: str
    better: str
    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A run in a plot of quality against latency: ``x`` and ``y`` with their intervals; where ``href`` leads."""

    name: str
    x: float
    y: float
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None
    colour: str = ""
    shape: str = ""
    href: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a heat map: ``hatched`` where the difference to the baseline may be none; ``mark`` stands behind it."""

    value: float | None
    low: float | None = None
    high: float | None = None
    hatched: bool = False
    mark: str = ""
    note: str = ""


def forest(
    changes: Sequence[Change], label: str, *, first: str = "A", second: str = "B", one_scale: bool = False
) -> Canvas:
    """Differences with their intervals, turned so that better lies to the right: each on a scale of its own, since they
    have units of their own, or with ``one_scale`` all on one, where they are of one metric.
    """
    row, top, left, right, width = 24.0, 30.0, 250.0, 590.0, 860.0
    canvas = Canvas(width, top + row * len(changes) + 26, label)
    middle = (left + right) / 2
    canvas.text(left, 16, f"◀ {cut(first, 18)} better", "t small")
    canvas.text(right, 16, f"{cut(second, 18)} better ▶", "t small", "end")
    canvas.text(right + 14, 16, "difference [95 % interval], p", "t small")
    canvas.line(middle, top - 8, middle, top + row * len(changes), "zero")
    widest = max((_reach(c) for c in changes), default=0.0)
    for i, c in enumerate(changes):
        y = top + row * i + row / 2
        canvas.text(left - 10, y + 4, cut(c.name, 34), "t", "end", tip=c.name)
        if c.value is None:
            canvas.text(right + 14, y + 4, cut(c.note or "no figure", 38), "t small", tip=c.note)
            continue
        ends = (c.low, c.high) if c.low is not None and c.high is not None else (c.value, c.value)
        most = (widest if one_scale else _reach(c)) or 1.0
        turn = -1 if c.better == "down" else 1
        x = Scale(-most, most, left + 8, right - 8)
        said = f"{short(c.value)} [{short(ends[0])}, {short(ends[1])}]" if c.low is not None else short(c.value)
        clear = c.low is not None and (ends[0] > 0 or ends[1] < 0)
        better = c.value * turn > 0 if c.better in ("up", "down") else None
        of = 2 if not clear or better is None else (0 if better else 1)
        if c.low is not None:
            canvas.line(x(turn * ends[0]), y, x(turn * ends[1]), y, f"c{of} solid")
            for end in ends:
                canvas.line(x(turn * end), y - 4, x(turn * end), y + 4, f"c{of} solid")
        shape = {0: "dot", 1: "square", 2: "diamond"}[of]
        canvas.sign(shape, x(turn * c.value), y, 4.5, tip=f"{c.name}: {said}", of=f"p{of}" if clear else "s-late open")
        p = "" if c.p is None else (", p <.001" if c.p < 0.001 else f", p {c.p:.3f}")
        arrow = {"down": " ↓", "up": " ↑"}.get(c.better, "")
        canvas.text(right + 14, y + 4, f"{said}{p}{arrow}", "t small")
    note = f"hollow: no interval, or it holds 0; dot: {cut(second, 18)} better, square: {cut(first, 18)} better"
    canvas.text(left - 10, top + row * len(changes) + 18, note, "t small")
    return canvas


def _reach(change: Change) -> float:
    """How far from 0 a change and its interval go."""
    return max((abs(x) for x in (change.value, change.low, change.high) if x is not None), default=0.0)


def pareto(points: Sequence[Point], quality: str, label: str, *, budget_ms: float = 1000.0) -> Canvas:
    """Quality against the 95th percentile of latency; what no other run beats in both is joined."""
    xs = [e for p in points for e in (p.x, *(p.x_ends or ()))]
    ys = [e for p in points for e in (p.y, *(p.y_ends or ()))]
    positive = [x for x in xs if x > 0] or [1.0]
    x_range = min(*positive, budget_ms) / 1.6, max(*positive, budget_ms) * 1.6
    names = ("95th percentile of scheduled latency (ms)", quality)
    axes = Axes(label, x_range, _padded(ys), names, log_x=True, height=330, legend=len(points))
    axes.upright(budget_ms, "1 s" if budget_ms == 1000 else f"{short(budget_ms)} ms")
    front = [p for p in points if not any(_beats(o, p) for o in points)]
    axes.path([(axes.x(p.x), axes.y(p.y)) for p in sorted(front, key=lambda p: (p.x, p.y))], "front", steps=True)
    colours, shapes = ({v: i for i, v in enumerate(dict.fromkeys(vs))} for vs in
                       ([p.colour for p in points], [p.shape or p.name for p in points]))  # fmt: skip
    for row, p in enumerate(points):
        of, shape = colours[p.colour] % _COLOURS, SIGNS[shapes[p.shape or p.name] % len(SIGNS)]
        x, y = axes.x(p.x), axes.y(p.y)
        if p.y_ends:
            axes.line(x, axes.y(p.y_ends[0]), x, axes.y(p.y_ends[1]), f"c{of} solid thin")
        if p.x_ends:
            axes.line(axes.x(p.x_ends[0]), y, axes.x(p.x_ends[1]), y, f"c{of} solid thin")
        axes.sign(shape, x, y, 5.5, tip=f"{p.name}: {short(p.y)}, {short(p.x)} ms", of=f"p{of}")
        axes.explain(row, f"p{of}", shape, f"{p.name}: {short(p.y)} at {short(p.x)} ms")
    return axes


def _beats(a: Point, b: Point) -> bool:
    return a.x <= b.x and a.y >= b.y and (a.x, a.y) != (b.x, b.y)


def curves(lines: Mapping[str, Sequence[tuple[float, float]]], names: tuple[str, str], label: str, *,
           log_x: bool = True, steps: bool = False, unit_y: bool = False) -> Axes:  # fmt: skip
    """Several curves over one axis, told apart by dashes as well."""
    some = {name: points for name, points in lines.items() if points}
    xs = [x for points in some.values() for x, _ in points if x > 0 or not log_x]
    ys = [y for points in some.values() for _, y in points]
    x_range = (min(xs), max(xs)) if xs else (1.0, 10.0)
    if x_range[0] == x_range[1]:
        x_range = x_range[0] / 2, x_range[1] * 2
    axes = Axes(label, x_range, (0.0, 1.0) if unit_y else _padded([0.0, *ys]), names, log_x=log_x, legend=len(some))
    for row, (name, points) in enumerate(some.items()):
        of = f"c{row % _COLOURS}"
        axes.path([(axes.x(x), axes.y(y)) for x, y in points], of, steps=steps, tip=name)
        if not steps:
            for x, y in points:
                axes.sign(SIGNS[row % len(SIGNS)], axes.x(x), axes.y(y), 2.6, of=f"p{row % _COLOURS}",
                          tip=f"{name}: {short(y)} at {short(x)}")  # fmt: skip
        axes.explain(row, of, "line", name)
    return axes


def ecdf(lines: Mapping[str, Sequence[tuple[float, float]]], label: str) -> Axes:
    """Latencies: the share of decisions that took at most so long."""
    axes = curves(lines, ("scheduled latency (ms)", "share of decisions"), label, steps=True, unit_y=True)
    if axes.x.low <= 1000 <= axes.x.high:
        axes.upright(1000, "1 s")
    return axes


def heat(rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Cell | None]], label: str, *,
         up: bool = True, reach: tuple[float, float] | None = None) -> Canvas:  # fmt: skip
    """A table as shades: darker is better, or more where there is no better. Figures stand in the cells, so that no
    shade has to be read; None is a combination that was not played. ``reach``: from where to where shades go, where
    several tables are to be held against each other.
    """
    wide, high, left, top = 118.0, 46.0, 190.0, 34.0
    canvas = Canvas(left + wide * len(columns) + 8, top + high * len(rows) + 8, label)
    values = [c.value for row in cells for c in row if c is not None and c.value is not None]
    low, most = reach or ((min(values), max(values)) if values else (0.0, 1.0))
    for j, name in enumerate(columns):
        canvas.text(left + wide * (j + 0.5), top - 12, cut(name, 16), "t", "middle", tip=name)
    for i, name in enumerate(rows):
        y = top + high * i
        canvas.text(left - 10, y + high / 2 + 4, cut(name, 26), "t", "end", tip=name)
        for j, cell in enumerate(cells[i]):
            x = left + wide * j
            if cell is None or cell.value is None:
                note = "not played" if cell is None else cell.note or "no figure"
                canvas.add("rect", x=x + 1, y=y + 1, width=wide - 2, height=high - 2, of="heat-none", tip=note)
                said = cut(note.partition(";")[0], 18)
                canvas.text(x + wide / 2, y + high / 2 + 4, said, "t small", "middle")
                continue
            share = 0.5 if most == low else (cell.value - low) / (most - low)
            step = round(8 * (share if up else 1 - share))
            ends = "" if cell.low is None or cell.high is None else f"[{short(cell.low)}, {short(cell.high)}]"
            tip = f"{name}, {columns[j]}: {short(cell.value)} {ends} {cell.note}".strip()
            canvas.add("rect", x=x + 1, y=y + 1, width=wide - 2, height=high - 2, of=f"heat h{step}", tip=tip)
            if cell.hatched:
                _hatch(canvas, x + 1, y + 1, wide - 2, high - 2, f"hatch hh{step}")
            ink = f"t ink{int(step > 4)}"
            canvas.text(
                x + wide / 2, y + (19 if ends else 27), f"{short(cell.value)}{cell.mark}", f"{ink} strong", "middle"
            )
            canvas.text(x + wide / 2, y + 35, ends, f"{ink} ends", "middle")
    return canvas


def _hatch(canvas: Canvas, x: float, y: float, wide: float, high: float, of: str) -> None:
    """Slanted lines at the left and right edge of a box, so that figures in it stay readable."""
    d = []
    for at, room in ((x, 12.0), (x + wide - 12.0, 12.0)):
        d += [f"M{at:.1f} {y + k:.1f}l{room:.1f} {-min(room, 8.0):.1f}" for k in _steps(8.0, high, 7.0)]
    canvas.add("path", d="".join(d), of=of, fill="none")


def _steps(start: float, end: float, step: float) -> list[float]:
    return [start + n * step for n in range(int((end - start) / step) + 1)]


def _padded(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        return (low - 0.5, high + 0.5) if low else (0.0, 1.0)
    pad = 0.08 * (high - low)
    return (low if low == 0 else low - pad), high + pad
