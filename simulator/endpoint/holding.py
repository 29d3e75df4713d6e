"""One process at a time records into a cassette: what two write side by side neither could replay.

The file itself is locked. Within a process the lock is shared: a run holds it from its first unit to its last, and so
does each client that records, so that no other process comes in between.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from simulator.core.errors import ProactError
from simulator.core.lock import FolderLock
from simulator.endpoint.types import ModelChoice

__all__ = ["Hold", "recording"]

_GUARD = threading.Lock()
_LOCKS: dict[Path, FolderLock] = {}
_SHARES: Counter[Path] = Counter()
_MADE: set[Path] = set()  # files that were not there before, and go if nothing was written


class Hold:
    """This process's share of a cassette, until ``release``; with its last share others are let in.

    Args:
        path: the cassette; made with its folder if it does not exist.

    Raises:
        UsageError: another process records into it.
        ProactError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._key: Path | None = None
        key = path.resolve()
        with _GUARD:
            if key not in _LOCKS:
                fresh = not path.exists()
                try:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    _LOCKS[key] = FolderLock(path, f"another proact records into {path}: name another --cassette")
                except OSError as error:
                    raise ProactError(f"{path}: the cassette cannot be written ({error.strerror})") from error
                if fresh:
                    _MADE.add(key)
            _SHARES[key] += 1
        self._key = key

    def release(self) -> None:
        """Give the share back; twice does no harm."""
        with _GUARD:
            if self._key is None:
                return
            _SHARES[self._key] -= 1
            if not _SHARES[self._key]:
                del _SHARES[self._key]
                if self._key in _MADE:
                    _MADE.remove(self._key)
                    _drop_empty(self._key)
                _LOCKS.pop(self._key).release()
            self._key = None


def _drop_empty(path: Path) -> None:
    """Nothing came to be recorded: an empty file would only be refused as a cassette later on."""
    with suppress(OSError):
        if path.stat().st_size == 0:
            path.unlink()


@contextmanager
def recording(choice: ModelChoice | None) -> Iterator[None]:
    """Hold the cassette that calls are to be recorded into, where there is one.

    Raises:
        UsageError: another process records into it.
        ProactError: it cannot be written.
    """
    if choice is None or not choice.record or choice.cassette is None:
        yield
        return
    hold = Hold(choice.cassette)
    try:
        yield
    finally:
        hold.release()
