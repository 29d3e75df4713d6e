"""The tables of a summary: CSV for programs, Markdown for people. Both are made of ``summary.json`` alone."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Marks", "csv_of", "effects_csv", "headline", "legend", "markdown", "number", "unobeyed", "varying"]

Told = Mapping[str, Any]
LIKE = "†"
NOTHING = "-"
"""The value of an axis that says nothing to a cell."""
NONE = "–"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_ABREAST, _P95 = 5, "scheduled_latency@p95"
_OF_EFFECTS = ("data", "axis", "value", "against", "metric", "first", "second", "gain", "low", "high", "p", "adjusted",
               "n", "n_cells", "reason")  # fmt: skip
_OF_METRIC = ("value", "low", "high", "n", "n_events", "rank", "like_best", "p_best", "reason")


def varying(summary: Told) -> list[str]:
    """The axes that tell cells apart; the first one where none varies."""
    names = [axis["name"] for axis in summary["axes"] if axis["varies"]]
    return names or [axis["name"] for axis in summary["axes"]][:1]


def number(value: float | None) -> str:
    """A figure as tables show it: three places, fewer for large ones; never cut.

    >>> number(0.5), number(-12.34), number(4602.5), number(-0.0001), number(None)
    ('0.500', '-12.3', '4602', '0.000', '–')
    """
    if value is None:
        return NONE
    text = f"{value:.3f}" if abs(value) < 9.9995 else f"{value:.1f}" if abs(value) < 999.95 else f"{value:.0f}"
    return text.removeprefix("-") if not float(text) else text


def _tokens(cell: Told) -> int | None:
    used = cell["tokens"]
    return None if used is None else used["in"] + used["out"]


def failed(cell: Told) -> tuple[int, int]:
    """Decisions that brought neither help nor silence (errors, unreadable answers), and all decisions."""
    counts = cell["counts"]
    return counts.get("error", 0) + counts.get("unparsed", 0), counts.get("decisions", 0)


def units(cell: Told) -> str:
    """How many units there are, and what became of the others.

    >>> units({"units": {"done": 14, "erred": 1, "missing": 1}})
    '14 (1 erred, 1 missing)'
    """
    of = cell["units"]
    more = ", ".join(f"{of[kind]} {kind}" for kind in ("erred", "missing") if of[kind])
    return f"{of['done']}{f' ({more})' if more else ''}"


def csv_of(summary: Told) -> str:
    """A row a cell: axes, what happened, each metric with interval, n and rank, latency, tokens, cost."""
    axes, metrics = [a["name"] for a in summary["axes"]], [m["name"] for m in summary["metrics"]]
    head = ["cell", *axes, "group", "latency_source", "marked", "sees_truth", "synthetic",
            "n_sessions", "n_users", "done", "erred", "missing",
            "decisions", "errors", "unparsed"]  # fmt: skip
    head += [f"{m} {part}" if part != "value" else m for m in metrics for part in _OF_METRIC]
    head += ["latency_ms p50", "latency_ms p95", "tokens_in", "tokens_out", "cost"]
    rows: list[list[Any]] = [head]
    for cell in summary["cells"]:
        counts, used = cell["counts"], cell["tokens"] or {}
        row = [cell["id"], *(cell["values"].get(a) for a in axes), cell["group"], cell["latency_source"],
               cell["marked"], cell["sees_truth"], cell["synthetic"], cell["n_sessions"], cell["n_users"],
               *cell["units"].values(),
               *(counts.get(k, 0) for k in ("decisions", "error", "unparsed"))]  # fmt: skip
        row += [cell["metrics"][m][part] for m in metrics for part in _OF_METRIC]
        row += [cell["latency_ms"]["p50"], cell["latency_ms"]["p95"], used.get("in"), used.get("out"), cell["cost"]]
        rows.append(row)
    return _csv(rows)


def effects_csv(summary: Told) -> str:
    """A row an effect."""
    return _csv([list(_OF_EFFECTS), *([effect[k] for k in _OF_EFFECTS] for effect in summary["effects"])])


def _csv(rows: Sequence[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([[_plain(value) for value in row] for row in rows])
    return out.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return unobeyed(value)
    return repr(value) if isinstance(value, float) else "" if value is None else value


def unobeyed(text: str) -> str:
    """A text of a CSV that no spreadsheet takes for a formula: an apostrophe goes before what begins like one.

    >>> unobeyed("=cmd()"), unobeyed("-"), unobeyed("-0.5"), unobeyed("rag")
    ("'=cmd()", '-', '-0.5', 'rag')
    """
    is_plain = not text.startswith(_FORMULA) or text == NOTHING or _NUMBER.fullmatch(text)
    return text if is_plain else f"'{text}"


def known(summary: Told) -> list[Told]:
    """The metrics of which some cell has a figure."""
    cells = summary["cells"]
    shown = [m for m in summary["metrics"] if m["name"] != _P95]  # which has a column of its own in every table
    return [m for m in shown if any(c["metrics"][m["name"]]["value"] is not None for c in cells)]


def headline(summary: Told, most: int = 5) -> list[Told]:
    """The metrics that a page has room for: the first of these that have a better."""
    return [m for m in known(summary) if m["direction"] != "-"][:most]


def markdown(summary: Told) -> str:
    """Tables for a page: cells with their figures, then what each value of an axis is worth."""
    axes, first, all_ = varying(summary), headline(summary), known(summary)
    others = [m for m in all_ if m not in first]
    fixed = ", ".join(f"{a['name']} {_md(a['values'][0])}" for a in summary["axes"] if not a["varies"] and a["values"])
    lines = [f"# {_md(summary['study']['name'])}", ""]
    lines += [f"Everywhere: {fixed}.", ""] if fixed else []
    lines += _table(summary, axes, first)
    lines += ["", *legend(summary), ""]
    lines += [f"* {_md(said)}" for said in summary["caveats"]] + [""] * bool(summary["caveats"])
    lines += _gaps(summary, axes)
    lines += _effects(summary)
    lines += ["", "## Further figures", ""] * bool(others)
    for n in range(0, len(others), _ABREAST):
        lines += [*_table(summary, axes, others[n : n + _ABREAST]), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(summary: Told, axes: Sequence[str], metrics: Sequence[Told]) -> list[str]:
    sources = len({cell["latency_source"] for cell in summary["cells"]}) > 1
    named = (f"{_md(m['name'])} [{_md(m['unit'])}]{_way(m)}" for m in metrics)
    head = [*map(_md, axes), *named, "p95 [ms]", "tokens", "cost", "n", "units", "errors"]  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(axes) + "---:|" * (len(head) - len(axes))]
    for cell in summary["cells"]:
        bad, of = failed(cell)
        mark = "*" if cell["marked"] else ""
        p95 = number(cell["latency_ms"]["p95"]) + mark
        p95 += f" {cell['latency_source']}" if sources and cell["latency_source"] else ""
        tokens, cost = _tokens(cell), cell["cost"]
        row = [*(_md(cell["values"].get(a, "")) for a in axes),
               *(_figure(cell["metrics"][m["name"]], ceiling=cell["sees_truth"]) for m in metrics),
               p95, NONE if tokens is None else str(tokens), NONE if cost is None else f"{cost:.4g}",
               str(cell["n_sessions"]), units(cell), f"{bad} / {of}"]  # fmt: skip
        lines.append("| " + " | ".join(row) + " |")
    return lines


def _way(metric: Told) -> str:
    return {"up": " ↑", "down": " ↓"}.get(metric["direction"], "")


@dataclass(frozen=True, slots=True)
class Marks:
    """How a table marks a figure: what stands before and behind it; ``like``: behind what is like the best."""

    slanted: tuple[str, str]
    best: tuple[str, str]
    second: tuple[str, str]
    like: str

    def on(self, text: str, figure: Told, *, ceiling: bool = False) -> str:
        """A figure's text with its marks.

        Args:
            text: as the table writes it.
            figure: of a cell's ``metrics``, and known.
            ceiling: its cell was given the truth.
        """
        around = [self.slanted] if ceiling else []
        around += [self.best] if figure["best"] else [self.second] if figure["rank"] == 2 else []
        for before, behind in around:
            text = f"{before}{text}{behind}"
        return text + (self.like if figure["like_best"] and not figure["best"] else "")


_MARKS = Marks(("*", "*"), ("**", "**"), ("<ins>", "</ins>"), LIKE)


def _figure(figure: Told, *, ceiling: bool = False) -> str:
    if figure["value"] is None:
        return NONE
    text = _MARKS.on(number(figure["value"]), figure, ceiling=ceiling)
    return text if figure["low"] is None else f"{text} [{number(figure['low'])}, {number(figure['high'])}]"


def legend(summary: Told) -> list[str]:
    """What the marks mean."""
    marked = any(cell["marked"] for cell in summary["cells"])
    like = f", {LIKE} not significantly worse than the best (paired by session, Holm, 5 %)" * daggers(summary)
    said = [
        f"**Best**, <ins>second</ins>{like}. "
        "[low, high]: 95 % interval (bootstrap over sessions). "
        f"n: sessions. errors: decisions that failed or could not be read, of all. {NONE}: unknown."
    ]
    ceiling = any(cell["sees_truth"] for cell in summary["cells"])
    said += ["*Slanted*: was given the truth, a ceiling; it has no rank, and nothing is held against it."] * ceiling
    return said + ["\\* measured beside other units."] * marked


def daggers(summary: Told) -> bool:
    """Whether any figure is marked as not significantly worse than the best."""
    figures = [cell["metrics"][m["name"]] for cell in summary["cells"] for m in summary["metrics"]]
    return any(f["like_best"] and not f["best"] for f in figures)


def _gaps(summary: Told, axes: Sequence[str]) -> list[str]:
    """Why figures are missing, once each reason."""
    why: dict[tuple[str, str], list[str]] = {}
    for metric in summary["metrics"]:
        for cell in summary["cells"]:
            reason = cell["metrics"][metric["name"]]["reason"]
            if reason:
                where = " ".join(cell["values"].get(a, "") for a in axes)
                why.setdefault((metric["name"], reason), []).append(where)
    lines = [
        f"* No {_md(metric)} in {_some(where, len(summary['cells']))}: {_md(reason)}"
        for (metric, reason), where in why.items()
    ]
    return [*lines, ""] if lines else []


def _some(where: Sequence[str], n: int) -> str:
    if len(where) == n:
        return "any cell"
    return f"{len(where)} of {n} cells ({_md(where[0])}{', …' if len(where) > 1 else ''})"


def _effects(summary: Told) -> list[str]:
    shown = [e for e in summary["effects"] if e["gain"] is not None]
    if not shown:
        return []
    by_data = any(e["data"] for e in shown)
    lines = ["## What a value is worth", "",
             "Mean gain over the cells that differ in this axis alone, over the same sessions and seeds"
             + ("; each data set has gains of its own." if by_data else "."), "",
             "| data " * by_data + "| axis | value | instead of | metric | gain | 95 % interval | p | n | cells |",
             "|---" * by_data + "|---|---|---|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for e in shown:
        ends = NONE if e["low"] is None else f"[{number(e['low'])}, {number(e['high'])}]"
        p = NONE if e["adjusted"] is None else f"{e['adjusted']:.3f}"
        cells = [_md(e["axis"]), _md(e["value"]), _md(e["against"]), _md(e["metric"]), number(e["gain"]), ends, p,
                 str(e["n"]), str(e["n_cells"])]  # fmt: skip
        lines.append("| " + " | ".join([_md(e["data"] or "all")] * by_data + cells) + " |")
    return [
        *lines,
        "",
        "p: sign-flip over whole sessions, Holm over the effects on the same metric.",
        *_without(summary),
    ]


def _without(summary: Told) -> Iterator[str]:
    """Why effects are missing, once each reason."""
    names: dict[tuple[str, ...], list[str]] = {}
    for e in summary["effects"]:
        if e["gain"] is None:
            names.setdefault((e["data"] or "", e["axis"], e["value"], e["reason"]), []).append(e["metric"])
    if names:
        yield ""
    for (data, axis, value, reason), metrics in names.items():
        of = f" in {_md(data)}" if data else ""
        yield f"* No effect of {_md(axis)} {_md(value)} on {_md(', '.join(metrics))}{of}: {_md(reason)}"


_SPECIAL = frozenset("\\`*_{}[]<>()#+!|~&$^")


def _md(text: object) -> str:
    r"""A text that Markdown shows as it is, on one line.

    >>> _md("a|b *c*")
    'a\\|b \\*c\\*'
    """
    shown = "".join(c if c.isprintable() else " " for c in str(text))
    return "".join(f"\\{c}" if c in _SPECIAL else c for c in shown)
