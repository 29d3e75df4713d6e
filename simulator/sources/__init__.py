"""Where snapshots come from: native recordings, and readers of what others recorded."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Recording": "simulator.sources.recording",
}

__all__ = ["Recording"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
