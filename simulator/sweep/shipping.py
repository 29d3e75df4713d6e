"""Sessions to machines that do not see our files, and their units back: ``--ship``.

A session goes once to each worker that plays it: its database, the scenario and what that names. Its pictures go along
only where the cell's agent may look at them: for those of ours that look at none they stay here. A finished unit comes
back as the bytes of its files. Below a worker's own folder everything lies as it does here, so that what scenarios name
by relative paths is found. What cannot be sent is refused before it is missed.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from simulator.core.errors import UsageError, quote
from simulator.core.registry import parse_spec
from simulator.endpoint.types import ModelChoice
from simulator.play.makers import agent_maker, memory_maker
from simulator.session.ignored import IGNORED, hide, is_hidden
from simulator.session.scenario import files_of
from simulator.session.schema import FILE_NAME
from simulator.sweep.place import FILE, RUNS, UNITS, part_of
from simulator.sweep.scratch import Scratch
from simulator.sweep.types import Cell, Done, Task

__all__ = ["Crate", "Depot", "Parcel", "looks", "pack", "pack_plan", "refuse", "take_back", "unshippable"]

_LOOK_AT_NOTHING = ("always", "oracle", "prior", "random", "scripted", "silent")


@dataclass(frozen=True, slots=True)
class Parcel:
    """Files, by their absolute paths here without the leading slash; ``name``: digest of them all."""

    name: str
    files: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Crate:
    """A finished unit's files, by their paths in its folder; ``private``: what git leaves out."""

    files: tuple[tuple[str, bytes], ...]
    private: bool


# ------------------------------------------------------------------ here


def pack(scenario: Path, *, pictures: bool) -> Parcel:
    """A scenario file, or a session, with all that it is made of.

    Raises:
        InputError: see ``files_of``.
    """
    files = files_of(scenario)
    for database in [file for file in files if file.name == FILE_NAME]:
        files += [file for folder in (database.parent, database.parent.parent) if (file := folder / IGNORED).is_file()]
    if pictures:  # of the session that is played; those of histories nobody can look at
        files += [file for file in sorted(files[0].parent.rglob("*")) if file.is_file()]
    return _parcel(dict.fromkeys(Path(os.path.abspath(file)) for file in files))  # without the ".." of scenarios


def pack_plan(sweep: Path) -> Parcel:
    """What a sweep says of itself, which every unit asks for."""
    return _parcel([sweep / FILE])


def _parcel(files: Iterable[Path]) -> Parcel:
    whole, packed = sha256(), []
    for file in files:
        where, content = file.relative_to(file.anchor).as_posix(), file.read_bytes()
        whole.update(f"{where}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
        packed.append((where, content))
    return Parcel(whole.hexdigest(), tuple(packed))


def looks(cell: Cell, scenario: Path) -> bool:
    """Whether a cell's agent may look at pictures: also one of which we cannot tell."""
    agent = agent_maker(cell.choice["agent"])
    if agent.code is not None:
        return True
    if parse_spec(str(cell.choice["agent"])).name in _LOOK_AT_NOTHING:
        return False
    facts = agent.facts or {}
    if facts.get("modality") != "text":
        return True
    return facts.get("ocr") != "none" and _lacks_text(files_of(scenario)[0])


def _lacks_text(database: Path) -> bool:
    """Whether a recording has pictures that carry no text, so that an agent would have to read them."""
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as db:
        wanted = "SELECT 1 FROM screenshots WHERE text IS NULL AND file_path IS NOT NULL LIMIT 1"
        return db.execute(wanted).fetchone() is not None


def unshippable(cell: Cell) -> str | None:
    """Why a cell cannot be played on machines that do not see our files; None where it can."""
    choice, model = cell.choice, cell.choice.get("model")
    if choice.get("journal") is not None or str(choice.get("latency", "")).startswith("from:"):
        return "it reads an earlier run"
    if isinstance(model, ModelChoice) and (model.cassette is not None or model.prices is not None):
        return "it reads or writes a cassette, or a list of prices"
    if memory_maker(choice.get("memory", "rag")).wants_others:
        return "its memory reads the pasts of all users"
    for what in ("agent", "memory", "embedder"):
        spec = parse_spec(str(choice.get(what, "")))
        named = [spec.name.partition(":")[0], *map(str, spec.params.values())]
        if any(value.endswith(".py") or (os.sep in value and Path(value).exists()) for value in named):
            return f"its {what} lies in a file here (as a package it can be installed there)"
    return None


def refuse(cell: Cell) -> None:
    """Refuse what cannot be shipped.

    Raises:
        UsageError: with the cell's name.
    """
    if (why := unshippable(cell)) is not None:
        raise UsageError(
            f"--ship: the cell {quote(cell.name)} cannot be played on machines that do not see these files: {why}"
        )


def take_back(task: Task, crate: Crate) -> None:
    """Give a unit its folder, whole or not at all."""
    units = task.sweep / RUNS / task.run / UNITS
    part, folder = part_of(units, task.key, f"{os.getpid()}-shipped"), units / task.key
    shutil.rmtree(part, ignore_errors=True)
    _write(part, crate.files)
    if crate.private:
        hide(task.sweep)
    if folder.exists():  # of other inputs
        folder.rename(part.with_name(part.name + "-old"))
        shutil.rmtree(part.with_name(part.name + "-old"), ignore_errors=True)
    part.rename(folder)


# ------------------------------------------------------------------ there


class Depot:
    """A worker's own folder, in which things lie as they do where they came from."""

    def __init__(self) -> None:
        self._scratch = Scratch("proact-shipped", guarded=True)
        self.root = self._scratch.path
        self._there: set[str] = set()

    def lacks(self, name: str) -> bool:
        """Whether a parcel has not been unpacked yet."""
        return name not in self._there

    def unpack(self, parcel: Parcel) -> None:
        """Lay files down."""
        _write(self.root, parcel.files)
        self._there.add(parcel.name)

    def moved(self, task: Task) -> Task:
        """The task as it is played here."""
        return replace(task, sweep=self._here(task.sweep), scenario=self._here(task.scenario))

    def _here(self, path: Path) -> Path:
        path = path.absolute()
        return self.root / path.relative_to(path.anchor)

    def collect(self, task: Task, done: Done) -> tuple[Done, Crate | None]:
        """A unit that was played here, taken away; None where there is none."""
        folder = task.sweep / RUNS / task.run / UNITS / task.key
        if not folder.is_dir():
            return done, None
        files = [(file.relative_to(folder).as_posix(), file.read_bytes()) for file in sorted(folder.rglob("*"))
                 if file.is_file()]  # fmt: skip
        shutil.rmtree(folder)
        return replace(done, error=_as_there(done.error, self.root)), Crate(tuple(files), is_hidden(task.sweep))

    def close(self) -> None:
        """Remove it."""
        self._scratch.close()


def _as_there(said: str | None, root: Path) -> str | None:
    """A sentence with paths as those know them who read it."""
    return None if said is None else said.replace(str(root), "")


def _write(root: Path, files: Iterable[tuple[str, bytes]]) -> None:
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        part.write_bytes(content)
        part.replace(path)
