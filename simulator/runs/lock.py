"""One process a run folder: two that write the same log would leave neither."""

from __future__ import annotations

from pathlib import Path

from simulator.core.lock import FolderLock, is_locked

__all__ = ["LOCK", "Lock", "status_now"]

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


def status_now(status: str, path: Path) -> str:
    """The status of a run folder as it is now: one that says it is running and that nobody plays into was killed."""
    try:
        return "killed" if status == "running" and not is_locked(path / LOCK) else status
    except OSError:  # not ours to look into
        return status
