"""How fast made-up data is made: a million events of history for one user, and days as sessions."""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path

from simulator.timing.clock import real_ns
from simulator.workload.making import Generated, generate

RECIPE = Path(__file__).resolve().parents[1] / "scenarios" / "recipes" / "office.yaml"


def _timed(out: Path, *, users: int, days: int, sessions: int) -> tuple[Generated, float]:
    begun = real_ns()
    made = generate(RECIPE, out, users=users, days=days, seed=0, sessions=sessions)
    return made, (real_ns() - begun) / 1e9


def _size(folder: Path, suffix: str) -> int:
    return sum(file.stat().st_size for file in folder.rglob(f"*{suffix}"))


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as place:
        _, took = _timed(Path(place) / "short", users=1, days=28, sessions=0)
        figures = {"calibration_and_four_weeks_s": took, "peak_mb_four_weeks": _peak_mb()}
        past, took = _timed(Path(place) / "past", users=1, days=4600, sessions=0)
        n = past.total("n_history")
        figures |= {
            "history_events": n,
            "history_s": took,
            "history_events_per_s": n / took,
            "history_bytes_an_event": _size(Path(place) / "past", ".jsonl") / n,
            "peak_mb_a_million": _peak_mb(),
        }
        days, took = _timed(Path(place) / "days", users=3, days=28, sessions=28)
        rows = days.total("n_rows")
        figures |= {
            "session_rows": rows,
            "session_rows_per_s": rows / took,
            "sessions": days.total("n_sessions"),
            "session_bytes_a_row": _size(Path(place) / "days", ".db") / rows,
        }
    return figures
