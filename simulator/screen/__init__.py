"""Pixels of snapshots, read only when somebody asks for them."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = dict.fromkeys(("MAX_PIXELS", "array", "decode", "pixels_hash", "read", "size"), "simulator.screen.pixels")

__all__ = ["MAX_PIXELS", "array", "decode", "pixels_hash", "read", "size"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
