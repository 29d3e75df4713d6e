"""A cell to which an axis says nothing stands for each of its values: no panel of its own, in none missing."""

from __future__ import annotations

from typing import Any

from simulator.figures.ablation import _axes
from simulator.figures.summary import Summary
from simulator.report.study import View, fixed_of
from tests.figures.made_summary import made


def without_window(**more: list[str]) -> dict[str, Any]:
    """Agent ``prior`` reads no window: of its cells those of the first window are left, called ``-``."""
    raw = made({"agent": ["prior", "mine"], "memory": ["none", "rag"], "window": ["60s", "5min"], **more})
    raw["cells"] = [c for c in raw["cells"] if (c["values"]["agent"], c["values"]["window"]) != ("prior", "5min")]
    for cell in raw["cells"]:
        if cell["values"]["agent"] == "prior":
            cell["values"]["window"] = "-"
    raw["axes"][2]["values"].append("-")
    return raw


def test_each_panel_of_a_heat_map_holds_the_agent_that_reads_no_window() -> None:
    parts = Summary(without_window()).parts(["agent", "memory"])
    assert [part.name for part in parts] == ["window 60s", "window 5min"]
    assert [[c["values"]["agent"] for c in part.cells] for part in parts] == [["prior", "prior", "mine", "mine"]] * 2


def test_a_cell_is_in_some_panel_even_if_no_other_has_its_values() -> None:
    raw = without_window()
    raw["cells"] = [c for c in raw["cells"] if c["values"]["agent"] == "prior" or c["values"]["window"] == "60s"]
    assert [part.name for part in Summary(raw).parts(["agent", "memory"])] == ["window 60s"]
    raw["cells"] = [c for c in raw["cells"] if c["values"]["agent"] == "prior"]
    assert {c["id"] for part in Summary(raw).parts(["agent"]) for c in part.cells} == {c["id"] for c in raw["cells"]}


def test_a_report_stands_at_a_window_that_there_is() -> None:
    raw = without_window()
    raw["axes"][2]["values"].sort()  # "-" first
    summary = Summary(raw)
    fixed = fixed_of(summary, ["agent", "memory"], View().fixed or {})
    assert fixed == {"window": "5min"}
    assert len(summary.standing(fixed)) == 4


def test_what_says_nothing_to_some_is_no_further_row_that_a_map_would_choose_an_axis_for() -> None:
    assert _axes(Summary({**without_window(), "baseline": {"agent": "prior"}})) == ("memory", "agent")
