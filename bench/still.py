"""Ten minutes of ``proact live`` on a still screen with its own suggestion on it: how often does the agent speak?

The agent offers help whenever the pixels differ from the last ones. ``proact live`` runs in a terminal on the desktop
that it records, and draws its suggestion and a running line there: each of them would be a change if it were seen.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path

from simulator.runs.folder import read_units
from tests.desks import Desk
from tests.e2e.test_live_command import CHANGES, COMMAND, ROOT

SECONDS = 600


def measure(seconds: int = SECONDS) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name, Desk(1920, 1080, manager=True) as desk:
        folder = Path(name)
        (folder / "changes.py").write_text(CHANGES, encoding="utf-8")
        desk.window("notes.txt - Editor", wm_class=("mousepad", "Mousepad"), x=900, y=20, width=600, height=400)
        words = ["live", str(folder / "demo"), "--agent", f"{folder / 'changes.py'}:Changes", "--memory", "none",
                 "--gate", "off", "--for", f"{seconds}s", "--yes"]  # fmt: skip
        desk.start(["xterm", "-geometry", "80x24+0+60", "-e", *COMMAND, *words], cwd=ROOT).wait(seconds + 60)
        ((_, log, _),) = read_units(folder / "demo" / "run")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"snapshots": len(log), "suggestions": len(log.offers()),
            "cpu_percent_with_xterm_and_x": 100 * (used.ru_utime + used.ru_stime) / seconds}  # fmt: skip


if __name__ == "__main__":
    print(measure(int(sys.argv[1])))
