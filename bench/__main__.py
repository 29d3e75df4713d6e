"""``python -m bench [NAME…]``: measure the bounds of README.md, each repeat in a fresh process.

``python -m bench --once NAME`` is that process: it prints one JSON object of figures.
"""

from __future__ import annotations

import importlib
import json
import platform
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

REPEATS = 5
NAMES = {  # name: repeats (the long ones fewer)
    "kernel": REPEATS,
    "replay": REPEATS,
    "million": 2,
    "corpus": 2,
    "compare": 3,
    "charge": 3,
    "endpoint": 3,
    "rescore": 1,
    "commands": REPEATS,
    "wall": 1,
    "memories": 3,
    "personas": 1,
    "graph": 1,
    "embedders": 1,
    "still": 1,
    "setup": 1,
    "record": 1,
    "kills": 1,
    "generate": 3,
    "memory_scale": 1,
    "pgvector": 1,
    "sweep": 1,
    "sweep_summary": 1,
    "web": 1,
    "web_lag": 1,
}


def once(name: str) -> dict[str, float]:
    """One repeat of a bench, in this process."""
    figures: dict[str, float] = importlib.import_module(f"bench.{name}").measure()
    return figures


def repeated(name: str, n: int) -> list[dict[str, float]]:
    """A warm-up that is thrown away (not for single runs), then n repeats, each in a fresh process."""
    runs = []
    for i in range(n + (n > 1)):
        once_more = [sys.executable, "-m", "bench", "--once", name]  # what it says on stderr is for who waits
        made = subprocess.run(once_more, stdout=subprocess.PIPE, text=True, check=False)
        if made.returncode:
            sys.exit(f"{name} failed")
        if i or n == 1:
            runs.append(json.loads(made.stdout.splitlines()[-1]))
    return runs


def main(words: Sequence[str]) -> None:
    if words[:1] == ["--once"]:
        print(json.dumps(once(words[1])))
        return
    print(f"# {platform.machine()}, {_cpu()}, Python {platform.python_version()}, commit {_commit()}")
    print(f"{'figure':44} {'median':>12} {'worst':>12} {'best':>12}   n")
    for name in words or list(NAMES):
        if name not in NAMES:
            sys.exit(f"there is no bench '{name}'; known: {', '.join(NAMES)}")
        runs = repeated(name, NAMES[name])
        for figure in runs[0]:
            values = sorted(run[figure] for run in runs)
            worst, best = (values[0], values[-1]) if figure.endswith("per_s") else (values[-1], values[0])
            row = (statistics.median(values), worst, best)
            print(f"{name + '.' + figure:44} " + " ".join(f"{v:12,.4g}" for v in row) + f"   {len(values)}", flush=True)


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0]} x {len(models)}" if models else platform.processor()


def _commit() -> str:
    made = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return made.stdout.strip() or "unknown"


if __name__ == "__main__":
    main(sys.argv[1:])
