"""A run that was stopped in any way is finished by the same command, to the same bytes."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.core.types import MS
from simulator.timing.clock import rest

pytestmark = pytest.mark.e2e

MODELLED = ("--memory", "none", "--clock", "modelled", "--latency", "fixed:350ms")


def _log(run: Path, unit: str = "s") -> Path:
    return run / "units" / unit / "decisions.jsonl"


def test_the_same_command_again_does_nothing(proact: Any, scenario: Path, tmp_path: Path) -> None:
    words = ("run", scenario, "--agent", "silent", *MODELLED, "--out", "out")
    assert proact(*words).code == 0
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in (tmp_path / "out").rglob("*") if p.is_file()}
    again = proact(*words, "--json")
    assert again.code == 0
    assert {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in (tmp_path / "out").rglob("*") if p.is_file()} == before
    assert [r["event"] for r in again.records] == ["launch", "done"]
    assert again.records[0]["to_play"] == 0
    assert again.records[-1]["scores"]["R_rt"] == 0


def test_without_out_the_same_command_finds_its_folder(proact: Any, scenario: Path, tmp_path: Path) -> None:
    words = ("run", scenario, "--agent", "silent", *MODELLED)
    assert (proact(*words).code, proact(*words).code) == (0, 0)
    assert len(list((tmp_path / "runs").iterdir())) == 1


@pytest.mark.parametrize("keep", [0, 40, -5, -200], ids=["empty", "half a header", "no end", "half a record"])
def test_a_torn_log_is_played_again_to_the_same_bytes(
    proact: Any, scenario: Path, tmp_path: Path, bent: str, keep: int
) -> None:
    words = ("run", scenario, "--agent", bent, *MODELLED, "--out", "out")
    assert proact(*words).code == 0
    log = _log(tmp_path / "out")
    whole = log.read_bytes()
    log.write_bytes(whole[:keep])
    assert proact("score", "out").code == (2 if keep in (0, 40) else 0)  # what there is of it can be scored
    again = proact(*words, "--json")
    assert (again.code, again.records[0]["to_play"]) == (0, 1)
    assert log.read_bytes() == whole


def test_a_killed_run_is_finished_by_the_same_command(proact: Any, scenario: Path, tmp_path: Path, bent: str) -> None:
    words = ("run", scenario, "--agent", bent, *MODELLED)
    assert proact(*words, "--out", "whole").code == 0
    assert proact(*words, "--out", "killed", BENT="SIGKILL").code == -signal.SIGKILL
    assert not (tmp_path / "killed" / "scores.json").exists()
    assert proact(*words, "--out", "killed").code == 0
    assert _log(tmp_path / "killed").read_bytes() == _log(tmp_path / "whole").read_bytes()


def test_interrupted_it_saves_and_prints_the_command_that_goes_on(
    proact: Any, scenario: Path, tmp_path: Path, bent: str
) -> None:
    words = ("run", scenario, "--agent", bent, *MODELLED, "--out", "my out")
    stopped = proact(*words, "--json", BENT="SIGINT")
    assert stopped.code == 130
    assert [r["event"] for r in stopped.records] == ["launch", "interrupted"]
    assert "Traceback" not in stopped.err
    command = stopped.err.strip().splitlines()[-1].partition("To go on: ")[2]
    assert command == f"proact run {scenario} --agent {bent} {' '.join(MODELLED)} --out 'my out' --json"
    assert b'"kind":"end"' not in _log(tmp_path / "my out").read_bytes()
    assert proact("score", "my out").code == 0
    assert proact(*words).code == 0
    assert proact(*words[:-1], "whole").code == 0
    assert _log(tmp_path / "my out").read_bytes() == _log(tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
def test_ctrl_c_stops_a_run_in_wall_time_at_once(
    proact: Any, make_session: Callable[..., Path], tmp_path: Path, number: signal.Signals
) -> None:
    make_session(tmp_path / "s", 600)
    running = proact.start(
        "run", "s", "--agent", "silent", "--memory", "none", "--clock", "wall", "--out", "o", "--json"
    )
    assert '"launch"' in running.stdout.readline()
    running.send_signal(number)
    out, err = running.communicate(timeout=10)
    assert running.returncode == 130
    assert "done" not in out
    assert "To go on: proact run s" in err


SLOW = '''"""An agent that takes long."""

import asyncio
from pathlib import Path

from simulator.timing.meter import charging


class Slow:
    """Its first decision takes an hour, and leaves a file when it begins."""

    async def decide(self, observation):
        """Nothing, in an hour."""
        with charging.get().stage("model"):
            Path("asked").touch()
            await asyncio.sleep(3600)
'''


def test_during_a_long_decision_ctrl_c_is_answered_at_once_and_once_more_ends_it(
    proact: Any, scenario: Path, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    running = proact.start("run", scenario, "--agent", "slow.py:Slow", "--memory", "none", "--out", "o", "--json")
    assert '"launch"' in running.stdout.readline()
    while not (tmp_path / "asked").exists():
        rest(20 * MS)
    running.send_signal(signal.SIGINT)
    assert running.stderr.readline() == "interrupted; waiting for the decision in flight; once more ends it\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=10)
    assert running.returncode == 130
    assert '"interrupted"' in out
    assert err.startswith("interrupted; finished units are kept, the one that ran starts anew. To go on: proact run ")
    assert len(err.splitlines()) == 1


def test_only_what_is_missing_is_played(proact: Any, make_session: Callable[..., Path], tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_session(tmp_path / "many" / name)
    words = ("run", "many", "--agent", "silent", *MODELLED, "--out", "out", "--json")
    keys = [r["key"] for r in proact(*words).records if r["event"] == "unit"]
    assert len(keys) == 2
    _log(tmp_path / "out", keys[1]).unlink()
    assert [r["key"] for r in proact(*words).records if r["event"] == "unit"] == keys[1:]


def test_a_folder_that_holds_another_run_is_left_alone(proact: Any, scenario: Path, tmp_path: Path) -> None:
    words = ("run", scenario, "--agent", "silent", *MODELLED, "--out", "out")
    assert proact(*words).code == 0
    before = {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    other = proact(*words, "--seed", 7)
    assert other.code == 2
    assert other.err == "proact: out holds another run (s: seed is '0' there and '7' here); choose another --out\n"
    assert {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()} == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    strange = proact(*words[:-1], "mine")
    assert (strange.code, strange.err) == (2, "proact: mine is not empty and holds no run; choose another --out\n")
