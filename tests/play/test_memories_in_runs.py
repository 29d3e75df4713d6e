"""Memories by their names in runs: the header, who is given the truth or others' pasts, how stats are told."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from simulator.cli.show import ScoreTable
from simulator.core.errors import UsageError
from simulator.play.player import Played, run
from simulator.play.scoring import score_folder
from simulator.report.page import make
from simulator.runs.runlog import read, read_header

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


EMPTY = """
class Empty:
    def observe(self, event): pass
    def recall(self, query, k, token_budget): return []
"""
ASKED = ("recalls", "empty_return", "short_return")


def played_with(memory: str, out: Path, **given: Any) -> Played:
    return run(SCENARIOS / "desktop", memory=memory, out=out, latency="fixed:10ms", clock="modelled", **given)


def end(played: Played) -> dict[str, Any]:
    return dict(read(next((played.folder / "units").glob("*/decisions.jsonl"))).end or {})


def shown(played: Played) -> str:
    assert played.scores is not None
    console = Console(width=100, file=io.StringIO())
    console.print(ScoreTable({"mine": played.scores}))
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_a_memory_that_is_always_empty_is_told_as_such_wherever_the_run_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(EMPTY)
    played = played_with(f"{tmp_path}/mine.py:Empty", tmp_path / "run")
    (told,) = stats(played.folder)
    n = told["recalls"]
    assert told == {"recalls": n, "empty_return": n, "short_return": 0}
    assert n > 5
    assert played.scores is not None
    assert [end(played)[name] for name in ASKED] == [played.scores["counts"][name] for name in ASKED] == [n, n, 0]
    assert f"mine: the memory recalled nothing in {n} of {n} recalls" in " ".join(shown(played).split())
    report = make([played.folder]).html
    assert f"the memory recalled nothing in {n} of {n} recalls" in report
    assert f'<tr><th scope="row">empty_return</th><td>{n}</td></tr>' in report


def test_a_memory_that_mostly_recalls_is_counted_and_not_remarked(tmp_path: Path) -> None:
    played = played_with("class-prior", tmp_path / "run")
    (told,) = stats(played.folder)
    assert (told["recalls"], told["empty_return"]) == (told["short_return"], 0), "one item of five"
    assert "recalled nothing" not in shown(played)


def test_where_no_memory_is_asked_nothing_is_counted(tmp_path: Path) -> None:
    none = played_with("none", tmp_path / "none")
    assert none.scores is not None
    assert {*ASKED} & ({*end(none)} | {*none.scores["counts"]} | {*stats(none.folder)[0]}) == set()
    silent = played_with("rag", tmp_path / "silent", agent="silent")
    assert [end(silent)[name] for name in ASKED] == [0, 0, 0]
    live = played_with("rag", tmp_path / "live")
    again = run(SCENARIOS / "desktop", memory="rag", out=tmp_path / "again", clock="journal", journal=live.folder)
    assert end(live)["recalls"] > 0
    assert [end(again)[name] for name in ASKED] == [end(live)[name] for name in ASKED], "its log is the same"
    other = run(SCENARIOS / "desktop", memory="rag", out=tmp_path / "other", clock="journal", journal=live.folder,
                policy="queue_all")  # fmt: skip
    assert {*ASKED} & {*end(other), *stats(other.folder)[0]} == set(), "no memory was asked"


def test_a_log_without_these_counts_is_scored_as_before(tmp_path: Path) -> None:
    played = played_with("rag", tmp_path / "run")
    log = next((played.folder / "units").glob("*/decisions.jsonl"))
    *lines, last = log.read_text("utf-8").splitlines()
    older = {k: v for k, v in json.loads(last).items() if k not in ASKED}
    log.write_text("\n".join([*lines, json.dumps(older)]) + "\n", "utf-8")
    told = json.loads((played.folder / "run.json").read_text("utf-8"))
    for unit in told["units"].values():
        unit["log_sha256"] = None
    (played.folder / "run.json").write_text(json.dumps(told), "utf-8")
    scores = score_folder(played.folder)
    assert played.scores is not None
    assert {*ASKED} & {*scores["counts"]} == set()
    assert scores["scores"] == played.scores["scores"]
