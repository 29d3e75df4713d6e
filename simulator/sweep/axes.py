"""What the axes of a study are, and what a value of one sets in a run's choice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from agents.base import agents
from memory.base import memories
from memory.embedders.base import embedders
from simulator.core.durations import duration
from simulator.core.errors import UsageError, nearest, quote
from simulator.core.registry import parse_spec, typed
from simulator.endpoint.types import ModelChoice
from simulator.play.assemble import Choice
from simulator.play.makers import Maker, agent_maker, memory_maker, with_params
from simulator.sweep.study import said
from simulator.timing.latency import parse_latency
from simulator.timing.mailbox import parse_policy

__all__ = ["ALWAYS", "NOTHING", "RULES", "Axis", "Draft", "canonical", "choice_of", "ensure_axis", "maker_of"]

NOTHING = "-"
"""The value of an axis that says nothing to a cell, such as the modality of an agent that is shown no screen."""
ALWAYS = {"agent": "prior", "memory": "rag"}
"""Axes that every study has, with their one value where it names none."""
RULES = (
    "rate",
    *(f.name for f in fields(Choice) if f.name not in ("scenarios", "journal", "seed")),
)
"""Axes by which the rules of a run are set; the others are parameters of agents and memories."""
MEASURED = "measured"
_SPEED_DIGITS = 9
_OF_MEMORY = "memory."
_OF_MODEL = {f.name for f in fields(ModelChoice)} - {"timeout_ns", "idle_timeout_ns", "record", "cassette", "prices"}


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its name and its values as typed, each once, in the order in which they were given."""

    name: str
    values: tuple[str, ...]

    @property
    def varies(self) -> bool:
        """Whether it has several values."""
        return len(self.values) > 1


@dataclass(slots=True)
class Draft:
    """A cell on its way: values by axis, of which those that say nothing become ``NOTHING``."""

    values: dict[str, str]
    given: Mapping[str, Any]
    choice: dict[str, Any] = field(default_factory=dict)


@cache
def maker_of(kind: str, spec: str) -> Maker:
    """An agent's or a memory's maker, looked up once.

    Raises:
        UsageError: there is none of that name.
    """
    return agent_maker(spec) if kind == "agent" else memory_maker(spec)


def canonical(kind: str, spec: str) -> str:
    """The spec of an agent or a memory by our own names, where it was written with an alias: one thing is one cell.

    Raises:
        UsageError: there is none of that name.
    """
    registry: Any = agents if kind == "agent" else memories
    parsed = registry.parse(spec)
    registry.get(parsed.name)
    return spec if parsed.name == parse_spec(spec).name else str(parsed.text)


@cache
def _parameters(kind: str, spec: str, *, free: bool = True) -> frozenset[str]:
    """The parameters of an agent or a memory; ``free``: those that the spec itself does not give."""
    registry: Any = agents if kind == "agent" else memories
    parsed = registry.parse(spec)
    if kind == "memory" and "+" in spec:
        return frozenset()
    return frozenset(typed(registry.get(parsed.name))) - (frozenset(parsed.params) if free else frozenset())


def ensure_axis(name: str, agents_of: Iterable[str], memories_of: Iterable[str]) -> None:
    """Refuse an axis that there is not.

    Args:
        name: of the axis.
        agents_of: specs of the agents of the study, whose parameters are axes too.
        memories_of: likewise of its memories, whose are with ``memory.`` before them.

    Raises:
        UsageError: with the nearest one.
    """
    known = {"data", *RULES}
    known |= {parameter for spec in agents_of for parameter in _parameters("agent", spec, free=False)}
    known |= {f"{_OF_MEMORY}{name}" for spec in memories_of for name in _parameters("memory", spec, free=False)}
    if name not in known:
        raise UsageError(f"there is no axis {quote(name)}; {nearest(name, known)}")


def choice_of(draft: Draft, models: Mapping[str, Any], base: ModelChoice | None) -> None:
    """Fill in what the values of a cell choose; a value that says nothing to it becomes ``NOTHING``.

    Args:
        draft: the cell; its ``values`` and ``choice`` are changed.
        models: what the values of axis ``model`` stand for.
        base: the model that the command line chose, which the axis goes over.

    Raises:
        UsageError: no such agent, memory or model.
    """
    values, choice = draft.values, draft.choice
    agent, memory = values["agent"], values["memory"]
    shown: dict[str, str] = {}
    kept: dict[str, str] = {}
    for name, value in values.items():
        if name in RULES or name == "data":
            continue
        kind, parameter = ("memory", name.removeprefix(_OF_MEMORY)) if name.startswith(_OF_MEMORY) else ("agent", name)
        if parameter not in _parameters(kind, agent if kind == "agent" else memory):
            values[name] = NOTHING
        else:
            (shown if kind == "agent" else kept)[parameter] = value
    choice["agent"], choice["memory"] = with_params(agent, shown), with_params(memory, kept)
    made, stored = maker_of("agent", choice["agent"]), maker_of("memory", choice["memory"])
    if "window" in values and not made.reads_window:
        _say_nothing(values, "window")
    _take_rules(values, choice)
    if "embedder" in values and not stored.wants_embedder:
        _say_nothing(values, "embedder")
    elif "embedder" in values:
        choice["embedder"] = values["embedder"]
    _take_model(values, choice, models, base, asks=_asks(made, stored, choice))


