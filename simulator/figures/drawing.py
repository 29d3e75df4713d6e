"""Drawing with matplotlib, of which nothing else knows: a sheet of panels, what is put into them, and the file.

The same numbers make the same bytes, with one version of matplotlib: ids come from a fixed salt, no date is written, no
font file is looked for (text stays text). Colours are of the palette of Okabe & Ito, told apart by people who see fewer
colours, and nothing is told by colour alone: lines differ in their dashes, bars in their hatching. What others
published stands in grey. Sizes are those of a printed page, so that nothing has to be scaled: 85 mm a column.
"""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

from simulator.core.errors import UsageError
from simulator.core.extras import install_extra

__all__ = ["BLUE", "COLOURS", "DASHES", "GREEN", "GREY", "MARKS", "ORANGE", "Line", "Panel", "Point", "Sheet"]

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8C8C8C"
COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
DASHES = ("solid", "dashed", "dotted", "dashdot")
COLUMN_MM, PAGE_MM = 85.0, 178.0
_STYLE: dict[str, Any] = {
    "svg.hashsalt": "proact", "svg.fonttype": "none", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"],
    "font.size": 7, "axes.titlesize": 7.5, "axes.labelsize": 7, "xtick.labelsize": 6.5, "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4, "ytick.minor.width": 0.4, "lines.linewidth": 1.2, "hatch.linewidth": 0.5,
    "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left", "legend.frameon": False,
}  # fmt: skip


