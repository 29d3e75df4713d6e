"""What a sweep keeps of a user goes with them: units, the plan's names, the table of decisions, data made for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.core.types import SECOND
from simulator.play.scoring import score_folder
from simulator.privacy.forget import Plan, plan
from simulator.privacy.items import Item
from simulator.privacy.span import Span
from simulator.sweep.place import locked
from simulator.sweep.reading import read
from simulator.sweep.summary import summarise
from simulator.sweep.sweeping import Asked, sweep
from tests.privacy.study import START, WORD, Home, make

QUOTING = """
from simulator.core.types import Decision, Offer


class Quoting:
    inline = True

    async def decide(self, seen):
        snapshot = seen.snapshot
        said = Offer("Translation", f"you look at {snapshot.title}")
        return Decision((said,) if snapshot.index % 7 == 3 else ())
"""
ALL = Span()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = make(tmp_path)
    (tmp_path / "quoting.py").write_text(QUOTING, encoding="utf-8")
    study = {
        "name": "quotes", "sessions": [str(made.session), str(made.other)],
        "axes": {"agent": ["silent", f"{tmp_path}/quoting.py:Quoting"], "memory": "none", "latency": "fixed:1s"},
    }  # fmt: skip
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    swept = sweep(tmp_path / "study.yaml", Asked(out=tmp_path / "out"), engine="inline")
    assert swept.code == 0
    pytest.importorskip("pyarrow")
    from simulator.sweep.parquet import export

    export(tmp_path / "out")
    return made


def _forget(home: Home, span: Span = ALL) -> tuple[Plan, list[Any]]:
    found = plan("sam", [home.root], span)
    return found, found.carry_out()


def _kinds(items: list[Item]) -> list[str]:
    return [item.kind for item in items]


def test_nothing_of_the_user_is_left_in_a_sweep_and_its_numbers_are(home: Home) -> None:
    out = home.root / "out"
    before = {run.name: score_folder(run, save=False)["counts"] for run in (out / "runs").iterdir()}
    assert (out / "decisions.parquet").is_file()
    assert home.files_with(WORD)
    found, left = _forget(home)
    assert _kinds(found.items).count("run") == 2
    assert _kinds(found.items).count("sweep") == 1
    assert not (out / "decisions.parquet").exists()
    words = [WORD, "sam", "monday"]
    assert not [file for word in words for file in home.files_with(word, alone=True) if file.startswith("out/")]
    assert not [one for one in left if "out" in one.path.parts]
    after = {run.name: score_folder(run)["counts"] for run in (out / "runs").iterdir()}
    assert {name: c["decisions"] for name, c in after.items()} == {name: c["decisions"] for name, c in before.items()}


def test_the_sweep_can_be_summarised_as_before(home: Home) -> None:
    out = home.root / "out"
    before = [[cell.planned, cell.erred, cell.missing, len(cell.units)] for cell in read(out).cells]
    _forget(home)
    for run in (out / "runs").iterdir():
        score_folder(run)
    assert [[cell.planned, cell.erred, cell.missing, len(cell.units)] for cell in read(out).cells] == before
    summarise(out)
    assert len(json.loads((out / "sweep.json").read_text())["data"]["sessions"]["sessions"]) == 2


def test_a_second_call_finds_nothing_more_in_it(home: Home) -> None:
    _forget(home)
    again, _ = _forget(home)
    assert not again.items


def test_with_a_stretch_its_words_go_and_names_stay(home: Home) -> None:
    out = home.root / "out"
    unit = next((out / "runs").glob("*Quoting*/units/monday"))
    found, _ = _forget(home, Span(START + 8 * SECOND, START + 12 * SECOND))
    assert "sweep" in _kinds(found.items)
    assert not (out / "decisions.parquet").exists()
    assert unit.is_dir()
    log = (unit / "decisions.jsonl").read_text()
    assert f"{WORD} title of 0" in log  # what was said before the stretch stays
    assert f"{WORD} title of 2" not in log
    told = json.loads((unit / "unit.json").read_text())
    run = json.loads((unit.parents[1] / "run.json").read_text())
    assert told["log_sha256"] == run["units"]["monday"]["log_sha256"]
    assert score_folder(unit.parents[1])["counts"]["decisions"] > 0


def test_a_sweep_that_is_being_played_is_left_and_told(home: Home) -> None:
    lock = locked(home.root / "out")
    try:
        found, left = _forget(home)
    finally:
        lock.release()
    assert not [item for item in found.items if item.kind in ("run", "sweep", "session")]
    assert [one for one in left if one.path == home.root / "out" and "being played" in one.why]
    assert (home.root / "out" / "decisions.parquet").is_file()


def test_data_made_for_a_sweep_are_found_as_sessions(home: Home) -> None:
    made = home.root / "out" / "made-up" / "noise-0123456789" / "monday"
    made.parent.mkdir(parents=True)
    home.session.rename(made)
    found, _ = _forget(home)
    assert made in [item.path for item in found.items if item.kind == "session"]
    assert not made.exists()
