"""Pieces of a report as HTML. Every value is escaped here; nothing that is given is taken for HTML but pieces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator.report.svg import escaped

__all__ = ["Html", "beside", "document", "flat", "listed", "number", "paragraph", "piece", "section", "table"]


class Html(str):
    """Text that is HTML already; whatever is no such thing is escaped where it enters a piece."""

    __slots__ = ()


_CSS = ("figures.css", "report.css")
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def document(title: str, body: str) -> str:
    """A whole file, whose policy keeps it from asking for anything."""
    css = "".join((Path(__file__).parent / name).read_text(encoding="utf-8") for name in _CSS)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{escaped(title)} - proact report</title><style>{css}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def piece(value: object, most: int = 600) -> Html:
    """A value as HTML; unknown is a dash."""
    if isinstance(value, Html):
        return value
    return Html("–" if value is None else escaped(value, most))


def number(value: float | None) -> str:
    """A figure as tables of reports show it; unknown is a dash.

    >>> number(0.5), number(-12.34), number(None), number(3)
    ('0.500', '-12.3', '–', '3')
    """
    if value is None:
        return "–"
    if isinstance(value, int):
        return str(value)
    text = f"{value:.3f}" if abs(value) < 9.9995 else f"{value:.1f}"
    return text.removeprefix("-") if not float(text) else text


def section(title: str, *parts: str, id_: str | None = None) -> Html:
    """A heading and what belongs to it; nothing where nothing belongs."""
    inner = "".join(parts)
    head = f' id="{escaped(id_)}"' if id_ else ""
    return Html(f"<section{head}><h2>{escaped(title)}</h2>{inner}</section>" if inner else "")


def beside(parts: Iterable[str]) -> str:
    """Figures side by side where there is room; nothing where there are none."""
    inner = "".join(parts)
    return f'<div class="figures">{inner}</div>' if inner else ""


def paragraph(text: object, of: str = "") -> Html:
    """A paragraph."""
    return Html(f"<p{f' class={chr(34)}{of}{chr(34)}' if of else ''}>{piece(text)}</p>")


def listed(sentences: Iterable[object]) -> Html:
    """Sentences as a list; nothing where there are none."""
    inner = "".join(f"<li>{piece(s)}</li>" for s in sentences)
    return Html(f"<ul>{inner}</ul>" if inner else "")


def table(head: Sequence[object], rows: Iterable[Sequence[object]], caption: str = "") -> Html:
    """A table whose first column names the rows; nothing without rows. It scrolls by itself where it is too wide."""
    body = "".join(
        f'<tr><th scope="row">{piece(name)}</th>{"".join(f"<td>{piece(cell)}</td>" for cell in cells)}</tr>'
        for name, *cells in rows
    )
    if not body:
        return Html("")
    heads = "".join(f'<th scope="col">{piece(h)}</th>' for h in head)
    said = f"<caption>{escaped(caption)}</caption>" if caption else ""
    return Html(
        f'<div class="wide" tabindex="0" role="group" aria-label="{escaped(caption or "table")}"><table>{said}'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def flat(value: Mapping[str, Any], name: str = "") -> list[tuple[str, str]]:
    """A mapping of mappings as rows of names and values.

    >>> flat({"a": {"b": 1, "c": [1, 2]}, "d": None})
    [('a.b', '1'), ('a.c', '1, 2'), ('d', '–')]
    """
    rows = []
    for key, inner in value.items():
        path = f"{name}.{key}" if name else str(key)
        if isinstance(inner, Mapping):
            rows += flat(inner, path)
        elif isinstance(inner, list):
            rows.append((path, ", ".join(map(str, inner))))
        else:
            rows.append((path, "–" if inner is None else str(inner)))
    return rows
