"""A system that is set to ASCII can hold no other names of files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.replays import record


@pytest.mark.skipif(sys.platform != "linux", reason="file names are Unicode there")
def test_a_session_s_name_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    scenario = record(tmp_path / "day", name="däy")
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = ["run", str(scenario), "--agent", "always", "--memory", "none", "--out", str(tmp_path / "run")]
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from simulator.cli import _call; sys.exit(_call(sys.argv[1:]))", *words],
        env=env, capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert b"a name cannot be written here: this system is set to ascii; LC_ALL=C.UTF-8" in done.stderr
