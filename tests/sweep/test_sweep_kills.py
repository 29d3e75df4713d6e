"""``kill -9`` at ten random points of one sweep, each time the same command again: the same final bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.core.rng import below
from simulator.core.types import MS
from simulator.timing.clock import rest
from tests.sweep.small import LATENCY, session, summaries, write

ROOT = Path(__file__).resolve().parents[2]
KILLS = {"processes": 10, "inline": 4}
PLAYED = ("decisions.jsonl", "truth.json")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("kills")
    for i in range(3):
        session(where / "sessions" / f"s{i}", i, rows=30)
    axes = {"agent": ["always", "prior"], "memory": ["none", "rag"], "latency": LATENCY}
    write(where, axes=axes, seeds=6)
    return where


class Sweeping:
    """The command as a process group of its own, heard record by record."""

    def __init__(self, place: Path, out: str, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "simulator.cli", "sweep", "study.yaml", "--out", out, "--json", *words],
            cwd=place, env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        )  # fmt: skip

    def records(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield json.loads(line)

    def kill(self) -> None:
        """The whole group, at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self._close()

    def _close(self) -> int:
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait()

    def end(self) -> tuple[int, list[dict[str, Any]]]:
        found = list(self.records())
        return self._close(), found


def logs(out: Path) -> dict[str, bytes]:
    return {str(p.relative_to(out)): p.read_bytes() for n in PLAYED for p in sorted(out.glob(f"runs/*/units/*/{n}"))}


def scores(out: Path) -> dict[str, Any]:
    return {p.parent.name: json.loads(p.read_text())["scores"] for p in sorted(out.glob("runs/*/scores.json"))}


@pytest.mark.timeout(300)  # ten starts of the command; 20 s on an idle machine
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are POSIX")
@pytest.mark.parametrize("engine", KILLS)
def test_ten_kills_at_random_points_leave_the_bytes_of_an_unbroken_sweep(place: Path, engine: str) -> None:
    words = ("--engine", engine, *(("--workers", "2") if engine == "processes" else ()))
    whole = place / f"whole-{engine}"
    code, found = Sweeping(place, whole.name, *words).end()
    assert (code, found[-1]["event"]) == (0, "done")
    n_units = found[0]["units"]
    out = place / f"killed-{engine}"
    played: Counter[tuple[str, str]] = Counter()
    for n in range(KILLS[engine]):
        sweeping, wanted = Sweeping(place, out.name, *words), below(8, 1, "records", n)
        for i, record in enumerate(sweeping.records()):
            if record["event"] == "unit":
                played[record["run"], record["key"]] += 1
            if i >= wanted:
                break
        rest(below(30 * MS, 1, "after", n))
        sweeping.kill()
    assert 0 < len(played) < n_units, "some kills fell while units were being played"
    code, found = Sweeping(place, out.name, *words).end()
    assert (code, found[-1]["event"]) == (0, "done")
    played.update((r["run"], r["key"]) for r in found if r["event"] == "unit")
    assert found[0]["to_play"] < n_units, "what was finished is kept"
    assert len(played) <= n_units
    assert max(played.values()) == 1, "no unit of which it was said that it has ended is played twice"
    assert summaries(out) == summaries(whole)
    assert logs(out) == logs(whole)
    assert scores(out) == scores(whole)
    left = [p.name for p in out.glob("runs/*/units/.*")]
    assert not left, "nothing of the torn units is left"
    _start_over_and_kill(place, out, words, n_units)
    assert (summaries(out), logs(out), scores(out)) == (summaries(whole), logs(whole), scores(whole))


def _start_over_and_kill(place: Path, out: Path, words: tuple[str, ...], n_units: int) -> None:
    """``--again``, killed while it plays, and the plain command: no unit of before is among those that are there."""
    before = {p: p.stat().st_ino for p in out.glob("runs/*/units/*/decisions.jsonl")}
    files = [p.open("rb") for p in before]  # so that nobody gets their numbers
    sweeping, n_played = Sweeping(place, out.name, "--again", *words), 0
    for record in sweeping.records():
        n_played += record["event"] == "unit"
        if n_played == 5:
            break
    sweeping.kill()
    code, found = Sweeping(place, out.name, *words).end()
    assert (code, found[-1]["event"]) == (0, "done")
    assert n_units // 2 < found[0]["to_play"] <= n_units - 5
    after = {p: p.stat().st_ino for p in out.glob("runs/*/units/*/decisions.jsonl")}
    assert after.keys() == before.keys()
    assert not set(after.values()) & set(before.values())
    for file in files:
        file.close()
