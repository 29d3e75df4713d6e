"""Code of others in a process of ours: it may not end that without a word."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

__all__ = ["staying"]

_real = os._exit
_inside = threading.local()


@contextmanager
def staying() -> Iterator[None]:
    """While somebody's file is imported or their class is made, ``os._exit`` raises ``SystemExit`` with a sentence: it
    would end the whole command, and nobody would hear why. What runs in other threads and in forked children is free to
    use it.
    """
    os._exit = _exit  # and stays: outside of this block it does what it did before
    before, _inside.process = getattr(_inside, "process", None), os.getpid()
    try:
        yield
    finally:
        _inside.process = before


def _exit(status: int) -> NoReturn:
    if getattr(_inside, "process", None) == os.getpid():
        raise SystemExit(f"it calls os._exit({status!r}), which would end proact itself")
    _real(status)
