r"""The table of a summary for a paper: booktabs, best bold, second underlined, ± interval, n.

``document`` gives a file that compiles as it is; the ``table`` in it, which breaks over pages, is what one copies into
a paper, with ``\usepackage{booktabs,longtable}``. Nothing from a study is a command there: every character that LaTeX
would act upon is escaped, and those beyond ASCII that pdfLaTeX may not have are written as what they are like, or as
their number.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
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


def table(summary: Told, most: int = 5) -> str:
    """A row a cell: the axes that vary, the leading metrics, latency, n, errors."""
    axes, metrics = varying(summary), headline(summary, most)
    prices = [c for c in _PRICES if any(cell[c] is not None for cell in summary["cells"])]
    columns = "l" * len(axes) + "r" * (len(metrics) + len(prices) + 3)
    head = [*map(escaped, axes), *map(_head, metrics), "p95 (ms)", *prices, r"$n$", "errors"]
    headed = [r"\toprule", _row(head), r"\midrule"]
    lines = [rf"\begin{{longtable}}{{{columns}}}", rf"\caption{{{_caption(summary)}}}\\", *headed, r"\endfirsthead",
             *headed, r"\endhead", r"\bottomrule", r"\endlastfoot"]  # fmt: skip
    before: object = None
    for n, cell in enumerate(_by_group(summary["cells"])):
        if n and cell["group"] != before:
            lines.append(r"\midrule")  # figures above it and below must not be compared
        before = cell["group"]
        bad, of = failed(cell)
        shown = [_figure(cell["metrics"][m["name"]], ceiling=cell["sees_truth"]) for m in metrics]
        row = [*(escaped(cell["values"].get(a, "")) for a in axes), *shown,
               escaped(number(cell["latency_ms"]["p95"])) + ("$^{*}$" if cell["marked"] else ""),
               *(_price(cell, price) for price in prices), str(cell["n_sessions"]), f"{bad}/{of}"]  # fmt: skip
        lines.append(_row(row))
    return "\n".join([*lines, r"\end{longtable}"]) + "\n"


def _by_group(cells: Sequence[Told]) -> list[Told]:
    """Those of a group together; those of none last."""
    return sorted(cells, key=lambda c: (c["group"] is None, c["group"] or 0))


def _price(cell: Told, name: str) -> str:
    """Tokens in and out, or money; unknown is never 0."""
    if cell[name] is None:
        return _NONE
    return str(cell[name]["in"] + cell[name]["out"]) if name == "tokens" else f"{cell[name]:.4g}"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _head(metric: Told) -> str:
    way = {"up": r" $\uparrow$", "down": r" $\downarrow$"}.get(metric["direction"], "")
    unit = f" ({escaped(metric['unit'])})" if metric["unit"] not in ("", "1", "0-1") else ""
    return escaped(metric["name"]) + unit + way


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
