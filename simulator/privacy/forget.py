"""Forgetting a user, all of them or a stretch of time, wherever proact keeps something of theirs.

First everything is looked at and nothing changed (``plan``), then each thing is forgotten on its own: a kill leaves
some of them as they were, and the same call goes on. The order matters for that: what tells whose something else is
(scenario of a table, session of a scenario) goes after it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from simulator.core.errors import InputError, ProactError, UsageError
from simulator.core.faults import FAULTS, kind_of
from simulator.privacy.disk import remove_tree
from simulator.privacy.forget_run import is_run, plan_run, users_of
from simulator.privacy.forget_scenario import SUFFIXES, Scene, plan_scene, profile_items, read_scene
from simulator.privacy.forget_session import Head, plan_session, read_head
from simulator.privacy.forget_tables import ACCOUNT, PAST, is_table, plan_account, plan_memory, plan_table
from simulator.privacy.items import Item, Place, Unreached
from simulator.privacy.leftovers import search
from simulator.privacy.span import Span
from simulator.session.reader import is_session

__all__ = ["OUT_OF_REACH", "Plan", "cache_folder", "plan"]

OUT_OF_REACH = (
    "backups, snapshots of the file system, copies on other machines or in a synchronised folder",
    "releases and exports made of it, and the recordings that sessions were imported from",
    "models and services that agents, screeners or memories asked: what was sent there is theirs to delete",
    "older versions in a version control system",
    "programs that still run and hold it in memory",
    "blocks of the disk that were freed and not yet written over: only an encrypted disk helps against that",
)
"""What no program can reach from here, in words for the user."""

_ORDER = ("cache", "run", "memory", "history", "profile", "scenario", "account", "session")
_PASSED_OVER = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"})


def cache_folder(env: Mapping[str, str] = os.environ) -> Path:
    """Where proact may keep what can be computed again (``XDG_CACHE_HOME``)."""
    return Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "proact"


@dataclass(slots=True)
class Plan:
    """What was found, before anything is done.

    Attributes:
        user: whose.
        items: in the order in which they are forgotten.
        unreached: what was left as it is, and why.
        users: everybody of whom something was found.
    """

    user: str
    items: list[Item] = field(default_factory=list)
    unreached: list[Unreached] = field(default_factory=list)
    users: set[str] = field(default_factory=set)
    _strange: list[Path] = field(default_factory=list)
    _homes: set[Path] = field(default_factory=set)

    @property
    def n_others(self) -> int:
        """Files that proact did not make: they are looked through for copies of what was forgotten."""
        return len(self._strange)

    def carry_out(self, watch: Callable[[Item], None] | None = None) -> list[Unreached]:
        """Forget all of it; what could not be reached, with ``unreached`` at the beginning.

        Args:
            watch: called with each item once it is forgotten.
        """
        out = list(self.unreached)
        for item in self.items:
            try:
                out += item.apply()
            except (ProactError, *FAULTS) as error:
                why = (
                    error.want
                    if isinstance(error, InputError)
                    else str(error)
                    if isinstance(error, UsageError)
                    else None
                )
                out.append(Unreached(item.path, f"not forgotten: {why or kind_of(error)}"))
                continue
            if watch is not None:
                watch(item)
        for home in sorted(self._homes):
            if home.is_dir() and not any(home.iterdir()):
                home.rmdir()
        texts = {text for item in self.items for text in item.texts}
        return out + search((p for p in self._strange if p.is_file()), texts)


@dataclass(slots=True)
class _Found:
    """What the folders hold, by kind."""

    sessions: dict[Path, Head] = field(default_factory=dict)
    runs: list[Path] = field(default_factory=list)
    scenes: list[Scene] = field(default_factory=list)
    tables: list[Path] = field(default_factory=list)
    memories: list[Path] = field(default_factory=list)
    accounts: list[Path] = field(default_factory=list)
    strange: list[Path] = field(default_factory=list)
    unreached: list[Unreached] = field(default_factory=list)


def plan(user: str, folders: list[Path], span: Span | None = None, *, cache: Path | None = None) -> Plan:
    """Look for everything of a user's; nothing is changed.

    Args:
        user: the name as sessions and runs have it, exactly.
        folders: where to look, with all that lies below; links are not followed.
        span: when; None: all of it.
        cache: the folder of caches, which goes as a whole; None: leave it.

    Raises:
        InputError: a folder that is not there.
    """
    span = span or Span()
    found = _Found()
    seen: set[Path] = set()
    for folder in folders:
        if not folder.is_dir():
            raise InputError(folder, "there is no such folder")
        _walk(folder.resolve(), found, seen)
    made = Plan(user, unreached=found.unreached, _strange=found.strange)
    of_runs = (users_of(run) for run in found.runs)
    made.users = {head.user for head in found.sessions.values()}.union(*(s.users for s in found.scenes), *of_runs)
    for item in _looked_for(user, span, found):
        if isinstance(item, Unreached):
            made.unreached.append(item)
        else:
            made.items.append(item)
    if cache is not None and cache.is_dir() and any(cache.iterdir()):
        made.items.append(Item("cache", cache, "all of it: it can be computed again", partial(_drop, cache)))
    made.items.sort(key=lambda item: (_ORDER.index(item.kind), item.path))
    if span.everything:
        made._homes = {p for item in made.items for p in (item.path.parent, item.path.parent.parent) if p.name == user}
        changed = [item.path for item in made.items if item.kind != "run"]
        made.unreached += [
            Unreached(path, "its name holds the user's") for path in _named(found, user) if path not in changed
        ]
    return made


def _looked_for(user: str, span: Span, found: _Found) -> Iterator[Item | Unreached]:
    mine = [scene for scene in found.scenes if user in scene.users]
    played_as = frozenset(
        (scene.user, scene.head.session) for scene in mine if scene.head and scene.user and scene.head.user == user
    )
    places: dict[Path, list[Place]] = {}
    for scene in found.scenes:
        for path, place in scene.tables():
            places.setdefault(path, []).append(place)
    tables = sorted({*found.tables, *(path for path in places if is_table(path))})
    looks: list[tuple[Path, Callable[[], Item | Unreached | None]]] = [
        *((path, partial(plan_run, path, user, span, played_as)) for path in found.runs),
        *((path, partial(plan_memory, path, user)) for path in found.memories),
        *((path, partial(plan_table, path, user, span, places.get(path, []))) for path in tables),
        *((scene.file, partial(plan_scene, scene, user, span)) for scene in found.scenes),
        *((path, partial(plan_account, path, user, span)) for path in found.accounts),
        *((head.folder, partial(plan_session, head, span)) for head in found.sessions.values() if head.user == user),
    ]
    for path, look in looks:
        try:
            item = look()
        except InputError as error:
            item = Unreached(path, error.want)
        if item is not None:
            yield item
    if span.everything:
        yield from profile_items(found.scenes, user)
    for scene in mine:
        if span.everything and scene.head and scene.head.user != user:
            said = f"recorded of '{scene.head.user}' and played as '{user}' by {scene.file.name}: forget that user too?"
            yield Unreached(scene.head.folder, said)


def _walk(folder: Path, found: _Found, seen: set[Path]) -> None:
    if folder in seen:
        return
    seen.add(folder)
    if is_session(folder):
        try:
            found.sessions[folder] = read_head(folder)
        except InputError as error:
            found.unreached.append(Unreached(folder, f"nobody can tell whose it is: {error.want}"))
        for path in sorted(folder.iterdir()):
            if path.suffix.lower() in SUFFIXES and path.is_file():
                _look_at(path, found)
        return
    if is_run(folder):
        found.runs.append(folder)
        return
    try:
        inner = sorted(folder.iterdir())
    except OSError as error:
        found.unreached.append(Unreached(folder, f"cannot be read ({error.strerror})"))
        return
    for path in inner:
        if path.is_symlink():
            if path.is_dir() or path.name == "session.db":
                found.unreached.append(
                    Unreached(path, "a link, not followed: name the folder it points to with --in", True)
                )
        elif path.is_dir():
            if path.name in (".git", ".hg", ".svn"):
                found.unreached.append(Unreached(path, "a version control system keeps what was", True))
            elif path.name not in _PASSED_OVER:
                _walk(path, found, seen)
        elif path.is_file():
            _look_at(path, found)


def _look_at(path: Path, found: _Found) -> None:
    suffix = path.suffix.lower()
    try:
        if suffix in SUFFIXES and (scene := read_scene(path)) is not None:
            found.scenes.append(scene)
            return
    except InputError as error:
        found.unreached.append(Unreached(path, f"nobody can tell whose it is: {error.want}"))
        return
    if path.name == PAST:
        found.memories.append(path)
    elif path.name == ACCOUNT:
        found.accounts.append(path)
    elif suffix in (".jsonl", ".csv") and is_table(path):
        found.tables.append(path)
    else:
        found.strange.append(path)


def _named(found: _Found, user: str) -> Iterator[Path]:
    """What stays and is named after the user."""
    yield from (path for path in (*found.strange, *found.runs) if user in (path.name, path.stem))


def _drop(folder: Path) -> list[Unreached]:
    remove_tree(folder)
    return []
