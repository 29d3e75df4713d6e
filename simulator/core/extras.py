"""What is not installed and could be: the command that does it, in whatever shell; and what is there, kept quiet."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shlex
import sys
from pathlib import Path
from typing import Any

__all__ = ["install", "install_extra", "onnxruntime"]

_ROOT = Path(__file__).resolve().parents[2]


def install_extra(name: str) -> str:
    """The command that installs an extra of proact, such as ``figures``."""
    if (_ROOT / "pyproject.toml").is_file():  # a clone, which is on no index
        lock = _ROOT / "requirements.lock"
        return install(*(("-c", str(lock)) if lock.is_file() else ()), "-e", f"{_ROOT}[{name}]")
    return install(f"proact[{name}]")


def install(*what: str) -> str:
    """The command that installs packages into this environment; it names files by their whole paths.

    An environment made without pip is filled by the Python that made it.
    """
    if importlib.util.find_spec("pip") is not None:
        command = [sys.executable, "-m", "pip", "install"]
    else:
        command = [getattr(sys, "_base_executable", "python3"), "-m", "pip", "--python", sys.executable, "install"]
    return shlex.join([*command, *what])


def onnxruntime() -> Any:
    """ONNX Runtime, told to report nothing: its builds keep an id in the home folder and send events to their maker
    unless they are told before they start (its own Privacy.md, 1.32).

    Raises:
        ImportError: it is not installed.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    ort: Any = importlib.import_module("onnxruntime")
    ort.disable_telemetry_events()  # for whoever imported it before
    return ort
