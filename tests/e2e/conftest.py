"""What the end-to-end tests share: the command as a process of its own, and tiny sessions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from simulator.core.types import SECOND
from simulator.session.store import Writer

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "simulator.cli"]
TRUTH = """
session: session
user: u
truth:
  opportunities:
    - {id: a, opens_s: 5, closes_s: 15, acted_s: 15, intention: Translation}
"""
BENT = '''"""An agent that can be told to bring its own process down; it answers alike whether it is told or not."""

import os
import signal

from simulator import SILENT, Decision, Offer


class Bent:
    """Offers at every tenth snapshot; at snapshot 30 it sends its process the signal named by BENT, if one is."""

    async def decide(self, observation):
        """An offer, or nothing."""
        index = observation.snapshot.index
        name = os.environ.get("BENT")
        if index == 30 and name:
            os.kill(os.getpid(), getattr(signal, name))
        return Decision((Offer("Translation", "text", 0.5),)) if index % 10 == 0 else SILENT
'''


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """Stdout as JSON records; fails on a line that is none."""
        return [json.loads(line) for line in self.out.splitlines()]


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "80", **extra}


@dataclass(frozen=True)
class Proact:
    """Runs ``proact …`` in a folder of its own."""

    cwd: Path

    def __call__(self, *words: object, **env: str) -> Done:
        done = subprocess.run(
            [*COMMAND, *map(str, words)],
            cwd=self.cwd,
            env=environment(env),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *words: object) -> subprocess.Popen[str]:
        """The command left running."""
        return subprocess.Popen(
            [*COMMAND, *map(str, words)],
            cwd=self.cwd,
            env=environment({}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # whoever runs the tests may ignore it
        )


def session(folder: Path, n: int = 20, *, step_ns: int = SECOND) -> Path:
    """A session of n snapshots without pictures; the title changes every five."""
    with Writer(folder, session="s", user="u") as writer:
        columns = ("tick", "captured_ns", "app_name", "window_title")
        writer.add_rows(columns, [(i, i * step_ns, "xterm", f"title {i // 5}") for i in range(n)])
    return folder


@pytest.fixture
def proact(tmp_path: Path) -> Proact:
    return Proact(tmp_path)


@pytest.fixture
def make_session() -> Callable[..., Path]:
    return session


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario folder with one opportunity, 60 snapshots long."""
    folder = tmp_path / "scenario"
    session(folder / "session", 60)
    (folder / "scenario.yaml").write_text(TRUTH, encoding="utf-8")
    return folder


@pytest.fixture
def bent(tmp_path: Path) -> str:
    """The spec of the agent ``BENT``."""
    (tmp_path / "bent.py").write_text(BENT, encoding="utf-8")
    return "bent.py:Bent"
