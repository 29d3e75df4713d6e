r"""The table of a summary for a paper: booktabs, best bold, second underlined, ± interval, n.

``document`` gives a file that compiles as it is; the ``table`` in it, which breaks over pages, is what one copies into
a paper, with ``\usepackage{booktabs,longtable}``. Nothing from a study is a command there: every character that LaTeX
would act upon is escaped, and those beyond ASCII that pdfLaTeX may not have are written as what they are like, or as
their number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.sweep.tables import Marks, daggers, failed, headline, number, varying

__all__ = ["document", "escaped", "table"]

Told = Mapping[str, Any]
_HEAD = r"""% Run LaTeX three times: a table that breaks over pages learns the width of its columns from the run before.
\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage[landscape,margin=15mm]{geometry}
\pagestyle{empty}
\begin{document}
\footnotesize
"""
_COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "-": r"-{}",  # else two of them become a dash
    "[": r"{[}",  # after a line's end it would be an argument
    "]": r"{]}",
    "*": r"{*}",
    "?": r"?{}",  # with ` behind it a turned one
    "!": r"!{}",
    ",": r",{}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "…": r"\textellipsis{}",
    "×": r"$\times$",
    "±": r"$\pm$",
    "→": r"$\rightarrow$",
}
_DAGGER = r"$^{\dagger}$"
_MARKS = Marks((r"\textit{", "}"), (r"\textbf{", "}"), (r"\underline{", "}"), _DAGGER)
_NONE = r"\textendash{}"
_PRICES = ("tokens", "cost")
_ARROWS = {"up": r" $\uparrow$", "down": r" $\downarrow$"}
_PAGE = 155
"""Letters of this size that a line of the page has room for; the gap between columns is one and a half of them."""
_GAP = 1.5
_HEAD_LETTERS = 14
_PARTS = re.compile(r"[^ _:,=/@-]*[ _:,=/@-]|[^ _:,=/@-]+")


def escaped(text: object) -> str:
    r"""A text that LaTeX prints and never obeys; all of it ASCII.

    >>> escaped("50%_of {a}")
    '50\\%\\_of \\{a\\}'
    """
    return "".join(map(_one, str(text)))


def _one(c: str) -> str:
    if (command := _COMMANDS.get(c)) is not None:
        return command
    if " " <= c <= "~":
        return c
    if c.isspace():
        return " "
    like = unicodedata.normalize("NFKD", c).encode("ascii", "ignore").decode()
    if like and all(" " <= x <= "~" for x in like):
        return "".join(_COMMANDS.get(x, x) for x in like)
    return f"{{\\ttfamily U+{ord(c):04X}}}"


def document(summary: Told) -> str:
    """A file that compiles: the table, what its marks mean, and what must be known of it."""
    said = [f"{escaped(caveat)}.\n" for caveat in summary["caveats"]]
    body = "\n".join([table(summary), r"\medskip" + "\n", *(f"{line}\n" for line in said)])
    return f"{_HEAD}{body}\\end{{document}}\n"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its head, what stands below, and about how many letters wide it is, with the gap behind it."""

    head: str
    below: Sequence[str]
    width: float
    side: str = "r"


def table(summary: Told, most: int = 5) -> str:
    """A row a cell: the axes that vary, the leading metrics, latency, n, errors.

    What is too wide for a page goes on in a further table, with the axes again in front of it.
    """
    cells = _by_group(summary["cells"])
    axes = _axes(cells, varying(summary))
    room = _PAGE - sum(column.width for column in axes)
    parts: list[list[_Column]] = [[]]
    for column in _figures(summary, cells, most):
        if parts[-1] and sum(c.width for c in parts[-1]) + column.width > room:
            parts.append([])
        parts[-1].append(column)
    groups = [cell["group"] for cell in cells]
    captions = [_caption(summary), *(f"{escaped(summary['study']['name'])}, further columns" for _ in parts[1:])]
    return "\n".join(_long([*axes, *part], groups, said) for part, said in zip(parts, captions, strict=True))


def _long(columns: Sequence[_Column], groups: Sequence[object], caption: str) -> str:
    headed = [r"\toprule", _row([c.head for c in columns]), r"\midrule"]
    sides = "".join(column.side for column in columns)
    lines = [r"{\setlength{\tabcolsep}{3pt}", rf"\begin{{longtable}}{{{sides}}}", rf"\caption{{{caption}}}\\", *headed,
             r"\endfirsthead", *headed, r"\endhead", r"\bottomrule", r"\endlastfoot"]  # fmt: skip
    for n, group in enumerate(groups):
        if n and group != groups[n - 1]:
            lines.append(r"\midrule")  # figures above it and below must not be compared
        lines.append(_row([column.below[n] for column in columns]))
    return "\n".join([*lines, r"\end{longtable}", "}"]) + "\n"


