"""Pictures on demand: decoded in a thread, refused from their head when they claim to be enormous.

A file of 100 bytes can claim four gigabytes of pixels; the size in its head is checked before anything is decoded. Only
kinds of pictures are read that Pillow decodes by itself: for others it would start programs, such as Ghostscript.
"""

from __future__ import annotations

import asyncio
import os
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from simulator.core.errors import InputError
from simulator.core.files import open_plain
from simulator.core.types import ImageRef
from simulator.screen.fresh import fresh

__all__ = ["FORMATS", "MAX_PIXELS", "TooLarge", "array", "decode", "opened", "pixels_hash", "read", "ready", "size"]

MAX_PIXELS = 100_000_000  # an 8K screen has 33 million; RGB of the limit is 300 MB
MAX_BYTES = 400_000_000  # of a file; some kinds are read whole before their head is
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM")
"""What Pillow may take a file for, whatever its name."""
_PLUGINS = ("Png", "Jpeg", "WebP", "Gif", "Bmp", "Tiff", "Ppm")

# We refuse by ourselves, in one sentence; the warning would say in the terminal where the picture lies.
warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)

_PNG = b"\x89PNG\r\n\x1a\n"


class TooLarge(InputError):
    """A picture that claims more pixels than are read; nothing of it was decoded."""


async def read(ref: ImageRef) -> Image.Image:
    """The picture as RGB, decoded in a thread.

    Raises:
        InputError: missing, not a picture, damaged or too large.
    """
    return await asyncio.to_thread(decode, ref.path)


async def array(ref: ImageRef) -> NDArray[np.uint8]:
    """The picture as uint8 RGB of shape (height, width, 3), decoded in a thread.

    Raises:
        InputError: missing, not a picture, damaged or too large.
    """
    return await asyncio.to_thread(lambda: np.asarray(decode(ref.path)))


def decode(path: Path) -> Image.Image:
    """The picture as RGB; blocks (20 ms at 1080p). Of an animation the first frame; alpha is dropped.

    Raises:
        InputError: missing, not a picture, damaged or too large.
    """
    if (held := fresh(path)) is not None:
        return held
    with opened(path) as image:
        return image.convert("RGB")


def size(path: Path) -> tuple[int, int]:
    """Width and height from the head of the file, without decoding.

    Raises:
        InputError: missing, not a picture or too large.
    """
    if (held := fresh(path)) is not None:
        return held.size
    with opened(path) as image:
        return image.size


@contextmanager
def opened(path: Path) -> Iterator[Image.Image]:
    """The picture with its head read, not decoded yet, for the block.

    Raises:
        InputError: missing, no file, not a picture or too large; or damaged, as the block finds.
    """
    with _faults(path), open_plain(path) as stream:
        if os.fstat(stream.fileno()).st_size > MAX_BYTES:
            raise TooLarge(path, f"the file is larger than {MAX_BYTES // 1_000_000} MB; no picture is")
        _check_png(path, stream)
        ready()
        with Image.open(stream, formats=FORMATS) as image:
            _check_size(path, image.size)
            yield image


@cache
def ready() -> None:
    """Import what reads ``FORMATS``. Else Pillow imports all that it knows, fifty modules, at the first picture."""
    for name in _PLUGINS:
        import_module(f"PIL.{name}ImagePlugin")


def pixels_hash(image: Image.Image) -> str:
    """SHA-256 of mode, size and pixels: equal for equal screens, whatever file they were kept in."""
    head = f"{image.mode} {image.width}x{image.height}\n".encode()
    return sha256(head + image.tobytes()).hexdigest()


def _check_png(path: Path, stream: BinaryIO) -> None:
    """The claim of a PNG, read before Pillow does: it looks at further chunks first, and may fail on those."""
    head = stream.read(24)
    stream.seek(0)
    if len(head) == 24 and head.startswith(_PNG) and head[12:16] == b"IHDR":
        _check_size(path, struct.unpack(">II", head[16:24]))


def _check_size(path: Path, wh: tuple[int, int]) -> None:
    if wh[0] * wh[1] > MAX_PIXELS:
        want = f"the picture claims {wh[0]} x {wh[1]} pixels; at most {MAX_PIXELS // 1_000_000} million are read"
        raise TooLarge(path, want)


@contextmanager
def _faults(path: Path) -> Iterator[None]:
    """Everything that Pillow raises on bad files, as one sentence."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(path, "there is no such picture") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        limit = MAX_PIXELS // 1_000_000
        raise TooLarge(path, f"the picture claims more pixels than are read ({limit} million)") from error
    except UnidentifiedImageError as error:
        raise InputError(path, "not a picture that can be read (empty, damaged or another kind of file)") from error
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError, struct.error, zlib.error) as error:
        raise InputError(path, f"the picture is damaged ({error})") from error
