"""Time comes from the clock, chance from the named draws: ruff finds whoever reads them elsewhere."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PLANTED = '''"""Planted."""

import asyncio
import random
import time
from datetime import datetime

import anyio
import numpy as np

time.time()
time.monotonic_ns()
time.perf_counter()
time.sleep(1)
datetime.now()
np.random.default_rng()


async def wait() -> None:
    """Wait."""
    await asyncio.sleep(1)
    await anyio.sleep(1)
    await asyncio.gather()
'''
BANNED_LINES = {4, *range(11, 17), 21, 22, 23}


def _banned(path: str, source: str) -> set[int]:
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not installed")
    done = subprocess.run(
        [ruff, "check", "--no-cache", "--output-format=json", "--stdin-filename", path, "-"],
        input=source,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    return {item["location"]["row"] for item in json.loads(done.stdout) if item["code"] == "TID251"}


@pytest.mark.parametrize("path", ["simulator/runs/planted.py", "agents/planted.py", "tests/test_planted.py"])
def test_a_planted_clock_or_dice_is_found(path: str) -> None:
    assert _banned(path, PLANTED) == BANNED_LINES


def test_the_clock_itself_may_read_time() -> None:
    assert _banned("simulator/timing/clock.py", PLANTED) == set()
