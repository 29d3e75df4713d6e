"""``proact run`` from the outside: exit codes, pure JSON, protocols, journals, twins, reproducibility."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]
DESKTOP = ROOT / "scenarios" / "desktop"
FAILS = '''
class Fails:
    async def decide(self, observation):
        raise ValueError("no")


class NeverOpens:
    async def open(self, setup):
        raise ValueError("not today")

    async def decide(self, observation):
        raise AssertionError


class Slow:
    """Blocks the processor for some ms, so that measured charges are more than nothing."""

    async def decide(self, observation):
        from simulator import SILENT, Decision, Offer

        sum(range(20_000))
        index = observation.snapshot.index
        return Decision((Offer("Translation", "text", 0.5),)) if index % 20 == 0 else SILENT
'''


@pytest.fixture
def agents(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FAILS, encoding="utf-8")


def test_json_is_pure_and_ends_with_done(proact: Any, scenario: Path, tmp_path: Path) -> None:
    done = proact("run", scenario, "--agent", "oracle", "--memory", "none", "--out", "o", "--json")
    assert done.code == 0
    events = [r["event"] for r in done.records]
    assert events == ["launch", "unit", "done"]
    last = done.records[-1]
    assert list(last)[:3] == ["event", "run", "scores"]
    assert last["run"] == "o"
    scores = json.loads((tmp_path / "o" / "scores.json").read_text())["scores"]
    assert last["scores"] == scores
    assert "F1_rt" in done.err  # people's table goes to stderr


def test_scores_use_the_names_of_the_metrics(proact: Any, scenario: Path, tmp_path: Path) -> None:
    assert proact("run", scenario, "--agent", "oracle", "--memory", "none", "--out", "o").code == 0
    from scorers.base import catalogue

    found = json.loads((tmp_path / "o" / "scores.json").read_text())
    known = {metric.name: scorer for scorer, metric in catalogue()}
    assert set(found["scores"]) <= set(known)
    assert {"F1_rt", "F1_rt@timing", "timely_utility", "unwanted_per_hour", "deadline_attainment@5", "lead_s"} <= set(
        found["scores"]
    )
    assert found["scores"]["F1_rt"] == 1
    assert found["details"].keys() == found["scores"].keys()


def test_without_a_terminal_there_is_no_progress_and_no_colour(proact: Any, scenario: Path) -> None:
    done = proact("run", scenario, "--agent", "silent", "--memory", "none", "--out", "o")
    assert done.err == ""
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_several_memories_are_several_runs(proact: Any, scenario: Path, tmp_path: Path) -> None:
    done = proact("run", scenario, "--agent", "prior", "--memory", "window,none", "--out", "o", "--json")
    assert done.code == 0
    last = done.records[-1]
    assert last["run"] == "o"
    assert list(last["scores"]) == list(last["runs"]) == ["window", "none"]
    assert [r["event"] for r in done.records] == ["launch", "unit", "launch", "unit", "done"]
    for folder in last["runs"].values():
        assert (tmp_path / folder / "scores.json").exists()


def test_a_wrong_word_among_several_memories_is_told_before_anything_is_played(
    proact: Any, scenario: Path, tmp_path: Path
) -> None:
    done = proact("run", scenario, "--memory", "rag,grph", "--out", "o")
    assert done.code == 2
    assert done.err.startswith("proact: unknown memory 'grph'; did you mean 'graph'? known: class-prior, ")
    assert done.err.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_a_twin_gives_f1_instant(proact: Any, scenario: Path) -> None:
    words = ("run", scenario, "--agent", "oracle", "--memory", "none", "--clock", "modelled", "--latency", "fixed:12s")
    alone = proact(*words, "--out", "o", "--json")
    assert alone.records[-1]["scores"]["F1_instant"] is None
    both = proact(*words, "--out", "o", "--twin", "--json")
    scores = both.records[-1]["scores"]
    assert (scores["F1_instant"], scores["F1_rt"], both.records[0]["to_play"]) == (1, 0, 0)
    assert [r["event"] for r in proact(*words, "--out", "o", "--twin", "--json").records] == ["launch", "done"]


@pytest.mark.parametrize(("protocol", "metric"), [("moments", "accuracy"), ("trajectory", "S_final")])
def test_the_other_protocols_play_the_session_that_comes_along(proact: Any, protocol: str, metric: str) -> None:
    what = DESKTOP / "trajectory.yaml" if protocol == "trajectory" else DESKTOP
    done = proact("run", what, "--agent", "oracle", "--memory", "none", "--protocol", protocol, "--out", "o", "--json")
    assert done.code == 0, done.err
    assert done.records[-1]["scores"][metric] > 0.9
    assert ("to compare with" in done.err) == (protocol == "moments")


def test_a_run_in_which_nothing_can_be_scored_says_so_before_it_plays(proact: Any, scenario: Path) -> None:
    done = proact("run", scenario, "--agent", "silent", "--memory", "none", "--protocol", "trajectory", "--out", "o")
    assert done.code == 0, done.err
    told = done.err.index("no session states intents, so protocol trajectory gives latency only")
    assert "trajectory.yaml" in done.err[told:]


def test_a_journal_gives_the_same_log_but_for_the_clock(
    proact: Any, scenario: Path, tmp_path: Path, agents: None
) -> None:
    words = ("run", scenario, "--agent", "mine.py:Slow", "--memory", "none")
    assert proact(*words, "--out", "real").code == 0
    again = proact(*words, "--clock", "journal", "--journal", "real", "--out", "again")
    assert again.code == 0, again.err
    first, second = (
        (tmp_path / run / "units" / "s" / "decisions.jsonl").read_text().splitlines() for run in ("real", "again")
    )
    assert first[1:] == second[1:]
    differing = {k for k, v in json.loads(first[0]).items() if json.loads(second[0])[k] != v}
    assert differing == {"clock", "latency_source"}
    strange = proact("run", scenario, "--agent", "silent", "--clock", "journal", "--journal", "real", "--out", "x")
    assert strange.code == 2
    assert "this journal is of another run: its agent is 'mine.py:Slow', here it is 'silent'" in strange.err


def test_modelled_runs_are_the_same_to_the_byte_in_other_processes(proact: Any, tmp_path: Path) -> None:
    words = ("run", DESKTOP, "--agent", "prior", "--memory", "graph", "--clock", "modelled", "--latency", "profile:2s")
    logs = []
    for hash_seed in ("1", "4242"):
        assert proact(*words, "--out", f"o{hash_seed}", PYTHONHASHSEED=hash_seed).code == 0
        logs.append((tmp_path / f"o{hash_seed}" / "units" / "desktop" / "decisions.jsonl").read_bytes())
    assert logs[0] == logs[1]
    assert b'"kind":"offer"' in logs[0]


def test_an_agent_that_fails_at_every_snapshot_is_a_finished_run(proact: Any, scenario: Path, agents: None) -> None:
    done = proact("run", scenario, "--agent", "mine.py:Fails", "--memory", "none", "--out", "o", "--json")
    assert done.code == 0
    assert done.records[1]["tally"]["errors"] == 60
    assert "Traceback" not in done.err


def test_an_agent_that_cannot_be_opened_leaves_units_that_erred(
    proact: Any, make_session: Callable[..., Path], tmp_path: Path, agents: None
) -> None:
    make_session(tmp_path / "s", 10)
    done = proact("run", "s", "--agent", "mine.py:NeverOpens", "--memory", "none", "--out", "o", "--json")
    assert done.code == 3
    assert "unit s: not played, the agent's open failed before time 0" in done.err
    assert "not today" in done.err
    assert "Traceback" not in done.err


def test_one_bad_session_among_several_costs_only_itself(
    proact: Any, make_session: Callable[..., Path], tmp_path: Path
) -> None:
    make_session(tmp_path / "many" / "good", 10)
    bad = make_session(tmp_path / "many" / "bad", 10)
    import sqlite3

    with sqlite3.connect(bad / "session.db") as db:
        db.execute("UPDATE screenshots SET captured_ns = 1 WHERE tick = 5")
    db.close()
    words = ("run", "many", "--agent", "silent", "--memory", "none", "--out", "o", "--json")
    done = proact(*words)
    assert done.code == 3
    assert [bool(r["error"]) for r in done.records if r["event"] == "unit"] == [True, False]
    assert "screenshots row 6, captured_ns: '1': time runs backwards here" in done.err
    assert proact(*words).code == 3  # it is tried again, and is as bad as before


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("rnu",), 'Unknown command "rnu". Did you mean "run"?'),
        (("run",), "requires an argument"),
        (("run", "nowhere"), "nowhere: there is no such file or folder"),
        (("run", "S", "--agnet", "silent"), "Unknown option: --agnet. Did you mean --agent?"),
        (("run", "S", "--agent", "silnt"), "unknown agent 'silnt'; did you mean 'silent'?"),
        (("run", "S", "--agent", "mine.py:Nobody"), "there is no file 'mine.py'"),
        (("run", "S", "--clock", "modeled"), "clock 'modeled' is unknown; did you mean 'modelled'?"),
        (("run", "S", "--clock", "modelled"), "clock modelled needs a latency model"),
        (("run", "S", "--latency", "fixed:1s"), "--latency goes with --clock modelled"),
        (("run", "S", "--clock", "modelled", "--latency", "fixed:1"), "'1' is not a duration"),
        (("run", "S", "--policy", "overlap:4"), "clock measured cannot play policy overlap:4"),
        (("run", "S", "--gate", "of"), "unknown gate 'of'; did you mean 'off'?"),
        (("run", "S", "--protocol", "moment"), "did you mean 'moments'?"),
        (("run", "S", "--window", "5"), "--window: '5' is not a duration"),
        (("score", "S"), "not a run folder: it has no run.json"),
        (("list", "agentz"), "nothing is listed under 'agentz'; did you mean 'agents'?"),
        (("dataset", "chekc", "S"), 'Did you mean "check"?'),
        (("dataset", "import", "S", "o"), "a session of proact already"),
    ],
)
def test_a_wrong_word_is_one_sentence_and_exit_code_2(
    tmp_path: Path,
    make_session: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    sentence: str,
) -> None:
    from simulator.cli import _call

    make_session(tmp_path / "S", 5)
    monkeypatch.chdir(tmp_path)
    assert _call(list(words)) == 2  # in this process: what main() does but leave it
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.startswith("proact: ")
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not (tmp_path / "runs").exists()
