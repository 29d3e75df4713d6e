"""One line a session: what was needed when, and what was hit, missed, late or said for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

from simulator.cli.speak import plain
from simulator.core.types import SECOND
from simulator.report.strips import Kind, Strip, strips

__all__ = ["MOST", "Timelines"]

MOST = 16
"""Lines, over all runs; the sessions that do not fit are counted."""
_LEAST, _NAMED = 16, 24
"""Cells of a line that still tells something; of a name."""
_SIGNS: Mapping[Kind, tuple[str, str, str]] = {
    "miss": ("✕", "x", "bold #D55E00"),
    "late": ("◇", "o", "#D55E00"),
    "hit": ("●", "*", "bold #0072B2"),
    "false": ("▲", "!", "#D55E00"),
}
"""Sign, sign in ASCII, style; the first of those that fall into one cell is shown."""
_WORDS: Mapping[Kind, str] = {
    "hit": "hit",
    "miss": "missed",
    "late": "late",
    "false": "false alarm or otherwise unwanted",
}
_NEED, _NO_NEED = ("━", "="), ("·", ".")


class Timelines:
    """Runs as lines of the width there is; the sessions of several runs stand below each other."""

    def __init__(self, runs: Mapping[str, Mapping[str, Any]]) -> None:
        told = {name: {strip.key: strip for strip in strips(scores)} for name, scores in runs.items()}
        keys = dict.fromkeys(key for of_run in told.values() for key in of_run)
        per_session = max(1, len(told))
        self._shown = max(1, MOST // per_session)
        self._left_out = max(0, len(keys) - self._shown)
        self._rows: list[tuple[str, Strip]] = []
        for key in list(keys)[: self._shown]:
            for name, of_run in told.items():
                if key in of_run:
                    self._rows.append((f"{key} {name}" if per_session > 1 else key, of_run[key]))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """A line a session, then what the signs mean; nothing where nothing was classified."""
        rows = [(name, strip) for name, strip in self._rows if strip.note is None]
        if not rows or not any(strip.needs or strip.marks for _, strip in rows):
            return
        ascii_ = options.ascii_only
        heads = [plain(name.replace("\n", " ")).plain for name, _ in rows]
        width = min(_NAMED, max(map(cell_len, heads)))
        digits = max(len(_seconds(strip)) for _, strip in rows)
        tails = [_tail(strip, digits, ascii_=ascii_) for _, strip in rows]
        room = options.max_width - width - 2 - max(cell_len(tail.plain) for tail in tails)
        if room < _LEAST:  # a narrow screen: the counts say it
            room = max(0, options.max_width - width - 1)
            tails = [Text()] * len(tails)
        for head, (_, strip), tail in zip(heads, rows, tails, strict=True):
            line = Text.assemble(_name(head, width, ascii_=ascii_), " ", _line(strip, room, ascii_=ascii_), " ", tail)
            line.rstrip()
            yield line
        if self._left_out:
            more = f"... and {self._left_out}" if ascii_ else f"… and {self._left_out}"
            yield Text(f"{more} session{'s' if self._left_out > 1 else ''} more")
        yield _legend([strip for _, strip in rows], ascii_=ascii_)
        yield Text()


def _name(name: str, width: int, *, ascii_: bool) -> str:
    if cell_len(name) <= width:
        return set_cell_size(name, width)
    cut = "~" if ascii_ else "…"
    return set_cell_size(name, width - 1) + cut


def _line(strip: Strip, room: int, *, ascii_: bool) -> Text:
    """The session from left to right, over all of the room."""
    at = ascii_ * 1
    length = max(1, strip.end_ns)

    def cell(t_ns: int) -> int:
        return min(room - 1, max(0, t_ns * room // length))

    cells: list[tuple[str, str]] = [(_NO_NEED[at], "dim")] * room
    for need in strip.needs:
        for i in range(cell(need.opens_ns), cell(need.closes_ns - 1) + 1) if room else ():
            cells[i] = _NEED[at], ""
    order = list(_SIGNS)
    for mark in sorted(strip.marks, key=lambda m: -order.index(m.kind)) if room else ():
        *signs, style = _SIGNS[mark.kind]
        # a need closes at the first instant at which it is not open any more: the miss stands on its last cell
        cells[cell(mark.t_ns - (mark.kind == "miss"))] = signs[at], style
    return Text.assemble(*cells)


def _seconds(strip: Strip) -> str:
    return str(round(strip.end_ns / SECOND))


def _tail(strip: Strip, digits: int, *, ascii_: bool) -> Text:
    """How long it is, and how many of each there are, since a cell shows one sign."""
    parts = [(f" {_SIGNS[kind][ascii_ * 1]}{n}", _SIGNS[kind][2]) for kind, n in strip.counts.items() if n]
    return Text.assemble(f"{_seconds(strip):>{digits}} s", *parts)


def _legend(shown: Sequence[Strip], *, ascii_: bool) -> Text:
    at = ascii_ * 1
    there = {kind for strip in shown for kind, n in strip.counts.items() if n}
    parts = [f"{_SIGNS[kind][at]} {word}" for kind, word in _WORDS.items() if kind in there]
    if any(strip.needs for strip in shown):
        parts.insert(0, f"{_NEED[at]} need")
    return Text(", ".join(parts), "dim")
