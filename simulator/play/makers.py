"""Agents and memories from what a user names: a spec such as ``random:rate=0.1`` or ``mine.py:Class``, or from Python a
class or any callable that makes one. Each unit gets one of its own, born empty.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agents.base import agents
from memory.base import made, memories
from memory.embedders.aside import embedded
from simulator.core.errors import UsageError, quote
from simulator.core.operators import operators
from simulator.core.registry import Registry, Spec, model_wanted, parse_spec, signature, typed
from simulator.core.traits import declares, trait
from simulator.core.user_files import code_of

__all__ = ["Maker", "Making", "Named", "agent_maker", "memory_maker", "with_params"]

Named = str | Callable[..., Any]
_NOTHING: Mapping[str, Any] = MappingProxyType({})
LONG_S = 20.0
_HOUSE = Path(__file__).resolve().parents[2]


class Making:
    """Makes what each unit gets one of; the one that was made to be looked at is the first that is handed out.

    Args:
        make: what makes one.
        fresh: what each one gets of its own: how it is made, of a word that tells companions of a unit apart.
        beside: that word; empty for the unit itself.
        given: what it is made of.
    """

    def __init__(self, make: Callable[..., Any], fresh: Mapping[str, Callable[[str], Any]] = _NOTHING, /,
                 beside: str = "", **given: Any) -> None:  # fmt: skip
        self._make, self._fresh, self._beside, self._given = make, fresh, beside, given
        self._spare: list[Any] = []

    def companion(self, word: str) -> Making:
        """For one that is played beside, of the same make."""
        return Making(self._make, self._fresh, word, **self._given)

    def look(self) -> Any:
        """One, before it is needed."""
        if not self._spare:
            self._spare.append(self())
        return self._spare[0]

    def __call__(self) -> Any:
        """One that nobody else has."""
        if self._spare:
            return self._spare.pop()
        return self._make(**self._given, **{name: make(self._beside) for name, make in self._fresh.items()})


@dataclass(frozen=True, slots=True)
class Maker:
    """How one is made.

    Attributes:
        text: for the log's header.
        name: short, for folders and tables.
        code: SHA-256 of the file that its class lies in and of what that imports from beside it (see ``code_of``), None
            for ours: a run of changed code is another run.
        sees_truth: its class declares that it is to be given the truth.
        wants_model: the run's model is to be given to it, see ``core.registry.model_wanted``.
        facts: what its class says of itself for the log's header (``header_facts``); None where it says nothing.
        wants_others: it is to be given the pasts of the run's other users (``others``).
        wants_embedder: it is to be given the run's embedder.
        reads_window: False where its class declares that the length of the history view is nothing to it.
        make: takes what the run has to give (``seed``, ``intentions``, …) and uses what it knows.
    """

    text: str
    name: str
    code: str | None
    sees_truth: bool
    wants_model: str | None
    facts: Mapping[str, Any] | None
    make: Callable[..., Any]
    wants_others: bool = False
    wants_embedder: bool = False
    reads_window: bool = True


def agent_maker(what: Named) -> Maker:
    """Of an agent.

    Raises:
        UsageError: no such agent.
    """
    return _maker(agents, what, lambda cls, make: make())


def memory_maker(what: Named) -> Maker:
    """Of a memory; a plain class gets a thread, and is made in it.

    Raises:
        UsageError: no such memory.
    """
    return _maker(memories, what, made)


def _maker(registry: Registry[Any], what: Any,
           through: Callable[[Callable[..., Any], Callable[[], Any]], Any]) -> Maker:  # fmt: skip
    if isinstance(what, str):
        spec = registry.parse(what)
        cls: Any = registry.get(spec.name)
        spec = _named(spec, cls)
        text, name = spec.text, registry.short(spec)
    elif callable(what):
        spec, cls = None, what
        name = getattr(what, "__name__", type(what).__name__)
        text = f"{getattr(what, '__module__', '?')}:{getattr(what, '__qualname__', name)}"
    else:
        want = "a name, a class, or what makes one (each unit gets one of its own)"
        raise UsageError(f"{registry.kind}: {want} is wanted, not an object of {type(what).__name__}")

    code = _code(cls)

    def make(**given: Any) -> Any:
        given = {"header_facts": told, **given}
        with nullcontext() if code is None else _named_while_long(registry.kind, cls):
            if spec is not None:
                return through(cls, lambda: registry.make(spec, **given))
            takes = inspect.signature(cls).parameters
            return through(cls, lambda: cls(**{k: v for k, v in given.items() if k in takes}))

    facts = trait(cls, "header_facts")
    told = facts({} if spec is None else spec.params) if callable(facts) else None
    return Maker(text, name, code, declares(cls, "sees_truth"), model_wanted(cls), told, embedded(make),
                 "others" in signature(cls), "embedder" in signature(cls) and "embedder" not in typed(cls),
                 trait(cls, "reads_window", True) is not False)  # fmt: skip


@contextmanager
def _named_while_long(kind: str, cls: Any) -> Iterator[None]:
    """Name to operators a constructor that takes long, while it does."""
    said = f"before time 0: the constructor of the {kind} {getattr(cls, '__name__', type(cls).__name__)}"
    telling = threading.Timer(LONG_S, lambda: operators().warning(f"{said} has not come back for {LONG_S:g} s"))
    telling.daemon = True
    telling.start()
    try:
        yield
    finally:
        telling.cancel()


def with_params(agent: str, params: Mapping[str, Any]) -> str:
    """A spec with further parameters, as if they had been written in it.

    Raises:
        UsageError: one stands in it already, or holds a comma.
    """
    if not params:
        return agent
    spec = parse_spec(agent)
    for name, value in params.items():
        if name in spec.params:
            raise UsageError(f"{name} is given twice: in {quote(agent)} and as --{name}")
        if "," in str(value):
            raise UsageError(f"--{name} {quote(value)}: no value may hold a comma")
    return Spec(spec.name, {**spec.params, **params}).text


def _named(spec: Spec, cls: Any) -> Spec:
    """A spec whose value without a name has that of the parameter that it is: ``remote:URL`` is ``remote:url=URL``."""
    first = next(iter(typed(cls)), "value")
    if (
        "value" not in spec.params
        or "value" in signature(cls)
        or first in spec.params
        or spec.params["value"] in typed(cls)
    ):
        return spec
    return Spec(spec.name, {first if key == "value" else key: value for key, value in spec.params.items()})


def _code(cls: Any) -> str | None:
    parts = [code for part in trait(cls, "classes", ()) if (code := _code(part)) is not None]
    if parts:  # a combination of memories, not all of them ours
        return sha256("".join(parts).encode()).hexdigest()
    try:
        file = Path(inspect.getsourcefile(cls) or "")
    except TypeError:  # made in C, or an instance: nothing to read
        return None
    return None if _is_ours(file) else code_of(file)


@lru_cache(maxsize=256)
def _is_ours(file: Path) -> bool:
    """Whether it lies in our house; asked for each unit, and the system takes its time to tell."""
    return any(file.resolve().is_relative_to(_HOUSE / room) for room in ("agents", "memory"))
