"""Cells of a sweep held against each other, each with the runs of all its seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.cli import _call
from simulator.core.errors import InputError, UsageError
from simulator.play.comparing import compare
from simulator.sweep.summary import summarise
from tests.sweep.handmade import Made, sessions


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    made = Made(tmp_path, {"memory": ["none", "rag", "late"]})
    made.cell({"memory": "none"}, sessions(6, hits=1), sessions(6, hits=2))
    made.cell({"memory": "rag"}, sessions(6, hits=2), sessions(6, hits=4))
    made.cell({"memory": "late"}, None, keys=["s0"])
    return made.write(metrics=["R_rt"], baseline={"memory": "none"})


@pytest.mark.parametrize("told", ["words", "paths"])
def test_cells_are_sides_with_all_their_seeds_and_give_what_the_summary_has(told: str, sweep: Path) -> None:
    named = [sweep, Path("none"), Path("rag")] if told == "words" else [sweep / "none", sweep / "rag"]
    (found,) = compare(named, ["R_rt"])
    assert (found.first.name, found.second.name, found.seeds) == ("none", "rag", ((0, 1), (0, 1)))
    assert (found.n_sessions, found.n_units) == (6, 12)
    (effect,) = [e for e in summarise(sweep).summary["effects"] if e["value"] == "rag"]
    assert found.rows[0].found is not None
    assert effect["gain"] == pytest.approx(found.rows[0].found.difference) == 0.375


def test_cells_that_are_not_there_are_told_with_those_that_are(sweep: Path) -> None:
    with pytest.raises(UsageError, match="name two of its cells behind it: none, rag, late"):
        compare([sweep])
    with pytest.raises(UsageError, match="no cell 'ragg'; did you mean 'rag'"):
        compare([sweep, "none", "ragg"])
    with pytest.raises(UsageError, match=r"has no cell 'nosuch'; known: none, rag, late$"):
        compare([sweep, "none", "nosuch"])
    with pytest.raises(InputError, match="of its cell 'late' no run has come to its end yet"):
        compare([sweep, "none", "late"])


def test_the_command_takes_a_sweep_and_two_words(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["compare", str(sweep), "none", "rag", "--metric", "R_rt"]) == 0
    assert "R_rt" in capsys.readouterr().out


def test_cells_of_one_name_are_sides_by_name_and_id(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["x", "y"]})
    made.cell({"memory": "x"}, sessions(6, hits=1))
    made.cell({"memory": "y"}, sessions(6, hits=2))
    for cell in made.cells:
        cell["name"] = "a-b"
    first, second = (f"a-b-{cell['id']}" for cell in made.cells)
    (found,) = compare([made.write(metrics=["R_rt"]), first, second], ["R_rt"])
    assert found.rows[0].found is not None
    assert found.rows[0].found.difference == 0.25
    with pytest.raises(UsageError, match="no cell 'a-b'"):
        compare([tmp_path, "a-b", second])
