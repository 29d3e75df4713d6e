"""Scoring stored runs of a million decisions again: ``proact score RUN --json``, the whole command on one core.

Four runs of 100 sessions of 10,000 snapshots, each really played under the modelled clock: every decision silent; a
model asked at one snapshot in ten; a model asked at every snapshot (tokens in each record); every decision an offer in
a full record. The middle two offer at 5 % of the snapshots and fail at 1 %. Stages are timed only under a real clock,
and are left out. What is told is the slowest of three commands, and the memory of the largest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from agents.base import agents
from bench.make_session import rows
from simulator.core.rng import below, unit
from simulator.core.types import SECOND, SILENT, Decision, Observation, Offer, Setup
from simulator.session.store import Writer
from simulator.timing.clock import real_ns

SESSIONS, ROWS, TIMES = 100, 10_000, 3
MIXES = {"silent": (0.0, 0.0), "one_in_ten": (0.1, 0.5), "asked": (1.0, 0.05), "all_offers": (1.0, 1.0)}
"""Share of the snapshots at which the model is asked, and of these at which it offers."""
INTENTIONS = ("Coding/Programming", "Translation", "Error Correction", "Information Lookup")


@agents.register("mixed")
class Mixed:
    """Asks a model that is not there at a share of the snapshots, and offers at a share of these; some calls fail."""

    inline = True
    concurrent = "stateless"

    def __init__(self, asks: float, offers: float) -> None:
        self._asks, self._offers = asks, offers
        self._session = ""

    async def open(self, setup: Setup) -> None:
        """Learn the session, by which draws are keyed."""
        self._session = setup.session

    async def decide(self, observation: Observation) -> Decision:
        """A decision with the books of a model's answer."""
        index = observation.snapshot.index
        if self._asks < 1 and unit(0, "asks", self._session, index) >= self._asks:
            return SILENT
        draw = unit(0, "says", self._session, index)
        meter = observation.meter
        meter.usage(tokens_in=1800 + index % 300, tokens_out=40 + index % 17, cached=1200, images=1, cost=0.00042)
        if self._offers < 1 and draw > 0.99:
            raise TimeoutError(f"the server did not answer request {index}")
        if draw >= self._offers:
            return SILENT
        what = INTENTIONS[below(len(INTENTIONS), 0, "what", self._session, index // 40)]
        text = "The traceback ends in parse(): the list is empty there. Shall I show the check that is missing?"
        return Decision((Offer(what, text, confidence=round(0.5 + draw / 2, 3), thread=f"t{index // 40}"),))


def sessions(folder: Path) -> None:
    """100 recordings with a need about every two minutes, of 5 to 60 s."""
    for i in range(SESSIONS):
        with Writer(folder / f"s{i:03}", user=f"user{i % 20}", utc_anchor_ns=1_760_000_000 * SECOND) as writer:
            writer.add_rows(("tick", "captured_ns", "monitor", "app_name", "window_title"), rows(ROWS, i))
            for n, opens in enumerate(range(60, ROWS - 80, 120)):
                closes = opens + 5 + below(55, 0, "window", i, n)
                writer.opportunity(id=f"n{n}", opens_ns=opens * SECOND, closes_ns=closes * SECOND,
                                   acted_ns=closes * SECOND,
                                   intention=INTENTIONS[below(len(INTENTIONS), 0, "need", i, n)])  # fmt: skip


def play(corpus: Path, out: Path, mix: str) -> None:
    """Make a stored run of a mix."""
    asks, offers = MIXES[mix]
    agent = "silent" if not asks else f"{Path(__file__).resolve()}:Mixed:asks={asks},offers={offers}"
    command = [sys.executable, "-m", "simulator.cli", "run", str(corpus), "--agent", agent, "--memory", "none",
               "--clock", "modelled", "--latency", "profile:200ms", "--json", "--out", str(out)]  # fmt: skip
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if not (out / "scores.json").exists():  # units that erred do not count: some mixes are meant to
        sys.exit(made.stderr or made.stdout)


def rescore(run: Path) -> tuple[float, float, float]:
    """Seconds, of them on the processor, and peak memory (MB) of the whole command."""
    command = [sys.executable, "-m", "simulator.cli", "score", str(run), "--json"]
    begun = real_ns()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return (real_ns() - begun) / 1e9, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measure() -> dict[str, float]:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # commands inherit the one core
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        corpus, run = Path(name) / "corpus", Path(name) / "run"
        sessions(corpus)
        for mix in MIXES:
            play(corpus, run / mix, mix)
            told = [rescore(run / mix) for _ in range(TIMES)]
            decisions = json.loads((run / mix / "scores.json").read_text())["counts"]["decisions"]
            assert decisions == SESSIONS * ROWS, decisions
            for figure, values in zip(("seconds", "cpu_seconds", "peak_mb"), zip(*told, strict=True), strict=True):
                figures[f"{mix}_{figure}"] = max(values)
            log_bytes = sum(f.stat().st_size for f in (run / mix / "units").glob("*/decisions.jsonl"))
            figures[f"{mix}_log_mb"] = log_bytes / 2**20
    return figures
