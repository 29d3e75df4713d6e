"""The recorded session, what is true of it, and what a scenario makes of both."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Play": "simulator.session.play",
    "Reader": "simulator.session.reader",
    "Segmenter": "simulator.session.segmentation",
    "Truth": "simulator.session.truth",
    "Writer": "simulator.session.store",
    "plays": "simulator.session.scenario",
}

__all__ = ["Play", "Reader", "Segmenter", "Truth", "Writer", "plays"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
