"""What may be shown: folders of runs, sweeps and sessions under the roots that were named, and nothing else.

Pages know things by id, a short digest of where they lie. No path is ever made of what a client sends: an id is looked
up among what was found.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from threading import Lock

from simulator.core.errors import UsageError
from simulator.web.hub import Hub
from simulator.web.pictures import Pictures

__all__ = ["KINDS", "Found", "NotHere", "Place", "id_of"]

KINDS = {"run": "run.json", "sweep": "sweep.json", "session": "session.db"}
"""Kinds of folders, and the file that tells each."""

DEPTH = 6  # roots / sweep / runs / run / …: deeper is somebody's home folder
MOST = 20_000  # folders looked at under one root


class NotHere(UsageError):
    """Nothing of that id lies under the roots."""


@dataclass(frozen=True, slots=True)
class Found:
    """A folder that may be shown.

    Attributes:
        id: ten hexadecimal digits, the same as long as it lies there.
        kind: run, sweep or session.
        name: for people, as the path below its root.
    """

    id: str
    kind: str
    path: Path
    name: str


def id_of(path: Path) -> str:
    """The id of a folder, from where it really lies."""
    return sha256(os.fsencode(path.resolve())).hexdigest()[:10]


class Place:
    """The folders that may be shown.

    Args:
        roots: folders that are looked through; each may also be a run, a sweep or a session itself.
        editable: whether pages may change recordings: label them, review them. Their pictures are not kept by browsers.

    Attributes:
        hub: tells open pages what is new.
        pictures: shows pictures.
    """

    def __init__(self, roots: Sequence[Path], *, editable: bool = False) -> None:
        self.roots = tuple(dict.fromkeys(root.resolve() for root in roots))
        self.hub = Hub()
        self.editable = editable
        self.pictures = Pictures(kept=not editable)
        self._found: dict[str, Found] = {}
        self._lock = Lock()

    def close(self) -> None:
        """End threads and listening pages."""
        self.hub.close()
        self.pictures.close()

    def all(self, kind: str | None = None) -> list[Found]:
        """What lies there now, by name; reads folders, so call it in a thread."""
        found = {one.id: one for one in _told_apart([one for root in self.roots for one in _walk(root)])}
        with self._lock:
            self._found = found
        return sorted((one for one in found.values() if kind in (None, one.kind)), key=lambda one: (one.name, one.id))

    def get(self, kind: str, id_: str) -> Path:
        """The folder with that id; reads folders where it is not known yet, so call it in a thread.

        Raises:
            NotHere: there is none of that kind.
        """
        with self._lock:
            one = self._found.get(id_)
        if one is None or not _is_file(one.path / KINDS[one.kind]):
            one = next((o for o in self.all() if o.id == id_), None)
        if one is None or one.kind != kind:
            raise NotHere(f"there is no {kind} of that id here; it was moved or deleted, or was never shown here")
        return one.path

    def run(self, id_: str) -> Path:
        """The run folder with that id; see ``get``."""
        return self.get("run", id_)

    def session(self, id_: str) -> Path:
        """The session with that id; see ``get``."""
        return self.get("session", id_)

    def ensure_editable(self) -> None:
        """Refuse to change anything where these pages are for looking only.

        Raises:
            UsageError: they are.
        """
        if not self.editable:
            raise UsageError("these pages only show; `proact view --edit FOLDER` lets you label and review")

    def unit(self, id_: str, key: str) -> Path:
        """The folder of a run's unit; ``key`` is looked up among the units that there are.

        Raises:
            NotHere: there is no such run, or no such unit in it.
        """
        units = self.run(id_) / "units"
        if key not in _folders(units):
            raise NotHere("there is no unit of that name in this run")
        return units / key


def _told_apart(found: Sequence[Found]) -> Iterator[Found]:
    """Each with a name of its own: those of one name, and the ``run`` of a live run's folder, say what they lie in."""
    alike: dict[str, dict[Path, Found]] = {}
    for one in found:
        alike.setdefault(one.name, {})[one.path] = one
    for name, ones in alike.items():
        for path, one in ones.items():
            if len(ones) == 1 and name != "run":
                yield one
                continue
            parts = next(
                n for n in range(2, 1 + max(3, len(path.parts)))
                if n >= len(path.parts) or not any(p != path and p.parts[-n:] == path.parts[-n:] for p in ones)
            )  # fmt: skip
            yield replace(one, name="/".join(path.parts[-parts:]).replace("//", "/"))


def _walk(root: Path) -> Iterator[Found]:
    """Folders of known kinds at a root and below; links are not followed."""
    todo, looked = [(root, 0)], 0
    while todo and looked < MOST:
        folder, depth = todo.pop()
        looked += 1
        name = str(folder.relative_to(root)) if folder != root else folder.name
        kind = next((kind for kind, file in KINDS.items() if _is_file(folder / file)), None)
        if kind is not None:
            yield Found(id_of(folder), kind, folder, name)
        if depth == DEPTH or kind == "session" or (kind == "run" and folder != root):
            continue
        todo += [
            (folder / child, depth + 1)
            for child in _folders(folder)
            if not child.startswith(".") and not (kind == "run" and child == "units")
        ]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # in a folder that is not for us to read
        return False


def _folders(folder: Path) -> list[str]:
    """Names of the folders in it, without links: those lead elsewhere, or in circles."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name for entry in entries if entry.is_dir(follow_symlinks=False)), reverse=True)
    except OSError:  # not a folder, gone meanwhile, or not for us to read
        return []
