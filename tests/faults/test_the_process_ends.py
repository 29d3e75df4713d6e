"""Whatever an agent leaves running, the command ends, with its scores and its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
AGENT = """
import asyncio, threading, time
from simulator import SILENT


def sleeps():
    time.sleep(60)


def spins():
    while True:
        time.sleep(0)


class Leaves:
    def __init__(self, what="thread"):
        self.what = what

    async def decide(self, observation):
        if observation.snapshot.index == 5:
            if self.what == "thread":
                threading.Thread(target=sleeps).start()
            elif self.what == "daemon":
                threading.Thread(target=spins, daemon=True).start()
            elif self.what == "executor":
                asyncio.get_running_loop().run_in_executor(None, sleeps)
            elif self.what == "task":
                self.task = asyncio.ensure_future(asyncio.sleep(60))
            elif self.what == "blocked":
                time.sleep(60)
            elif self.what == "exit":
                raise SystemExit(7)
        return SILENT
"""


@pytest.mark.e2e
@pytest.mark.parametrize("what", ["thread", "daemon", "executor", "task", "blocked", "exit"])
def test_the_command_ends_though_an_agent_does_not(what: str, tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text(AGENT)
    words = ["run", str(ROOT / "scenarios" / "desktop"), "--agent", f"{tmp_path}/leaves.py:Leaves:what={what}",
             "--memory", "none", "--timeout", "200ms", "--out", str(tmp_path / "out"), "--json"]  # fmt: skip
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "simulator.cli", *words], env=env, capture_output=True, text=True,
                          timeout=20, check=False, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["event"] == "done"
    errors = json.loads((tmp_path / "out" / "run.json").read_text())["units"]
    (unit,) = errors.values()
    expected = {"task": 1, "blocked": 195, "exit": 1}.get(what, 0)
    assert unit["tally"]["errors"] == expected
    assert unit["lost"] is (what == "blocked")
