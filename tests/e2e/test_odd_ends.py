"""Runs that meet an agent that prints, one that will not end, a second run in the folder, hands in the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).resolve().parents[2]
DESKTOP = str(ROOT / "scenarios" / "desktop")
RULES = ("--memory", "none", "--clock", "modelled", "--latency", "fixed:0s", "--out", "run", "--json")
AGENTS = """
import asyncio, os
from simulator import SILENT, Decision, Offer

class Talker:
    inline = True
    async def decide(self, seen):
        print("thinking")
        os.write(1, b'{"event": "done"}\\n')
        return SILENT

class Undying:
    async def decide(self, seen):
        while True:
            try:
                await asyncio.sleep(0.01)
            except BaseException:
                continue

class Half:
    inline = True
    async def decide(self, seen):
        seen.meter.note("half \\ud800")
        return Decision((Offer("half \\ud800"),))
"""


@pytest.fixture
def agent(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(AGENTS)
    return "mine.py"


def test_an_agent_that_prints_does_not_enter_the_records(proact: Any, agent: str) -> None:
    done = proact("run", DESKTOP, "--agent", f"{agent}:Talker", *RULES)
    assert [r["event"] for r in done.records] == ["launch", "unit", "done"]
    assert "run" in done.records[-1]
    assert done.err.count("thinking") == 200


def test_an_agent_that_swallows_every_end_does_not_keep_the_command(proact: Any, agent: str) -> None:
    done = proact("run", DESKTOP, "--agent", f"{agent}:Undying", "--timeout", "50ms", *RULES[:2], *RULES[6:])
    assert done.code == 0
    assert done.records[-1]["event"] == "done"


def test_half_a_surrogate_pair_is_written_everywhere(proact: Any, agent: str, tmp_path: Path) -> None:
    done = proact("run", DESKTOP, "--agent", f"{agent}:Half", *RULES)
    assert done.code == 0
    assert json.loads((tmp_path / "run" / "scores.json").read_text())["notes"]["half \ud800"] == 200


def test_what_was_changed_by_hand_is_not_scored_and_is_played_anew(proact: Any, tmp_path: Path) -> None:
    words = ("run", DESKTOP, "--agent", "always", *RULES)
    assert proact(*words).code == 0
    log = tmp_path / "run" / "units" / "desktop" / "decisions.jsonl"
    whole, truth = log.read_bytes(), log.with_name("truth.json")
    for damage in (whole.replace(b'"seq":5,', b'"seq":5,"x":1,'), whole[:3000] + b"\0" * 300 + whole[3300:]):
        log.write_bytes(damage)
        said = proact("score", "run")
        assert said.code == 2
        assert said.err.count("\n") == 1
        assert proact(*words).code == 0
        assert log.read_bytes() == whole
    true = truth.read_bytes()
    truth.write_bytes(true.replace(b'"Translation"', b'"Summarization"'))
    assert proact("score", "run").code == 2
    assert proact(*words).code == 0
    assert truth.read_bytes() == true


def test_a_folder_that_is_being_played_into_is_refused(proact: Any, tmp_path: Path) -> None:
    from simulator.runs.lock import Lock

    words = ("run", DESKTOP, "--agent", "silent", *RULES)
    assert proact(*words).code == 0
    lock = Lock(tmp_path / "run")
    try:
        refused = proact(*words)
        assert refused.code == 2
        assert "another proact is playing into run" in refused.err
    finally:
        lock.release()
    assert proact(*words).code == 0


def test_a_place_that_cannot_be_written_is_one_sentence(proact: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = proact("run", DESKTOP, "--agent", "silent", "--memory", "none", "--out", "file/below")
    assert done.code == 2
    assert done.err.startswith("proact: ")
    assert "Traceback" not in done.err


@pytest.mark.parametrize("words", [("list", "metrics"), ("list", "metrics", "--json"), ("run", "--help"),
                                   ("dataset", "check", DESKTOP)])  # fmt: skip
def test_a_reader_of_stdout_that_goes_away_changes_no_exit_code(proact: Any, words: tuple[str, ...]) -> None:
    with proact.start(*words) as running:
        running.stdout.close()
        assert (running.wait(timeout=20), running.stderr.read()) == (0, "")


@pytest.mark.parametrize("json_", [(), ("--json",)])
def test_a_run_whose_reader_goes_away_comes_to_its_end(proact: Any, tmp_path: Path, json_: tuple[str, ...]) -> None:
    with proact.start("run", DESKTOP, "--agent", "silent", *RULES[:-1], *json_) as running:
        running.stdout.close()
        assert running.wait(timeout=20) == 0
    assert (tmp_path / "run" / "scores.json").exists()


def test_an_intention_that_is_not_in_use_is_named_once_with_those_that_are(proact: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from simulator import Decision, Offer\nclass Vague:\n    inline = True\n"
        "    async def decide(self, seen):\n        return Decision((Offer(f'Translat {seen.snapshot.index}'),))\n"
    )
    done = proact(
        "run", DESKTOP, DESKTOP + "/trajectory.yaml", "--protocol", "stream", "--agent", "mine.py:Vague", *RULES
    )
    assert done.code == 0
    told = [line for line in done.err.splitlines() if "unknown_intention)" in line]
    assert len(told) == 1
    assert told[0].startswith("the agent offers the intention 'Translat 0', which is not in use and never right")
    assert "did you mean 'Translation'? known: Advice/Consultation, " in told[0]
