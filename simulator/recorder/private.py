"""What is recorded is for whoever records it: other users of the machine can neither list nor read it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["PRIVATE", "privately"]

PRIVATE = 0o700
"""The mode of a recording's folder, where the system has modes."""


@contextmanager
def privately() -> Iterator[None]:
    """Whatever this process makes meanwhile, in any thread, is its user's alone: folders 0700, files 0600."""
    before = os.umask(0o777 & ~PRIVATE)
    try:
        yield
    finally:
        os.umask(before)
