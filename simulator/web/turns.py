"""One change of a recording after the other, also between the threads of a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from simulator.core.errors import UsageError

__all__ = ["Turns"]

LONGEST_S = 10.0


class Turns:
    """Locks by folder. Other programs are kept away by the session's own lock, which says no at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._of: dict[Path, Lock] = {}

    @contextmanager
    def at(self, folder: Path) -> Iterator[None]:
        """Wait for a turn, and have it during the block.

        Raises:
            UsageError: somebody else's takes long, such as the closing of a review.
        """
        with self._lock:
            lock = self._of.setdefault(folder, Lock())
        if not lock.acquire(timeout=LONGEST_S):
            raise UsageError("something else is being written into this recording; try again when it is done")
        try:
            yield
        finally:
            lock.release()
