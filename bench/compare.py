"""Compare two runs of 200 sessions, B = 10,000, by the command; the runs are really played (10 min a session, four
needs each, latencies of a distribution, so that histograms are as wide as they get).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.make_session import make
from simulator.core.intentions import INTENTIONS
from simulator.core.rng import below
from simulator.timing.clock import real_ns

SESSIONS, ROWS, NEEDS = 200, 600, 4


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = prepare(folder)
        command = [sys.executable, "-m", "simulator.cli", "compare", *map(str, runs), "--json"]
        begun = real_ns()
        made = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds = (real_ns() - begun) / 1e9
        assert json.loads(made.stdout.splitlines()[-1])["event"] == "done"
        size = (runs[0] / "scores.json").stat().st_size
    return {"seconds": seconds, "scores_mb": size / 2**20}


def prepare(folder: Path, sessions: int = SESSIONS) -> list[Path]:
    """A corpus and two runs over it."""
    for i in range(sessions):
        where = folder / "corpus" / f"s{i:03}"
        make(where / f"s{i:03}", ROWS, i, user="user")
        (where / "scenario.yaml").write_text(scenario(i), encoding="utf-8")
    runs = []
    for name, agent, latency in (
        ("first", "random:rate=0.01", "profile:2s"),
        ("second", "random:rate=0.02", "profile:5s"),
    ):
        runs.append(folder / name)
        subprocess.run(
            [sys.executable, "-m", "simulator.cli", "run", str(folder / "corpus"), "--agent", agent, "--memory", "none",
             "--clock", "modelled", "--latency", latency, "--out", str(runs[-1])],
            capture_output=True, check=True,
        )  # fmt: skip
    return runs


def scenario(seed: int) -> str:
    """A scenario with needs in it; every fifth session has none."""
    lines = [f"session: s{seed:03}", f"name: s{seed:03}", "truth:", "  opportunities:"]
    for n in range(NEEDS if seed % 5 else 0):
        opens = 20 + 140 * n + below(60, seed, "opens", n)
        closes = opens + 10 + below(30, seed, "length", n)
        intention = list(INTENTIONS)[below(4, seed, "intention", n)]
        lines.append(
            f"    - {{id: n{n}, opens_s: {opens}, closes_s: {closes}, acted_s: {closes}, intention: '{intention}'}}"
        )
    return "\n".join(lines if seed % 5 else [*lines[:-1], "  opportunities: []"]) + "\n"


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
