"""How long before a request the screens were that looked most like the one at its start (ProAgentBench, Figure 2c).

For each request: the picture shown at its start, the distinct other pictures shown in the window before it, and of
those the most similar ones by cosine; each counts with the time since it was last shown. The paper compares pictures by
an embedding model; without one, by our own signature, whose name stands in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from simulator.core.errors import InputError
from simulator.core.faults import told
from simulator.core.registry import Registry
from simulator.core.types import SECOND
from simulator.screen import pixels
from simulator.session.describe_parts import Part
from simulator.session.reader import Reader

__all__ = ["IMAGE_EMBEDDERS", "ImageEmbedder", "LookBack", "Luminance", "look_back"]

_Rows = NDArray[np.float32]


class ImageEmbedder(Protocol):
    """What turns pictures into vectors that are compared by cosine."""

    def embed_images(self, paths: Sequence[Path]) -> _Rows:
        """``float32[n, d]``, a row a picture."""


IMAGE_EMBEDDERS: Registry[ImageEmbedder] = Registry(
    "image embedder", "proact.image_embedders", ("simulator.session.describe_pictures",), "embed_images"
)


@IMAGE_EMBEDDERS.register("luminance")
class Luminance:
    """A core, deterministic signature: luminance, scaled down to 32 x 18 by averaging, less its mean, of length 1."""

    size = (32, 18)

    def embed_images(self, paths: Sequence[Path]) -> _Rows:
        """See ``ImageEmbedder``; a picture of one colour is a row of zeros."""
        rows = [self._row(path) for path in paths]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.size[0] * self.size[1])

    def _row(self, path: Path) -> NDArray[np.float64]:
        small = pixels.decode(path).convert("L").resize(self.size, Image.Resampling.BOX)
        row: NDArray[np.float64] = np.array(small, dtype=np.float64).ravel()
        row -= row.mean()
        length = float(np.linalg.norm(row))
        if length:
            row /= length
        return row


@dataclass(slots=True)
class LookBack:
    """What was found; figures are of the requests that could be looked at.

    Attributes:
        embedder: by whose vectors pictures were compared.
        window_s: how far back.
        most: how many pictures a request.
        times_s: since each of the most similar pictures was last shown, of all requests.
        similarities: their cosines.
        n_looked_at: requests with a picture at their start and another before.
        n_without_picture: requests at whose start no picture is there.
        n_nothing_before: requests with no other picture in the window.
        n_same_before: of those looked at, the ones whose own picture had been shown before already.
    """

    embedder: str
    window_s: float
    most: int
    times_s: list[float] = field(default_factory=list)
    similarities: list[float] = field(default_factory=list)
    n_looked_at: int = 0
    n_without_picture: int = 0
    n_nothing_before: int = 0
    n_same_before: int = 0

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        times = sorted(self.times_s)
        return {
            "embedder": self.embedder, "window_s": self.window_s, "most_similar": self.most,
            "requests_looked_at": self.n_looked_at, "requests_without_picture": self.n_without_picture,
            "requests_with_nothing_before": self.n_nothing_before, "requests_shown_before": self.n_same_before,
            "median_time_to_event_s": float(np.median(times)) if times else None,
            "median_similarity": float(np.median(self.similarities)) if times else None,
            "times_to_event_s": [round(t, 3) for t in times],
        }  # fmt: skip


def look_back(
    parts: Sequence[Part],
    embedder: ImageEmbedder,
    name: str,
    *,
    window_ns: int = 300 * SECOND,
    most: int = 5,
    progress: Callable[[int], None] | None = None,
) -> LookBack:
    """Look back from every request of the sessions among the parts; event tables have no pictures.

    Args:
        parts: sessions.
        embedder: compares pictures.
        name: what it is called in the result.
        window_ns: how far to look back.
        most: how many of the most similar pictures count.
        progress: told after each session how many requests it held.
    """
    found = LookBack(name, window_ns / SECOND, most)
    for part in parts:
        if part.session is not None and part.requests:
            with told(part.where), Reader(part.where, known=part.session) as reader:
                _look(part, reader, embedder, found, window_ns)
            if progress is not None:
                progress(len(part.requests))
    return found


def _look(part: Part, reader: Reader, embedder: ImageEmbedder, found: LookBack, window_ns: int) -> None:
    header = reader.header
    rows = [(t - header.zero_ns, file) for t, file in reader.rows(("captured_ns", "file_path"))]
    times = np.array([t for t, _ in rows], dtype=np.int64)
    known: dict[str, NDArray[np.float32] | None] = {}
    shift = (header.utc_anchor_ns or 0) if part.anchored else 0
    for request in part.requests:
        at = request.at_ns - shift
        here = int(np.searchsorted(times, at, side="right")) - 1
        first = int(np.searchsorted(times, at - window_ns))
        own = rows[here][1] if here >= 0 else None
        vector = None if own is None else _vector(reader.folder, own, embedder, known)
        if vector is None:
            found.n_without_picture += 1
            continue
        last_shown = {file: t for t, file in rows[first:here] if file is not None}
        found.n_same_before += own in last_shown
        last_shown.pop(own, None)
        vectors = {file: v for file in last_shown if (v := _vector(reader.folder, file, embedder, known)) is not None}
        if not vectors:
            found.n_nothing_before += 1
            continue
        found.n_looked_at += 1
        likeness = {file: _cosine(vector, v) for file, v in vectors.items()}
        best = sorted(likeness, key=lambda f: (-likeness[f], -last_shown[f], f))[: found.most]
        found.times_s += [(at - last_shown[file]) / SECOND for file in best]
        found.similarities += [likeness[file] for file in best]


def _vector(
    folder: Path, file: str, embedder: ImageEmbedder, known: dict[str, NDArray[np.float32] | None]
) -> NDArray[np.float32] | None:
    """Of a picture of the session, embedded once; None if it is not there or cannot be read."""
    if file not in known:
        try:
            known[file] = np.asarray(embedder.embed_images([folder / file]), dtype=np.float32)[0]
        except InputError:
            known[file] = None
    return known[file]


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    lengths = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0
