"""One process a folder; looking whether it is held keeps nobody from taking it."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from simulator.core import lock
from simulator.core.errors import UsageError
from simulator.core.lock import FolderLock, is_locked
from simulator.runs.lock import LOCK, Lock
from simulator.timing.clock import rest


@contextmanager
def looked_at(file: Path) -> Iterator[int]:
    """Be in the middle of ``is_locked``, in the way it locks."""
    opened = os.open(file, os.O_RDWR | os.O_CREAT)
    fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    try:
        yield opened
    finally:
        os.close(opened)


def test_it_is_locked_while_somebody_holds_it(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    assert not is_locked(file)
    assert not file.exists()  # looking makes nothing
    assert not is_locked(file / "below")
    held = FolderLock(file, "taken")
    assert is_locked(file)
    with pytest.raises(UsageError, match="taken"):
        FolderLock(file, "taken")
    held.release()
    assert not is_locked(file)
    FolderLock(file, "taken").release()


def test_those_who_look_at_once_do_not_take_each_other_for_a_holder(tmp_path: Path) -> None:
    with looked_at(tmp_path / "lock"):
        assert not is_locked(tmp_path / "lock")


def test_a_run_that_begins_while_somebody_looks_waits_until_he_has_seen(tmp_path: Path) -> None:
    def see(opened: int) -> None:
        rest(5_000_000)
        fcntl.flock(opened, fcntl.LOCK_UN)

    with looked_at(tmp_path / LOCK) as opened:
        seen = threading.Thread(target=see, args=(opened,))
        seen.start()
        held = Lock(tmp_path)
        seen.join()
    assert is_locked(tmp_path / LOCK)
    held.release()


def test_one_who_never_stops_looking_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_LOOKS", 10)
    with looked_at(tmp_path / LOCK), pytest.raises(UsageError, match="another proact is playing"):
        Lock(tmp_path)


def test_looking_needs_no_right_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = FolderLock(tmp_path / ".lock", "held")
    real = os.open

    def read_only(file: Path, flags: int, *more: int) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY):
            raise PermissionError(13, "not yours")
        return real(file, flags, *more)

    monkeypatch.setattr(os, "open", read_only)
    assert is_locked(tmp_path / ".lock")
    held.release()
    assert not is_locked(tmp_path / ".lock")


def test_a_pipe_in_place_of_a_lock_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".lock")
    assert not is_locked(tmp_path / ".lock")