_BELOW_THE_LABEL = 4.0
"""Of legends, in their letters' size: so far below the axes lie ticks and label."""
_LETTERS_AN_INCH = 20.5
"""Of notes, in the mean."""
_LETTERS_OF_TITLES = 14.0
"""An inch, of a panel's share of the sheet: less than fit, as names beside the axes take some of it."""
_OTHERS: dict[str, Any] = {"color": "#D9D9D9", "edgecolor": GREY, "linewidth": 0.4, "hatch": "////"}


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            f"figures are drawn with the package matplotlib, which is not installed: {install_extra('figures')}"
        ) from error


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: its name in the legend, its points, and how it is told from the others.

    ``dash`` is one of ``DASHES``, ``mark`` one of ``MARKS`` or nothing; a line that others published is grey. ``low``
    and ``high`` are the ends of intervals, one a point (NaN where it has none), and are drawn as a band.
    """

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    colour: str = BLUE
    dash: str = "solid"
    steps: bool = False
    mark: str = ""
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """A figure in two directions, each with the ends of its interval or None; ``hollow`` to be told apart."""

    x: float
    y: float
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None
    colour: str = BLUE
    mark: str = "o"
    hollow: bool = False


class Panel:
    """One pair of axes of a sheet."""

    def __init__(self, axes: Any) -> None:
        self._axes = axes
        self._drawn: dict[str, Any] = {}

    @property
    def drawn(self) -> dict[str, Any]:
        """By name, what a key is to explain."""
        return self._drawn

    def title(self, text: str) -> Panel:
        """What is shown, and of how many; broken where the panel ends."""
        grid = self._axes.get_subplotspec()
        share = (grid.colspan.stop - grid.colspan.start) / grid.get_gridspec().ncols
        letters = round(self._axes.figure.get_size_inches()[0] * share * _LETTERS_OF_TITLES)
        self._axes.set_title("\n".join(textwrap.wrap(text, max(letters, 20))))
        return self

    def labels(self, x: str, y: str) -> Panel:
        """What the axes mean, with units."""
        self._axes.set_xlabel(x)
        self._axes.set_ylabel(y)
        return self

    def nothing(self, why: str) -> None:
        """In place of a picture: why there is none."""
        self._axes.set_axis_off()
        self._axes.text(
            0.5, 0.5, why, ha="center", va="center", wrap=True, transform=self._axes.transAxes, color="#555555"
        )

    def lines(self, lines: Sequence[Line], *, log_x: bool = False, log_y: bool = False) -> None:
        """Curves over common axes, with a legend if there are several."""
        for line in lines:
            style: dict[str, Any] = {"color": line.colour, "linestyle": line.dash, "label": _short(line.name, 40)}
            if line.mark:
                style |= {"marker": line.mark, "markersize": 3.2}
            if line.low:
                self._axes.fill_between(line.xs, line.low, line.high, color=line.colour, alpha=0.15, linewidth=0)
            if line.steps:
                self._axes.step(line.xs, line.ys, where="post", **style)
            else:
                self._axes.plot(line.xs, line.ys, **style)
        if log_x:
            self._axes.set_xscale("log")
        if log_y:
            self._axes.set_yscale("log")
        if len(lines) > 1:
            self._axes.legend()

    def bars(
        self,
        names: Sequence[str],
        values: Sequence[float],
        *,
        told: Sequence[str] = (),
        beside: Sequence[float | None] = (),
        beside_name: str = "published, other data",
        ours_name: str = "here",
        n_grey: int = 0,
    ) -> None:
        """Bars from left to right, the first on top; ``beside`` in grey below each, ``told`` behind each (of a negative
        one to the right of zero, where nothing lies).

        The last ``n_grey`` are others' figures, and grey themselves.
        """
        n, thick = len(names), 0.38 if beside else 0.7
        places = [float(i) for i in range(n)]
        own = [p - thick / 2 for p in places] if beside else places
        n_own = n - n_grey
        self._axes.barh(own[:n_own], values[:n_own], thick, color=BLUE, label=ours_name)
        if n_grey:
            self._axes.barh(own[n_own:], values[n_own:], thick, **_OTHERS)
        if beside:
            there = [(p + thick / 2, b) for p, b in zip(places, beside, strict=True) if b is not None]
            self._axes.barh([p for p, _ in there], [b for _, b in there], thick, label=beside_name, **_OTHERS)
            self._axes.legend(loc="upper left", bbox_to_anchor=(0, 0), borderaxespad=_BELOW_THE_LABEL, ncols=2)
        for place, value, text in zip(own, values, told, strict=False):
            self._axes.annotate(
                text, (max(value, 0), place), xytext=(2, 0), textcoords="offset points", va="center", fontsize=6
            )
        self._axes.set_yticks(places, [_short(name) for name in names])
        self._axes.invert_yaxis()
        self._axes.margins(x=0.3 if told else 0.05, y=0.02)

    def columns(self, edges: Sequence[float], counts: Sequence[float], *, log_x: bool = False) -> None:
        """A histogram: the count between each edge and the next."""
        widths = [b - a for a, b in pairwise(edges)]
        self._axes.bar(edges[:-1], counts, widths, align="edge", color=BLUE, edgecolor="white", linewidth=0.3)
        if log_x:
            self._axes.set_xscale("log")

    def heat(
        self, table: Sequence[Sequence[float | None]], rows: Sequence[str], columns: Sequence[str], meaning: str
    ) -> None:
        """A table as shades, dark for much, empty cells white with a dot; ``meaning`` stands beside the scale."""
        filled = [[float("nan") if v is None else v for v in row] for row in table]
        image = self._axes.imshow(filled, aspect="auto", cmap="cividis_r", interpolation="nearest", vmin=0)
        for i, row in enumerate(table):
            for j, value in enumerate(row):
                if value is None:
                    self._axes.text(j, i, "·", ha="center", va="center", color=GREY, fontsize=5)
        self._axes.set_yticks(range(len(rows)), rows)
        self._axes.set_xticks(range(0, len(columns), 3), columns[::3])
        scale = self._axes.figure.colorbar(image, ax=self._axes, pad=0.02)
        scale.set_label(meaning)
        scale.outline.set_linewidth(0.4)

    def cells(
        self,
        table: Sequence[Sequence[float | None]],
        rows: Sequence[str],
        columns: Sequence[str],
        *,
        told: Sequence[Sequence[str]],
        hatched: Sequence[tuple[int, int]] = (),
        scale: tuple[float, float],
        meaning: str = "",
        slanted: bool = False,
    ) -> None:
        """A table as shades, dark for much, with words in each cell, some of them hatched; ``meaning`` stands beside
        the scale, and without one no scale is drawn.
        """
        low, high = scale
        shades = _library("matplotlib").colormaps["cividis_r"]
        filled = [[float("nan") if v is None else v for v in row] for row in table]
        image = self._axes.imshow(filled, aspect="auto", cmap=shades, interpolation="nearest", vmin=low, vmax=high)
        rectangle = _library("matplotlib.patches").Rectangle
        for i, row in enumerate(table):
            for j, value in enumerate(row):
                part = 0.0 if value is None or high <= low else (value - low) / (high - low)
                behind = "white" if value is None else shades(part)
                if (i, j) in hatched:
                    style = {"hatch": "////", "edgecolor": "#DDDDDD" if part > 0.5 else "#555555", "linewidth": 0}
                    self._axes.add_patch(rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, **style))
                self._axes.text(
                    j, i, told[i][j], ha="center", va="center", fontsize=6, linespacing=1.05,
                    color="white" if part > 0.5 else "black", bbox={"facecolor": behind, "linewidth": 0, "pad": 0.8},
                )  # fmt: skip
        self._axes.set_yticks(range(len(rows)), [_short(name) for name in rows])
        self._axes.set_xticks(range(len(columns)), [_short(name, 18) for name in columns])
        self._axes.tick_params(length=0)
        if slanted:
            self._axes.set_xticks(self._axes.get_xticks(), self._axes.get_xticklabels(), rotation=30, ha="right",
                                  rotation_mode="anchor")  # fmt: skip
        self._axes.spines[:].set_visible(False)
        if meaning:
            bar = self._axes.figure.colorbar(image, ax=self._axes, pad=0.02)
            bar.set_label(meaning)
            bar.outline.set_linewidth(0.4)

    def points(self, points: Sequence[Point]) -> None:
        """Points with whiskers both ways."""
        for p in points:
            self._axes.errorbar(
                [p.x], [p.y], xerr=_arms(p.x, p.x_ends), yerr=_arms(p.y, p.y_ends), fmt=p.mark, color=p.colour,
                markersize=4.5, markerfacecolor="white" if p.hollow else p.colour, markeredgewidth=0.9,
                elinewidth=0.8, capsize=1.8, capthick=0.8, zorder=3,
            )  # fmt: skip

    def front(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        """The line of what nothing beats: up in steps, from left to right."""
        self._axes.step(xs, ys, where="post", color="#555555", linewidth=0.9, zorder=2)

    def beyond(self, x: float, name: str) -> None:
        """Shade what lies to the right of x, a limit with a name."""
        right = self._axes.get_xlim()[1]
        if right > x:
            self._axes.axvspan(x, right, color=GREY, alpha=0.13, linewidth=0, zorder=0)
            self._axes.set_xlim(right=right)
            self.mark(x, name)

    def dots(
        self,
        names: Sequence[str],
        ours: Sequence[tuple[float, float | None, float | None] | None],
        others: Sequence[Sequence[tuple[float, float]]] = (),
        *,
        ours_name: str = "here, with 95 % interval",
        others_name: str = "published, other data",
    ) -> None:
        """A row a name, the first on top: our figure as a dot with its interval, and what others published in grey,
        each a value (both ends alike, a short upright line) or a range.
        """
        drawn: dict[str, Any] = {}
        for place, given in enumerate(others):
            for low, high in given:
                if high > low:
                    drawn[others_name] = self._axes.barh(place, high - low, 0.5, left=low, zorder=1, **_OTHERS)
                else:
                    drawn[others_name] = self._axes.vlines(low, place - 0.28, place + 0.28, color=GREY, linewidth=1.1)
        for place, figure in enumerate(ours):
            if figure is not None:
                value, low_end, high_end = figure
                ends = None if low_end is None or high_end is None else (low_end, high_end)
                drawn[ours_name] = self._axes.errorbar(
                    [value], [place], xerr=_arms(value, ends), fmt="o", color=BLUE, markersize=3.8, elinewidth=0.9,
                    capsize=1.8, zorder=3,
                )  # fmt: skip
        self._axes.set_yticks(range(len(names)), [_short(name, 34) for name in names])
        self._axes.set_ylim(len(names) - 0.4, -0.6)
        self._axes.grid(axis="y", linewidth=0.3, color="#DDDDDD", zorder=0)
        self._axes.set_axisbelow(True)
        self._drawn = drawn

    def scale_x(self, *, log: bool = False, ticks: Sequence[float] = (), told: Sequence[str] = ()) -> None:
        """How the axis below runs, with ticks of one's own."""
        if log:
            self._axes.set_xscale("log")
        if ticks:
            self._axes.set_xticks(ticks, told or [f"{t:g}" for t in ticks])
            self._axes.set_xticks([], minor=True)

    def decades(self, low: float, high: float) -> None:
        """Ticks 1, 2, 5, 10, … below, written plainly."""
        steps = [m * 10.0**e for e in range(-6, 7) for m in (1, 2, 5)]
        self.scale_x(ticks=[step for step in steps if low <= step <= high])

    def reach(self, *, x: tuple[float, float] | None = None, y: tuple[float, float] | None = None) -> None:
        """From where to where the axes go."""
        if x is not None:
            self._axes.set_xlim(*x)
        if y is not None:
            self._axes.set_ylim(*y)

    def mark(self, x: float, name: str, *, colour: str = GREY) -> None:
        """A dotted upright line at x, named at its head."""
        self._axes.axvline(x, color=colour, linestyle="dotted", linewidth=0.9)
        self._axes.annotate(
            name, (x, 1), xycoords=("data", "axes fraction"), xytext=(2, -2), textcoords="offset points", va="top",
            fontsize=6, color="#555555",
        )  # fmt: skip


