"""How fast made-up data is made: a million events of history for one user, and days as sessions."""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path

from simulator.timing.clock import real_ns
from simulator.workload.making import Generated, generate

RECIPE = Path(__file__).resolve().parents[1] / "scenarios" / "recipes" / "office.yaml"


def _timed(out: Path, **how: int) -> tuple[Generated, float]:
    begun = real_ns()
    made = generate(RECIPE, out, seed=0, **how)
    return made, (real_ns() - begun) / 1e9


def _size(folder: Path, suffix: str) -> int:
    return sum(file.stat().st_size for file in folder.rglob(f"*{suffix}"))


def measure() -> dict[str, float]:
    peak_unit = 1 if sys.platform == "darwin" else 1024
    with tempfile.TemporaryDirectory() as place:
        past, took = _timed(Path(place) / "past", users=1, days=4600, sessions=0)
        n = past.total("n_history")
        figures = {
            "history_events": n,
            "history_s": took,
            "history_events_per_s": n / took,
            "history_bytes_an_event": _size(Path(place) / "past", ".jsonl") / n,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * peak_unit / 1e6,
        }
        days, took = _timed(Path(place) / "days", users=2, days=28)
        rows = days.total("n_rows")
        figures |= {"rows": rows, "rows_per_s": rows / took, "bytes_a_row": _size(Path(place) / "days", ".db") / rows}
    return figures
