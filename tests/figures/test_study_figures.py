"""Figures of a study: what they show, what they leave out and say so, the same bytes from the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.figures.ablation import _axes, draw_ablation
from simulator.figures.beside import Column, draw_beside
from simulator.figures.curves import draw_context, draw_deadline
from simulator.figures.pareto import draw_pareto, unbeaten
from simulator.figures.summary import Summary, seconds
from simulator.report.study import maps_of
from tests.figures.made_summary import made

SVG = "{http://www.w3.org/2000/svg}"
AXES = {"agent": ["prior", "cot"], "memory": ["none", "rag", "graph"]}
WINDOWS = {"agent": ["prior", "cot"], "window": ["10s", "1min", "10min"]}
BASELINE = {"memory": "none"}
Draw = Callable[[Summary, Path], Path]


def words(file: Path) -> str:
    return " | ".join("".join(e.itertext()).strip() for e in ElementTree.parse(file).iter(f"{SVG}text"))


def hatched(file: Path) -> int:
    """Patches filled with a hatch pattern."""
    return sum("url(#" in e.attrib.get("style", "") for e in ElementTree.parse(file).iter(f"{SVG}path"))


DRAWN: dict[str, tuple[dict[str, list[str]], Draw]] = {
    "heatmap": (AXES, lambda s, f: draw_ablation(s, "F1_rt", f)),
    "context": (WINDOWS, lambda s, f: draw_context(s, "F1_rt", f)),
    "deadline": (AXES, draw_deadline),
    "pareto": (AXES, lambda s, f: draw_pareto(s, "F1_rt", f)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_the_same_summary_makes_the_same_bytes(name: str, tmp_path: Path) -> None:
    axes, draw = DRAWN[name]
    one, other = (draw(Summary(made(axes, baseline=BASELINE)), tmp_path / at / "x.svg") for at in "ab")
    assert one.read_bytes() == other.read_bytes()
    assert b"<dc:date>" not in one.read_bytes()


@pytest.mark.parametrize("name", DRAWN)
def test_a_study_without_a_figure_says_so_instead_of_failing(name: str, tmp_path: Path) -> None:
    raw = made({"agent": ["prior"], "memory": ["none"]})
    raw["cells"][0] |= {"metrics": {"F1_rt": {"value": None, "reason": "no need in it"}}, "deadline": None}
    raw["cells"][0]["latency_ms"] = {"p50": None, "p95": None}
    told = words(DRAWN[name][1](Summary(raw), tmp_path / "x.svg"))
    assert any(said in told for said in ("no cell", "fewer than two"))


def test_a_heat_map_has_the_number_of_each_cell_and_hatches_what_is_not_told_from_the_baseline(tmp_path: Path) -> None:
    raw = made(AXES, baseline=BASELINE)
    file = draw_ablation(Summary(raw), "F1_rt", tmp_path / "x.svg")
    told = words(file)
    for cell in raw["cells"]:
        assert f"{cell['metrics']['F1_rt']['value']:.3f}" in told
    undecided = [c for c in raw["cells"] if c["metrics"]["F1_rt"]["gain"]["low"] <= 0]
    assert hatched(file) == len(undecided) == 2
    assert "difference to memory none" in told
    assert "12 sessions and 6 users" in told


def test_every_map_hatches_by_one_rule_also_where_no_session_differs(tmp_path: Path) -> None:
    raw = made(AXES, baseline=BASELINE)
    clear = [c for c in raw["cells"] if c["metrics"]["F1_rt"]["gain"]["low"] > 0]
    clear[0]["metrics"]["F1_rt"]["gain"] = {"value": 0.0, "low": None, "high": None}
    clear[1]["metrics"]["F1_rt"]["gain"] = {"value": 0.1, "low": None, "high": None}  # too few sessions to say
    summary = Summary(raw)
    assert [summary.undecided(cell, "F1_rt") for cell in clear[:2]] == [True, False]
    assert hatched(draw_ablation(summary, "F1_rt", tmp_path / "x.svg")) == 3
    page = maps_of(summary, "F1_rt", "agent", "memory", {})
    assert str(page.picture.told()).count("'hatch hh") == 3


def test_what_has_no_figure_and_what_is_not_in_the_study_stand_apart_in_a_heat_map(tmp_path: Path) -> None:
    raw = made(AXES, baseline=BASELINE)
    raw["cells"][1]["metrics"]["F1_rt"] = {"value": None, "reason": "erred"}
    del raw["cells"][2]
    told = words(draw_ablation(Summary(raw), "F1_rt", tmp_path / "x.svg")).split(" | ")
    assert told.count("none") == 2  # the cell, and the memory of that name
    assert told.count("·") == 1


def test_further_axes_make_further_panels_and_those_left_out_are_counted(tmp_path: Path) -> None:
    axes = {**AXES, "window": [f"{n}s" for n in range(1, 15)]}
    summary = Summary(made(axes, baseline=BASELINE))
    told = words(draw_ablation(summary, "F1_rt", tmp_path / "x.svg", ("agent", "memory")))
    assert "window 12s" in told
    assert "window 13s" not in told
    assert "2 more panels are left out" in told


def test_a_curve_of_history_goes_by_length_and_not_by_order(tmp_path: Path) -> None:
    raw = made({"agent": ["prior"], "window": ["10min", "10s", "1min"]})
    told = words(draw_context(Summary(raw), "F1_rt", tmp_path / "x.svg"))
    assert told.index("10s") < told.index("1min") < told.index("10min")
    assert [seconds(text) for text in ("10s", "5min", "1h", "-", "s")] == [10, 300, 3600, None, None]


def test_measured_and_modelled_latencies_are_never_in_one_panel(tmp_path: Path) -> None:
    raw = made(AXES)
    raw["cells"][0]["latency_source"] = "measured"
    raw["cells"][1]["marked"] = True
    told = words(draw_pareto(Summary(raw), "F1_rt", tmp_path / "x.svg"))
    assert "latency measured, 1 cells" in told
    assert "latency modelled, 5 cells" in told
    assert "hollow: measured beside other units" in told


def test_each_group_has_a_front_of_its_own_and_oracles_and_what_has_no_group_none(tmp_path: Path) -> None:
    raw = made({"data": ["real", "made"], "memory": ["none", "rag", "oracle"]})
    for n, cell in enumerate(raw["cells"]):
        cell |= {"group": n // 3, "sees_truth": n % 3 == 2}
    raw["cells"][1]["group"] = None
    file = draw_pareto(Summary(raw), "F1_rt", tmp_path / "x.svg")
    told = words(file)
    assert "data real, latency modelled, 2 cells" in told
    assert "data made, latency modelled, 3 cells" in told
    assert "1 of 6 cells have no figure" in told
    assert "it is a ceiling" in told


def test_a_heat_map_shows_the_axes_that_leave_few_panels_or_those_that_are_named(tmp_path: Path) -> None:
    axes = {"data": ["a", "b"], "agent": ["x", "y"], "memory": ["m1", "m2", "m3"], "window": ["1s", "2s", "3s", "4s"]}
    summary = Summary(made(axes))
    assert _axes(summary) == ("memory", "window")
    assert _axes(Summary(made(axes, baseline={"agent": "x"}))) == ("window", "agent")
    told = words(draw_ablation(summary, "F1_rt", tmp_path / "x.svg", ("data", "memory")))
    assert "agent x, window 1s" in told


def test_titles_of_panels_are_broken_and_never_cut(tmp_path: Path) -> None:
    names = [f"{'a long name ' * 8}{n}" for n in range(2)]
    axes = {"agent": names, "memory": ["m1", "m2", "m3"], "window": ["1s", "2s", "3s"]}
    told = words(draw_ablation(Summary(made(axes)), "F1_rt", tmp_path / "x.svg")).split(" | ")
    lines = [line for line in told if "long name" in line]
    assert max(map(len, lines)) < 60
    assert sum(told.count(f"name {n}") for n in range(2)) == 2  # the ends of both


def test_a_latency_of_0_is_drawn_at_the_edge_and_that_is_said(tmp_path: Path) -> None:
    raw = made(AXES)
    raw["cells"][0]["metrics"]["scheduled_latency@p95"] = {"value": 0.0, "low": 0.0, "high": 0.0}
    assert "a latency of 0 is drawn at" in words(draw_pareto(Summary(raw), "F1_rt", tmp_path / "x.svg"))


POINTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20)


@given(points=POINTS, up=st.booleans())
def test_nothing_beats_what_is_on_the_front_and_something_beats_or_equals_all_else(
    points: list[tuple[float, float]], up: bool
) -> None:
    sign = 1 if up else -1

    def beats(a: tuple[float, float], b: tuple[float, float]) -> bool:
        return a != b and a[0] <= b[0] and sign * a[1] >= sign * b[1]

    front = unbeaten(points, up=up)
    assert not any(beats(p, q) for p in points for q in front)
    assert all(p in front or any(beats(q, p) for q in front) for p in points)


def test_lines_of_one_panel_differ_in_more_than_colour(tmp_path: Path) -> None:
    axes = {"memory": ["a", "b", "c", "d", "e", "f"], "window": ["10s", "1min"]}
    text = draw_context(Summary(made(axes)), "F1_rt", tmp_path / "x.svg").read_text()
    tree = ElementTree.fromstring(text)
    assert len({e.attrib["d"] for e in tree.iter(f"{SVG}path") if e.attrib.get("id", "").startswith("m")}) >= 6


def test_what_is_said_below_is_broken_where_the_sheet_ends(tmp_path: Path) -> None:
    raw = made(AXES)
    raw["caveats"] = ["a long caveat " * 30, *(f"caveat {n}" for n in range(9))]
    told = words(draw_ablation(Summary(raw), "F1_rt", tmp_path / "x.svg"))
    assert "and 5 more caveats in summary.json" in told
    assert max(map(len, told.split(" | "))) < 160


def test_ours_stand_as_dots_and_others_in_grey_with_their_mark(tmp_path: Path) -> None:
    column = Column("Acc", [(50.0, 45.0, 55.0), None], [[(54.9, 54.9)], [(13.0, 14.0)]])
    told = words(draw_beside(["zero-shot", "cot"], [column], "Table", ["note"], tmp_path / "x.svg"))
    assert "published, other data" in told
    assert "here, with 95 % interval" in told


def test_names_from_a_study_are_no_markup(tmp_path: Path) -> None:
    raw: dict[str, Any] = made({"agent": ["$x^2$", "<script>alert(1)</script>"], "memory": ["none", "rag"]})
    for name, (_, draw) in DRAWN.items():
        text = draw(Summary(raw), tmp_path / f"{name}.svg").read_text()
        assert "<script" not in text


def test_curves_that_are_left_out_are_counted_and_it_is_said_where_they_are(tmp_path: Path) -> None:
    axes = {"agent": [f"a{n}" for n in range(10)], "memory": [f"m{n}" for n in range(10)]}
    told = words(draw_deadline(Summary(made(axes)), tmp_path / "x.svg"))
    assert "more curves are left out; all curves stand in summary.json (deadline)" in told
