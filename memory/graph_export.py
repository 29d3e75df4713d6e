"""The graph for other programs: GraphML (Gephi, yEd), node-link JSON (networkx, d3), CSV (Gephi, sheets), Cypher.

Window titles and names of apps are written by strangers. What no file can hold (control characters, half pairs) becomes
U+FFFD, each format quotes the rest its own way, and in CSV a name that a spreadsheet would run gets an apostrophe.
Nodes and edges come in a fixed order: equal graphs give equal bytes.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from xml.sax.saxutils import escape

from memory.graph_counts import Counts

__all__ = ["FORMATS", "Edge", "GraphData", "Vertex", "cypher", "graph_data", "graphml", "node_link", "tables"]

FORMATS = ("graphml", "json", "csv", "cypher", "svg")
_LONGEST = 200
_LABELS = {"user": "User", "app": "App", "keyword": "Keyword", "intent": "Intent"}


@dataclass(frozen=True, slots=True)
class Vertex:
    """A node. ``id`` is ``kind:name``; ``n`` counts its moments, ``helped`` those with help (None for an intention,
    whose ``n`` are moments with help by themselves).
    """

    id: str
    kind: str
    name: str
    n: int
    helped: int | None


@dataclass(frozen=True, slots=True)
class Edge:
    """``used`` (user, app), ``needed`` (user, app or keyword; intention) or ``next`` (app, app), n times.

    ``share`` of ``needed`` is the published prior: of an app's or user's moments with help, of all of a keyword's;
    of ``next`` and ``used`` that among the same source's.
    """

    source: str
    target: str
    kind: str
    n: int
    share: float


@dataclass(frozen=True, slots=True)
class GraphData:
    """All of it, as of one instant."""

    nodes: tuple[Vertex, ...]
    edges: tuple[Edge, ...]


class _Names:
    """Ids for names: what strangers wrote made writable, and apart where that made two the same."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def id(self, kind: str, name: str) -> str:
        """The id of a name, the same at each call."""
        found = self._ids.get((kind, name))
        if found is None:
            found = whole = f"{kind}:{writable(name)}"
            number = 1
            while found in self._taken:
                number += 1
                found = f"{whole}#{number}"
            self._ids[kind, name] = found
            self._taken.add(found)
        return found


def writable(name: str) -> str:
    """A name as any file can hold it, on one line, at most 200 characters."""
    plain = "".join(c if c.isprintable() else "\ufffd" for c in name)
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


def graph_data(counts: Counts, now_ns: int) -> GraphData:
    """The nodes and edges known by an instant.

    Args:
        counts: of one user, or of everybody.
        now_ns: as of when.
    """
    names = _Names()
    nodes: list[Vertex] = []
    edges: list[Edge] = []
    intents: Counter[str] = Counter()
    for kind, table in (("user", counts.users), ("app", counts.apps), ("keyword", counts.keywords)):
        for name in sorted(table):
            node = table[name]
            n, helped, by, _ = node.upto(now_ns)
            if not n:
                continue
            here = names.id(kind, name)
            nodes.append(Vertex(here, kind, writable(name), n, helped))
            for intention, times in sorted(by.items()):
                whole = n if kind == "keyword" else helped
                edges.append(Edge(here, names.id("intent", intention), "needed", times, times / whole))
                intents[intention] += times if kind == "user" else 0
    used = [(user, app, n) for (user, app), tally in sorted(counts.used.items()) if (n := tally.upto(now_ns))]
    whole_of = Counter({user: sum(n for u, _, n in used if u == user) for user in counts.users})
    edges += [Edge(names.id("user", u), names.id("app", a), "used", n, n / whole_of[u]) for u, a, n in used]
    for app in sorted(counts.following):
        after, _ = counts.next_apps(app, now_ns)
        total = sum(after.values())
        for other, times in after.items():
            edges.append(Edge(names.id("app", app), names.id("app", other), "next", times, times / total))
    there = {node.id for node in nodes}
    ends = {end for e in edges for end in (e.source, e.target)}
    bare = {
        a for app, tallies in counts.following.items() for a in (app, *tallies)
    }  # seen, and nothing known of them yet
    nodes += [
        Vertex(i, "app", writable(a), 0, 0)
        for a in sorted(bare)
        if (i := names.id("app", a)) not in there and i in ends
    ]
    nodes += [Vertex(names.id("intent", c), "intent", writable(c), intents[c], None) for c in sorted(intents)]
    return GraphData(tuple(nodes), tuple(edges))


