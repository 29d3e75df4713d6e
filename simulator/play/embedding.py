"""The embedder of a run's memory: by which name it goes, who makes it for each unit, what the header says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from memory.embedders.base import DEFAULT, EmbedderChoice, embedder_choice
from simulator.core.errors import UsageError
from simulator.endpoint.types import ModelChoice

if TYPE_CHECKING:
    from simulator.play.makers import Maker

__all__ = ["embedder_of", "embedding"]


def embedder_of(text: str | None, memory: Maker, model: ModelChoice | None) -> EmbedderChoice | None:
    """What the run's memory embeds with; None where it embeds nothing.

    Raises:
        UsageError: there is no such embedder, or one was named and nobody would use it.
    """
    if memory.wants_embedder:
        return embedder_choice(DEFAULT if text is None else text, model)
    if text is not None:
        raise UsageError(f"an embedder is chosen, but the memory '{memory.name}' embeds nothing")
    return None


def embedding(found: EmbedderChoice | None, model: ModelChoice, key: str) -> Mapping[str, Callable[[str], Any]]:
    """What is given to a memory that embeds: an embedder of its own for each unit, as no unit is to be faster for the
    texts of the one before it. (Weights are loaded once.)
    """
    if found is None:
        return {}
    make = found.make
    return {"embedder": lambda beside: make(choice=model, unit=f"{key}/{beside}" if beside else key)}