def _axes(cells: Sequence[Told], names: Sequence[str]) -> list[_Column]:
    most = max(8, min(24, 100 // max(1, len(names))))
    found = []
    for name in names:
        head, below = pieces(name, most), [pieces(str(cell["values"].get(name, "")), most) for cell in cells]
        width = max(len(piece) for text in (head, *below) for piece in text)
        found.append(_Column(stacked(head, "l"), [stacked(text, "l") for text in below], width + _GAP, "l"))
    return found


def _figures(summary: Told, cells: Sequence[Told], most: int) -> list[_Column]:
    found = []
    for metric in headline(summary, most):
        figures = [cell["metrics"][metric["name"]] for cell in cells]
        below = [_figure(f, ceiling=cell["sees_truth"]) for f, cell in zip(figures, cells, strict=True)]
        head, arrow = pieces(metric["name"], _HEAD_LETTERS), _ARROWS.get(metric["direction"], "")
        unit = [f"({metric['unit']})"] if metric["unit"] not in ("", "1", "0-1") else []
        width = max(map(len, [*head, *unit])) + 2 * bool(arrow)
        found.append(_Column(stacked([*head, *unit], "r", arrow), below, max(width, *map(_letters, figures)) + _GAP))
    latencies = [number(cell["latency_ms"]["p95"]) for cell in cells]
    marked = ["$^{*}$" if cell["marked"] else "" for cell in cells]
    found.append(_plain(stacked(["p95", "(ms)"], "r"), latencies, marked))
    known = [price for price in _PRICES if any(cell[price] is not None for cell in cells)]
    found += [_plain(price, [_price(cell, price) for cell in cells]) for price in known]
    errors = ["{}/{}".format(*failed(cell)) for cell in cells]
    return [*found, _plain("$n$", [str(cell["n_sessions"]) for cell in cells]), _plain("errors", errors)]


def _plain(head: str, texts: Sequence[str], marks: Sequence[str] = ()) -> _Column:
    below = [escaped(text) + mark for text, mark in zip(texts, marks or [""] * len(texts), strict=True)]
    return _Column(head, below, max(6, *map(len, texts)) + _GAP)


def _letters(figure: Told) -> float:
    """About how wide a figure is: its interval is in smaller print, bold in larger."""
    n = len(number(figure["value"])) + 1.0
    return n if figure["low"] is None else 1.8 * n


def pieces(text: str, most: int) -> list[str]:
    """A text in lines of so many letters, broken where its parts end if that can be.

    >>> pieces("interruptions_per_hour", 14)
    ['interruptions_', 'per_hour']
    """
    lines = [""]
    for part in _PARTS.findall(text):
        for piece in (part[i : i + most] for i in range(0, len(part), most)):
            if lines[-1] and len(lines[-1]) + len(piece) > most:
                lines.append("")
            lines[-1] += piece
    return lines


def stacked(lines: Sequence[str], side: str, behind: str = "") -> str:
    """Lines above each other in a field of a table, escaped; ``behind`` is LaTeX that follows them."""
    said = r"\\".join(map(escaped, lines)) + behind
    return said if len(lines) == 1 else rf"\shortstack[{side}]{{{said}}}"


def _by_group(cells: Sequence[Told]) -> list[Told]:
    """Those of a group together; those of none last."""
    return sorted(cells, key=lambda c: (c["group"] is None, c["group"] or 0))


def _price(cell: Told, name: str) -> str:
    """Tokens in and out, or money; unknown is never 0."""
    if cell[name] is None:
        return "–"
    return str(cell[name]["in"] + cell[name]["out"]) if name == "tokens" else f"{cell[name]:.4g}"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _figure(figure: Told, *, ceiling: bool = False) -> str:
    if figure["value"] is None:
        return _NONE
    return _MARKS.on(_number(number(figure["value"])), figure, ceiling=ceiling) + _ends(figure)


def _number(text: str) -> str:
    return f"$-${text[1:]}" if text.startswith("-") else text


def _ends(figure: Told) -> str:
    """± where both ends are as far away as the table shows, else how far each is."""
    if figure["low"] is None:
        return ""
    places = len(number(figure["value"]).partition(".")[2])
    ends = figure["high"] - figure["value"], figure["value"] - figure["low"]
    up, down = (f"{max(0.0, x):.{places}f}" for x in ends)
    return rf"\,{{\scriptsize$\pm{up}$}}" if up == down else rf"\,{{\scriptsize$^{{+{up}}}_{{-{down}}}$}}"


def _caption(summary: Told) -> str:
    marked = any(cell["marked"] for cell in summary["cells"])
    ceiling = any(cell["sees_truth"] for cell in summary["cells"])
    like = f", {_DAGGER} not significantly worse than the best (paired by session, Holm, 5\\,\\%)" * daggers(summary)
    few = any(f.get("few") for cell in summary["cells"] for f in cell["metrics"].values())
    return (
        f"{escaped(summary['study']['name'])}. \\textbf{{Best}}, \\underline{{second}}{like}. "
        "$\\pm$: 95\\,\\% interval, bootstrap over sessions"
        + (" (too narrow over fewer than 6)" if few else "")
        + ". $n$: sessions; errors: decisions that failed or could not be read, of all."
        + (" \\textit{Slanted}: was given the truth, a ceiling without rank." if ceiling else "")
        + (" $^{*}$: measured beside other units." if marked else "")
    )
