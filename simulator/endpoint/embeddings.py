"""What an embeddings endpoint answers, checked: one row a text, all of one length, finite numbers."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.endpoint.answer import parsed
from simulator.endpoint.types import EndpointError, Usage

__all__ = ["Vectors", "embedded"]


class Vectors:
    """Rows of float32 of shape (n, d); (0, 0) without any."""

    def __init__(self, rows: NDArray[np.float32] | None = None) -> None:
        self.rows: NDArray[np.float32] = np.zeros((0, 0), np.float32) if rows is None else rows

    def __len__(self) -> int:
        return len(self.rows)

    def kept(self) -> dict[str, Any]:
        """For a cassette: little-endian, so that every machine reads the same."""
        return {"shape": list(self.rows.shape), "float32": b64encode(self.rows.astype("<f4").tobytes()).decode()}

    @classmethod
    def taken_back(cls, said: Mapping[str, Any]) -> Vectors:
        """From a cassette.

        Raises:
            ValueError: damaged.
        """
        n, d = said["shape"]
        return cls(np.frombuffer(b64decode(said["float32"]), "<f4").reshape(n, d).astype(np.float32))


def embedded(payload: bytes, texts: Sequence[str]) -> tuple[Vectors, Usage]:
    """The answer of a server, in the order of the texts, and what it used.

    Raises:
        EndpointError: ``bad_json``.
    """
    said = parsed(payload)
    data = said.get("data")
    if not isinstance(data, list) or len(data) != len(texts):
        raise EndpointError("bad_json", f"one embedding for each of {len(texts)} texts was asked for, not answered")
    rows: list[Any] = [None] * len(texts)
    for place, item in enumerate(data):
        at = item.get("index", place) if isinstance(item, Mapping) else -1
        if not isinstance(at, int) or not 0 <= at < len(texts) or rows[at] is not None:
            raise EndpointError("bad_json", "the embeddings are not numbered by their texts")
        rows[at] = item.get("embedding")
    try:
        table = np.array(rows, dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        raise EndpointError("bad_json", "the embeddings are no rows of numbers of one length") from None
    if table.ndim != 2 or table.shape[1] == 0 or not np.isfinite(table).all():
        raise EndpointError("bad_json", "the embeddings are no rows of finite numbers of one length")
    return Vectors(table), _usage(said.get("usage"), texts)


def _usage(said: Any, texts: Sequence[str]) -> Usage:
    count = said.get("prompt_tokens") if isinstance(said, Mapping) else None
    if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= 10**12:
        return Usage(count)
    return Usage(sum((len(t.encode("utf-8", "surrogatepass")) + 3) // 4 for t in texts), estimated=True)
