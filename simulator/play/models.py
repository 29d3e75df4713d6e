"""The model of a run: who asks it, with what patience, and what the log's header says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simulator.core.errors import UsageError
from simulator.endpoint.types import ModelChoice
from simulator.play.embedding import embedder_of

if TYPE_CHECKING:
    from memory.embedders.base import EmbedderChoice
    from simulator.play.assemble import Choice
    from simulator.play.makers import Maker
    from simulator.runs.config import Settings

__all__ = ["asked", "asking", "check_model", "model_of"]

_DEFAULT = ModelChoice()


def check_model(model: Any) -> None:
    """Whether what was given from Python is one.

    Raises:
        UsageError: it is not.
    """
    if model is not None and not isinstance(model, ModelChoice):
        raise UsageError(
            f"model: a ModelChoice (simulator.endpoint) is wanted, not an object of {type(model).__name__}"
        )


def model_of(choice: Choice, settings: Settings, agent: Maker) -> ModelChoice:
    """The model as it is asked: what was chosen; where nothing else was said as patient as a decision may last, and
    with as many calls in flight as the agent makes at once.
    """
    model = choice.model or _DEFAULT
    facts = agent.facts or {}
    at_once = facts.get("k") if facts.get("concurrent") is True else None
    if model.concurrency == _DEFAULT.concurrency and isinstance(at_once, int):
        model = replace(model, concurrency=max(model.concurrency, at_once))
    if model.timeout_ns == _DEFAULT.timeout_ns != settings.timeout_ns:
        idle = min(model.idle_timeout_ns, settings.timeout_ns)
        model = replace(model, timeout_ns=settings.timeout_ns, idle_timeout_ns=idle)
    return model


def asked(maker: Maker, model: ModelChoice, key: str) -> Mapping[str, Callable[[str], Any]]:
    """What is given to whoever wants the run's model: a client of its own for each unit, or the choice and the name
    (``unit``) under which its calls are kept.
    """
    if maker.wants_model is None:
        return {}
    if maker.wants_model == "ModelChoice":
        return {"model": lambda beside: model, "unit": lambda beside: f"{key}/{beside}" if beside else key}

    def client(beside: str) -> Any:
        from simulator.endpoint.chat import Endpoint  # most runs ask no model

        return Endpoint(model, scope=f"{key}/{beside}" if beside else key)

    return {"model": client}


def given_by_hand(memory: Maker, model: ModelChoice | None, embedder: str | None, key: str) -> dict[str, Any]:
    """A model and an embedder for a memory that is made outside of a run.

    Raises:
        UsageError: one was named, and the memory would not ask it.
    """
    chosen = embedder_of(embedder, memory, model)
    if model is not None and memory.wants_model is None and not (chosen is not None and chosen.asks):
        raise UsageError(f"a model is chosen, but the memory '{memory.name}' asks none")
    given = {name: make("") for name, make in asked(memory, model or ModelChoice(), key).items()}
    return given if chosen is None else given | {"embedder": chosen.make(choice=model, unit=key)}


def asking(choice: Choice, agent: Maker, memory: Maker, model: ModelChoice,
           embedder: EmbedderChoice | None = None) -> Mapping[str, Any]:  # fmt: skip
    """What the header says of the asking: nothing where no model is asked, and of the embedder where one is used.

    Raises:
        UsageError: a model was chosen, and nobody here would ask it; charges are to be recorded ones, and nothing is
            recorded.
        InputError: the cassette cannot be read, or what is to be recorded into is none.
    """
    asks = agent.wants_model is not None or memory.wants_model is not None or (embedder is not None and embedder.asks)
    _check_charges(choice, agent, memory, asks)
    if model.record and model.cassette is not None:
        from simulator.endpoint.cassette import check_begins  # most runs record no calls

        check_begins(model.cassette, to_record=True)
    if not asks and choice.model is not None:
        raise UsageError(
            f"a model is chosen, but neither the agent '{agent.name}' nor the memory '{memory.name}' asks one"
        )
    said: dict[str, Any] = {}
    if agent.wants_model is not None or choice.model is not None:
        said["model"] = model.header
    if agent.facts is not None:
        said["strategy"] = dict(agent.facts)
    if memory.facts:
        said["memory_facts"] = dict(memory.facts)
    if embedder is not None:
        said["embedder"] = dict(embedder.facts)
    return said


def _check_charges(choice: Choice, agent: Maker, memory: Maker, asks: bool) -> None:
    """Where charges are the recorded times of calls, there are calls and they are recorded: all else would be free.

    A class of somebody else's may ask a model of its own.
    """
    if choice.latency != "cassette" or (choice.model is not None and choice.model.cassette is not None):
        return
    if asks:
        raise UsageError("--latency cassette charges recorded calls: name their --cassette FILE (--record makes it)")
    if isinstance(choice.agent, str) and agent.code is None:
        raise UsageError(
            f"--latency cassette charges calls to models, and neither the agent '{agent.name}' nor the memory "
            f"'{memory.name}' makes one"
        )
