"""Summing up a sweep of 100,000 units from stored scores: ``summary.json`` with all tables, one process.

100 cells (5 agents, 5 memories, 4 windows) of 5 seeds over 200 sessions. The scores are those of 48 units really played
(8 bundled sessions, 3 memories, 2 seeds), copied under other names: file sizes, parts and distributions are real ones.
The plan and the runs are written in the form of docs/sweeps.md; nothing is played beside it.
"""

from __future__ import annotations

import itertools
import json
import resource
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.timing.clock import real_ns

ROOT = Path(__file__).resolve().parents[1]
SCENARIOS = ("coding_error", "desktop", "document", "nothing", "shopping", "spreadsheet", "tab_search", "translation")
AXES = {"agent": 5, "memory": 5, "window": 4}
SEEDS, SESSIONS = 5, 200
Told = dict[str, Any]


def play(out: Path) -> list[tuple[Told, Told]]:
    """``run.json`` and ``scores.json`` of six runs."""
    found = []
    for memory, seed in itertools.product(("none", "rag", "graph"), (0, 1)):
        run = out / f"{memory}-{seed}"
        command = [sys.executable, "-m", "simulator.cli", "run", *(str(ROOT / "scenarios" / s) for s in SCENARIOS),
                   "--memory", memory, "--clock", "modelled", "--latency", "profile:2s", "--seed", str(seed), "--json",
                   "--out", str(run)]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)
        found.append((json.loads((run / "run.json").read_text()), json.loads((run / "scores.json").read_text())))
    return found


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


class Copies:
    """Writes runs made of copied units; the text of each unit is made once."""

    def __init__(self, played: list[tuple[Told, Told]]) -> None:
        self.heads = [(told, {k: v for k, v in scores.items() if k not in ("units", "made_of", "digest")})
                      for told, scores in played]  # fmt: skip
        self.headers = [list(told["resolved"].values()) for told, _ in played]
        self.results = [list(told["units"].values()) for told, _ in played]
        self.units = [[self._two(u) for u in scores["units"].values()] for _, scores in played]

    @staticmethod
    def _two(unit: Told) -> tuple[str, str]:
        return compact(unit), json.dumps(unit, indent=1)

    def write(self, folder: Path, cell: int, seed: int) -> None:
        folder.mkdir(parents=True)
        of = {f"s{k:04}": ((cell * 5 + seed + k * cell) % len(self.units), k % len(SCENARIOS)) for k in range(SESSIONS)}
        told, head = self.heads[cell % len(self.heads)]
        resolved = {
            key: {**self.headers[run][at], "recording": key, "person": key, "user": key, "seed": seed,
                  "dataset": f"{at}", "truth": f"{at}"}
            for key, (run, at) in of.items()
        }  # fmt: skip
        results = {key: self.results[run][at] for key, (run, at) in of.items()}
        made = {key: {"log": results[key]["log_sha256"]} for key in of}
        whole = {**told, "status": "done", "resolved": resolved, "units": results}
        (folder / "run.json").write_text(json.dumps(whole, indent=1))
        open_, close = compact(head)[:-1], f',"made_of":{compact(made)}' + "}"
        short = ",".join(f'"{key}":{self.units[run][at][0]}' for key, (run, at) in of.items())
        signed = sha256(f'{open_},"units":{{{short}}}{close}'.encode()).hexdigest()
        long = ",\n".join(f'"{key}": {self.units[run][at][1]}' for key, (run, at) in of.items())
        text = f'{open_},\n"units": {{{long}}}\n,"made_of": {json.dumps(made, indent=1)},"digest":"{signed}"}}'
        (folder / "scores.json").write_text(text)


def sweep(folder: Path, played: list[tuple[Told, Told]]) -> int:
    """A sweep's folder; how many megabytes its scores are."""
    copies, cells = Copies(played), []
    values = {name: [f"{name}{i}" for i in range(n)] for name, n in AXES.items()}
    for n, chosen in enumerate(itertools.product(*values.values())):
        runs = []
        for seed in range(SEEDS):
            copies.write(folder / "runs" / f"c{n:03}-s{seed}", n, seed)
            runs.append({"run": f"c{n:03}-s{seed}", "seed": seed, "keys": [f"s{k:04}" for k in range(SESSIONS)]})
        cells.append({"id": f"{n:010}", "name": "_".join(chosen), "values": dict(zip(values, chosen, strict=True)),
                      "data": "sessions", "runs": runs})  # fmt: skip
    plan = {"schema": 1, "identity": "made", "study": {"name": "made", "preset": None}, "cells": cells,
            "axes": [{"name": name, "values": v} for name, v in values.items()]}  # fmt: skip
    (folder / "sweep.json").write_text(json.dumps(plan))
    return sum(f.stat().st_size for f in folder.glob("runs/*/scores.json")) // 2**20


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = sweep(folder / "sweep", play(folder / "played"))
        code = f"from simulator.sweep.summary import summarise; summarise({str(folder / 'sweep')!r})"
        begun = real_ns()
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
        seconds = (real_ns() - begun) / 1e9
        summary = json.loads((folder / "sweep" / "summary.json").read_text())
        units = sum(cell["units"]["done"] for cell in summary["cells"])
        assert units == SESSIONS * SEEDS * 100, units
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"units": units, "scores_mb": size, "seconds": seconds, "peak_mb": peak, "effects": len(summary["effects"])}
