"""A graph of near rows (HNSW, by faiss) over one sealed stretch of time, for who asks ``rag:index=hnsw``.

A search walks from row to row towards the one that is asked about and sees some hundred of them, where lists of like
rows see a sixtieth. As with lists, a stretch lies wholly before the moment of asking or is scanned, so nothing is
filtered. Beside lists it finds more, takes longer to make and a copy of the rows in half precision; what both cost is
measured in ``bench/memory_scale.py``, and why lists stay the default told in docs/decisions/014.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.embed import Floats, Rows
from simulator.core.errors import UsageError
from simulator.core.extras import install_extra

__all__ = ["Hnsw", "kept", "version"]

_LINKS = 16
_SEEN_AT_LEAST = 64
"""How many rows a search holds as candidates (efSearch), at least."""


class Hnsw:
    """The graph of some rows; it speaks of them by their places. The same rows make the same graph.

    Args:
        graph: faiss's; made by ``over`` or ``out_of``.
    """

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    @classmethod
    def over(cls, rows: Rows, norms: Floats) -> Hnsw:
        """Make the graph: 6 s of processor time for 65,536 rows of 384 numbers.

        Args:
            rows: float32 of shape (n, d).
            norms: their lengths, shape (n,).

        Raises:
            UsageError: faiss is not installed.
        """
        faiss = _faiss()
        faiss.omp_set_num_threads(1)  # of this thread only; the other core belongs to the agent that is measured
        half = faiss.ScalarQuantizer.QT_fp16
        graph = faiss.IndexHNSWSQ(rows.shape[1], half, _LINKS, faiss.METRIC_INNER_PRODUCT)
        unit = (rows / np.where(norms > 0, norms, 1.0)[:, None]).astype(np.float32)
        graph.train(unit)
        graph.add(unit)
        return cls(graph)

    @classmethod
    def out_of(cls, said: bytes) -> Hnsw:
        """The graph that ``said`` tells, as ``bytes`` of one gave it."""
        return cls(_faiss().deserialize_index(np.frombuffer(said, dtype=np.uint8)))

    def __bytes__(self) -> bytes:
        said: bytes = _faiss().serialize_index(self._graph).tobytes()
        return said

    def near(self, row: Rows, k: int) -> NDArray[np.int64]:
        """Places of about k near rows by cosine, in no promised order; nearly all of them are the nearest."""
        wide = _faiss().SearchParametersHNSW(efSearch=max(_SEEN_AT_LEAST, 2 * k))
        places: NDArray[np.int64] = self._graph.search(row[None, :], k, params=wide)[1][0]
        return places[places >= 0]


def version() -> str:
    """Of faiss: another one may make another graph.

    Raises:
        UsageError: faiss is not installed.
    """
    return str(_faiss().__version__)


def _faiss() -> Any:
    try:
        return import_module("faiss")
    except ImportError as error:
        raise UsageError(f"memory 'rag': index=hnsw needs faiss: {install_extra('faiss')}") from error


def kept(folder: Path, stretches: Iterable[tuple[bytes, Rows, Floats]]) -> list[Hnsw]:
    """Graphs of stretches as they lie in a folder; those that are not there, or damaged, are made and put there.

    A graph is named by what it was made of, so one that is found is the right one, whatever became of the rest; its
    checksum is part of the name. What no stretch has any more is removed.

    Args:
        folder: made if it is not there; where nothing can be written, graphs are made in this process.
        stretches: what tells each from all others, its rows and their lengths.
    """
    graphs, names, fresh = [], set(), False
    for what, rows, norms in stretches:
        name = blake2b(what + version().encode(), digest_size=16).hexdigest()
        said = _read(folder, name)
        fresh |= said is None
        graph = Hnsw.over(rows, norms) if said is None else Hnsw.out_of(said)
        if said is None:
            _write(folder, name, bytes(graph))
        graphs.append(graph)
        names.add(name)
    if fresh:
        with suppress(OSError):
            for path in folder.glob("*.*"):
                if path.name.partition(".")[0] not in names or path.suffix == ".new":
                    path.unlink()
    return graphs


def _read(folder: Path, name: str) -> bytes | None:
    for path in folder.glob(f"{name}.*.faiss"):
        try:
            said = path.read_bytes()
        except OSError:
            continue
        if path.name == f"{name}.{zlib.crc32(said):08x}.faiss":
            return said
    return None


def _write(folder: Path, name: str, said: bytes) -> None:
    """Whole or not at all. Two processes at once write the same."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        for damaged in folder.glob(f"{name}.*.faiss"):
            damaged.unlink(missing_ok=True)
        new = folder / f"{name}.{os.getpid()}.new"
        new.write_bytes(said)
        new.rename(folder / f"{name}.{zlib.crc32(said):08x}.faiss")
