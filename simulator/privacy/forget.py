"""Forgetting a user, all of them or a stretch of time, wherever proact keeps something of theirs.

First everything is looked at and nothing changed (``plan``), then each thing is forgotten on its own: a kill leaves
some of them as they were, and the same call goes on. The order matters for that: what tells whose something else is
(scenario of a table, session of a scenario) goes after it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from simulator.core.errors import InputError, ProactError, UsageError
from simulator.core.faults import FAULTS, kind_of
from simulator.privacy.disk import remove_tree
from simulator.privacy.forget_named import plan_named
from simulator.privacy.forget_opening import OURS
from simulator.privacy.forget_places import MADE_UP, inside, invented, listed, marker_of, out_of_bounds
from simulator.privacy.forget_release import releases
from simulator.privacy.forget_run import is_others, plan_run, units_of_others
from simulator.privacy.forget_scenario import SUFFIXES, Scene, plan_scene, profile_items, read_scene
from simulator.privacy.forget_session import WRECK, Head, is_broken, is_wreck, last_ns, plan_session, read_head
from simulator.privacy.forget_store import LOGS, MADE_OF_STORE, STORE, plan_store
from simulator.privacy.forget_sweep import MADE_AGAIN, SWEEP, plan_sweep
from simulator.privacy.forget_tables import ACCOUNT, PAST, SPLIT, is_table, plan_account, plan_memory, plan_table
from simulator.privacy.forget_uses import IN_USE, Uses, uses_of
from simulator.privacy.items import Item, Place, Unreached
from simulator.privacy.leftovers import Traces, search, search_units
from simulator.privacy.run_of import is_run, users_of
from simulator.privacy.span import Span
from simulator.session.ignored import IGNORED
from simulator.session.reader import is_session
from simulator.session.schema import FILE_NAME

__all__ = ["OUT_OF_REACH", "Plan", "cache_folder", "plan"]

OUT_OF_REACH = (
    "backups, snapshots of the file system, copies on other machines or in a synchronised folder",
    "releases and exports outside of the folders looked through, and the recordings that sessions were imported from",
    "cassettes and files of texts that you gave a place of their own, unless you name them with --also",
    "models and services that agents, screeners or memories asked: what was sent there is theirs to delete",
    "older versions in a version control system",
    "programs that still run and hold it in memory",
    "blocks of the disk that were freed and not yet written over: only an encrypted disk helps against that",
)
"""What no program can reach from here, in words for the user."""

_ORDER = ("cache", "named", "run", "sweep", "memory", "history", "profile", "scenario", "account", "session")
_LINK = "a link, not followed: name the folder it points to with --in"
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
        last_ns: UTC until when something of the user's was recorded; None where nobody can tell.
    """

    user: str
    items: list[Item] = field(default_factory=list)
    unreached: list[Unreached] = field(default_factory=list)
    users: set[str] = field(default_factory=set)
    last_ns: int | None = None
    _strange: list[Path] = field(default_factory=list)
    _units: list[Path] = field(default_factory=list)  # of other users, in runs
    _homes: set[Path] = field(default_factory=set)

    @property
    def n_others(self) -> int:
        """Files that proact did not make, and units of other users: looked through for copies of what was forgotten."""
        return len(self._strange) + len(self._units)

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
        told = {one.path for one in out}
        return out + [one for one in self._copies() if one.path not in told]

    def foreseen(self) -> list[Unreached]:
        """What ``carry_out`` will leave, as far as that can be told before: nothing is changed."""
        told = {one.path for one in self.unreached}
        told |= {item.path / name for item in self.items for name in MADE_AGAIN}
        stores = [item.path.parent / name for item in self.items if item.kind == "memory" for name in MADE_OF_STORE]
        return self.unreached + [one for one in self._copies() if one.path not in told and not inside(one.path, stores)]

    def _copies(self) -> list[Unreached]:
        """Files, and units of other users, that hold something of what goes and are no part of it."""
        texts = frozenset().union(*(item.texts for item in self.items))
        names = frozenset().union(*(item.names for item in self.items))
        going = {item.path for item in self.items}
        there = (path for path in self._strange if path not in going and path.is_file())
        offered = frozenset().union(*(item.offered for item in self.items))
        in_files = search(there, Traces(self.user, names, texts | offered))
        return in_files + search_units(self._units, Traces(self.user, names, texts))


@dataclass(slots=True)
class _Found:
    """What the folders hold, by kind."""

    sessions: dict[Path, Head] = field(default_factory=dict)
    runs: list[Path] = field(default_factory=list)
    sweeps: list[Path] = field(default_factory=list)
    scenes: list[Scene] = field(default_factory=list)
    tables: list[Path] = field(default_factory=list)
    memories: list[Path] = field(default_factory=list)
    stores: list[Path] = field(default_factory=list)
    accounts: list[Path] = field(default_factory=list)
    strange: list[Path] = field(default_factory=list)
    broken: set[Path] = field(default_factory=set)  # sessions that cannot be read
    unreached: list[Unreached] = field(default_factory=list)


