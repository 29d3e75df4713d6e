"""Folders for the time that a process lives: nobody else looks in, and what a killed one left the next one removes."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from simulator.core.errors import UsageError
from simulator.core.lock import held

__all__ = ["Scratch"]


class Scratch:
    """A new folder among the temporary ones, until ``close``.

    Args:
        kind: what its name begins with; those of the same kind whose process is gone are removed.
    """

    def __init__(self, kind: str) -> None:
        above = Path(tempfile.gettempdir())
        for left in above.glob(f"{kind}-*"):
            _remove_if_left(left)
        # Held before it has its name: nobody takes it for one that was left.
        fresh = Path(tempfile.mkdtemp(prefix=f"new-{kind}-"))
        self._hold = held(fresh, fresh)
        self._hold.__enter__()
        self.path = fresh.rename(above / fresh.name.removeprefix("new-"))

    def close(self) -> None:
        """Remove it; twice does no harm."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(StopIteration, RuntimeError):
            self._hold.__exit__(None, None, None)


def _remove_if_left(folder: Path) -> None:
    if os.name != "posix":  # nothing tells there whether somebody is in it
        return
    with suppress(OSError, UsageError):
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
        with held(folder, folder):
            shutil.rmtree(folder, ignore_errors=True)
