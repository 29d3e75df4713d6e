"""How fast a recorded session is read: ``python -m bench.read_speed [ROWS]`` (default 1,000,000, text only)."""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
from pathlib import Path

from bench.make_session import make
from simulator.session.reader import Reader
from simulator.session.segmentation import Segmenter
from simulator.sources.recording import Recording
from simulator.timing.clock import real_ns

COLUMNS = ("captured_ns", "app_name", "window_title", "file_path", "pixels_hash", "width", "height", "text")


async def _play(source: Recording, segmenter: Segmenter | None = None) -> int:
    n = 0
    async for snapshot in source.snapshots():
        n += 1
        if segmenter is not None:
            segmenter.push(snapshot)
    return n


def _rate(n: int, since_ns: int) -> str:
    return f"{n / ((real_ns() - since_ns) / 1e9):12,.0f} a second"


def main(n_rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = make(Path(folder) / "session", n_rows)
        start = real_ns()
        with Reader(session) as reader:
            print("rows, 8 columns       ", _rate(sum(1 for _ in reader.rows(COLUMNS)), start))
        source = Recording(session)
        start = real_ns()
        print("snapshots             ", _rate(asyncio.run(_play(source)), start))
        start = real_ns()
        print("snapshots into events ", _rate(asyncio.run(_play(source, Segmenter("user", "bench"))), start))
        print("most memory           ", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:12,.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
