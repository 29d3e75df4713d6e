"""A table of figures on a screen of any width: columns that do not fit follow below, no figure is ever cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

__all__ = ["Columns", "Marked"]

_GAP = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows with a name and a cell a column.

    As one table; where that is too wide, as several below each other, each with the names; where a name and a column do
    not fit beside each other either, a row is a name with its figures below it, which can be wrapped.
    """

    head: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Text, Sequence[Text]]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """See there."""
        named = max(cell_len(text) for text in (self.head, *(name.plain for name, _ in self.rows)))
        wide = [
            max(cell_len(column), *(cell_len(cells[i].plain) for _, cells in self.rows))
            for i, column in enumerate(self.columns)
        ]
        if named + _GAP + max(wide) > options.max_width:
            yield from self._listed()
            return
        groups: list[list[int]] = [[]]
        left = options.max_width - named
        for i, width in enumerate(wide):
            if width + _GAP > left:
                groups.append([])
                left = options.max_width - named
            groups[-1].append(i)
            left -= width + _GAP
        for n, group in enumerate(groups):
            if n:
                yield Text()
            yield self._table(group)

    def _table(self, group: Sequence[int]) -> Table:
        table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, _GAP, 0, 0))
        table.add_column(self.head, no_wrap=True)
        for i in group:
            table.add_column(self.columns[i], justify="right", no_wrap=True)
        for name, cells in self.rows:
            table.add_row(name, *(cells[i] for i in group))
        return table

    def _listed(self) -> Iterator[Text]:
        yield Text(f"{self.head}:")
        for name, cells in self.rows:
            yield name
            for column, cell in zip(self.columns, cells, strict=True):
                yield Text.assemble("  ", column, " ", cell)


@dataclass(frozen=True, slots=True)
class Marked:
    """Lines that each begin with a mark, also where one is wrapped; empty ones stay so."""

    mark: str
    inner: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """See there."""
        room = max(1, options.max_width - cell_len(self.mark))
        for line in console.render_lines(self.inner, options.update_width(room), pad=False):
            if any(segment.text.strip() for segment in line):
                yield Segment(self.mark)
                yield from line
            yield Segment.line()
