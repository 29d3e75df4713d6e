"""What is remembered of a user's past: memories, the embedder they share, and the view through which agents read."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "HashEmbedder": "memory.embed",
    "LabelBook": "memory.view",
    "View": "memory.view",
    "make_memory": "memory.base",
    "memories": "memory.base",
}

__all__ = ["HashEmbedder", "LabelBook", "View", "make_memory", "memories"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
