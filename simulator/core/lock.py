"""One process a folder: two that write the same files would leave neither."""

from __future__ import annotations

import os
from pathlib import Path

from simulator.core.errors import UsageError

try:
    import fcntl
except ImportError:  # not a POSIX system: nothing keeps two processes apart there
    fcntl = None  # type: ignore[assignment]

__all__ = ["FolderLock", "is_locked"]


class FolderLock:
    """Held from the making until ``release``, or until the process ends, however it ends.

    Args:
        file: made if it does not exist; stays.
        said: the sentence for whoever comes second.

    Raises:
        UsageError: another process holds it.
    """

    def __init__(self, file: Path, said: str) -> None:
        self._file: int | None = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                self.release()
                raise UsageError(said) from error

    def release(self) -> None:
        """Let others in."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def is_locked(file: Path) -> bool:
    """Whether somebody holds it now. Where the system cannot tell (it is not POSIX), nobody seems to."""
    if not file.exists():
        return False
    try:
        FolderLock(file, "").release()
    except UsageError:
        return True
    return False
