"""Sweeps made by hand, scored by the real scorers: each session is said in needs, offers on time and offers in vain."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from scorers.base import Unit, score_run
from simulator.play.kept import keep
from simulator.runs.folder import digest, write_json
from simulator.runs.records import Kind
from tests.logs import D, log, need, truth

SLOT = 20
"""Seconds from one need to the next; each is open for the first 10."""


@dataclass(frozen=True)
class S:
    """A session: ``needs`` of which the first ``hits`` are served after ``delay`` s; ``vain`` false alarms; failed
    decisions; tokens of each decision; ``quiet`` decisions to say nothing.
    """

    hits: int = 0
    needs: int = 4
    vain: int = 0
    delay: float = 2
    errors: int = 0
    tokens: int = 0
    quiet: int = 8
    data: str = "d"
    user: str = ""

    def unit(self, key: str, **header: Any) -> Unit:
        asked = {"more": {"tokens": {"in": self.tokens, "out": 1, "reasoning": 0, "cached": 0, "images": 0}}}
        more: dict[str, Any] = asked if self.tokens else {}
        said = [D(SLOT * n, SLOT * n + self.delay, ["Debug"], **more) for n in range(self.hits)]
        said += [D(SLOT * n + 12, SLOT * n + 13, ["Debug"], **more) for n in range(self.vain)]
        said += [D(SLOT * n + 14, SLOT * n + 15, kind=Kind.ERROR, **more) for n in range(self.errors)]
        said += [D(SLOT * n + 18, SLOT * n + 18.5) for n in range(self.quiet)]
        windows = [need(f"n{n}", SLOT * n, SLOT * n + 10) for n in range(self.needs)]
        of = truth(SLOT * 8, windows)
        person = self.user or f"u-{key}"
        head = {"session": key, "user": person, "person": person, "recording": f"r-{key}", "seed": 0,
                "protocol": "stream", "gate": "off", "dataset": f"{self.data}-{key}", "truth": of.digest(),
                "period_ns": of.period_ns, "memory": "none", "agent": "a", "policy": "latest_only",
                "clock": "modelled", **header}  # fmt: skip
        whole = log(sorted(said, key=lambda d: float(d.captured)), **head)
        return Unit(key, whole, of)


@dataclass
class Made:
    """A sweep's folder on its way: ``cell`` adds one, ``write`` makes the plan."""

    folder: Path
    axes: Mapping[str, Sequence[str]]
    cells: list[dict[str, Any]] = field(default_factory=list)

    def cell(self, values: Mapping[str, str], *seeds: Mapping[str, S] | None, marked: bool = False,
             keys: Sequence[str] | None = None, data: str = "sessions", **header: Any) -> None:  # fmt: skip
        """One run a seed; None: not played yet."""
        name = "_".join(values.values())
        runs = []
        for seed, sessions in enumerate(seeds):
            run = f"{''.join(c if c.isascii() and c.isalnum() else '-' for c in name)[:40]}-s{seed}"
            if sessions is not None:
                self._run(
                    self.folder / "runs" / run, {k: s.unit(k, **{"seed": seed, **header}) for k, s in sessions.items()}
                )
            known = keys or list(next(s for s in seeds if s is not None))
            runs.append({"run": run, "seed": seed, "keys": list(known)})
        self.cells.append({"id": sha256(name.encode()).hexdigest()[:10], "name": name, "values": dict(values),
                           "data": data, "marked": marked, "runs": runs})  # fmt: skip

    @staticmethod
    def _run(folder: Path, units: Mapping[str, Unit]) -> None:
        folder.mkdir(parents=True)
        scores = score_run(list(units.values()), "stream", "off")
        scores |= {"lost": [], "made_of": {key: {"log": f"sha-{key}"} for key in units}}
        keep(folder, scores)
        resolved = {
            key: {k: v for k, v in unit.log.header.items() if k not in ("kind", "schema")}
            for key, unit in units.items()
        }
        results: dict[str, Any] = {
            key: {"error": None, "log_sha256": f"sha-{key}", "audit": {"invalid": []}} for key in units
        }
        write_json(folder / "run.json", {"schema": 1, "status": "done", "identity": digest(resolved), "given": {},
                                         "resolved": resolved, "units": results})  # fmt: skip

    def write(self, name: str = "made", **study: Any) -> Path:
        """The plan; the folder."""
        axes = [{"name": k, "values": list(v), "varies": len(v) > 1} for k, v in self.axes.items()]
        plan = {"schema": 1, "identity": "i", "name": name, "study": {"name": name, **study}, "axes": axes,
                "cells": self.cells}  # fmt: skip
        (self.folder / "sweep.json").write_text(json.dumps(plan), encoding="utf-8")
        return self.folder


def sessions(n: int, **said: Any) -> dict[str, S]:
    """So many sessions alike."""
    return {f"s{i}": S(**said) for i in range(n)}


def varied(of: Mapping[str, S], **said: Sequence[Any]) -> dict[str, S]:
    """The sessions, each with its own value of these fields."""
    return {k: replace(s, **{name: values[i] for name, values in said.items()}) for i, (k, s) in enumerate(of.items())}
