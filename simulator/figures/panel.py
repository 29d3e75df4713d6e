"""One pair of axes: its titles and scales, and what is drawn over them as lines, points or columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from simulator.figures.palette import BLUE, GREY, arms, short

__all__ = ["Line", "Panel", "Point"]

_LETTERS_OF_TITLES = 14.0
"""An inch, of a panel's share of the sheet: less than fit, as names beside the axes take some of it."""


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
    """One pair of axes of a sheet.

    Attributes:
        axes: of matplotlib, for those who draw more into it (``rows``, ``shades``).
        drawn: by name, what the sheet's key is to explain.
    """

    def __init__(self, axes: Any) -> None:
        self.axes = axes
        self.drawn: dict[str, Any] = {}

    def title(self, text: str) -> Panel:
        """What is shown, and of how many; broken where the panel ends."""
        grid = self.axes.get_subplotspec()
        share = (grid.colspan.stop - grid.colspan.start) / grid.get_gridspec().ncols
        letters = round(self.axes.figure.get_size_inches()[0] * share * _LETTERS_OF_TITLES)
        self.axes.set_title("\n".join(textwrap.wrap(text, max(letters, 20))))
        return self

    def labels(self, x: str, y: str) -> Panel:
        """What the axes mean, with units."""
        self.axes.set_xlabel(x)
        self.axes.set_ylabel(y)
        return self

    def nothing(self, why: str) -> None:
        """In place of a picture: why there is none."""
        self.axes.set_axis_off()
        self.axes.text(
            0.5, 0.5, why, ha="center", va="center", wrap=True, transform=self.axes.transAxes, color="#555555"
        )

    def lines(self, lines: Sequence[Line], *, log_x: bool = False, log_y: bool = False) -> None:
        """Curves over common axes, with a legend if there are several."""
        for line in lines:
            style: dict[str, Any] = {"color": line.colour, "linestyle": line.dash, "label": short(line.name, 40)}
            if line.mark:
                style |= {"marker": line.mark, "markersize": 3.2}
            if line.low:
                self.axes.fill_between(line.xs, line.low, line.high, color=line.colour, alpha=0.15, linewidth=0)
            if line.steps:
                self.axes.step(line.xs, line.ys, where="post", **style)
            else:
                self.axes.plot(line.xs, line.ys, **style)
        if log_x:
            self.axes.set_xscale("log")
        if log_y:
            self.axes.set_yscale("log")
        if len(lines) > 1:
            self.axes.legend()

    def columns(self, edges: Sequence[float], counts: Sequence[float], *, log_x: bool = False) -> None:
        """A histogram: the count between each edge and the next."""
        widths = [b - a for a, b in pairwise(edges)]
        self.axes.bar(edges[:-1], counts, widths, align="edge", color=BLUE, edgecolor="white", linewidth=0.3)
        if log_x:
            self.axes.set_xscale("log")

    def points(self, points: Sequence[Point]) -> None:
        """Points with whiskers both ways."""
        for p in points:
            self.axes.errorbar(
                [p.x], [p.y], xerr=arms(p.x, p.x_ends), yerr=arms(p.y, p.y_ends), fmt=p.mark, color=p.colour,
                markersize=4.5, markerfacecolor="white" if p.hollow else p.colour, markeredgewidth=0.9,
                elinewidth=0.8, capsize=1.8, capthick=0.8, zorder=3,
            )  # fmt: skip

    def front(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        """The line of what nothing beats: up in steps, from left to right."""
        self.axes.step(xs, ys, where="post", color="#555555", linewidth=0.9, zorder=2)

    def beyond(self, x: float, name: str) -> None:
        """Shade what lies to the right of x, a limit with a name."""
        right = self.axes.get_xlim()[1]
        if right > x:
            self.axes.axvspan(x, right, color=GREY, alpha=0.13, linewidth=0, zorder=0)
            self.axes.set_xlim(right=right)
            self.mark(x, name)

    def scale_x(self, *, log: bool = False, ticks: Sequence[float] = (), told: Sequence[str] = ()) -> None:
        """How the axis below runs, with ticks of one's own."""
        if log:
            self.axes.set_xscale("log")
        if ticks:
            self.axes.set_xticks(ticks, told or [f"{t:g}" for t in ticks])
            self.axes.set_xticks([], minor=True)

    def decades(self, low: float, high: float) -> None:
        """Ticks 1, 2, 5, 10, … below, written plainly."""
        steps = [m * 10.0**e for e in range(-6, 7) for m in (1, 2, 5)]
        self.scale_x(ticks=[step for step in steps if low <= step <= high])

    def reach(self, *, x: tuple[float, float] | None = None, y: tuple[float, float] | None = None) -> None:
        """From where to where the axes go."""
        if x is not None:
            self.axes.set_xlim(*x)
        if y is not None:
            self.axes.set_ylim(*y)

    def mark(self, x: float, name: str, *, colour: str = GREY) -> None:
        """A dotted upright line at x, named at its head."""
        self.axes.axvline(x, color=colour, linestyle="dotted", linewidth=0.9)
        self.axes.annotate(
            name, (x, 1), xycoords=("data", "axes fraction"), xytext=(2, -2), textcoords="offset points", va="top",
            fontsize=6, color="#555555",
        )  # fmt: skip
