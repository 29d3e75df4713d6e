"""Tables in a paper's layout: its rows and columns, nothing left out, others' numbers marked and in their unit."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from simulator.figures.summary import Summary
from simulator.sweep.draw import draw, left_out
from simulator.sweep.layout_files import csv_of, latex, markdown
from simulator.sweep.layouts import LAYOUTS, Table, label, table
from simulator.sweep.papers import NAME, PLAYED, published
from tests.figures.made_summary import made

RAG, KG, CLUSTER = PLAYED["rag"], PLAYED["graph"], PLAYED["personas"]
MEMORIES = ["none", RAG, KG, CLUSTER, f"{RAG}+{KG}", f"{RAG}+{CLUSTER}", f"{KG}+{CLUSTER}"]
AXES: dict[str, dict[str, Sequence[str]]] = {
    "paper:table2": {"agent": ["zero-shot", "cot", "self-consistency"], "memory": ["none"]},
    "paper:fig5": {"agent": ["zero-shot"], "window": ["10s", "30s", "1min", "2min", "5min", "10min"]},
    "paper:fig7": {"agent": ["zero-shot"], "memory": MEMORIES, "modality": ["text", "image"]},
    "paper:table6": {"agent": ["zero-shot"], "memory": MEMORIES, "modality": ["text", "image"]},
    "paper:fig9": {"agent": ["zero-shot", "cot", "self-consistency"], "memory": ["none", RAG]},
    "pira:naive-vs-pirf": {"agent": ["naive", "pirf"], "memory": ["none"]},
    "clean-vs-noise": {"data": ["clean", "noise"], "agent": ["naive", "pirf"]},
}


def raw(preset: str, **more: Sequence[str]) -> dict[str, Any]:
    return made({**AXES[preset], **more}, metrics=LAYOUTS[preset].metrics, preset=preset)


def laid(summary: dict[str, Any]) -> Table:
    found = table(summary["study"]["preset"], Summary(summary))
    assert found is not None
    return found


@pytest.mark.parametrize("preset", sorted(LAYOUTS))
def test_each_figure_of_each_cell_stands_once_and_so_does_each_published_number(preset: str) -> None:
    summary = raw(preset)
    found = laid(summary)
    ours = [e for line in found.lines if not line.source for e in line.entries if e is not None]
    theirs = [e for line in found.lines if line.source for e in line.entries if e is not None]
    assert len(ours) == len(summary["cells"]) * len(LAYOUTS[preset].metrics)
    assert len(theirs) == len(published(preset)[1])


def test_table_2_has_the_columns_of_the_paper_and_ours_in_its_unit() -> None:
    found = laid(raw("paper:table2"))
    assert found.head == ("model", "method")
    assert found.columns == ("Acc", "P", "R", "F1", "Int. Acc", "Sem. Sim")
    assert [line.head for line in found.lines[:4]] == [
        ("here", "Zero-Shot"), ("here", "CoT"), ("here", "Self-Consistency"), ("GPT-4o-mini", "Zero-Shot"),
    ]  # fmt: skip
    first = found.lines[0].entries
    assert [None if e is None else e.said for e in first] == ["50.0", "40.0", "30.0", "20.0", "10.0", "0.000"]
    assert (first[0].low, first[0].high) == (45.0, 54.0) if first[0] is not None else False


def test_table_6_has_memories_across_and_figures_down_in_two_blocks_of_input() -> None:
    found = laid(raw("paper:table6"))
    assert found.columns == ("None", "RAG", "KG", "Cluster", "RAG+KG", "RAG+Cluster", "KG+Cluster")
    assert [line.head for line in found.lines[:5]] == [
        *(("text-only", "here", metric) for metric in ("Acc", "F1", "Int. Acc", "Sem. Sim")),
        ("multi-modal", "here", "Acc"),
    ]
    row = next(line for line in found.lines if line.head == ("multi-modal", "Qwen3-VL-Plus", "Acc"))
    assert [None if e is None else e.said for e in row.entries] == ["50.6", "55.7", "63.9", "53.4", None, None, None]


def test_a_memory_that_is_played_in_another_way_is_not_called_the_papers() -> None:
    found = laid(raw("paper:fig7", memory=["none", "rag", RAG]))
    assert found.columns == ("None", "rag", "RAG", "KG")
    theirs = next(line for line in found.lines if line.source)
    assert [None if e is None else e.said for e in theirs.entries] == ["53.7", None, "55.0", "60.1"]


def test_latencies_are_in_seconds_and_ranges_stay_ranges() -> None:
    summary = raw("paper:fig9")
    summary["cells"][0]["metrics"]["service_time@mean"] |= {"value": 2340.0, "low": 2000.0, "high": 2500.0}
    rows = {line.head: line.entries[0] for line in laid(summary).lines}
    assert getattr(rows["here", "Zero-Shot", "None"], "said", None) == "2.3"
    assert getattr(rows["Deepseek-V3.2 and Qwen3-Max", "CoT", "None"], "said", None) == "13-14"
    assert getattr(rows["most models", "Zero-Shot", "KG"], "said", None) == "< 2"


def test_an_axis_that_was_added_becomes_a_head_and_hides_no_cell() -> None:
    summary = raw("paper:table2", window=["10s", "5min"])
    found = laid(summary)
    assert found.head == ("model", "method", "history")
    assert sum(not line.source for line in found.lines) == 6
    with_models = laid(raw("paper:table2", model=["a-1", "b-2"]))
    assert [line.head[0] for line in with_models.lines[:6]] == ["a-1"] * 3 + ["b-2"] * 3


def test_a_figure_that_is_not_there_is_a_dash_and_never_0() -> None:
    summary = raw("paper:table2")
    summary["cells"][0]["metrics"]["recall"] = {"value": None, "reason": "no need"}
    found = laid(summary)
    assert found.lines[0].entries[2] is None
    assert "| – |" in markdown(found)
    assert "& -- &" in latex(found)
    assert next(csv.DictReader(io.StringIO(csv_of(found))))["R"] == ""


def test_best_second_and_like_best_are_marked_for_ours_alone() -> None:
    summary = raw("paper:table2")
    summary["cells"][0]["metrics"]["accuracy"] |= {"rank": 1, "best": True, "like_best": True}
    summary["cells"][1]["metrics"]["accuracy"] |= {"rank": 2, "like_best": True}
    found = laid(summary)
    assert "**50.0** [45.0, 54.0]" in markdown(found)
    assert "<ins>53.0</ins>† [48.0, 57.0]" in markdown(found)
    assert r"\textbf{50.0}\,{\scriptsize$^{+4.0}_{-5.0}$}" in latex(found)
    assert r"\underline{53.0}$^{\dagger}$" in latex(found)
    assert all(e is None or e.place is None for line in found.lines if line.source for e in line.entries)


@pytest.mark.parametrize("preset", sorted(LAYOUTS))
def test_what_others_published_is_marked_in_every_form(preset: str) -> None:
    found = laid(raw(preset))
    n = sum(bool(line.source) for line in found.lines)
    rows = list(csv.DictReader(io.StringIO(csv_of(found))))
    assert [row["from"] for row in rows].count(NAME) == n
    assert all(bool(row["source"]) == (row["from"] == NAME) for row in rows)
    assert sum(f"| {NAME} |" in line for line in markdown(found).splitlines()) == n
    if n:
        grey = latex(found).split(r"\color{gray}")[1]
        assert all(r"\textcolor{gray}" in line for line in grey.splitlines()[1:] if line.endswith(r"\\"))
    else:
        assert "no number of it is known here" in markdown(found)


def test_a_name_obeys_no_table_it_stands_in() -> None:
    found = laid(raw("paper:table2", model=["a|b & c_d %", "x\n| y |"]))
    assert r"a\|b" in markdown(found)
    lines = markdown(found).splitlines()
    widths = {len(line.replace(r"\|", "").split("|")) for line in lines if line.startswith("|")}
    assert len(widths) == 1
    assert r"a\textbar{}b \& c\_d \%" in latex(found)


def test_words_of_the_papers_stand_for_ours_with_parameters_behind_them() -> None:
    assert label("agent", "self-consistency:k=3") == "Self-Consistency (k=3)"
    assert label("memory", "graph") == "KG"
    assert label("memory", "mine.py:Mine") == "mine.py:Mine"


def test_a_study_is_drawn_into_its_folder_and_the_same_again(tmp_path: Path) -> None:
    summary = raw("paper:fig7")
    for at in ("a", "b"):
        (tmp_path / at).mkdir()
        drawn = draw(tmp_path / at, summary, ["heatmap", "pareto"])
        assert drawn.left is None
    names = sorted(p.relative_to(tmp_path / "a").as_posix() for p in drawn.files and (tmp_path / "a").rglob("*.*"))
    assert names == ["figures/heatmap.svg", "figures/paper-fig7.svg", "figures/pareto.svg", "paper-fig7.csv",
                     "paper-fig7.md", "paper-fig7.tex"]  # fmt: skip
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_study_of_ones_own_has_figures_and_no_layout(tmp_path: Path) -> None:
    summary = made({"agent": ["prior"], "memory": ["none", "rag"]})
    assert [f.name for f in draw(tmp_path, summary, ["deadline"]).files] == ["deadline.svg"]


def test_panels_for_which_a_heat_map_has_no_room_are_counted() -> None:
    axes = {"memory": ["none", "rag"], "agent": ["a", "b"], "window": [f"{n}s" for n in range(15)]}
    summary = made(axes, metrics=["F1_rt"])
    said = "leaves out 3 of its panels, for which there is no room: all figures are in the tables"
    assert left_out(summary, ["pareto", "heatmap:agent,memory"]) == [f"heatmap:agent,memory {said}"]
    assert left_out(summary, ["heatmap", "heatmap:window,memory"]) == []


def test_without_the_extra_tables_are_there_and_a_sentence_says_why_figures_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    drawn = draw(tmp_path, raw("paper:fig7"), ["heatmap"])
    assert [f.suffix for f in drawn.files] == [".md", ".tex", ".csv"]
    assert drawn.left is not None
    assert "[figures]" in drawn.left
