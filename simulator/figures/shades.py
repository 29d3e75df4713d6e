"""Tables as shades, dark for much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.figures.palette import GREY, library, shorts
from simulator.figures.panel import Panel

__all__ = ["cells", "heat"]


def heat(
    panel: Panel, table: Sequence[Sequence[float | None]], rows: Sequence[str], columns: Sequence[str], meaning: str
) -> None:
    """A table as shades, dark for much, empty cells white with a dot; ``meaning`` stands beside the scale."""
    axes = panel.axes
    image = axes.imshow(_filled(table), aspect="auto", cmap="cividis_r", interpolation="nearest", vmin=0)
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            if value is None:
                axes.text(j, i, "·", ha="center", va="center", color=GREY, fontsize=5)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(range(0, len(columns), 3), columns[::3])
    _scale(axes, image, meaning)


def cells(
    panel: Panel,
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
    axes = panel.axes
    low, high = scale
    shades = library("matplotlib").colormaps["cividis_r"]
    image = axes.imshow(_filled(table), aspect="auto", cmap=shades, interpolation="nearest", vmin=low, vmax=high)
    rectangle = library("matplotlib.patches").Rectangle
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            part = 0.0 if value is None or high <= low else (value - low) / (high - low)
            behind = "white" if value is None else shades(part)
            if (i, j) in hatched:
                style = {"hatch": "////", "edgecolor": "#DDDDDD" if part > 0.5 else "#555555", "linewidth": 0}
                axes.add_patch(rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, **style))
            axes.text(
                j, i, told[i][j], ha="center", va="center", fontsize=6, linespacing=1.05,
                color="white" if part > 0.5 else "black", bbox={"facecolor": behind, "linewidth": 0, "pad": 0.8},
            )  # fmt: skip
    axes.set_yticks(range(len(rows)), shorts(rows))
    axes.set_xticks(range(len(columns)), shorts(columns, 18))
    axes.tick_params(length=0)
    if slanted:
        axes.set_xticks(axes.get_xticks(), axes.get_xticklabels(), rotation=30, ha="right", rotation_mode="anchor")
    axes.spines[:].set_visible(False)
    if meaning:
        _scale(axes, image, meaning)


def _filled(table: Sequence[Sequence[float | None]]) -> list[list[float]]:
    return [[float("nan") if v is None else v for v in row] for row in table]


def _scale(axes: Any, image: Any, meaning: str) -> None:
    bar = axes.figure.colorbar(image, ax=axes, pad=0.02)
    bar.set_label(meaning)
    bar.outline.set_linewidth(0.4)
