"""A corpus of 500 hours (100 sessions of 5 hours, 1.8 million snapshots) by the command, scoring included."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.make_session import make
from simulator.timing.clock import real_ns

SESSIONS, ROWS = 100, 18_000


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i in range(SESSIONS):
            make(folder / "corpus" / f"s{i:03}", ROWS, i)
        command = [sys.executable, "-m", "simulator.cli", "run", str(folder / "corpus"), "--agent", "silent",
                   "--memory", "none", "--clock", "modelled", "--latency", "fixed:350ms", "--json",
                   "--out", str(folder / "run")]  # fmt: skip
        begun = real_ns()
        made = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds = (real_ns() - begun) / 1e9
        assert json.loads(made.stdout.splitlines()[-1])["event"] == "done"
        runs = json.loads((folder / "run" / "scores.json").read_text())
        assert runs["counts"]["decisions"] == SESSIONS * ROWS
    return {"seconds": seconds, "snapshots_per_s": SESSIONS * ROWS / seconds}
