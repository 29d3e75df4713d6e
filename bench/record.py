"""``proact record`` on a desktop that mostly stands still: 10 minutes, 1080p, 1 Hz, under Xvfb.

``PROACT_BENCH_SECONDS`` makes it shorter. Every fifth second something small changes (a line is typed), every thirtieth
another window comes to the front.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from simulator.core.types import SECOND
from simulator.session.check import check
from simulator.session.schema import FILE_NAME
from simulator.timing.audit import percentile
from simulator.timing.clock import real_ns, rest
from tests.desks import Desk

SETTLED_S = 20
"""Memory is compared between this second and the end."""


def measure() -> dict[str, float]:
    seconds = int(os.environ.pop("PROACT_BENCH_SECONDS", "600"))
    with tempfile.TemporaryDirectory() as place, Desk(1920, 1080, manager=True) as desk:
        desk.background(0x2E3440)
        folder = Path(place) / "session"
        editor = desk.window("main.py - editor", wm_class=("editor", "Editor"), x=60, y=40, width=1100, height=800)
        terminal = desk.window("proj: bash", wm_class=("xterm", "XTerm"), x=700, y=300, width=900, height=600,
                               colour=0x101820)  # fmt: skip
        argv = [sys.executable, "-m", "simulator.cli", "record", str(folder), "--yes", "--json", "--for", f"{seconds}s"]
        process = desk.start(argv, stdout=subprocess.PIPE)
        memory = _driven(process, editor, terminal)
        assert process.stdout is not None
        told = [json.loads(line) for line in process.stdout.read().splitlines()]
        return {**_figures(folder, seconds), "cpu_percent": told[-1]["cpu_percent"], **memory}


def _driven(process: subprocess.Popen[bytes], editor: Any, terminal: Any) -> dict[str, float]:
    """Work a little until the recorder ends; its memory in MB."""
    begun, step, settled, rss = real_ns(), 0, 0.0, 0.0
    while process.poll() is None:
        if (now := (real_ns() - begun) // SECOND) >= 5 * (step + 1):
            step += 1
            editor.paint(0xD8DEE9, 20 + step * 12 % 1000, 60 + step * 16 // 1000 * 20, 8, 12)
            if step % 6 == 0:
                (terminal if step // 6 % 2 else editor).front()
        rss = _rss_mb(process.pid) or rss
        settled = rss if now <= SETTLED_S else settled
        rest(SECOND // 20)
    return {"rss_mb": rss, "rss_growth_mb": rss - settled}


def _rss_mb(pid: int) -> float | None:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _figures(folder: Path, seconds: int) -> dict[str, float]:
    db = sqlite3.connect(folder / FILE_NAME)
    late = [ms for (ms,) in db.execute("SELECT late_ms FROM screenshots ORDER BY id")]
    ticks = [t for (t,) in db.execute("SELECT tick FROM screenshots")]
    gaps = [t for a, b in db.execute("SELECT from_tick, to_tick FROM gaps") for t in range(a, b + 1)]
    pictures, size = db.execute("SELECT COUNT(DISTINCT file_path), SUM(DISTINCT file_size) FROM screenshots").fetchone()
    db.close()
    tenth = max(1, len(late) // 10)
    return {
        "ticks": len(ticks) + len(gaps),
        "ticks_in_gaps": len(gaps),
        "ticks_unaccounted": len(set(range(seconds)) ^ {*ticks, *gaps}) + len(ticks) + len(gaps) - seconds,
        "damage": sum(f.severity == "damage" for f in check(folder)),
        "late_p50_ms": statistics.median(late),
        "late_p99_ms": percentile(late, 99),
        "late_max_ms": max(late),
        "drift_ms": statistics.median(late[-tenth:]) - statistics.median(late[:tenth]),
        "pictures": pictures,
        "kb_per_s": (size or 0) / 1000 / seconds,
    }
