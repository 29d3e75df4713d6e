"""A table in a paper's layout as Markdown, LaTeX, CSV and figure."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from simulator.figures.beside import Column, draw_beside
from simulator.sweep.latex import escaped
from simulator.sweep.layouts import METRIC, Entry, Line, Table
from simulator.sweep.papers import NAME
from simulator.sweep.tables import LIKE, unobeyed

__all__ = ["csv_of", "draw", "latex", "markdown"]

_NONE = "–"
_SHRUNK = "\\resizebox{\\ifdim\\width>\\linewidth \\linewidth\\else\\width\\fi}{!}{%"


def markdown(table: Table) -> str:
    """The table: best in bold, second underlined, others' numbers marked row by row."""
    head = [*table.head, *table.columns, "sessions", "from"]
    lines = [f"### {table.title}", "", _row(head), _row(["---"] * len(head))]
    for line in table.lines:
        said = [_marked(entry) for entry in line.entries]
        lines.append(_row([*line.head, *said, "" if line.n is None else str(line.n), NAME if line.source else "here"]))
    marks = f"**Best** and <ins>second</ins> here, {LIKE} not significantly worse than the best; [95 % interval]."
    return "\n".join([*lines, "", marks, "", *(f"* {note}" for note in table.notes), ""])


def _row(said: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", r"\|").replace("\n", " ") for text in said) + " |"


def _marked(entry: Entry | None) -> str:
    if entry is None:
        return _NONE
    said = {1: f"**{entry.said}**", 2: f"<ins>{entry.said}</ins>"}.get(entry.place or 0, entry.said)
    return f"{said}{LIKE if entry.like_best and entry.place != 1 else ''}{_interval(entry)}"


def _interval(entry: Entry) -> str:
    if entry.value is None or entry.low is None or entry.high is None:
        return ""
    return f" [{entry.low:.{entry.digits}f}, {entry.high:.{entry.digits}f}]"


def latex(table: Table) -> str:
    """The table for booktabs, graphicx and xcolor: best bold, second underlined, what others published grey; made
    smaller where a line of the page has no room for it.
    """
    names = [*table.head, *table.columns, "n"]
    out = ["% needs \\usepackage{booktabs,graphicx,xcolor}", "\\begin{table}", f"\\caption{{{escaped(table.title)}}}",
           "\\setlength{\\tabcolsep}{3pt}", _SHRUNK,
           f"\\begin{{tabular}}{{{'l' * len(table.head)}{'r' * (len(table.columns) + 1)}}}", "\\toprule",
           " & ".join(escaped(name) for name in names) + r" \\", "\\midrule"]  # fmt: skip
    for others, lines in groupby(table.lines, key=lambda line: bool(line.source)):
        if others:
            out += ["\\midrule", f"\\multicolumn{{{len(names)}}}{{l}}{{\\color{{gray}}{escaped(NAME)}}} \\\\"]
        out += [_tex_line(line) for line in lines]
    out += ["\\bottomrule", "\\end{tabular}}", *(f"% {escaped(note)}" for note in table.notes), "\\end{table}", ""]
    return "\n".join(out)


def _tex_line(line: Line) -> str:
    said = [*map(escaped, line.head), *map(_tex_entry, line.entries), "" if line.n is None else str(line.n)]
    if line.source:
        said = [f"\\textcolor{{gray}}{{{text}}}" if text else "" for text in said]
    return " & ".join(said) + r" \\"


def _tex_entry(entry: Entry | None) -> str:
    if entry is None:
        return "--"
    said = escaped(entry.said)
    said = {1: f"\\textbf{{{said}}}", 2: f"\\underline{{{said}}}"}.get(entry.place or 0, said)
    if entry.like_best and entry.place != 1:
        said += r"$^{\dagger}$"
    if entry.value is None or entry.low is None or entry.high is None:
        return said
    up, down = (f"{end:.{entry.digits}f}" for end in (entry.high - entry.value, entry.value - entry.low))
    ends = rf"\pm{up}" if up == down else f"^{{+{up}}}_{{-{down}}}"
    return rf"{said}\,{{\scriptsize${ends}$}}"


def csv_of(table: Table) -> str:
    """A row a row, in the units of the paper; intervals and ranges in columns of their own."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    ends = [name for column in table.columns for name in (column, f"{column} low", f"{column} high")]
    write.writerow([*map(unobeyed, [*table.head, *ends]), "sessions", "erred or missing units", "from", "source"])
    for line in table.lines:
        cells = [text for entry in line.entries for text in _csv_cells(entry)]
        there = NAME if line.source else "here"
        erred = "" if line.source else line.erred
        head, source = map(unobeyed, line.head), unobeyed(line.source)
        write.writerow([*head, *cells, "" if line.n is None else line.n, erred, there, source])
    return out.getvalue()


def _csv_cells(entry: Entry | None) -> list[str]:
    if entry is None:
        return ["", "", ""]
    value, low, high = (
        None if x is None else f"{x:.{entry.digits + 2}f}" for x in (entry.value, entry.low, entry.high)
    )
    return [value or "", low or "", high or ""]


def draw(table: Table, file: Path) -> Path:
    """The table as a figure: a panel a metric, a row a method; all published models of a method stand in its row.

    Raises:
        UsageError: the extra ``figures`` is not installed.
    """
    ours: dict[str, dict[str, Entry]] = {}
    theirs: dict[str, dict[str, list[tuple[float, float]]]] = {}
    models = len(
        {dict(zip(table.down, line.head, strict=True)).get("model") for line in table.lines if not line.source}
    )
    methods: list[str] = []
    for line in table.lines:
        for column, entry in zip(table.columns, line.entries, strict=True):
            place = {METRIC: table.only, **dict(zip(table.down, line.head, strict=True)), table.across: column}
            keep_model = models > 1 and not line.source
            said = [w for axis, w in place.items() if w and axis != METRIC and (axis != "model" or keep_model)]
            method, metric = ", ".join(said), place[METRIC]
            if entry is None:
                continue
            methods.append(method)
            if not line.source:
                ours.setdefault(metric, {})[method] = entry
            elif (ends := _ends(entry)) is not None:
                theirs.setdefault(metric, {}).setdefault(method, []).append(ends)
    names = list(dict.fromkeys(methods))
    columns = [
        Column(
            metric,
            [_dot(ours.get(metric, {}).get(name)) for name in names],
            [theirs.get(metric, {}).get(name, []) for name in names],
        )
        for metric in dict.fromkeys([*ours, *theirs])
    ]
    return draw_beside(names, columns, table.title, table.notes, file)


def _dot(entry: Entry | None) -> tuple[float, float | None, float | None] | None:
    return None if entry is None or entry.value is None else (entry.value, entry.low, entry.high)


def _ends(entry: Entry | None) -> tuple[float, float] | None:
    if entry is None:
        return None
    if entry.value is not None:
        return entry.value, entry.value
    return None if entry.low is None or entry.high is None else (entry.low, entry.high)
