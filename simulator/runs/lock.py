"""One process a run folder: two that write the same log would leave neither."""

from __future__ import annotations

from pathlib import Path

from simulator.core.lock import FolderLock

__all__ = ["LOCK", "Lock"]

LOCK = ".lock"


class Lock(FolderLock):
    """Held from the making until ``release``, or until the process ends, however it ends.

    Raises:
        UsageError: another process holds it.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(
            folder / LOCK, f"another proact is playing into {folder}; wait for it, or choose another --out"
        )
