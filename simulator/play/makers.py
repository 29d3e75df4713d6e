"""Agents and memories from what a user names: a spec such as ``random:rate=0.1`` or ``mine.py:Class``, or from Python a
class or any callable that makes one. Each unit gets one of its own, born empty.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from agents.base import agents
from memory.base import as_memory, memories
from simulator.core.errors import UsageError
from simulator.core.registry import Registry, Spec, parse_spec
from simulator.core.traits import declares

__all__ = ["Maker", "Making", "Named", "agent_maker", "memory_maker"]

Named = str | Callable[..., Any]
_HOUSE = Path(__file__).resolve().parents[2]


class Making:
    """Makes what each unit gets one of; the one that was made to be looked at is the first that is handed out.

    Args:
        make: what makes one.
        given: what it is made of.
    """

    def __init__(self, make: Callable[..., Any], **given: Any) -> None:
        self._make, self._given = make, given
        self._spare: list[Any] = []

    def look(self) -> Any:
        """One, before it is needed."""
        if not self._spare:
            self._spare.append(self())
        return self._spare[0]

    def __call__(self) -> Any:
        """One that nobody else has."""
        return self._spare.pop() if self._spare else self._make(**self._given)


@dataclass(frozen=True, slots=True)
class Maker:
    """How one is made.

    Attributes:
        text: for the log's header.
        name: short, for folders and tables.
        code: SHA-256 of the file that its class lies in, None for ours: a run of changed code is another run.
        sees_truth: its class declares that it is to be given the truth.
        make: takes what the run has to give (``seed``, ``intentions``, …) and uses what it knows.
    """

    text: str
    name: str
    code: str | None
    sees_truth: bool
    make: Callable[..., Any]


def agent_maker(what: Named) -> Maker:
    """Of an agent.

    Raises:
        UsageError: no such agent.
    """
    return _maker(agents, what, lambda made: made)


def memory_maker(what: Named) -> Maker:
    """Of a memory; a plain class gets a thread.

    Raises:
        UsageError: no such memory.
    """
    return _maker(memories, what, as_memory)


def _maker(registry: Registry[Any], what: Any, finish: Callable[[Any], Any]) -> Maker:
    if isinstance(what, str):
        spec = parse_spec(what)
        cls: Any = registry.get(spec.name)
        text, name = spec.text, _short(spec)
    elif callable(what):
        spec, cls = None, what
        name = getattr(what, "__name__", type(what).__name__)
        text = f"{getattr(what, '__module__', '?')}:{getattr(what, '__qualname__', name)}"
    else:
        want = "a name, a class, or what makes one (each unit gets one of its own)"
        raise UsageError(f"{registry.kind}: {want} is wanted, not an object of {type(what).__name__}")

    def make(**given: Any) -> Any:
        if spec is not None:
            return finish(registry.make(spec, **given))
        takes = inspect.signature(cls).parameters
        return finish(cls(**{k: v for k, v in given.items() if k in takes}))

    return Maker(text, name, _code(cls), declares(cls, "sees_truth"), make)


def _short(spec: Spec) -> str:
    """The class's name alone where a path was given."""
    return Spec(spec.name.rpartition(":")[2], spec.params).text


def _code(cls: Any) -> str | None:
    try:
        file = Path(inspect.getsourcefile(cls) or "")
    except TypeError:  # made in C, or an instance: nothing to read
        return None
    ours = any(file.resolve().is_relative_to(_HOUSE / room) for room in ("agents", "memory"))
    return None if ours or not file.is_file() else sha256(file.read_bytes()).hexdigest()
