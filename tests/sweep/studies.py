"""A small real study, played without its summary, and what of its folder is the same whoever plays it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from simulator.endpoint.types import ModelChoice
from simulator.sweep import sweeping
from simulator.sweep.sweeping import Asked, Watcher
from simulator.sweep.types import Engine, Stop

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = [ROOT / "scenarios" / name for name in ("coding_error", "shopping")]
FILE = """
name: engines
sessions: [{sessions}]
axes: {{agent: [{agents}], memory: [none, rag], clock: modelled, latency: "fixed:1s"}}
"""


def study(folder: Path, *, scenarios: Sequence[Path] = SCENARIOS, agents: str = "prior") -> Path:
    """Its file."""
    file = folder / "study.yaml"
    file.write_text(FILE.format(sessions=", ".join(map(str, scenarios)), agents=agents))
    return file


def play(file: Path, out: Path, engine: Engine, model: ModelChoice | None = None) -> dict[str, int]:
    """How many units ended how."""
    asked, ended = Asked(out=out, model=model), Counter[str]()
    made = sweeping.prepared(file, asked)
    out.mkdir(exist_ok=True)
    plan = sweeping.plan_of(made, asked)
    sweeping._make_room(made, plan, again=False)
    sweeping._play(plan, engine, Watcher(), Stop(), ended)
    return dict(ended)


def content(sweep: Path) -> dict[str, bytes]:
    """All that must not depend on who played: not dates and hosts, nor how long memories took."""
    found: dict[str, bytes] = {}
    for file in sorted(p for p in sweep.rglob("*") if p.is_file() and ".lock" not in p.name):
        name = file.relative_to(sweep).as_posix()
        kept = {
            "unit.json": ("inputs", "header", "log_sha256", "error"),
            "run.json": ("identity", "resolved", "status"),
            "scores.json": ("scores", "parts", "counts"),
            "sweep.json": ("identity", "cells"),
        }.get(file.name)
        if kept is None:
            found[name] = file.read_bytes()
        else:
            told = json.loads(file.read_bytes())
            found[name] = json.dumps([told.get(key) for key in kept]).encode()
    return found
