"""The README's first command in a fresh clone with an empty HOME: set-up time, distributions, and the main job."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from simulator.timing.clock import real_ns

ROOT = Path(__file__).resolve().parents[1]


def measure() -> dict[str, float]:
    command = re.findall(r"^python3 -m venv .*$", (ROOT / "README.md").read_text(), re.M)[0]
    set_up, _, main_job = command.rpartition(" && ")
    with tempfile.TemporaryDirectory() as name:
        home, clone = Path(name) / "home", Path(name) / "clone"
        home.mkdir()
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        passed = ("PATH", "LANG")
        pip = {k: v for k, v in os.environ.items() if k.startswith("PIP_") or k in passed}
        env = {**pip, "HOME": str(home), "PIP_NO_CACHE_DIR": "1"}

        def timed(words: str) -> float:
            begun = real_ns()
            subprocess.run(["bash", "-c", words], cwd=clone, env=env, check=True, capture_output=True)
            return (real_ns() - begun) / 1e9

        figures = {"set_up_s": timed(set_up), "main_job_s": timed(main_job)}
        count = "import importlib.metadata as m; print(len(list(m.distributions())))"
        made = subprocess.run(
            [str(clone / ".venv/bin/python"), "-c", count], capture_output=True, text=True, check=True, cwd=home
        )
        figures["distributions"] = float(made.stdout)
    return figures
