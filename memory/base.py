"""The door to memory: names to memories, and all that an agent or an engine needs from this folder."""

from __future__ import annotations

import inspect
from typing import Any, cast

from memory.embed import HashEmbedder
from memory.index import Index
from memory.threads import Threaded
from memory.view import CausalityError, LabelBook, View
from memory.wording import estimate_tokens, one_line, render_lines
from simulator.core.protocols import Memory
from simulator.core.registry import Registry, Spec

__all__ = [
    "CausalityError",
    "HashEmbedder",
    "Index",
    "LabelBook",
    "View",
    "as_memory",
    "estimate_tokens",
    "make_memory",
    "memories",
    "one_line",
    "render_lines",
]

memories: Registry[Any] = Registry(
    "memory",
    "proact.memories",
    ("memory.controls", "memory.graph", "memory.personas", "memory.rag", "memory.window"),
    "recall",
)


def make_memory(spec: str | Spec, **given: Any) -> Memory:
    """A memory from what the user wrote, ready to be awaited.

    Args:
        spec: ``rag``, ``graph:scope=backoff``, ``path.py:Class``, …
        given: ``seed``, ``intentions``, …; passed to classes that take a parameter of that name.

    Raises:
        UsageError: unknown name or parameter.
    """
    return as_memory(memories.make(spec, **given))


def as_memory(made: Any) -> Memory:
    """The object itself if its methods are async, else the object in a thread."""
    if inspect.iscoroutinefunction(getattr(made, "recall", None)):
        return cast(Memory, made)
    return Threaded(made)