def _take_rules(values: dict[str, str], choice: dict[str, Any]) -> None:
    """Clock and latency in their dependence, then the rules that are words."""
    latency = values.get("latency")
    clock = values.get("clock")
    if clock is None and latency not in (None, MEASURED):
        clock = "modelled"
    choice["clock"] = clock or MEASURED
    if latency is not None and latency != MEASURED:
        if choice["clock"] == "modelled":
            choice["latency"] = latency
        else:
            _say_nothing(values, "latency")
    protocol = values.get("protocol", "stream")
    for name in ("policy", "protocol", "gate", "timeout", "memory_mode", "window", "max_gap"):
        if values.get(name, NOTHING) == NOTHING:
            continue
        if name == "policy" and protocol != "stream":
            _say_nothing(values, name)
            continue
        choice[name] = values[name]
    if "speed" in values:
        if choice["clock"] != "elastic":
            _say_nothing(values, "speed")
        else:
            choice["speed"] = _speed(values["speed"])


def _speed(text: str) -> int:
    if not (text.isdecimal() and len(text) <= _SPEED_DIGITS):
        raise UsageError(f"speed: a whole number is wanted, not {quote(text)}")
    return int(text)


def _embedder(text: str) -> None:
    embedders.get(embedders.parse(text).name)


def _latency(text: str) -> None:
    if not text.startswith("from:"):  # an earlier run, which nobody reads here
        parse_latency(text)


_CHECKS: Mapping[str, Callable[[str], object]] = {
    "window": lambda text: duration("window", text, above_0=True),
    "embedder": _embedder,
    "latency": _latency,
    "policy": parse_policy,
    "speed": _speed,
}


@cache
def _ensure_value(axis: str, value: str) -> None:
    """Refuse a value that no cell could have: where an axis says nothing to a cell, nobody else would look at it."""
    if value != NOTHING:
        _CHECKS[axis](value)


def _say_nothing(values: dict[str, str], axis: str) -> None:
    _ensure_value(axis, values[axis])
    values[axis] = NOTHING


def _asks(agent: Maker, memory: Maker, choice: Mapping[str, Any]) -> bool:
    embeds = str(choice.get("embedder", "")).startswith("endpoint")
    return agent.wants_model is not None or memory.wants_model is not None or embeds


def _take_model(values: dict[str, str], choice: dict[str, Any], models: Mapping[str, Any], base: ModelChoice | None,
                *, asks: bool) -> None:  # fmt: skip
    """The model of a cell: what the axis says over what the command line chose; nothing where nobody asks one."""
    if not asks:
        if "model" in values:
            values["model"] = NOTHING
        return
    if "model" not in values:
        if base is not None:
            choice["model"] = base
        return
    chosen = models.get(values["model"], values["model"])
    facts = {"model": chosen} if isinstance(chosen, str) else dict(chosen)
    if "name" in facts:
        facts["model"] = facts.pop("name")
    for name in facts:
        if name not in _OF_MODEL:
            raise UsageError(f"axes.model: there is no {quote(name)} of a model; {nearest(name, {'name', *_OF_MODEL})}")
        _ensure_kind(name, facts[name])
    try:
        choice["model"] = replace(base or ModelChoice(), **facts)
    except TypeError:
        raise UsageError(f"axes.model: a value of {quote(said(chosen))} is of the wrong kind") from None


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    **dict.fromkeys(("model", "base_url", "key_variable"), ((str,), "a text")),
    **dict.fromkeys(("temperature", "top_p"), ((int, float), "a number")),
    "extra_body": ((Mapping,), "a mapping"),
}


def _ensure_kind(name: str, value: Any) -> None:
    """Refuse a field of a model that is of another kind; what is no text, number or mapping is a whole number."""
    kinds, want = _KINDS.get(name, ((int,), "a whole number"))
    if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
        shown = value if isinstance(value, str) else json.dumps(value)
        raise UsageError(f"axes.model: {name} of a model: {want} is wanted, not {quote(shown)}")


def shown_choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    """A cell's choice in JSON: no key, no address with a user in it."""
    return {
        name: value.header if isinstance(value, ModelChoice) else str(value) if isinstance(value, Path) else value
        for name, value in choice.items()
    }
