"""Changing files so that a kill leaves the old or the new one, and removing them so that they are gone."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["remove", "remove_tree", "replace"]


def replace(path: Path, content: bytes) -> None:
    """Put new content in place of a file; who may read it stays as it was. Or make one, as the system makes files."""
    part = path.with_name(path.name + ".part")
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    with part.open("wb") as stream:
        if mode is not None:
            os.chmod(part, mode)
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(path)
    _sync(path.parent)


def remove(path: Path) -> None:
    """Remove a file; one that is not there is no fault. A link is removed, not what it points to."""
    path.unlink(missing_ok=True)
    _sync(path.parent)


def remove_tree(folder: Path, *, last: Path | None = None) -> None:
    """Remove a folder with all that it holds; what links point to stays.

    Args:
        folder: where; one that is not there is no fault.
        last: a file in it that is removed after all others: what tells whose the folder is, should this be cut short.
    """
    if folder.is_symlink() or folder.is_file():
        remove(folder)
        return
    for place, folders, files in os.walk(folder, topdown=False):
        for name in files:
            if (file := Path(place) / name) != last:
                file.unlink(missing_ok=True)
        for name in folders:
            inner = Path(place) / name
            if inner.is_symlink():
                inner.unlink()
            elif last is None or inner not in last.parents:
                inner.rmdir()
    if last is not None:
        last.unlink(missing_ok=True)
        for inner in last.parents:
            if inner == folder or folder not in inner.parents:
                break
            inner.rmdir()
    if folder.exists():
        folder.rmdir()
        _sync(folder.parent)


def _sync(folder: Path) -> None:
    """Have the system put the folder's list of files on the disk, where it can be told to (not on Windows)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
