"""all-MiniLM-L6-v2: the small sentence model that most retrieval is compared with, without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.embedders.base import embedders
from memory.embedders.bert import WIDTH, Network, Table, in_numpy, in_onnx
from memory.embedders.weights import SHA256, find_minilm
from memory.embedders.wordpiece import WordPiece
from simulator.core.errors import UsageError, nearest, quote

__all__ = ["ENGINES", "MiniLM"]

ENGINES = ("onnx", "int8", "numpy")
_BATCH = 16
"""Texts in one call: more are not faster (measured)."""


@embedders.register("minilm")
class MiniLM:
    """all-MiniLM-L6-v2, English, 384 numbers; weights Apache-2.0, by a package of their own.

    A text's vector does not depend on what it is embedded with, to the bit; on another machine it may differ by 3e-7.
    Texts are cut behind 254 word pieces.

    Args:
        engine: ``onnx`` (default): ONNX Runtime in single precision, equal to the original in torch to 2e-7. ``int8``:
            its products in 8 bits, for short queries twice as fast; cosines of 0.999 with the original. ``numpy``: as
            ``onnx``, one text at a time; slower, and needs nothing else.
        weights: a folder with ``model.safetensors`` and ``vocab.txt``; by default those of an installed package.
    """

    licence = "Apache-2.0"
    dimension = WIDTH

    def __init__(self, engine: str = "onnx", weights: str | None = None) -> None:
        self.identity = _identity(engine)
        self._model = _loaded(engine, weights)

    @staticmethod
    def header_facts(params: Mapping[str, Any]) -> dict[str, Any]:
        """For the log's header; the folder of the weights is nobody's business, their hash tells enough."""
        engine = str(params.get("engine", "onnx"))
        return {"name": _identity(engine), "dimension": WIDTH, "weights": SHA256}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``core.protocols.Embedder``; texts of one length go through the network together."""
        model = self._model
        pieces = [model.split(text) for text in texts]
        by_length: dict[int, list[int]] = {}
        for place, numbers in enumerate(pieces):
            if len(numbers) > 2:  # else the text says nothing
                by_length.setdefault(len(numbers), []).append(place)
        rows = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for length, places in by_length.items():
            for begin in range(0, len(places), model.batch):
                some = places[begin : begin + model.batch]
                states = model.network(model.words[[pieces[p] for p in some]] + model.positions[:length])
                rows[some] = _pooled(states)
        return rows


@dataclass(frozen=True, slots=True)
class _Model:
    split: WordPiece
    words: Table
    positions: Table
    network: Network
    batch: int


@lru_cache(maxsize=2)
def _loaded(engine: str, weights: str | None) -> _Model:
    """Loaded once a process, whoever asks; it keeps nothing of any text but pieces of words."""
    files = find_minilm(weights)
    tensors = files.tensors
    network = in_numpy(tensors) if engine == "numpy" else in_onnx(tensors, eight_bits=engine == "int8")
    positions = tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
    words = tensors["embeddings.word_embeddings.weight"]
    return _Model(WordPiece(files.pieces), words, positions, network, 1 if engine == "numpy" else _BATCH)


def _identity(engine: str) -> str:
    if engine not in ENGINES:
        raise UsageError(f"embedder 'minilm': there is no engine {quote(engine)}; {nearest(engine, ENGINES)}")
    return f"minilm-l6-v2/{engine}/{SHA256[:12]}"


def _pooled(states: Table) -> Table:
    """The mean over a text's pieces, at unit length. In double precision, where the order of adding cannot be seen."""
    sums = states.sum(axis=1, dtype=np.float64)
    rows: Table = (sums / np.sqrt((sums * sums).sum(axis=1, keepdims=True))).astype(np.float32)
    return rows
