"""wordllama: a table of word vectors, averaged; a hundred times faster than a sentence model, and not as good."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.embedders.base import embedders
from simulator.core.errors import UsageError
from simulator.core.extras import install

__all__ = ["WordLlama"]

_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
_DIMENSIONS = (64, 128, 256)


@embedders.register("wordllama")
class WordLlama:
    """Static vectors of the package wordllama, English: very fast. Its weights seem to derive from Llama 2, so that its
    Community License may reach them, though the package says MIT.

    Args:
        dimension: 256 (default), 128 or 64 numbers; the shorter are the first of the longer.
    """

    licence = (
        "package MIT; its weights are distilled from token embeddings of the Llama 2 family, so that the Llama 2 "
        "Community License may reach them: whether you may use them is yours to decide"
    )

    def __init__(self, dimension: int = 256) -> None:
        self.identity, self.dimension = _identity(dimension), dimension
        self._model = _loaded(dimension)

    @staticmethod
    def header_facts(params: Mapping[str, Any]) -> dict[str, Any]:
        """For the log's header."""
        dimension = params.get("dimension", 256)
        return {"name": _identity(dimension), "dimension": dimension, "weights": _SHA256}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``core.protocols.Embedder``."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        said = [place for place, text in enumerate(texts) if text.strip()]
        if said:
            found = np.asarray(self._model.embed([texts[p] for p in said]), dtype=np.float64)
            lengths = np.sqrt((found * found).sum(axis=1, keepdims=True))
            rows[said] = found / np.where(lengths > 0, lengths, 1.0)
        return rows


def _identity(dimension: Any) -> str:
    if dimension not in _DIMENSIONS:
        raise UsageError(f"embedder 'wordllama': dimension must be one of 64, 128, 256, not {dimension}")
    return f"wordllama-l2-supercat/{dimension}/{_SHA256[:12]}"


@lru_cache(maxsize=3)
def _loaded(dimension: int) -> Any:
    try:
        wordllama: Any = import_module("wordllama")
    except ImportError as error:
        raise UsageError(f"embedder 'wordllama': the package is not installed: {install('wordllama')}") from error
    home = Path(str(wordllama.__file__)).parent
    weights = home / "weights" / "l2_supercat_256.safetensors"
    if not weights.is_file() or hashlib.sha256(weights.read_bytes()).hexdigest() != _SHA256:
        raise UsageError("embedder 'wordllama': these are not the weights l2_supercat_256 of version 0.4.0.post1")
    # Told not to download, it looks for its tokenizer in a folder that it does not ship; taken for its cache, its own
    # home has what it looks for (0.4.0.post1).
    return wordllama.WordLlama.load(
        config="l2_supercat",
        dim=256,
        trunc_dim=None if dimension == 256 else dimension,
        cache_dir=home,
        disable_download=True,
    )
