"""An exported graph is read by others as it is, whatever names strangers gave."""

import csv
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.graph import GraphMemory
from memory.graph_export import GraphData, cypher, graph_data, graphml, node_link, tables
from memory.graph_picture import picture
from simulator.core.types import Event, Label

HOSTILE = [
    'a"b<c>&\'d', "line\nbreak\r\t", "\x00\x01\x7f\x9f", "\ud800 half", "=cmd|' /C calc'!A0", "\\", "\\'", "\\u0027",
    "'; MATCH (n) DETACH DELETE n; //", "]]>", "<script>alert(1)</script>", "预算报告", "\u202egpj.exe", "x" * 5000,
    "a,b;c", " ", "\ufffe",
]  # fmt: skip


async def exported(rows: Sequence[tuple[str, str, str | None]], user: str = "ada") -> GraphData:
    memory = GraphMemory()
    for n, (app, title, need) in enumerate(rows):
        event = Event(f"e/{n}", user, n * 10, n * 10 + 10, app, title)
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, user, need is not None, event.end_ns, need))
    (counts,) = memory.tables(user)
    return graph_data(counts, 10**9)


ROWS: list[tuple[str, str, str | None]] = [
    ("code", "parser", "Translation"), ("mail", "invoice", None), ("code", "parser", "Coding/Programming")
]  # fmt: skip


async def test_the_nodes_and_edges_are_those_counted() -> None:
    graph = await exported(ROWS)
    assert [(v.id, v.n, v.helped) for v in graph.nodes] == [
        ("user:ada", 3, 2), ("app:code", 2, 2), ("app:mail", 1, 0), ("keyword:invoice", 1, 0), ("keyword:parser", 2, 2),
        ("intent:Coding/Programming", 1, None), ("intent:Translation", 1, None),
    ]  # fmt: skip
    edges = {(e.source, e.kind, e.target): (e.n, e.share) for e in graph.edges}
    assert edges["app:code", "needed", "intent:Translation"] == (1, 0.5)
    assert edges["keyword:parser", "needed", "intent:Translation"] == (1, 0.5)
    assert edges["user:ada", "used", "app:code"] == (2, 2 / 3)
    assert edges["app:code", "next", "app:mail"] == edges["app:mail", "next", "app:code"] == (1, 1.0)
    assert len(edges) == len(graph.edges) == 10


async def test_networkx_reads_graphml_and_node_link_json_as_the_same_graph(tmp_path: Path) -> None:
    networkx: Any = pytest.importorskip("networkx")
    graph = await exported([*ROWS, *[(name, name, name) for name in HOSTILE]])
    (tmp_path / "g.graphml").write_text(graphml(graph), "utf-8")
    read = networkx.read_graphml(tmp_path / "g.graphml")
    linked = networkx.node_link_graph(json.loads(node_link(graph)), edges="edges")
    assert read.is_directed()
    assert sorted(data["id"] for _, data in read.nodes(data=True)) == sorted(linked.nodes)
    told = {(read.nodes[a]["id"], read.nodes[b]["id"]): (d["kind"], d["n"]) for a, b, d in read.edges(data=True)}
    assert told == {(a, b): (d["kind"], d["n"]) for a, b, d in linked.edges(data=True)}
    assert len(told) == len(graph.edges)
    assert {d["label"] for _, d in read.nodes(data=True)} == {v.name for v in graph.nodes}


async def test_graphml_keeps_to_its_schema_where_ids_are_names_without_spaces() -> None:
    root = ET.fromstring(graphml(await exported([(name, name, name) for name in HOSTILE])))
    ns = "{http://graphml.graphdrawing.org/xmlns}"
    assert root.tag == f"{ns}graphml"
    keys = {key.get("id"): (key.get("for"), key.get("attr.type")) for key in root.iter(f"{ns}key")}
    for kind in ("node", "edge"):
        for element in root.iter(f"{ns}{kind}"):
            assert re.fullmatch(r"[A-Za-z0-9]+", str(element.get("id")))
            for data in element.iter(f"{ns}data"):
                of, type_ = keys[data.get("key")]
                assert of in (kind, "all")
                assert type_ not in ("int", "double") or float(str(data.text)) >= 0


async def test_csv_has_a_row_each_and_nothing_that_a_spreadsheet_would_run() -> None:
    graph = await exported([(name, name, name) for name in HOSTILE])
    files = {name: list(csv.DictReader(StringIO(text))) for name, text in tables(graph).items()}
    assert (len(files["nodes.csv"]), len(files["edges.csv"])) == (len(graph.nodes), len(graph.edges))
    ids = {row["Id"] for row in files["nodes.csv"]}
    assert len(ids) == len(graph.nodes)
    assert all(row["Source"] in ids and row["Target"] in ids for row in files["edges.csv"])
    cells = [cell for rows in files.values() for row in rows for cell in row.values()]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4) | st.just(HOSTILE))
@settings(max_examples=40, deadline=None)
def test_no_name_ends_its_string_in_cypher(names: list[str]) -> None:
    import asyncio

    graph = asyncio.run(exported([(name, "", name) for name in names]))
    lines = cypher(graph).splitlines()
    assert len(lines) == len(graph.nodes) + len(graph.edges)
    for line in lines:
        bare = re.sub(r"'(?:[^'\\]|\\\\|\\')*'", "TEXT", line)  # all that stands in quotes, read as Cypher reads it
        assert "'" not in bare
        assert re.fullmatch(
            r"(MERGE \(v:\w+ \{id: TEXT\}\) SET v\.name = TEXT, v\.n = \d+(, v\.helped = \d+)?"
            r"|MATCH \(a:\w+ \{id: TEXT\}\), \(b:\w+ \{id: TEXT\}\) MERGE \(a\)-\[r:\w+\]->\(b\)"
            r" SET r\.n = \d+, r\.share = [\d.e-]+);",
            bare,
        )


async def test_the_picture_shows_at_most_so_many_nodes_none_on_another() -> None:
    rows = [(f"app {n % 30}", f"word{n} other{n}", f"need {n % 20}") for n in range(200)]
    svg = ET.fromstring(picture(await exported(rows), 50))
    ns = "{http://www.w3.org/2000/svg}"
    nodes = svg.findall(f"{ns}g")
    assert len(nodes) == 50
    places = [(t.get("x"), float(str(t.get("y")))) for g in nodes for t in g.findall(f"{ns}text")]
    for x in {x for x, _ in places}:
        ys = sorted(y for at, y in places if at == x)
        assert min(b - a for a, b in pairwise(ys)) >= 19.9
    assert "more are left out" in "".join(svg.itertext())


async def test_a_picture_of_hostile_names_is_whole_and_holds_no_element_of_theirs() -> None:
    svg = ET.fromstring(picture(await exported([(name, name, name) for name in HOSTILE])))
    tags = {element.tag.rpartition("}")[2] for element in svg.iter()}
    assert tags <= {"svg", "rect", "text", "g", "title", "circle", "path"}


async def test_equal_graphs_are_equal_to_the_byte() -> None:
    one, two = await exported(ROWS), await exported(ROWS)
    for write in (graphml, node_link, cypher, picture):
        assert write(one) == write(two)
