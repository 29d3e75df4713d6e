"""A parent with workers, for tests that kill it: ``python orphans.py SWEEP``."""

from __future__ import annotations

import sys
from pathlib import Path

from simulator.sweep.processes import Processes
from simulator.sweep.types import Stop
from tests.sweep.fakeplay import tasks

if __name__ == "__main__":
    sweep = Path(sys.argv[1])
    Processes(2, "tests.sweep.fakeplay:play").run(tasks(sweep, "a:child", "b:rest:60000"), print, Stop())
