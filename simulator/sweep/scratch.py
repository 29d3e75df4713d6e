"""Folders for the time that a process lives: nobody else looks in, and what a killed one left the next one removes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from simulator.core.errors import UsageError
from simulator.core.lock import held

__all__ = ["Scratch"]

_GUARD = """import os, shutil, sys
if os.fork():
    os._exit(0)
os.setsid()
os.read(0, 1)
shutil.rmtree(sys.argv[1], ignore_errors=True)
"""


class Scratch:
    """A new folder among the temporary ones, until ``close``.

    Args:
        kind: what its name begins with; those of the same kind whose process is gone are removed.
        guarded: a process beside removes it when this one ends, however that is: it may hold what is private. It is
            nobody's child, so that who ends this process and its children does not end it.
    """

    def __init__(self, kind: str, *, guarded: bool = False) -> None:
        above = Path(tempfile.gettempdir())
        for left in above.glob(f"{kind}-*"):
            _remove_if_left(left)
        # Held before it has its name: nobody takes it for one that was left.
        fresh = Path(tempfile.mkdtemp(prefix=f"new-{kind}-"))
        self._hold = held(fresh, fresh)
        self._hold.__enter__()
        self.path = fresh.rename(above / fresh.name.removeprefix("new-"))
        self._life = _guard(self.path) if guarded and os.name == "posix" else None

    def close(self) -> None:
        """Remove it; twice does no harm."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(StopIteration, RuntimeError):
            self._hold.__exit__(None, None, None)
        if self._life is not None:
            os.close(self._life)
            self._life = None


def _guard(folder: Path) -> int:
    """Start who removes a folder as soon as nobody holds the other end of what is returned."""
    heard, life = os.pipe()
    try:
        guard = [sys.executable, "-I", "-S", "-c", _GUARD, str(folder)]
        subprocess.run(guard, stdin=heard, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    finally:
        os.close(heard)
    return life


def _remove_if_left(folder: Path) -> None:
    if os.name != "posix":  # nothing tells there whether somebody is in it
        return
    with suppress(OSError, UsageError):
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
        with held(folder, folder):
            shutil.rmtree(folder, ignore_errors=True)
