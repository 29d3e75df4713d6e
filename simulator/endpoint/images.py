"""Pictures as models get them: scaled down, as JPEG, in a data URL; encoded in a thread, once while they are in use."""

from __future__ import annotations

import asyncio
import os
from base64 import b64encode
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

from PIL import Image

from simulator.core.errors import InputError
from simulator.core.types import ImageRef
from simulator.screen.pixels import decode, pixels_hash

__all__ = ["Pictures", "data_url"]

_THREADS = ThreadPoolExecutor(max(1, min(4, (os.cpu_count() or 2) - 1)), thread_name_prefix="pictures")
"""One core is left to the loop. With Python's own pool (6 threads on 2 cores) the loop of 20 streams woke 58 ms late at
p99, with this one 14 ms, and no picture came later.
"""
_KEPT = 32  # at 1280 pixels and quality 80 some 5 MB: the frames of a PIRF window, and the samples of one question


def data_url(ref: ImageRef, side: int, quality: int) -> str:
    """The picture with its longest side at most ``side`` pixels, as a JPEG in a data URL; blocks (25 ms at 1080p).

    Raises:
        InputError: the picture cannot be read.
    """
    image = decode(ref.path)
    if max(image.size) > side:
        image.thumbnail((side, side), Image.Resampling.BICUBIC, reducing_gap=2.0)
    out = BytesIO()
    image.save(out, "JPEG", quality=quality)
    return "data:image/jpeg;base64," + b64encode(out.getvalue()).decode("ascii")


class Pictures:
    """Pictures of one endpoint: what they are called by, and the last ``_KEPT`` of them encoded.

    Args:
        side: see ``data_url``, like ``quality``.
        quality: see ``side``.
    """

    def __init__(self, side: int, quality: int) -> None:
        self._side, self._quality = side, quality
        self._kept: OrderedDict[object, asyncio.Future[str]] = OrderedDict()
        self._names: dict[Path, asyncio.Future[str | None]] = {}

    async def name(self, ref: ImageRef) -> str | None:
        """A picture's name by what it shows: its recorded hash, else one of its pixels; None where it cannot be read.

        Who asks for one path at once gets it in the order of asking, so that samples of one question keep their order.
        """
        if ref.pixels_hash is not None:
            return ref.pixels_hash
        if ref.path not in self._names:
            self._names[ref.path] = asyncio.get_running_loop().run_in_executor(_THREADS, _pixels_name, ref.path)
        return await asyncio.shield(self._names[ref.path])

    async def url(self, ref: ImageRef) -> str:
        """The data URL of a picture; asked for twice at once, it is encoded once.

        Raises:
            InputError: the picture cannot be read.
        """
        name = ref.pixels_hash or ref.path
        kept = self._kept.get(name)
        if kept is None or (kept.done() and (kept.cancelled() or kept.exception() is not None)):
            kept = asyncio.get_running_loop().run_in_executor(_THREADS, data_url, ref, self._side, self._quality)
            self._kept[name] = kept
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(name)
        return await asyncio.shield(kept)


def _pixels_name(path: Path) -> str | None:
    try:
        return pixels_hash(decode(path))
    except InputError:
        return None
