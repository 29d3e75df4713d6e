"""Objects through a pipe: a length of 4 bytes, then a pickle. Both ends are ours and run as the same user."""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any

__all__ = ["receive", "send"]

_LENGTH = struct.Struct("<I")


def send(pipe: IO[bytes], what: Any) -> None:
    """Write one and flush.

    Raises:
        OSError: nobody reads any more.
    """
    said = pickle.dumps(what, pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(said)) + said)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """The next one; blocks.

    Raises:
        EOFError: the other end is closed, maybe in the middle of one.
    """
    (length,) = _LENGTH.unpack(_exactly(pipe, _LENGTH.size))
    return pickle.loads(_exactly(pipe, length))


def _exactly(pipe: IO[bytes], n: int) -> bytes:
    said = pipe.read(n)
    if len(said) < n:
        raise EOFError
    return said
