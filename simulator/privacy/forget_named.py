"""Files that a user names for forgetting: cassettes and texts lie where somebody put them, under any name."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from simulator.core.faults import told
from simulator.core.lock import is_locked
from simulator.privacy.disk import remove
from simulator.privacy.items import Item, Unreached
from simulator.session.reader import is_session

__all__ = ["plan_named"]

_CASSETTE = b'{"kind":"cassette"'
_LEAVE = "it is part of a session: name its user, and the folder with --in"


def plan_named(path: Path) -> Item | Unreached:
    """A file that goes as a whole, or why it is left.

    Raises:
        InputError: it cannot be read.
    """
    if path.is_symlink():
        return Unreached(path, "a link, not followed: name the file that it points to")
    if not path.exists():
        return Unreached(path, "there is no such file, or not any more")
    if not path.is_file():
        return Unreached(path, "not a file: what lies in folders is found with --in")
    if is_session(path.parent) and path.name.startswith("session.db"):
        return Unreached(path, _LEAVE)
    with told(path), path.open("rb") as stream:
        is_cassette = stream.readline().startswith(_CASSETTE)
        n = sum(1 for line in stream if line.strip()) if is_cassette else 0
    if is_cassette and is_locked(path):
        return Unreached(path, "calls are being recorded into it: end that and call again")
    said = f"a cassette of {n} calls, all of it" if is_cassette else "the file, all of it"
    return Item("named", path, said, partial(_drop, path))


def _drop(path: Path) -> list[Unreached]:
    remove(path)
    return []
