"""Memories by their names in runs: the header, who is given the truth or others' pasts, how stats are told."""

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import UsageError
from simulator.play.player import run
from simulator.runs.runlog import read_header

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def header(run_: Path) -> dict[str, Any]:
    return dict(read_header(next((run_ / "units").glob("*/decisions.jsonl"))))


def stats(run_: Path) -> list[dict[str, Any]]:
    units = json.loads((run_ / "run.json").read_text("utf-8"))["units"]
    return [unit["memory_stats"] for unit in units.values()]


def test_a_run_names_a_combination_canonically_and_tells_stats_part_by_part(tmp_path: Path) -> None:
    played = run(SCENARIOS / "desktop", memory="kg:scope=backoff+rag", out=tmp_path / "run", latency="fixed:10ms",
                 clock="modelled")  # fmt: skip
    assert header(played.folder)["memory"] == "graph:scope=backoff+rag"
    (told,) = stats(played.folder)
    assert told["graph:scope=backoff.events"] == told["rag.events"] > 0
    assert {"recalls", "rag.recalls", "over_budget"} <= set(told)


def test_a_run_with_the_oracle_memory_says_that_the_truth_was_given(tmp_path: Path) -> None:
    for memory, given in (("oracle", True), ("rag+oracle", True), ("rag", False)):
        played = run(
            SCENARIOS / "desktop", memory=memory, out=tmp_path / memory, latency="fixed:10ms", clock="modelled"
        )
        assert header(played.folder)["sees_truth"] is given
        assert played.scores is not None
        assert played.scores["sees_truth"] is given


def test_shuffled_user_is_given_the_pasts_of_the_runs_other_users(tmp_path: Path) -> None:
    played = run([SCENARIOS / "document", SCENARIOS / "translation"], memory="shuffled-user:of=graph",
                 out=tmp_path / "run", latency="fixed:10ms", clock="modelled")  # fmt: skip
    for told in stats(played.folder):
        assert told["events"] > 300
        assert told["without_other_user"] < told["recalls"]


def test_without_another_user_there_is_no_shuffling(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nobody but 'sam' is in this run"):
        run(SCENARIOS / "desktop", memory="shuffled-user", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
