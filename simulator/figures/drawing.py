"""Drawing with matplotlib, of which nothing else knows: a sheet of panels, what is put into them, and the file.

The same numbers make the same bytes, with one version of matplotlib: ids come from a fixed salt, no date is written, no
font file is looked for (text stays text). Colours are of the palette of Okabe & Ito, told apart by people who see fewer
colours, and nothing is told by colour alone: lines differ in their dashes, bars in their hatching. What others
published stands in grey. Sizes are those of a printed page, so that nothing has to be scaled: 85 mm a column.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

from simulator.core.errors import UsageError
from simulator.core.extras import install_extra

__all__ = ["BLUE", "GREEN", "GREY", "ORANGE", "Line", "Panel", "Sheet"]

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8C8C8C"
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

    ``dash`` is one of ``solid dashed dotted``; a line that others published is grey.
    """

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    colour: str = BLUE
    dash: str = "solid"
    steps: bool = False


class Panel:
    """One pair of axes of a sheet."""

    def __init__(self, axes: Any) -> None:
        self._axes = axes

    def title(self, text: str) -> Panel:
        """What is shown, and of how many."""
        self._axes.set_title(text)
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
            style = {"color": line.colour, "linestyle": line.dash, "label": line.name}
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

    def note(self, sentences: Sequence[str]) -> None:
        """Lines below everything; nothing where there are none."""
        if sentences:
            self._figure.supxlabel("\n".join(sentences), fontsize=6, color="#555555", ha="left", x=0.01)

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


def _short(name: str, most: int = 26) -> str:
    """What is drawn of a name: one may be long, and hold what cannot be drawn or would mean mathematics."""
    plain = "".join(c for c in name if c.isprintable()).replace("$", r"\$")
    return plain if len(plain) <= most else plain[: most - 1] + "…"
