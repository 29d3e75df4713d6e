"""Folders that are there whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from simulator.core.errors import UsageError, quote
from simulator.core.faults import writing
from simulator.core.lock import held

__all__ = ["ensure_apart", "is_vacant", "whole_folder"]


def ensure_apart(src: Path, out: Path) -> None:
    """Refuse to write into what is only read, or around it.

    Raises:
        UsageError: one of them lies in the other, or they are one.
    """
    inner, outer = out.resolve(), src.resolve()
    if inner.is_relative_to(outer) or outer.is_relative_to(inner):
        raise UsageError(f"{quote(out)} and the source {quote(src)}, which is only read, must lie apart")


def is_vacant(out: Path) -> bool:
    """Whether there is nothing at a path yet, or an empty folder."""
    return not out.exists() or (out.is_dir() and not any(out.iterdir()))


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A hidden folder beside a vacant path, to write in: it gets that name at the end, and is gone if anything fails.

    What an earlier call left when it was killed is removed. It lies beside the path, so that what is relative to the
    one is so to the other.

    Raises:
        UsageError: another process writes there; no folder can be made; the disk is full.
    """
    out = out.absolute()
    part = out.with_name(f".{out.name}.part")
    made = [folder for folder in out.parents if not folder.exists()]
    with suppress(FileNotFoundError), held(part, out):
        shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"{out}: no folder can be made there ({error.strerror})") from None
    with held(part, out):
        try:
            with writing(out):
                yield part
                if out.exists():
                    out.rmdir()
                part.rename(out)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            for folder in made:
                with suppress(OSError):  # something lies in it
                    folder.rmdir()
            raise