def plan(user: str, folders: list[Path], span: Span | None = None, *, cache: Path | None = None,
         also: Sequence[Path] = ()) -> Plan:  # fmt: skip
    """Look for everything of a user's; nothing is changed.

    Args:
        user: the name as sessions and runs have it, exactly.
        folders: where to look, with all that lies below; links are not followed.
        span: when; None: all of it.
        cache: the folder of caches, which goes as a whole; None: leave it.
        also: files that go as a whole, whatever they are: cassettes and texts that somebody named as they liked.

    Raises:
        InputError: a folder that is not there; a list of what is made up that cannot be read.
    """
    span = span or Span()
    found = _Found()
    seen: set[Path] = set()
    seen_from = [folder.resolve() for folder in folders]
    for given, folder in zip(folders, seen_from, strict=True):
        if not folder.is_dir():
            raise InputError(given, "there is no such folder")
        if (marker := marker_of(folder)) is not None:
            found.unreached.append(invented(folder, marker))
        else:
            _walk(folder, found, seen)
    made = Plan(user, unreached=found.unreached, _strange=found.strange)
    of_runs = (users_of(run) for run in found.runs)
    made.users = {head.user for head in found.sessions.values()}.union(*(s.users for s in found.scenes), *of_runs)
    ends = [last_ns(head) for head in found.sessions.values() if head.user == user and not span.everything]
    made.last_ns = max((end for end in ends if end is not None), default=None)
    played_as = _played_as(user, found)
    made._units = [unit for run in found.runs for unit in units_of_others(run, user, played_as)]
    uses = uses_of(found.runs, found.sessions.values(), found.scenes)
    for one in _looked_for(user, span, found, uses):
        item = uses.kept(_allowed(one, seen_from, found), span)
        if isinstance(item, Item):
            made.items.append(item)
        elif item not in made.unreached:
            made.unreached.append(item)
    going = [item.path for item in made.items if item.kind == "session"]
    made.unreached += releases(found.sessions.values(), going, span)
    told_of = {one.path for one in made.unreached}
    for folder, head in found.sessions.items():
        if head.tier is not None and folder not in told_of:
            made._strange.append(folder / FILE_NAME)  # it names nobody: only its texts can tell
    for file in also:
        if isinstance(named := plan_named(file), Item):
            made.items.append(named)
        else:
            made.unreached.append(named)
    if cache is not None and cache.is_dir() and any(cache.iterdir()):
        made.items.append(Item("cache", cache, "all of it: it can be computed again", partial(_drop, cache)))
    made.items.sort(key=lambda item: (_ORDER.index(item.kind), item.path))
    if span.everything:
        above = {p for item in made.items for p in (item.path.parent, item.path.parent.parent) if p.name == user}
        made._homes = {p for p in above if inside(p, seen_from)}
        changed = [item.path for item in made.items if item.kind not in ("run", "sweep")]
        made.unreached += [
            Unreached(path, "its name holds the user's") for path in _named(found, user) if path not in changed
        ]
    return made


def _allowed(one: Item | Unreached, folders: list[Path], found: _Found) -> Item | Unreached:
    """A finding, or that it lies where nothing may be changed: scenarios can name anything."""
    if isinstance(one, Unreached):
        return one
    if (beyond := out_of_bounds(one.path, folders)) is not None:
        return beyond
    if one.kind == "session" and one.path not in found.sessions:
        return Unreached(one.path, "a scenario names it, and it is not looked into: a link, or in a folder passed over")
    return one


def _looked_for(user: str, span: Span, found: _Found, uses: Uses) -> Iterator[Item | Unreached]:
    """Everything of the user's. First the sessions: a scenario stays as long as the session that it names."""
    left: set[Path] = set()
    for folder, head in found.sessions.items():
        if head.user == user:
            for outcome in _outcomes(folder, partial(_session, head, span, uses)):
                yield outcome
                if isinstance(outcome, Unreached):
                    left.add(folder)
    for scene in found.scenes:
        if user in scene.users and scene.head is None and is_broken(scene.folder):
            left.add(scene.folder)
            if scene.folder not in found.broken:
                yield Unreached(scene.folder, f"{scene.file.name} names it, and nobody can read it: see to it by hand")
    yield from _others(user, span, found, uses, left)


