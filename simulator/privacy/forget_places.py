"""Where forgetting may reach: below the folders that were named, and not into data that is made up.

A file ``.made-up`` lists, a name a line, what beside it (with all that lies in it) is of nobody: scenarios that come
with proact have invented people, and a clone is not to lose them to a user who has the name of one. What is not listed
is not spared, so a recording that somebody puts beside them is somebody's.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from simulator.core.faults import told
from simulator.privacy.items import Unreached

__all__ = ["MADE_UP", "inside", "invented", "listed", "marker_of", "out_of_bounds"]

MADE_UP = ".made-up"


def listed(folder: Path) -> frozenset[str]:
    """The names in a folder that its ``.made-up`` lists; of none if it has no such file.

    Raises:
        InputError: the file cannot be read.
    """
    file = folder / MADE_UP
    if not file.is_file():
        return frozenset()
    with told(file):
        lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
        return frozenset(line for line in lines if line and not line.startswith("#"))


def marker_of(path: Path) -> Path | None:
    """The ``.made-up`` that lists a path (absolute, without links) or a folder that it lies in.

    Raises:
        InputError: one of those files cannot be read.
    """
    for inner, folder in zip([path, *path.parents], path.parents, strict=False):
        if inner.name in listed(folder):
            return folder / MADE_UP
    return None


def invented(path: Path, marker: Path) -> Unreached:
    """What is said of a path that is made up; nothing of anybody's is left with it."""
    return Unreached(path, f"made up, says {marker}: left, since it is of nobody", only_maybe=True)


def inside(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a path is one of the folders or lies below one; all absolute and without links."""
    return any(folder == path or folder in path.parents for folder in folders)


def out_of_bounds(path: Path, folders: Iterable[Path]) -> Unreached | None:
    """Why something of the user's is left where it lies, or None if it may go."""
    if (marker := marker_of(path)) is not None:
        return invented(path, marker)
    if inside(path, folders):
        return None
    return Unreached(path, "named from inside of the folders looked through, and lies outside of them: give it to --in")
