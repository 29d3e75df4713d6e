"""Figures of ours beside those that others published: a panel a column, a row a method, theirs in grey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.figures.rows import dots
from simulator.figures.sheet import Sheet

__all__ = ["Column", "draw_beside"]

_A_ROW, _ROW_MM, _AROUND_MM = 3, 4.6, 16.0


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of all methods.

    Attributes:
        title: what it is of, with its unit.
        ours: by method, the figure and the ends of its interval; None where there is none.
        others: by method, what was published: numbers with both ends alike, or ranges.
    """

    title: str
    ours: Sequence[tuple[float, float | None, float | None] | None]
    others: Sequence[Sequence[tuple[float, float]]]


def draw_beside(
    methods: Sequence[str], columns: Sequence[Column], title: str, notes: Sequence[str], file: Path
) -> Path:
    """Write the figure.

    Args:
        methods: names of rows.
        columns: a panel each.
        title: of the whole.
        notes: sentences below it.
        file: where to.

    Raises:
        UsageError: the extra ``figures`` is not installed.
    """
    across = min(len(columns), 2 * _A_ROW - len(columns) if len(columns) == 4 else _A_ROW)
    rows = [
        [str(i) if i < len(columns) else "." for i in range(at, at + across)] for at in range(0, len(columns), across)
    ]
    height = len(rows) * (_AROUND_MM + _ROW_MM * max(3, len(methods))) + 14
    with Sheet(rows, height_mm=height) as sheet:
        for i, column in enumerate(columns):
            first = i % across == 0
            dots(sheet[str(i)], methods if first else [""] * len(methods), column.ours, column.others)
            sheet[str(i)].title(column.title)
        sheet.head(title)
        sheet.dots_key()
        sheet.note(notes)
        return sheet.save(file)
