"""The index of runs reads each run once, shows broken ones as such, and never waits long."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from simulator.runs.lock import Lock
from simulator.web import index_data
from simulator.web.index_data import Index, row_of
from tests.replays import SAID, play, record


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    play(record(folder / "day"), folder / "runs/scripted", SAID)
    play(folder / "day", folder / "runs/silent", "silent")
    return folder


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "runs", tmp_path / "runs"))


def _listed(runs: Path) -> list[tuple[str, Path, str]]:
    return [(path.name, path, path.name) for path in sorted(runs.iterdir())]


def test_a_row_holds_the_figures_of_the_scores(runs: Path) -> None:
    row, units = row_of(runs / "scripted")
    figures = row["figures"]
    assert figures["F1_rt"]["value"] == pytest.approx(2 / 7)
    assert figures["F1_rt"]["few"]
    assert figures["scheduled_latency@p50"]["value"] == 2000
    assert (row["n_units"], row["n_done"], row["errors"], row["latency_source"]) == (1, 1, 0, "modelled")
    assert row["memory"] == "none"
    assert units == (("day", "sam", "day", "60000000000"),)


def test_what_cannot_be_read_is_a_row_that_says_why(runs: Path) -> None:
    (runs / "scripted/run.json").write_text('{"schema": 99, "status": "done"}')
    (runs / "silent/scores.json").write_text("[1, 2")
    rows, unread = Index().rows(_listed(runs))
    assert unread == 0
    assert (rows[0]["status"], "reads schema 1" in rows[0]["why"]) == ("broken", True)
    assert (rows[1]["status"], rows[1]["figures"]) == ("done", {})
    assert "proact score" in rows[1]["why"]


def test_figures_of_a_harness_that_was_late_are_marked(runs: Path) -> None:
    file = runs / "silent/run.json"
    told = json.loads(file.read_text())
    told["units"]["day"]["audit"]["invalid"] = ["loop lag of 80 ms"]
    file.write_text(json.dumps(told))
    row, _ = row_of(runs / "silent")
    assert row["invalid"] == ["loop lag of 80 ms"]
    assert "harness" in row["why"]


def test_a_run_that_nobody_plays_any_more_was_killed(runs: Path) -> None:
    file = runs / "silent/run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"status": "running"}))
    index, listed = Index(), _listed(runs)[1:]
    assert index.rows(listed)[0][0]["status"] == "killed"
    lock = Lock(runs / "silent")
    assert index.rows(listed)[0][0]["status"] == "running"
    lock.release()


def test_what_a_killed_run_failed_at_is_not_known(runs: Path) -> None:
    file = runs / "silent/run.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps(told | {"status": "running", "units": {"day": {}}}))
    (runs / "silent/scores.json").unlink()
    row, _ = row_of(runs / "silent")
    assert (row["errors"], row["unparsed"]) == (None, None)


def test_a_row_says_what_was_played_and_no_model_where_none_is_named(runs: Path) -> None:
    file = runs / "silent/run.json"
    told = json.loads(file.read_text())
    told["resolved"]["day"]["model"] = {"model": None, "base_url": "http://127.0.0.1:1/v1"}
    told["given"] = {"scenarios": ["data/day/scenario.yaml", "/data/long/way/night"]}
    file.write_text(json.dumps(told))
    row, _ = row_of(runs / "silent")
    assert (row["model"], row["latency"]) == ("", "fixed:2s")
    assert row["data"] == ["data/day", "way/night"]


def test_a_run_is_read_again_only_when_a_file_of_it_changed(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    plain = index_data.row_of

    def counting(path: Path) -> Any:
        read.append(path.name)
        return plain(path)

    monkeypatch.setattr(index_data, "row_of", counting)
    index = Index()
    for _ in range(3):
        index.rows(_listed(runs))
    assert sorted(read) == ["scripted", "silent"]
    file = runs / "silent/scores.json"
    file.write_text(file.read_text() + "\n")
    index.rows(_listed(runs))
    assert (len(read), read[-1]) == (3, "silent")


def test_figures_go_when_what_they_were_made_of_changes(runs: Path) -> None:
    index, listed = Index(), _listed(runs)[:1]
    (before,), _ = index.rows(listed)
    log = runs / "scripted/units/day/decisions.jsonl"
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-3]))
    (after,), _ = index.rows(listed, since=before["v"])
    assert before["figures"]
    assert (after["figures"], "proact score" in after["why"]) == ({}, True)


def test_thousands_come_in_parts_and_none_is_lost(runs: Path) -> None:
    listed = [(str(n), runs / "silent" if n % 2 else runs / "scripted", f"run {n}") for n in range(50)]
    index = Index()
    rows, unread = index.rows(listed, budget_s=-1)
    assert (len(rows), unread) == (0, 2)  # folders
    rows, unread = index.rows(listed)
    assert (len(rows), unread) == (50, 0)
    assert len(index.rows(listed, budget_s=-1)[0]) == 50  # what was read once is there at once


def test_other_runs_of_a_session_are_found(runs: Path) -> None:
    index = Index()
    index.rows(_listed(runs))
    found = index.same_session(_listed(runs), runs / "silent", "day")
    assert [(one["id"], one["unit"], one["agent"]) for one in found][1] == ("silent", "day", "silent")
    assert len(found) == 2


def test_a_page_is_told_only_what_changed_since(runs: Path) -> None:
    index, listed = Index(), _listed(runs)
    rows, _ = index.rows(listed)
    newest = max(row["v"] for row in rows)
    assert index.rows(listed, since=newest) == ([], 0)
    file = runs / "silent/scores.json"
    file.write_text(file.read_text() + "\n")
    (changed,), _ = index.rows(listed, since=newest)
    assert (changed["name"], changed["v"] > newest) == ("silent", True)
    assert len(Index().rows(listed, since=newest)[0]) == 2  # a new server tells everything
