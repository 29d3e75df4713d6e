"""One process a run folder: two that write the same log would leave neither."""

from __future__ import annotations

import os
from pathlib import Path

from simulator.core.errors import UsageError

try:
    import fcntl
except ImportError:  # not a POSIX system: nothing keeps two processes apart there
    fcntl = None  # type: ignore[assignment]

__all__ = ["LOCK", "Lock"]

LOCK = ".lock"


class Lock:
    """Held from the making until ``release``, or until the process ends, however it ends.

    Raises:
        UsageError: another process holds it.
    """

    def __init__(self, folder: Path) -> None:
        self._file: int | None = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                self.release()
                said = f"another proact is playing into {folder}; wait for it, or choose another --out"
                raise UsageError(said) from error

    def release(self) -> None:
        """Let others in."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
