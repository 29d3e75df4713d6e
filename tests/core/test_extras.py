"""How to install what is missing: one command that works in any shell, with an environment that has pip or none."""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.core.extras import install, install_extra

ROOT = Path(__file__).parents[2]


def test_an_extra_is_installed_from_the_clone_wherever_one_stands() -> None:
    *_, lock, editable, place = shlex.split(install_extra("figures"))
    assert (lock, editable, place) == (str(ROOT / "requirements.lock"), "-e", f"{ROOT}[figures]")
    assert shlex.split(install("--no-deps", "x>=1"))[-2:] == ["--no-deps", "x>=1"]


@pytest.mark.skipif(importlib.util.find_spec("venv") is None, reason="this Python has no venv")
def test_the_command_reaches_an_environment_that_has_no_pip(tmp_path: Path) -> None:
    base = getattr(sys, "_base_executable", sys.executable)
    if subprocess.run([base, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("the Python that made this environment has no pip")
    subprocess.run([base, "-m", "venv", "--without-pip", tmp_path / "v"], check=True)
    said = subprocess.run(
        [tmp_path / "v" / "bin" / "python", "-c", "from simulator.core.extras import install; print(install('x'))"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    ).stdout  # fmt: skip
    command = shlex.split(said)
    assert command[-2:] == ["install", "x"]
    listed = subprocess.run([*command[:-2], "list"], capture_output=True, text=True, check=True).stdout
    assert "proact" not in listed, "it is the empty environment that is reached"


QUIET = """
from memory.embedders.onnx_file import Graph
from simulator.core.extras import onnxruntime
graph = Graph()
graph.op("Identity", "given", name="told")
ort = {load}
session = ort.InferenceSession(graph.model(("given", ("n", 1)), ("told", ("n", 1))), providers=["CPUExecutionProvider"])
import numpy
assert session.run(["told"], {{"given": numpy.ones((2, 1), numpy.float32)}})[0].shape == (2, 1)
"""


def left_by(load: str, home: Path) -> list[str]:
    """Files in the home folder of a process that computed something in ONNX Runtime."""
    home.mkdir()
    clean = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    clean |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
    subprocess.run([sys.executable, "-c", QUIET.format(load=load)], env=clean, cwd=ROOT, check=True)
    return [path.name for path in home.rglob("*") if path.is_file()]


@pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="the extra embed is not installed")
def test_onnx_runtime_keeps_no_id_and_reports_nothing(tmp_path: Path) -> None:
    assert left_by("onnxruntime()", tmp_path / "quiet") == []
    if "deviceid" not in left_by("__import__('onnxruntime')", tmp_path / "as it comes"):
        pytest.skip("this build of ONNX Runtime has no telemetry")
