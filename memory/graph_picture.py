"""The graph as a picture: keywords, apps and intentions in three columns, an edge the wider the more often.

A layout of our own: columns stay readable where a cloud of 50 names does not. The same graph gives the same bytes.
"""

from __future__ import annotations

import unicodedata
from xml.sax.saxutils import escape

from memory.graph_export import Edge, GraphData, Vertex

__all__ = ["picture"]

_ROW, _TOP, _WIDTH, _BAR = 20, 48, 1000, 12
_COLUMNS = {"keyword": 250.0, "app": 500.0, "intent": 750.0}
_HEADS = {"keyword": "words of titles", "app": "apps", "intent": "help needed for"}
_COLOURS = {"keyword": "#009E73", "app": "#0072B2", "intent": "#D55E00"}
_CHARS = 30


def picture(graph: GraphData, most: int = 50) -> str:
    """An SVG file with the nodes that count most, at most so many, and the edges between them.

    Args:
        graph: what is drawn. Users are not: their edges would reach everything.
        most: nodes in all; of each kind at most those that then fit, apps and intentions before keywords.
    """
    chosen, left_out = _chosen(graph, most)
    places = {v.id: (v, _TOP + _ROW * row) for kind in _COLUMNS for row, v in enumerate(chosen[kind])}
    height = _TOP + _ROW * max((len(vs) for vs in chosen.values()), default=0) + 40
    edges = [e for e in graph.edges if e.source in places and e.target in places]
    widest = max((e.n for e in edges), default=1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        'font-family="DejaVu Sans, Noto Sans CJK SC, sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        *(_head(kind) for kind in _COLUMNS),
        *(_line(e, places, widest) for e in sorted(edges, key=lambda e: (e.n, e.source, e.target))),
        *(_node(v, y) for v, y in places.values()),
        f'<text x="12" y="{height - 12}" fill="#555555" font-size="11">{_note(graph, len(places), left_out)}</text>',
        "</svg>",
        "",
    ]
    return "\n".join(parts)


def _chosen(graph: GraphData, most: int) -> tuple[dict[str, list[Vertex]], int]:
    """The nodes of each column, by weight, and how many of those kinds are left out."""
    ranked = {k: sorted((v for v in graph.nodes if v.kind == k), key=lambda v: (-v.n, v.id)) for k in _COLUMNS}
    third = max(most // 3, 1)
    apps, intents = ranked["app"][:third], ranked["intent"][:third]
    keywords = ranked["keyword"][: max(most - len(apps) - len(intents), 0)]
    chosen = {"keyword": keywords, "app": apps, "intent": intents}
    return chosen, sum(len(ranked[k]) - len(chosen[k]) for k in _COLUMNS)


def _head(kind: str) -> str:
    anchor, shift = _side(kind)
    return (
        f'<text x="{_COLUMNS[kind] + shift:g}" y="24" text-anchor="{anchor}" font-weight="bold" '
        f'fill="{_COLOURS[kind]}">{_HEADS[kind]}</text>'
    )


def _side(kind: str) -> tuple[str, int]:
    """Where a column's names stand: left of the words, right of the intentions, above the apps' own edges."""
    return {"keyword": ("end", -_BAR), "intent": ("start", _BAR), "app": ("middle", 0)}[kind]


def _line(edge: Edge, places: dict[str, tuple[Vertex, int]], widest: int) -> str:
    (a, y1), (b, y2) = places[edge.source], places[edge.target]
    x1, x2 = _COLUMNS[a.kind], _COLUMNS[b.kind]
    wide = 0.6 + 5.4 * edge.n / widest
    told = escape(f"{a.name} - {b.name}: {edge.n} ({round(100 * edge.share)} %)")
    if edge.kind == "next":  # apps among themselves: an arc to the left, dashed, so that it is told from help
        x1, x2, bend, dash = x1 - 60, x2 - 60, -min(90.0, 20 + abs(y2 - y1) / 3), ' stroke-dasharray="4 3"'
        path = f"M{x1:g},{y1} C{x1 + bend:g},{y1} {x2 + bend:g},{y2} {x2:g},{y2}"
    else:
        dash, gap = "", 60 if "app" in (a.kind, b.kind) else 0
        x1, x2 = (x1 + gap, x2) if a.kind == "app" else (x1, x2)
        path = f"M{x1:g},{y1} C{(x1 + x2) / 2:g},{y1} {(x1 + x2) / 2:g},{y2} {x2:g},{y2}"
    return (
        f'<path d="{path}" fill="none" stroke="{_COLOURS[a.kind]}" stroke-opacity="0.35" '
        f'stroke-width="{wide:.2f}"{dash}><title>{told}</title></path>'
    )


def _node(vertex: Vertex, y: int) -> str:
    anchor, shift = _side(vertex.kind)
    x = _COLUMNS[vertex.kind]
    share = "" if vertex.helped is None or not vertex.n else f", help in {round(100 * vertex.helped / vertex.n)} %"
    name = escape(_shown(vertex.name))
    title = f"<title>{escape(vertex.name)}: {vertex.n}{share}</title>"
    if vertex.kind == "app":
        box = f'<rect x="{x - 60:g}" y="{y - 9}" width="120" height="17" rx="4" fill="#E6F0F8" stroke="#0072B2"/>'
        name = escape(_shown(vertex.name, 17))
        return f'<g>{title}{box}<text x="{x:g}" y="{y + 4}" text-anchor="middle" font-size="11">{name}</text></g>'
    dot = f'<circle cx="{x:g}" cy="{y}" r="4" fill="{_COLOURS[vertex.kind]}"/>'
    return f'<g>{title}{dot}<text x="{x + shift:g}" y="{y + 4}" text-anchor="{anchor}">{name}</text></g>'


def _shown(name: str, room: int = _CHARS) -> str:
    """As much of a name as fits; a wide character takes the room of two."""
    taken = 0
    for i, c in enumerate(name):
        taken += 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if taken > room:
            return name[: max(i - 1, 1)] + "…"
    return name


def _note(graph: GraphData, n_drawn: int, left_out: int) -> str:
    moments = sum(v.n for v in graph.nodes if v.kind == "user")
    rest = f", {left_out} more are left out" if left_out else ""
    return f"{moments} moments; {n_drawn} nodes{rest}; width: how often; dashed: which app comes next"
