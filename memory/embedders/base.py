"""The door to embedders: names to embedders, what a run's header says of one, and vectors kept by text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.embed import HashEmbedder
from simulator.core.errors import ProactError
from simulator.core.protocols import Embedder
from simulator.core.registry import Registry
from simulator.core.traits import trait
from simulator.timing.meter import charging

__all__ = ["DEFAULT", "EmbedderChoice", "Kept", "embedder_choice", "embedders", "make_embedder"]

DEFAULT = "hash"
"""Decision 011: the same numbers on every machine, and nothing to install."""

embedders: Registry[Any] = Registry(
    "embedder",
    "proact.embedders",
    ("memory.embedders.endpoint", "memory.embedders.minilm", "memory.embedders.wordllama"),
    "embed",
)
embedders.register("hash")(HashEmbedder)


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """An embedder as somebody named it.

    Attributes:
        text: the spec.
        facts: for headers and results, JSON-ready: ``name``, ``dimension`` (None: its server decides), ``weights`` (the
            SHA-256 of its weights; None where it has none, or does not tell) and what else makes it another one.
        asks: it asks a server, with the run's address and cassette.
        make: makes one; ``choice`` is the run's ``ModelChoice``, ``unit`` whose texts it embeds.
    """

    text: str
    facts: Mapping[str, Any]
    asks: bool
    make: Callable[..., Embedder]


def embedder_choice(text: str = DEFAULT, choice: Any = None) -> EmbedderChoice:
    """What a spec stands for: ``hash``, ``minilm:engine=int8``, ``endpoint:model=NAME``, ``path.py:Class``. Nothing is
    loaded yet.

    Args:
        text: the spec.
        choice: the run's ``ModelChoice``, where it has one.

    Raises:
        UsageError: there is no such embedder.
    """
    spec = embedders.parse(text)
    cls = embedders.get(spec.name)
    tell = trait(cls, "header_facts")
    asks = bool(trait(cls, "asks_server", False))
    if tell is not None:
        facts = tell(spec.params, choice) if asks else tell(spec.params)
    else:
        dimension = trait(cls, "dimension")
        name = HashEmbedder.identity if cls is HashEmbedder else embedders.short(spec)
        facts = {"name": name, "dimension": dimension if isinstance(dimension, int) else None,
                 "weights": None}  # fmt: skip
        if ".py:" in spec.name:
            facts["code"] = sha256(Path(spec.name.rpartition(":")[0]).read_bytes()).hexdigest()

    def make(**given: Any) -> Embedder:
        made: Embedder = embedders.make(spec, **given)
        if isinstance(made, HashEmbedder):
            return made
        return Kept(made, shared=cls.__module__.startswith("memory."), facts=facts)

    return EmbedderChoice(spec.text, facts, asks, make)


def make_embedder(text: str = DEFAULT, **given: Any) -> Embedder:
    """An embedder that nobody else has; see ``embedder_choice``.

    Raises:
        UsageError: there is none, or it cannot be had here.
    """
    return embedder_choice(text).make(**given)


_SHARED: dict[str, dict[str, NDArray[np.float32]]] = {}
"""By identity, vectors of texts whose embedding was charged to nobody."""


class Kept:
    """An embedder whose vectors are kept in memory by text, and checked when they come.

    Nothing is written to a disk: a vector tells much of its text, and one found from an earlier run would make this
    run's decisions look faster than they are. For the same reason decisions and writes find only what their own unit
    embedded; what is not charged to anybody (histories, before time 0) is shared by the units of a process, unless a
    server is asked, whose calls a cassette counts. Time goes to the stage ``embed`` of the decision that asks.

    Args:
        embedder: makes them.
        room: most texts; when it is full it is emptied, which changes what a call costs and never what it gives.
        shared: uncharged calls share their vectors with others of the same identity, which therefore tells all that
            bears on them.
        facts: what a header says of it; without, it is known by its name alone.

    Attributes:
        known_dimension: of the rows that came; None until some did.
        facts: what stored vectors have to have in common with its own: name, weights, code, server, as far as known.
    """

    known_dimension: int | None = None

    def __init__(self, embedder: Embedder, room: int = 16_384, *, shared: bool = False,
                 facts: Mapping[str, Any] | None = None) -> None:  # fmt: skip
        self._embedder, self._room = embedder, room
        self.facts = {"name": embedder.identity} if facts is None else _of_vectors(facts)
        self._rows: dict[str, NDArray[np.float32]] = {}
        self.inline: bool = trait(embedder, "inline", True) is not False
        self._shared = _SHARED.setdefault(embedder.identity, {}) if shared and self.inline else None

    @property
    def identity(self) -> str:
        """See ``core.protocols.Embedder``."""
        return self._embedder.identity

    @property
    def dimension(self) -> int:
        """See ``core.protocols.Embedder``; one that asks a server may have to ask it for this."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``core.protocols.Embedder``.

        Raises:
            ProactError: what came is not one row of unit length and of the embedder's dimension for each text.
        """
        known = {text: row for text in texts if (row := self._rows.get(text)) is not None}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known |= self._made(new)
            if len(self._rows) + len(new) > self._room:
                self._rows.clear()
            if len(new) <= self._room:
                self._rows |= {text: known[text] for text in new}
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([known[text] for text in texts])

    def _made(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Vectors of texts that this unit has not embedded yet."""
        meter = charging.get()
        if meter is not None:
            with meter.stage("embed"):
                return dict(zip(texts, self._checked(self._embedder.embed(texts), len(texts)), strict=True))
        found = {} if self._shared is None else {t: row for t in texts if (row := self._shared.get(t)) is not None}
        new = [text for text in texts if text not in found]
        if new:
            made = dict(zip(new, self._checked(self._embedder.embed(new), len(new)), strict=True))
            found |= made
            if self._shared is not None and len(new) <= self._room:
                if len(self._shared) + len(new) > self._room:
                    self._shared.clear()
                self._shared |= made
        return found

    def close(self) -> None:
        """Let go what it holds."""
        self._rows.clear()
        close = trait(self._embedder, "close")
        if close is not None:
            close()

    def _checked(self, found: Any, n: int) -> NDArray[np.float32]:
        try:
            rows = np.asarray(found, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise ProactError(f"embedder {self.identity}: rows of numbers are wanted, all of one length") from error
        if rows.ndim != 2 or rows.shape[0] != n or rows.shape[1] == 0:
            raise ProactError(f"embedder {self.identity}: {n} rows of one length are wanted, not shape {rows.shape}")
        if rows.shape[1] != self.dimension:
            raise ProactError(f"embedder {self.identity}: its dimension is {self.dimension}, and {rows.shape[1]} came")
        squares = np.einsum("ij,ij->i", rows, rows)
        if not (np.abs(squares[squares != 0] - 1) < 1e-3).all():  # also where a number is none
            raise ProactError(f"embedder {self.identity}: rows of unit length are wanted, or zeros for an empty text")
        self.known_dimension = rows.shape[1]
        return rows


def _of_vectors(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Of a header's facts those that make vectors what they are: not how long is waited for them, or on which tape."""
    asked = facts.get("asked", {})
    kept = {name: facts[name] for name in ("name", "weights", "code") if facts.get(name) is not None}
    return kept | {name: asked[name] for name in ("base_url", "sent") if asked.get(name)}
