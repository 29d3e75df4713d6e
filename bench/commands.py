"""Time of ``proact --help`` and ``proact run --help`` in a fresh process."""

from __future__ import annotations

import subprocess
import sys

from simulator.timing.clock import real_ns


def measure() -> dict[str, float]:
    figures = {}
    for name, words in (("help_s", ["--help"]), ("run_help_s", ["run", "--help"])):
        begun = real_ns()
        subprocess.run([sys.executable, "-m", "simulator.cli", *words], capture_output=True, check=True)
        figures[name] = (real_ns() - begun) / 1e9
    return figures
