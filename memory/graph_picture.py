"""The graph as a picture: words, intentions and apps in three columns, an edge the wider the more often.

A layout of our own: columns stay readable where a cloud of 50 names does not. The same graph gives the same bytes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from xml.sax.saxutils import escape

from memory.graph_export import Edge, GraphData, Vertex

__all__ = ["picture"]

_ROW, _TOP, _WIDTH, _FOOT = 20, 40, 1000, 40
_COLUMNS = {"keyword": 240, "intent": 480, "app": 780}
_HEADS = {"keyword": "words of titles", "intent": "help needed for", "app": "apps"}
_COLOURS = {"keyword": "#009E73", "intent": "#D55E00", "app": "#0072B2"}
_HALF = {"keyword": 6, "intent": 92, "app": 70}
"""Half the width of what is drawn of a node, where its edges end."""
_ROOM = {"keyword": 30, "intent": 26, "app": 19}

Places = Mapping[str, tuple[Vertex, float]]


def picture(graph: GraphData, most: int = 50) -> str:
    """An SVG file with the nodes that count most, at most so many, and the edges between them.

    Args:
        graph: what is drawn. Users are not: their edges would reach everything.
        most: nodes in all; a third each for apps and intentions, if there are so many, the rest for words.
    """
    chosen, left_out = _chosen(graph, most)
    tall = _ROW * max((len(vertices) for vertices in chosen.values()), default=1)
    places = {
        v.id: (v, _TOP + (row + 0.5) * tall / len(vertices))
        for vertices in chosen.values()
        for row, v in enumerate(vertices)
    }
    edges = [e for e in graph.edges if e.source in places and e.target in places]
    widest = {kind: max((e.n for e in edges if e.kind == kind), default=1) for kind in ("needed", "next")}
    height = _TOP + tall + _FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        'font-family="DejaVu Sans, Noto Sans CJK SC, sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        *(_head(kind) for kind in _COLUMNS),
        *(_line(e, places, e.n / widest[e.kind]) for e in sorted(edges, key=lambda e: (e.n, e.source, e.target))),
        *(_node(v, y) for v, y in places.values()),
        f'<text x="12" y="{height - 12}" fill="#555555" font-size="11">{_note(graph, len(places), left_out)}</text>',
        "</svg>",
        "",
    ]
    return "\n".join(parts)


def _chosen(graph: GraphData, most: int) -> tuple[dict[str, list[Vertex]], int]:
    """The nodes of each column, those that count most first, and how many of those kinds are left out."""
    ranked = {k: sorted((v for v in graph.nodes if v.kind == k), key=lambda v: (-v.n, v.id)) for k in _COLUMNS}
    third = max(most // 3, 1)
    chosen = {"keyword": ranked["keyword"], "intent": ranked["intent"][:third], "app": ranked["app"][:third]}
    chosen["keyword"] = ranked["keyword"][: max(most - len(chosen["app"]) - len(chosen["intent"]), 0)]
    return chosen, sum(len(ranked[k]) - len(chosen[k]) for k in _COLUMNS)


def _head(kind: str) -> str:
    at = f'x="{_COLUMNS[kind]}" y="24" text-anchor="{"end" if kind == "keyword" else "middle"}"'
    return f'<text {at} font-weight="bold" fill="{_COLOURS[kind]}">{_HEADS[kind]}</text>'


def _line(edge: Edge, places: Places, weight: float) -> str:
    """A curve to the intention; of apps among themselves an arc at their right, dashed to be told from help."""
    (a, y1), (b, y2) = places[edge.source], places[edge.target]
    if edge.kind == "next":
        x1 = x2 = _COLUMNS["app"] + _HALF["app"]
        bend, dash = x1 + min(110.0, 24 + abs(y2 - y1) / 3), ' stroke-dasharray="4 3"'
        curve = f"C{bend:.1f},{y1:.1f} {bend:.1f},{y2:.1f}"
    else:
        way = 1 if a.kind == "keyword" else -1
        x1, x2 = _COLUMNS[a.kind] + way * _HALF[a.kind], _COLUMNS[b.kind] - way * _HALF[b.kind]
        middle, dash = (x1 + x2) / 2, ""
        curve = f"C{middle:.1f},{y1:.1f} {middle:.1f},{y2:.1f}"
    told = escape(f"{a.name} - {b.name}: {edge.n} ({round(100 * edge.share)} %)")
    return (
        f'<path d="M{x1},{y1:.1f} {curve} {x2},{y2:.1f}" fill="none" stroke="{_COLOURS[a.kind]}" '
        f'stroke-opacity="0.4" stroke-width="{0.7 + 5.3 * weight:.2f}"{dash}><title>{told}</title></path>'
    )


def _node(vertex: Vertex, y: float) -> str:
    kind, x = vertex.kind, _COLUMNS[vertex.kind]
    share = "" if vertex.helped is None or not vertex.n else f", help in {round(100 * vertex.helped / vertex.n)} %"
    title = f"<title>{escape(vertex.name)}: {vertex.n}{share}</title>"
    name = escape(_shown(vertex.name, _ROOM[kind]))
    if kind == "keyword":
        dot = f'<circle cx="{x}" cy="{y:.1f}" r="4" fill="{_COLOURS[kind]}"/>'
        return f'<g>{title}{dot}<text x="{x - 12}" y="{y + 4:.1f}" text-anchor="end">{name}</text></g>'
    half = _HALF[kind]
    box = (
        f'<rect x="{x - half}" y="{y - 9:.1f}" width="{2 * half}" height="18" rx="4" fill="white" '
        f'stroke="{_COLOURS[kind]}"/>'
    )
    return f'<g>{title}{box}<text x="{x}" y="{y + 4:.1f}" text-anchor="middle" font-size="11">{name}</text></g>'


def _shown(name: str, room: int) -> str:
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
