"""Calls to one server, counted over all worker processes: a lease is a lock on one of ``limit`` files.

The kernel frees a lock when its process ends, however it ends, so that no killed worker keeps a place. Which of those
who wait comes next is left to chance; the scheduler lets no more units ask a server than it may have calls, so that
few wait.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from simulator.endpoint.limit import share

try:
    import fcntl
except ImportError:  # not a POSIX system: each worker keeps the limit for itself there
    fcntl = None  # type: ignore[assignment]

__all__ = ["FOLDER", "Leases", "share_in"]

FOLDER = "leases"


class Leases:
    """Places at one server, for this process; see ``simulator.endpoint.limit.Places``.

    Args:
        folder: of the files to lock; made if need be.
        server: shown base URL.
        most: how many calls the server may have at once. Users with different limits share the first files.
    """

    def __init__(self, folder: Path, server: str, most: int) -> None:
        self._stem = folder / sha256(server.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        self._files: list[int] = []
        self._held: list[int] = []
        self.widen(most)

    def widen(self, most: int) -> None:
        """Know so many places at least."""
        self._stem.parent.mkdir(parents=True, exist_ok=True)
        for n in range(len(self._files), most):
            self._files.append(os.open(f"{self._stem}.{n}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644))

    async def take(self, most: int) -> bool:
        """Take one of the first ``most`` places if one is free; never waits."""
        assert fcntl is not None
        for n in range(most):
            if n not in self._held:
                with suppress(BlockingIOError):
                    fcntl.flock(self._files[n], fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self._held.append(n)
                    return True
        return False

    def leave(self) -> None:
        """Give back the place taken last: they are all alike."""
        assert fcntl is not None
        fcntl.flock(self._files[self._held.pop()], fcntl.LOCK_UN)

    def close(self) -> None:
        """Give all back."""
        for file in self._files:
            os.close(file)
        self._files, self._held = [], []


_OPEN: dict[tuple[Path, str], Leases] = {}
_SHARED: list[Path] = []


def share_in(sweep: Path | None) -> None:
    """Have all calls of this process to model servers count together with those of the sweep's other workers.

    Args:
        sweep: its folder; None: count for this process alone again.
    """
    wanted = [] if sweep is None or fcntl is None else [sweep / FOLDER]
    if wanted == _SHARED:
        return
    for leases in _OPEN.values():
        leases.close()
    _OPEN.clear()
    _SHARED[:] = wanted
    share(_leases if wanted else None)


def _leases(server: str, most: int) -> Leases:
    """Kept open for all units of this process: none of them opens files while it is being measured."""
    folder = _SHARED[0]
    if (folder, server) not in _OPEN:
        _OPEN[folder, server] = Leases(folder, server, most)
    leases = _OPEN[folder, server]
    leases.widen(most)
    return leases