class Sheet:
    """Panels on one sheet; a context manager within which they are filled and from which it is saved.

    Args:
        rows: names of panels, as they lie: ``[["a", "a"], ["b", "c"]]``; a name that repeats makes a wide panel.
        width_mm: ``COLUMN_MM`` or ``PAGE_MM``.
        height_mm: of the whole.

    Raises:
        UsageError: the extra ``figures`` is not installed.
    """

    def __init__(self, rows: Sequence[Sequence[str]], *, width_mm: float = PAGE_MM, height_mm: float = 70.0) -> None:
        self._rows = [list(row) for row in rows]
        self._size = (width_mm / 25.4, height_mm / 25.4)
        self._style = _library("matplotlib").rc_context(_STYLE)

    def __enter__(self) -> Sheet:
        self._style.__enter__()
        self._figure = _library("matplotlib.figure").Figure(figsize=self._size, layout="constrained")
        self._panels = {name: Panel(axes) for name, axes in self._figure.subplot_mosaic(self._rows).items()}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._style.__exit__(kind, error, trace)

    def __getitem__(self, name: str) -> Panel:
        return self._panels[name]

    def head(self, text: str) -> None:
        """A title over all panels."""
        self._figure.suptitle(_short(text, 110), x=0.01, ha="left", fontsize=8)

    def key(self, groups: Sequence[tuple[str, Sequence[tuple[str, Point]]]]) -> None:
        """What marks and colours mean, by axis, to the right of all panels; nothing where there are none."""
        line = _library("matplotlib.lines").Line2D
        drawn = []
        for head, marks in groups:
            drawn.append(line([], [], linestyle="none", label=_short(head, 30)))
            drawn += [
                line([], [], color=p.colour, marker=p.mark, linestyle="none", markersize=4.5, label=_short(name, 30),
                     markerfacecolor="white" if p.hollow else p.colour)
                for name, p in marks
            ]  # fmt: skip
        if drawn:
            self._figure.legend(handles=drawn, loc="outside right upper")

    def dots_key(self) -> None:
        """What dots and grey lines are, once for all panels."""
        drawn: dict[str, Any] = {}
        for panel in self._panels.values():
            drawn = panel.drawn | drawn
        if drawn:
            self._figure.legend(drawn.values(), drawn.keys(), loc="outside lower right", ncols=len(drawn))

    def note(self, sentences: Sequence[str]) -> None:
        """Lines below everything, broken where the sheet ends; nothing where there are none."""
        if sentences:
            letters = round(self._size[0] * _LETTERS_AN_INCH)
            broken = [
                line for sentence in sentences for line in textwrap.wrap(sentence, letters, subsequent_indent="  ")
            ]
            self._figure.supxlabel("\n".join(broken), fontsize=6, color="#555555", ha="left", x=0.01)

    def svg(self) -> bytes:
        """The sheet as an SVG file."""
        out = BytesIO()
        self._figure.savefig(out, format="svg", metadata={"Date": None, "Creator": "proact"})
        return out.getvalue()

    def save(self, file: Path) -> Path:
        """Write it; the folder is made."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(self.svg())
        return file


def _arms(value: float, ends: tuple[float, float] | None) -> list[list[float]] | None:
    """Whiskers as lengths: an interval may lie a little beside its figure, and no length is below zero."""
    return None if ends is None else [[max(0.0, value - ends[0])], [max(0.0, ends[1] - value)]]


def _short(name: str, most: int = 26) -> str:
    """What is drawn of a name: one may be long, and hold what cannot be drawn or would mean mathematics."""
    plain = "".join(c for c in name if c.isprintable()).replace("$", r"\$")
    return plain if len(plain) <= most else plain[: most - 1] + "…"
