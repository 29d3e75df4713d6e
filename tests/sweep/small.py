"""Sessions of 40 seconds and a study over them: a unit takes some milliseconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from simulator.core.types import SECOND
from simulator.session.store import Writer
from simulator.sweep.planning import Plan
from simulator.sweep.sweeping import Asked, Study, Swept, Watcher, sweep
from simulator.sweep.types import Done, Engine

COLUMNS = ("tick", "captured_ns", "monitor", "app_name", "window_title")
LATENCY = "fixed:350ms"


def session(folder: Path, n: int = 0, *, rows: int = 40, **said: Any) -> Path:
    """A session of one row a second, three windows in turn, with a need and its own scenario."""
    with Writer(folder, user=f"user-{n}", utc_anchor_ns=1_760_000_000 * SECOND) as writer:
        writer.add_rows(
            COLUMNS, ((i, i * SECOND, 0, f"App{(i // 7 + n) % 3}", f"window {(i // 7 + n) % 3}") for i in range(rows))
        )
    needs = [{"opens_s": 5.0 + n, "closes_s": 25.0 + n, "intention": "Translation"}]
    told = {"session": ".", "name": f"s{n}", "truth": {"opportunities": needs}, **said}
    (folder / "scenario.yaml").write_text(json.dumps(told), encoding="utf-8")
    return folder


def world(place: Path, n: int = 3, **said: Any) -> Path:
    """Sessions below ``place/sessions``, and ``place/study.yaml`` over them."""
    for i in range(n):
        session(place / "sessions" / f"s{i}", i)
    return write(place, **said)


def write(place: Path, **said: Any) -> Path:
    """The study file, with what is said over a small default."""
    axes = {"agent": ["always", "silent"], "memory": ["none", "rag"], "latency": LATENCY}
    told = {"name": "small", "sessions": ["sessions"], "axes": axes, "metrics": ["F1_rt", "timely_utility"], **said}
    file = place / "study.yaml"
    file.write_text(yaml.safe_dump(told, sort_keys=False), encoding="utf-8")
    return file


class Watch(Watcher):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self.n_gone = 0
        self.ended: list[Done] = []
        self.said: list[str] = []

    def tell(self, said: str) -> None:
        self.said.append(said)

    def launched(self, study: Study, plan: Plan, n_gone: int) -> None:
        self.plan, self.n_gone = plan, n_gone

    def done(self, done: Done) -> None:
        self.ended.append(done)

    @property
    def units(self) -> list[tuple[str, str]]:
        """Run and key of the units that were played."""
        return [(one.run, one.key) for one in self.ended if one.key]

    @property
    def scored(self) -> list[str]:
        """Runs that were scored."""
        return [one.run for one in self.ended if not one.key]


def swept(file: Path, out: Path, *, engine: Engine | str = "inline", **asked: Any) -> tuple[Swept, Watch]:
    """Play a study in this process."""
    watch = Watch()
    return sweep(file, Asked(out=out, **asked), engine=engine, watcher=watch), watch


def summaries(out: Path) -> Mapping[str, bytes]:
    """What a sweep comes to: files by name."""
    names = ("summary.json", "summary.csv", "summary.md", "summary.tex", "effects.csv")
    return {name: (out / name).read_bytes() for name in names}
