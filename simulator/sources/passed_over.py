"""What lies in a folder beside the files that a format reads: counted, so that nothing is dropped silently."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["passed_over"]


def passed_over(src: Path, looked_at: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Everything below a folder that is not read, each with the reason and its path in the folder, in order.

    Args:
        src: the folder.
        looked_at: the files that are read, or of which an account is kept elsewhere.
    """
    named = [os.path.abspath(path) for path in looked_at]
    known = {os.path.realpath(path) for path in named}
    for home, folders, files in os.walk(src):
        folders.sort()
        for name in folders:
            if os.path.islink(path := os.path.join(home, name)) and not _followed(path, named):
                yield "links to folders, which are not followed", os.path.relpath(path, src)
        for name in sorted(files):
            path = os.path.join(home, name)
            if os.path.realpath(path) not in known:
                yield _why(Path(path), Path(os.path.relpath(path, src))), os.path.relpath(path, src)


def _followed(link: str, named: Iterable[str]) -> bool:
    within = os.path.abspath(link) + os.sep
    return any(path.startswith(within) for path in named)


def _why(path: Path, inside: Path) -> str:
    if not path.is_file():
        return "pipes, sockets, devices and links that lead nowhere"
    if any(part.startswith(".") for part in inside.parts):
        return "hidden files"
    return f"other files, which this format does not read ({path.suffix.lower() or 'no ending'})"
