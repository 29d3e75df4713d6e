"""Studies that come with proact: all can be read, ask for what there is, and say what they ask."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memory.base import memories
from scorers.base import catalogue
from simulator.sweep.cells import grid
from simulator.sweep.layouts import LAYOUTS, label
from simulator.sweep.named import about, find, names
from simulator.sweep.papers import PLAYED
from simulator.sweep.study import StudyFile, load

ALL = names()


def study(name: str) -> StudyFile:
    file = find(name)
    assert file is not None
    return load(file)


def test_the_papers_and_ours_are_there() -> None:
    papers = ["paper:fig5", "paper:fig7", "paper:fig9", "paper:table2", "paper:table6", "pira:naive-vs-pirf"]
    assert [*papers, "clean-vs-noise", "latency-profiles", "memory-ablation", "policies", "rates"] == ALL
    assert find("nothing-such") is None
    assert find("paper-table2") is None  # one name a preset


@pytest.mark.parametrize("name", ALL)
def test_a_preset_is_named_as_its_file_and_says_in_a_sentence_what_it_asks(name: str) -> None:
    assert study(name).name == name
    said = about()[name]
    assert said.endswith(".")
    assert said.count(". ") == 0
    assert len(said) < 130


@pytest.mark.parametrize("name", ALL)
def test_a_preset_has_cells_a_baseline_among_them_and_metrics_that_there_are(name: str) -> None:
    file = find(name)
    assert file is not None
    of = study(name)
    found = grid(of, file)
    assert any(all(cell.value(axis) == value for axis, value in found.baseline.items()) for cell in found.cells)
    protocols = {metric.name: metric.protocols for _, metric in catalogue()}
    asked = {cell.choice["protocol"] for cell in found.cells}
    assert len(asked) == 1
    for metric in of.metrics:
        assert asked <= set(protocols[metric])


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_a_preset_of_a_paper_plays_what_its_layout_shows(name: str) -> None:
    file = find(name)
    assert file is not None
    varying = {axis.name for axis in grid(study(name), file).axes if axis.varies}
    layout = LAYOUTS[name]
    assert varying <= {*layout.down, layout.across}
    assert set(layout.metrics) <= set(study(name).metrics)


def test_papers_are_followed_in_what_is_asked_when() -> None:
    for name in ALL:
        axes = study(name).axes
        if name.startswith("paper:"):
            assert axes["protocol"] == "moments"
        elif name in ("pira:naive-vs-pirf", "clean-vs-noise"):
            assert axes["protocol"] == "trajectory"
        else:
            assert (axes["protocol"], axes["clock"]) == ("stream", "modelled")


def test_the_page_lists_all_of_them_and_none_that_there_is_not() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "presets.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([\w:-]+)` \|", page.split("## Figures")[0], re.M)
    assert sorted(listed) == sorted(ALL)


def test_presets_of_the_paper_play_the_papers_memories_and_their_pairs() -> None:
    rag, graph, personas = PLAYED.values()
    for spec, options in (
        (rag, {"documents": "help", "template": "paper"}),
        (graph, {}),
        (personas, {"kinds": "assistance", "match": "text", "writer": "model"}),
    ):
        assert memories.parse(spec).params == options
    pairs = [f"{rag}+{graph}", f"{rag}+{personas}", f"{graph}+{personas}"]
    for name, wanted in (("fig7", pairs), ("table6", pairs), ("fig9", [])):
        file = find(f"paper:{name}")
        assert file is not None
        played = {str(cell.value("memory")) for cell in grid(study(f"paper:{name}"), file).cells}
        assert played == {"none", rag, graph, personas, *wanted}
        assert all(memories.parse(memory).text == memory for memory in played), "one memory is one cell"
        words = {label("memory", memory) for memory in played}
        assert words <= {"None", "RAG", "KG", "Cluster", "RAG+KG", "RAG+Cluster", "KG+Cluster"}
        assert len(words) == len(played)
