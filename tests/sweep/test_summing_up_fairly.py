"""What a summary must not say: signs nobody could lose, prizes for errors and oracles, means over strangers."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from simulator.sweep.summary import summarise
from tests.sweep.handmade import Made, S, sessions, varied


def figures(folder: Path) -> dict[str, Mapping[str, Any]]:
    return {c["name"]: c["metrics"]["F1_rt"] for c in summarise(folder).summary["cells"]}


@pytest.mark.parametrize(("n", "lost"), [(7, True), (8, False)])
def test_nobody_is_like_the_best_where_nobody_could_be_worse(n: int, lost: bool, tmp_path: Path) -> None:
    """Two of 256 ways to swap eight sessions are as great: times six that is 4.7 %, times seven 5.5 %."""
    made = Made(tmp_path, {"memory": [f"m{i}" for i in range(n)]})
    for i in range(n - 1):
        made.cell({"memory": f"m{i}"}, sessions(8, hits=1))
    made.cell({"memory": f"m{n - 1}"}, sessions(8, hits=3))
    summary = summarise(made.write(metrics=["F1_rt"])).summary
    said = [c["metrics"]["F1_rt"]["like_best"] for c in summary["cells"]]
    assert said == [False if lost else None] * (n - 1) + [True]
    hopeless = [c for c in summary["caveats"] if c.startswith(f"8 sessions and {n - 1} comparisons: no difference")]
    assert bool(hopeless) is not lost
    assert "†" not in (tmp_path / "summary.md").read_text()


def test_cells_of_which_half_failed_carry_no_mark(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag", "graph"]})
    for memory in ("none", "rag", "graph"):
        made.cell({"memory": memory}, sessions(8, errors=3, quiet={"none": 0, "rag": 3, "graph": 4}[memory]))
    found = figures(made.write(metrics=["F1_rt"]))
    assert found["none"]["value"] == found["graph"]["value"] == 0
    assert [(found[m]["rank"], found[m]["best"]) for m in ("none", "rag", "graph")] == [
        (None, False), (None, False), (1, True)]  # fmt: skip
    assert summarise(tmp_path).summary["caveats"][0].endswith("their figures say little, and are not ranked: none, rag")


@pytest.mark.parametrize(("answered", "rank"), [(0, None), (2, 1)])
def test_silences_that_asked_nobody_do_not_outweigh_failures(answered: int, rank: int | None, tmp_path: Path) -> None:
    """An agent that asks once a session, in vain, is silent at all other snapshots: that is no success."""
    made = Made(tmp_path, {"agent": ["naive"]})
    made.cell({"agent": "naive"}, sessions(8, hits=answered, errors=1, quiet=8, tokens=5), model="m")
    assert figures(made.write(metrics=["F1_rt"]))["naive"]["rank"] == rank


def test_what_sees_the_truth_is_a_ceiling_without_rank_that_nothing_is_held_against(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag", "oracle"]})
    made.cell({"memory": "none"}, sessions(8, hits=1))
    made.cell({"memory": "rag"}, sessions(8, hits=2))
    made.cell({"memory": "oracle"}, sessions(8, hits=4), sees_truth=True)
    found = figures(made.write(metrics=["F1_rt"], baseline={"memory": "none"}))
    assert [(f["rank"], f["best"]) for f in found.values()] == [(2, False), (1, True), (None, False)]
    assert found["none"]["p_best"] == 2 / 2**8  # one comparison
    assert found["oracle"]["gain"]["value"] > 0  # which may still be asked
    assert "*1.000*" in (tmp_path / "summary.md").read_text()
    assert r"\textit{1.000}" in (tmp_path / "summary.tex").read_text()


def of_two_sets(folder: Path, keys: str, **header: Any) -> list[dict[str, str]]:
    made = Made(folder, {"data": ["real", "made"], "memory": ["none", "rag"]})
    base = sessions(7)
    for data, gain in (("real", 1), ("made", 3)):
        for memory, more in (("none", 0), ("rag", gain)):
            of = varied(base, hits=[more] * 7)
            names = {(k if data == "real" else k.replace("s", keys)): s for k, s in of.items()}
            more_header = header if data == "made" else {}
            made.cell({"data": data, "memory": memory}, names, data=data, **more_header)
    summarise(made.write(metrics=["R_rt"], baseline={"memory": "none"}))
    rows = csv.DictReader((folder / "effects.csv").read_text().splitlines())
    return [row for row in rows if row["axis"] == "memory"]


def test_each_data_set_has_effects_of_its_own_unless_they_are_twins(tmp_path: Path) -> None:
    (tmp_path / "strangers").mkdir()
    (tmp_path / "twins").mkdir()
    apart = of_two_sets(tmp_path / "strangers", "t")
    assert [(e["data"], e["gain"], e["n_cells"], e["n"]) for e in apart] == [
        ("real", "0.25", "1", "7"), ("made", "0.75", "1", "7")]  # fmt: skip
    together = of_two_sets(tmp_path / "twins", "s")
    assert [(e["data"], e["gain"], e["n_cells"], e["n"]) for e in together] == [("", "0.5", "2", "7")]


def test_strangers_of_one_name_are_not_paired_for_the_effect_of_data(tmp_path: Path) -> None:
    def effect(folder: Path, **header: Any) -> Mapping[str, Any]:
        folder.mkdir()
        made = Made(folder, {"data": ["a", "b"], "memory": ["none"]})
        made.cell({"data": "a", "memory": "none"}, {"s0": S(hits=1), "s1": S(hits=1)}, data="a")
        made.cell({"data": "b", "memory": "none"}, {"s0": S(hits=2), "s1": S(hits=2)}, data="b", **header)
        (found,) = summarise(made.write(metrics=["R_rt"])).summary["effects"]
        return dict(found)

    assert effect(tmp_path / "twins")["gain"] == 0.25
    assert effect(tmp_path / "strangers", recording="other")["reason"] == "they have no session in common"


def test_made_up_people_are_called_synthetic_and_more_so_beside_recorded_ones(tmp_path: Path) -> None:
    of_two_sets(tmp_path, "t", user="synthetic-001")
    for name in ("summary.md", "summary.json", "summary.tex"):
        text = (tmp_path / name).read_text()
        assert "synthetic data, of people made up from a recipe" in text.replace("{}", ""), name
        assert "beside figures of real only with this word" in text, name
    rows = csv.DictReader((tmp_path / "summary.csv").read_text().splitlines())
    assert [(row["data"], row["synthetic"]) for row in rows][::2] == [("real", "false"), ("made", "true")]


def test_rows_that_may_be_compared_stand_together_in_latex(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["a", "b", "c", "d"]})
    for memory, source in zip("abcd", ("modelled", "measured") * 2, strict=True):
        made.cell({"memory": memory}, {"s0": S(hits=1)}, latency_source=source)
    summarise(made.write(metrics=["F1_rt"]))
    rows = (tmp_path / "summary.tex").read_text().partition("\\endlastfoot")[2].splitlines()[1:6]
    assert [row[0] for row in rows] == ["a", "c", "\\", "b", "d"]


def test_percentiles_over_several_seeds_say_how_exact_they_are(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none"]})
    made.cell({"memory": "none"}, sessions(2), sessions(2))
    assert any("steps of 1 %" in c for c in summarise(made.write()).summary["caveats"])


def test_an_agent_that_reads_no_window_is_paired_with_the_others_at_each(tmp_path: Path) -> None:
    made = Made(tmp_path, {"agent": ["prior", "mine"], "window": ["60s", "5min", "-"]})
    made.cell({"agent": "prior", "window": "-"}, sessions(6, hits=1))
    made.cell({"agent": "mine", "window": "60s"}, sessions(6, hits=2))
    made.cell({"agent": "mine", "window": "5min"}, sessions(6, hits=4))
    summary = summarise(made.write(metrics=["R_rt"], baseline={"agent": "prior"})).summary
    effect = next(e for e in summary["effects"] if e["axis"] == "agent")
    assert (effect["first"], effect["second"], effect["n_cells"]) == (0.25, 0.75, 2)
    gained = [(c["metrics"]["R_rt"].get("gain") or {}).get("value") for c in summary["cells"]]
    assert gained == [None, 0.25, 0.75]