def _others(user: str, span: Span, found: _Found, uses: Uses, left: set[Path]) -> Iterator[Item | Unreached]:
    """Everything but sessions; what a running program plays from stays, and what ``left`` sessions need."""
    mine = [scene for scene in found.scenes if user in scene.users]
    played_as = _played_as(user, found)
    places: dict[Path, list[Place]] = {}
    for scene in found.scenes:
        for path, place in scene.tables():
            places.setdefault(path, []).append(place)
    tables = sorted({*found.tables, *(path for path in places if is_table(path))})

    def one_scene(scene: Scene) -> Item | Unreached | None:
        stays = f"stays with its session {scene.folder}, which is left" if scene.folder in left else None
        head = found.sessions.get(scene.folder)
        after = head if head is not None and head.user == user else None
        return plan_scene(scene, user, span, stays=uses.said(scene) or stays, after=after)

    looks: list[tuple[Path, Callable[[], _Outcome]]] = [
        *((path, partial(plan_run, path, user, span, played_as)) for path in found.runs),
        *((path, partial(plan_sweep, path, user, span, played_as)) for path in found.sweeps),
        *((path, partial(plan_memory, path, user)) for path in found.memories),
        *((path, partial(plan_store, path, user, span)) for path in found.stores),
        *((path, partial(plan_table, path, user, span, places.get(path, []))) for path in tables),
        *((scene.file, partial(one_scene, scene)) for scene in found.scenes),
        *((path, partial(plan_account, path, user, span)) for path in found.accounts),
    ]
    for path, look in looks:
        yield from _outcomes(path, look)
    if span.everything:
        yield from profile_items(found.scenes, user)
    for scene in mine:
        for head in scene.heads():
            if head.user == user and head.folder not in found.sessions:  # elsewhere: what is theirs there is told
                yield from _outcomes(head.folder, partial(plan_session, head, span))
        if span.everything and scene.head and scene.head.user != user:
            said = f"recorded of '{scene.head.user}' and played as '{user}' by {scene.file.name}: forget that user too?"
            yield Unreached(scene.head.folder, said)


def _played_as(user: str, found: _Found) -> frozenset[tuple[str, str]]:
    """(user, session) under which recordings of the user are played by scenarios that name somebody else."""
    return frozenset(
        (scene.user, scene.head.session)
        for scene in found.scenes
        if scene.head and scene.user and scene.head.user == user
    )


_Outcome = Item | Unreached | list[Item | Unreached] | None


def _outcomes(path: Path, look: Callable[[], _Outcome]) -> list[Item | Unreached]:
    try:
        found = look()
    except InputError as error:
        found = Unreached(path, error.want)
    return found if isinstance(found, list) else [] if found is None else [found]


def _session(head: Head, span: Span, uses: Uses) -> Item | Unreached | None:
    found = plan_session(head, span)
    if isinstance(found, Item) and head.folder in uses.sessions:
        return Unreached(head.folder, IN_USE)
    return found


def _walk(folder: Path, found: _Found, seen: set[Path]) -> None:
    if folder in seen:
        return
    seen.add(folder)
    if is_session(folder) or is_wreck(folder):
        _look_at_session(folder, found)
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.name not in (*OURS, IGNORED) and not path.is_symlink():
                _look_at(path, found)
            elif path.is_dir() and path.name != "screenshots" and not path.is_symlink():
                _walk(path, found, seen)  # somebody had a run, or exports, put there
        return
    if is_run(folder):
        found.runs.append(folder)
        found.strange += [path for path in sorted(folder.iterdir()) if path.is_file() and is_others(path)]
        return
    try:
        inner = sorted(folder.iterdir())
    except OSError as error:
        found.unreached.append(Unreached(folder, f"cannot be read ({error.strerror})"))
        return
    if spared := listed(folder) & {path.name for path in inner}:
        found.unreached.append(invented(folder, folder / MADE_UP))
    for path in inner:
        if path.name in spared:
            continue
        if path.is_symlink():
            if path.is_dir():
                found.unreached.append(Unreached(path, _LINK, only_maybe=True))
        elif path.is_dir():
            if path.name in (".git", ".hg", ".svn"):
                found.unreached.append(Unreached(path, "a version control system keeps what was", True))
            elif path.name not in _PASSED_OVER:
                _walk(path, found, seen)
        elif path.is_file():
            _look_at(path, found)


def _look_at_session(folder: Path, found: _Found) -> None:
    if (folder / FILE_NAME).is_symlink():
        found.unreached.append(Unreached(folder / FILE_NAME, _LINK, only_maybe=True))
        return
    try:
        if is_session(folder):
            found.sessions[folder] = read_head(folder)
            return
        why = WRECK
    except InputError as error:
        why = error.want
    found.broken.add(folder)
    found.unreached.append(Unreached(folder, f"nobody can tell whose it is: {why}"))


def _look_at(path: Path, found: _Found) -> None:
    suffix = path.suffix.lower()
    if path.name == SWEEP:
        found.sweeps.append(path)
        return
    try:
        if suffix in SUFFIXES and (scene := read_scene(path)) is not None:
            found.scenes.append(scene)
            return
    except InputError as error:
        found.unreached.append(Unreached(path, f"nobody can tell whose it is: {error.want}"))
        return
    if path.name == PAST:
        found.memories.append(path)
    elif path.name == STORE:
        found.stores.append(path)
    elif path.name in LOGS and path.with_name(STORE).is_file():
        pass  # read and cut with it
    elif path.name in (ACCOUNT, SPLIT):
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
