"""A run folder is scored from what it holds, and says what it does not hold any more."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import _call
from simulator.core.errors import InputError
from simulator.play.scoring import open_folder, score_folder
from simulator.runs.folder import RunFolder, read_run, write_json
from simulator.runs.unit import LOG
from tests.worlds import names, plan, play, screen


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of three units, scored."""
    folder = RunFolder(tmp_path / "r", [plan(screen("aab", session=f"s{i}"), names, key=f"u{i}") for i in range(3)], {})
    for unit in folder.open():
        folder.done(play(unit, folder.unit(unit.key)).result)
    folder.close("done")
    score_folder(folder.path)
    return folder.path


def _cut(log: Path) -> None:
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))


HARM: dict[str, Callable[[Path], object]] = {
    "log gone": lambda unit: (unit / LOG).unlink(),
    "folder gone": shutil.rmtree,
    "log emptied": lambda unit: (unit / LOG).write_bytes(b""),
    "log cut": lambda unit: _cut(unit / LOG),
}


@pytest.mark.parametrize("harm", HARM)
def test_what_is_lost_is_told_and_the_rest_is_not_saved_as_the_run(harm: str, run: Path, capsys: Any) -> None:
    before = (run / "scores.json").read_bytes()
    HARM[harm](run / "units" / "u1")
    assert _call(["score", str(run)]) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert "of 1 unit of this run (such as 'u1') the log is gone or was cut since it was played" in said
    assert "not saved" in said
    assert (run / "scores.json").read_bytes() == before
    scores = score_folder(run)
    assert (run / "scores.json").read_bytes() == before
    assert scores["lost"] == ["u1"]
    assert scores["counts"]["missing"] == (harm != "log cut")
    assert scores["counts"]["interrupted"] == (harm == "log cut")
    assert _call(["explain", str(run)]) == 0
    assert "'u1'" in "".join(capsys.readouterr())


def test_where_every_log_is_gone_it_says_so(run: Path) -> None:
    shutil.rmtree(run / "units")
    with pytest.raises(InputError, match="the logs of its units are gone; the command that played the run"):
        score_folder(run)


def test_units_that_have_not_begun_are_counted_and_nothing_is_lost(run: Path) -> None:
    (run / "units" / "u2" / LOG).unlink()
    told = read_run(run)
    told["units"]["u2"] = {}
    write_json(run / "run.json", told | {"status": "interrupted"})
    assert open_folder(run).missing == ("u2",)
    assert open_folder(run).lost == ()
    assert json.loads((run / "scores.json").read_text())["counts"]["missing"] == 0
    score_folder(run)
    saved = json.loads((run / "scores.json").read_text())
    assert saved["counts"]["missing"] == 1
    assert saved["lost"] == []


def test_a_unit_that_is_being_played_anew_is_not_lost(run: Path) -> None:
    _cut(run / "units" / "u1" / LOG)
    write_json(run / "run.json", read_run(run) | {"status": "running"})
    assert open_folder(run).lost == ()
