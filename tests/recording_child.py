"""A recorder in a process of its own, to be killed: a screen that changes at every look, no desktop.

``python tests/recording_child.py FOLDER PERIOD_MS`` prints ``ready``, then each tick once it is acknowledged, on a line
of its own.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from simulator.core.types import MS
from simulator.recorder.recorder import Recorder
from simulator.recorder.shots import Budget
from tests.recorders import FakeScreen, FakeWindows, plain_frame


class Telling(Recorder):
    """Says which tick is durable."""

    def _beat(self) -> None:
        super()._beat()
        if (tick := self._parts.saver.counts.last_tick) is not None:
            os.write(1, f"{tick}\n".encode())


def main(folder: str, period_ms: str) -> None:
    screen = FakeScreen(lambda n: [plain_frame(n + os.getpid() * 4096, size=(320, 200))])
    recorder = Telling(Path(folder), screen, FakeWindows(), period_ns=int(period_ms) * MS, budget=Budget(free_floor=0))
    os.write(1, b"ready\n")
    asyncio.run(recorder.run())


if __name__ == "__main__":
    main(*sys.argv[1:])
