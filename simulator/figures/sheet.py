"""A sheet of panels, and its file.

The same numbers make the same bytes: see ``palette``. Sizes are those of a printed page, so that nothing has to be
scaled: 85 mm a column.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any

from simulator.figures.palette import STYLE, library, short
from simulator.figures.panel import Panel, Point

__all__ = ["COLUMN_MM", "PAGE_MM", "Sheet"]

COLUMN_MM, PAGE_MM = 85.0, 178.0
_LETTERS_AN_INCH = 20.5
"""Of notes, in the mean."""


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
        self._style = library("matplotlib").rc_context(STYLE)

    def __enter__(self) -> Sheet:
        self._style.__enter__()
        self._figure = library("matplotlib.figure").Figure(figsize=self._size, layout="constrained")
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
        self._figure.suptitle(short(text, 110), x=0.01, ha="left", fontsize=8)

    def key(self, groups: Sequence[tuple[str, Sequence[tuple[str, Point]]]]) -> None:
        """What marks and colours mean, by axis, to the right of all panels; nothing where there are none."""
        line = library("matplotlib.lines").Line2D
        drawn = []
        for head, marks in groups:
            drawn.append(line([], [], linestyle="none", label=short(head, 30)))
            drawn += [
                line([], [], color=p.colour, marker=p.mark, linestyle="none", markersize=4.5, label=short(name, 30),
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
