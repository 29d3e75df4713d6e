"""Figures in rows, a name each, the first on top: as bars, or as dots with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.figures.palette import BLUE, GREY, OTHERS, arms, short
from simulator.figures.panel import Panel

__all__ = ["bars", "dots"]

_BELOW_THE_LABEL = 4.0
"""Of legends, in their letters' size: so far below the axes lie ticks and label."""


def bars(
    panel: Panel,
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
    axes = panel.axes
    n, thick = len(names), 0.38 if beside else 0.7
    places = [float(i) for i in range(n)]
    own = [p - thick / 2 for p in places] if beside else places
    n_own = n - n_grey
    axes.barh(own[:n_own], values[:n_own], thick, color=BLUE, label=ours_name)
    if n_grey:
        axes.barh(own[n_own:], values[n_own:], thick, **OTHERS)
    if beside:
        there = [(p + thick / 2, b) for p, b in zip(places, beside, strict=True) if b is not None]
        axes.barh([p for p, _ in there], [b for _, b in there], thick, label=beside_name, **OTHERS)
        axes.legend(loc="upper left", bbox_to_anchor=(0, 0), borderaxespad=_BELOW_THE_LABEL, ncols=2)
    for place, value, text in zip(own, values, told, strict=False):
        axes.annotate(text, (max(value, 0), place), xytext=(2, 0), textcoords="offset points", va="center", fontsize=6)
    axes.set_yticks(places, [short(name) for name in names])
    axes.invert_yaxis()
    axes.margins(x=0.3 if told else 0.05, y=0.02)


def dots(
    panel: Panel,
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
    axes, drawn = panel.axes, dict[str, Any]()
    for place, given in enumerate(others):
        for low, high in given:
            if high > low:
                drawn[others_name] = axes.barh(place, high - low, 0.5, left=low, zorder=1, **OTHERS)
            else:
                drawn[others_name] = axes.vlines(low, place - 0.28, place + 0.28, color=GREY, linewidth=1.1)
    for place, figure in enumerate(ours):
        if figure is not None:
            value, low_end, high_end = figure
            ends = None if low_end is None or high_end is None else (low_end, high_end)
            drawn[ours_name] = axes.errorbar(
                [value], [place], xerr=arms(value, ends), fmt="o", color=BLUE, markersize=3.8, elinewidth=0.9,
                capsize=1.8, zorder=3,
            )  # fmt: skip
    axes.set_yticks(range(len(names)), [short(name, 34) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", linewidth=0.3, color="#DDDDDD", zorder=0)
    axes.set_axisbelow(True)
    panel.drawn = drawn
