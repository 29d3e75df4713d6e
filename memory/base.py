"""The door to memory: names to memories, and all that an agent or an engine needs from this folder."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

from memory.combined import Mixer, Part, parted
from memory.embed import HashEmbedder
from memory.index import Index
from memory.threads import OwnThread, Threaded
from memory.view import CausalityError, LabelBook, View
from memory.wording import estimate_tokens, one_line, render_lines
from simulator.core.errors import UsageError, quote
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
    "made",
    "make_memory",
    "memories",
    "one_line",
    "render_lines",
]

_OURS = (
    "memory.adapters.graphiti",
    "memory.adapters.http",
    "memory.adapters.letta",
    "memory.adapters.mem0",
    "memory.controls",
    "memory.class_prior",
    "memory.graph",
    "memory.intent_threads",
    "memory.oracle",
    "memory.personas",
    "memory.rag",
    "memory.shuffled",
    "memory.window",
)
_ALIASES = {"kg": "graph", "cluster": "personas", "clusters": "personas"}
"""Words of the papers. What is written in results is the name of ours."""


class _Memories(Registry[Any]):
    """Memories by name; several joined by ``+`` are one (``memory.combined``)."""

    def __init__(self) -> None:
        super().__init__("memory", "proact.memories", _OURS, "recall", _ALIASES)

    def parse(self, text: str) -> Spec:
        """As ``Registry.parse``; the name of a combination is all of it, each part spelled canonically."""
        parts = self._parts(text)
        return super().parse(text) if len(parts) == 1 else Spec("+".join(p.text for p in parts), {})

    def short(self, spec: Spec) -> str:
        """As ``Registry.short``, part by part."""
        parts = self._parts(spec.name)
        return super().short(spec) if len(parts) == 1 else "+".join(map(super().short, parts))

    def get(self, name: str) -> Callable[..., Any]:
        """The class of that name, or what mixes a combination."""
        parts = self._parts(name)
        if len(parts) == 1:
            return super().get(name)
        return Mixer([Part(super(_Memories, self).short(p), self.get(p.name), p.params, self._one(p)) for p in parts])

    def _one(self, part: Spec) -> Callable[..., Memory]:
        return lambda **given: made(self.get(part.name), lambda: self.make(part, **given))

    def _parts(self, text: str) -> list[Spec]:
        """The parts of a combination; one for everything else."""
        self._import_ours()
        known = {*self.names(), *self.aliases} if "+" in text else set()
        parts = parted(text, known)
        if len(parts) > 1 and "" in parts:
            raise UsageError(f"memory {quote(text)}: no memory stands beside a +; it joins two, as in 'rag+graph'")
        return [super(_Memories, self).parse(part) for part in parts]


memories: Registry[Any] = _Memories()


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
    cls = memories.get((memories.parse(spec) if isinstance(spec, str) else spec).name)
    return made(cls, lambda: memories.make(spec, **given))


def made(cls: Callable[..., Any], make: Callable[[], Any]) -> Memory:
    """A new memory. A plain class is made in the thread in which its methods run: SQLite, for one, insists on it.

    Args:
        cls: what makes it; of another callable than a class nobody knows whether it makes a plain one, so it is called
            here.
        make: makes it, of what it is given.

    Raises:
        UsageError: see ``as_memory``.
    """
    if not isinstance(cls, type) or inspect.iscoroutinefunction(trait(cls, "recall")):
        return as_memory(make())
    own = OwnThread()
    memory: Memory | None = None
    try:
        memory = as_memory(own.wait(make), own)
    finally:
        if not isinstance(memory, Threaded):
            own.end()
    return memory


def as_memory(made: Any, own: OwnThread | None = None) -> Memory:
    """The object itself if its methods are async, else the object in a thread: in ``own``, where it was made in that.

    Raises:
        UsageError: it lacks a method that every memory has; a plain one may do without ``feedback`` and ``render``. Or
            some of its methods are async and others are not.
    """
    plain = not inspect.iscoroutinefunction(trait(made, "recall"))
    for name in ("observe", "recall") if plain else ("observe", "recall", "feedback", "render"):
        if not callable(trait(made, name)):
            raise UsageError(f"the memory {type(made).__name__} has no method {_METHODS[name]}")
    _check_alike(made, plain)
    return Threaded(made, own) if plain else cast(Memory, made)


_AWAITED = ("observe", "feedback", "recall", "maintain", "forget")
_AT_ONCE = ("render", "stats", "save", "load")


def _check_alike(made: Any, plain: bool) -> None:
    """What is awaited has to be async throughout or nowhere: else a call is awaited that gives None, or never runs."""
    there = {name: inspect.iscoroutinefunction(method) for name in (*_AWAITED, *_AT_ONCE)
             if callable(method := trait(made, name))}  # fmt: skip
    for name, waits in there.items():
        if name in _AWAITED and waits is plain:
            one, other = (name, "recall") if waits else ("recall", name)
            said = f"{one}() is async and {other}() is not: make {', '.join(_AWAITED)} all async, or none of them"
        elif name in _AT_ONCE and waits:
            said = f"{name}() is async: {', '.join(_AT_ONCE)} are plain in every memory"
        else:
            continue
        raise UsageError(f"the memory {type(made).__name__}: {said}")