def graphml(graph: GraphData) -> str:
    """GraphML 1.0, directed; names also as yEd's own labels, which it does not take from anywhere else."""
    ids = {node.id: f"n{i}" for i, node in enumerate(graph.nodes)}
    keys = [("kind", "all", "string"), ("id", "node", "string"), ("label", "node", "string"), ("n", "all", "int"),
            ("helped", "node", "int"), ("share", "edge", "double"), ("weight", "edge", "double")]  # fmt: skip
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">',
        *(f'<key id="{k}" for="{of}" attr.name="{k}" attr.type="{type_}"/>' for k, of, type_ in keys),
        '<key id="y" for="node" yfiles.type="nodegraphics"/>',
        '<graph id="proact" edgedefault="directed">',
    ]
    for node in graph.nodes:
        helped = "" if node.helped is None else f'<data key="helped">{node.helped}</data>'
        drawn = f"<y:ShapeNode><y:NodeLabel>{escape(node.name)}</y:NodeLabel></y:ShapeNode>"
        lines.append(
            f'<node id="{ids[node.id]}"><data key="kind">{node.kind}</data><data key="id">{escape(node.id)}</data>'
            f'<data key="label">{escape(node.name)}</data><data key="n">{node.n}</data>{helped}'
            f'<data key="y">{drawn}</data></node>'
        )
    for i, e in enumerate(graph.edges):
        told = (("kind", e.kind), ("n", e.n), ("share", repr(e.share)), ("weight", float(e.n)))
        data = "".join(f'<data key="{key}">{value}</data>' for key, value in told)
        lines.append(f'<edge id="e{i}" source="{ids[e.source]}" target="{ids[e.target]}">{data}</edge>')
    return "\n".join([*lines, "</graph>", "</graphml>", ""])


def node_link(graph: GraphData) -> str:
    """Node-link JSON, as ``networkx.node_link_graph(..., edges="edges")`` and d3 read it."""
    nodes = [{"id": v.id, "kind": v.kind, "name": v.name, "n": v.n, "helped": v.helped} for v in graph.nodes]
    edges = [{"source": e.source, "target": e.target, "kind": e.kind, "n": e.n, "share": e.share} for e in graph.edges]
    whole = {"directed": True, "multigraph": False, "graph": {"schema": "proact.graph/1"}, "nodes": nodes}
    return json.dumps({**whole, "edges": edges}, ensure_ascii=False, indent=1) + "\n"


def tables(graph: GraphData) -> dict[str, str]:
    """``nodes.csv`` and ``edges.csv``, with the column names that Gephi knows."""
    nodes = [("Id", "Label", "Kind", "Moments", "Helped")]
    nodes += [(v.id, _cell(v.name), v.kind, str(v.n), "" if v.helped is None else str(v.helped)) for v in graph.nodes]
    edges = [("Source", "Target", "Type", "Kind", "Weight", "Share")]
    edges += [(e.source, e.target, "Directed", e.kind, str(e.n), repr(e.share)) for e in graph.edges]
    return {"nodes.csv": _csv(nodes), "edges.csv": _csv(edges)}


def _cell(name: str) -> str:
    return f"'{name}" if name[:1] in ("=", "+", "-", "@") else name


def _csv(rows: Sequence[tuple[str, ...]]) -> str:
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def cypher(graph: GraphData) -> str:
    """A script of one statement a line, which may be run again without doubling anything."""
    kinds = {node.id: _LABELS[node.kind] for node in graph.nodes}
    lines = []
    for v in graph.nodes:
        helped = "" if v.helped is None else f", v.helped = {v.helped}"
        lines.append(
            f"MERGE (v:{_LABELS[v.kind]} {{id: {_text(v.id)}}}) SET v.name = {_text(v.name)}, v.n = {v.n}{helped};"
        )
    for e in graph.edges:
        a = f"(a:{kinds[e.source]} {{id: {_text(e.source)}}})"
        b = f"(b:{kinds[e.target]} {{id: {_text(e.target)}}})"
        lines.append(f"MATCH {a}, {b} MERGE (a)-[r:{e.kind.upper()}]->(b) SET r.n = {e.n}, r.share = {e.share!r};")
    return "\n".join([*lines, ""])


def _text(name: str) -> str:
    """A string of Cypher: names hold no line break or control character any more."""
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"
