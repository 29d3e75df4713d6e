"""What Linux tells of a process by its number: name, parents, and whether it was started as a private browser."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["ancestors", "name", "started_private"]

_PRIVATE_FLAGS = frozenset(
    ["--incognito", "-incognito", "--inprivate", "-inprivate", "--private-window", "-private-window", "--private",
     "-private", "--incognito-mode", "--private-instance"]
)  # fmt: skip
_PROC = Path("/proc")


def name(pid: int) -> str | None:
    """The name of a process (at most 15 characters), or None."""
    try:
        return (_PROC / str(pid) / "comm").read_text(errors="replace").strip() or None
    except OSError:
        return None


def ancestors() -> tuple[int, ...]:
    """The process that started this one, the one that started that, and so on, as far as is told."""
    found = [os.getppid()]
    while found[-1] > 1:
        try:
            said = (_PROC / str(found[-1]) / "stat").read_text(errors="replace")
        except OSError:
            break
        found.append(int(said.rpartition(")")[2].split()[1]))  # a name may hold blanks and brackets
    return tuple(found)


def started_private(pid: int) -> bool:
    """Whether a process was started with a browser's flag for private windows.

    All its windows then count as private. A private window that was opened later in a browser that was running cannot
    be told this way.
    """
    try:
        with (_PROC / str(pid) / "cmdline").open("rb") as file:
            words = file.read(65536).decode(errors="replace").split("\0")
    except OSError:
        return False
    # Chromium writes its line anew, with spaces.
    return any(word in _PRIVATE_FLAGS for text in words for word in text.split(" "))
