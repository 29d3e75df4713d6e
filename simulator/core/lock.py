"""One process a folder: two that write the same files would leave neither."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from simulator.core.errors import UsageError
from simulator.core.faults import writing

try:
    import fcntl
except ImportError:  # not a POSIX system: nothing keeps two processes apart there
    fcntl = None  # type: ignore[assignment]

__all__ = ["FolderLock", "alone_in", "held", "is_locked"]

_LOCKS = fcntl is not None
_LOOKS = 20_000  # as often it is tried anew while others look: 20 ms and more, where a look takes some microseconds


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
        if not _taken(self._file):
            self.release()
            raise UsageError(said)

    def release(self) -> None:
        """Let others in."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def is_locked(file: Path) -> bool:
    """Whether somebody holds it now. Where the system cannot tell (it is not POSIX), nobody seems to.

    Looking shares the lock for an instant. That keeps nobody else from looking, and whoever takes it waits that long.
    """
    if not _LOCKS:
        return False
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NONBLOCK)  # a folder that is ours to read only can be looked at
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        return not _locks(opened, fcntl.LOCK_SH)
    finally:
        os.close(opened)


def _taken(file: int) -> bool:
    """Lock an open file for its opener alone, past those who are just looking; False where somebody holds it."""
    if not _LOCKS:
        return True
    for _ in range(_LOOKS):
        if _locks(file, fcntl.LOCK_EX):
            return True
        if not _locks(file, fcntl.LOCK_SH):  # shared with all who look, with nobody who holds it
            return False
        fcntl.flock(file, fcntl.LOCK_UN)
        os.sched_yield()
    return False


def _locks(file: int, way: int) -> bool:
    """Whether an open file could be locked that way at once."""
    try:
        fcntl.flock(file, way | fcntl.LOCK_NB)
    except OSError:  # held by another; or on a file system that locks nothing
        return False
    return True


@contextmanager
def alone_in(out: Path) -> Iterator[None]:
    """Write into a folder while no other process does; it is made if need be, and gone again if it stays empty.

    Raises:
        UsageError: another process holds it; it is no folder, or none can be made; the disk is full.
    """
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "a file lies there" if out.is_file() else error.strerror
        raise UsageError(f"{out}: no folder can be made there ({why})") from None
    try:
        with held(out, out), writing(out):
            yield
    finally:
        for folder in made:
            with suppress(OSError):  # something lies in it
                folder.rmdir()


@contextmanager
def held(folder: Path, out: Path) -> Iterator[None]:
    """Hold a folder itself, so that no file of ours lies in it; where the system holds no folders, nothing is held.

    Args:
        folder: must be there.
        out: what the sentence for whoever comes second names.

    Raises:
        UsageError: another process holds it.
    """
    file = os.open(folder, os.O_RDONLY) if fcntl is not None else None
    try:
        if fcntl is not None and file is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"{out}: another proact is writing there; let it end first") from None
            except OSError:
                pass  # a file system that holds none
        yield
    finally:
        if file is not None:
            os.close(file)
