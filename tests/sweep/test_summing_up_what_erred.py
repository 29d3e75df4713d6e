"""Units that erred: in no figure, counted where nothing of their run was scored, and no help to whoever lost them."""

from __future__ import annotations

import json
from pathlib import Path

from simulator.play.kept import keep
from simulator.sweep.gates import parse
from simulator.sweep.summary import summarise
from tests.sweep.handmade import Made, sessions, varied


def torn(run: Path, *keys: str) -> None:
    """Say of units that they ended in an error, halfway."""
    told = json.loads((run / "run.json").read_bytes())
    for key in keys:
        told["units"][key]["error"] = "the agent raised"
    (run / "run.json").write_text(json.dumps(told), encoding="utf-8")


def test_a_torn_log_is_in_no_figure_of_a_cell_of_one_seed(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none"]})
    made.cell({"memory": "none"}, varied(sessions(3), hits=[4, 4, 0]))
    torn(made.write(metrics=["R_rt", "F1_rt"]) / "runs" / "none-s0", "s2")
    (cell,) = summarise(tmp_path).summary["cells"]
    assert (cell["metrics"]["R_rt"]["value"], cell["metrics"]["R_rt"]["n"]) == (1.0, 2)
    assert cell["units"] == {"done": 2, "erred": 1, "missing": 0}
    assert cell["deadline"] is None  # that of the run holds the torn log too


def test_a_cell_whose_units_all_ended_in_errors_has_a_reason(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none"]})
    made.cell({"memory": "none"}, sessions(2, hits=4))
    torn(made.write(metrics=["R_rt"]) / "runs" / "none-s0", "s0", "s1")
    figure = summarise(tmp_path).summary["cells"][0]["metrics"]["R_rt"]
    assert (figure["value"], figure["reason"]) == (None, "all its units erred")


def test_losing_the_worst_sessions_wins_neither_a_rank_nor_a_gate(tmp_path: Path) -> None:
    made = Made(tmp_path, {"agent": ["fails", "whole", "less"]})
    made.cell({"agent": "fails"}, varied(sessions(6), hits=[4, 4, 4, 0, 0, 0]))
    made.cell({"agent": "whole"}, sessions(6, hits=3))
    made.cell({"agent": "less"}, sessions(6, hits=2))
    torn(made.write(metrics=["R_rt"]) / "runs" / "fails-s0", "s3", "s4", "s5")
    summed = summarise(tmp_path, [parse("R_rt<0.4")])
    found = [cell["metrics"]["R_rt"] for cell in summed.summary["cells"]]
    assert [f["value"] for f in found] == [1.0, 0.75, 0.5]
    assert [f["rank"] for f in found] == [None, 1, 2]
    assert found[0]["no_test"] == "3 of 6 units: it has no rank beside cells of more"
    (failure,) = summed.failed
    rest = "R_rt is 1, but 3 of 6 units erred and 0 are missing: it is that of the rest alone"
    assert failure.sentence == f"gate R_rt<0.4, fails: {rest}"
    assert any("not ranked" in c and "fails" in c for c in summed.summary["caveats"])


def test_cells_that_lack_the_same_session_are_ranked_over_what_they_share(tmp_path: Path) -> None:
    made = Made(tmp_path, {"agent": ["a", "b"]})
    for agent, hits in (("a", 1), ("b", 2)):
        made.cell({"agent": agent}, sessions(3, hits=hits))
        torn(tmp_path / "runs" / f"{agent}-s0", "s0")
    found = summarise(made.write(metrics=["R_rt"])).summary["cells"]
    assert [cell["metrics"]["R_rt"]["rank"] for cell in found] == [2, 1]


def test_units_of_a_run_that_ended_without_a_score_erred_and_are_not_missing(tmp_path: Path) -> None:
    made = Made(tmp_path, {"agent": ["a", "b", "c"]})
    made.cell({"agent": "a"}, sessions(2))
    made.cell({"agent": "b"}, sessions(2))
    made.cell({"agent": "c"}, None, keys=["s0", "s1"])
    (made.write(metrics=["R_rt"]) / "runs" / "b-s0" / "scores.json").unlink()
    _, b, c = summarise(tmp_path).summary["cells"]
    assert b["units"] == {"done": 0, "erred": 2, "missing": 0}
    assert b["metrics"]["R_rt"]["reason"] == "all its units erred"
    assert c["units"] == {"done": 0, "erred": 0, "missing": 2}
    assert "all its units erred" in (tmp_path / "summary.md").read_text()
    assert any(c.endswith("and are not ranked: b, c") for c in summarise(tmp_path).summary["caveats"])


def test_personas_that_the_model_did_not_write_are_a_caveat_that_names_the_cells(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["personas", "rag+personas", "old", "rag"]})
    for memory, n_failed, written, part in (
        ("personas", 3, 4, ""), ("rag+personas", 1, 9, "personas."), ("old", 2, None, ""), ("rag", 0, 0, ""),
    ):  # fmt: skip
        made.cell({"memory": memory}, sessions(2), sessions(2))
        for run in sorted((tmp_path / "runs").glob(f"{memory.replace('+', '-')}-s[01]")):
            noted(run, n_failed, None if written is None else {f"{part}personas_written": written}, part)
    said = [c for c in summarise(made.write(metrics=["R_rt"])).summary["caveats"] if "persona" in c]
    why = "the model gave no text that can be used for some personas, which stay extractive"
    assert said == [f"{why}: personas (12 of 28), rag+personas (4 of 40), old (8)"]
    assert why in (tmp_path / "summary.md").read_text()


def noted(run: Path, n_failed: int, stats: dict[str, int] | None, part: str) -> None:
    """Write down what a memory of personas tells: a note of the scores, and its counts with each of the units."""
    told = json.loads((run / "run.json").read_bytes())
    for result in told["units"].values():
        if stats is not None:
            result["memory_stats"] = {**stats, f"{part}personas_failed": n_failed}
    (run / "run.json").write_text(json.dumps(told), encoding="utf-8")
    scores = json.loads((run / "scores.json").read_bytes())
    del scores["digest"]
    scores["notes"] = {"personas_failed": n_failed * len(told["units"])}
    keep(run, scores)
