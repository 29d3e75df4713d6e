"""Folders that are there whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["is_vacant", "whole_folder"]


def is_vacant(out: Path) -> bool:
    """Whether there is nothing at a path yet, or an empty folder."""
    return not out.exists() or (out.is_dir() and not any(out.iterdir()))


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A hidden folder beside a vacant path, to write in: it gets that name at the end, and is gone if anything fails.

    What an earlier call left when it was killed is removed. It lies beside the path, so that what is relative to the
    one is so to the other.
    """
    out = out.absolute()
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        if out.exists():
            out.rmdir()
        part.rename(out)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
