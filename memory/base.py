"""The door to memory: names to memories, and all that an agent or an engine needs from this folder."""

from __future__ import annotations

import inspect
from typing import Any, cast

from memory.embed import HashEmbedder
from memory.index import Index
from memory.threads import Threaded
from memory.view import CausalityError, LabelBook, View
from memory.wording import estimate_tokens, one_line, render_lines
from simulator.core.errors import UsageError
from simulator.core.protocols import Memory
from simulator.core.registry import Registry, Spec
from simulator.core.traits import trait

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


_METHODS = {
    "observe": "observe(event)",
    "recall": "recall(query, k, token_budget)",
    "feedback": "feedback(event, label)",
    "render": "render(items)",
}


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
    """The object itself if its methods are async, else the object in a thread.

    Raises:
        UsageError: it lacks a method that every memory has; a plain one may do without ``feedback`` and ``render``.
    """
    plain = not inspect.iscoroutinefunction(trait(made, "recall"))
    for name in ("observe", "recall") if plain else ("observe", "recall", "feedback", "render"):
        if not callable(trait(made, name)):
            raise UsageError(f"the memory {type(made).__name__} has no method {_METHODS[name]}")
    return Threaded(made) if plain else cast(Memory, made)
