"""Forgetting what a scenario file says of a user: who they are, what they asked and when they needed help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from simulator.core.errors import InputError
from simulator.core.types import SECOND
from simulator.privacy.disk import remove, replace
from simulator.privacy.forget_session import Head, check_free, read_head
from simulator.privacy.items import Item, Place, Unreached
from simulator.privacy.span import Span
from simulator.session.reader import is_session
from simulator.session.scenario_file import ScenarioFile, parse, read_mapping
from simulator.session.schema import FILE_NAME

__all__ = ["SUFFIXES", "Scene", "plan_scene", "profile_items", "read_scene"]

SUFFIXES = (".yaml", ".yml", ".toml")
_ENDS = {"opportunities": ("opens_s", "closes_s", "acted_s"), "assists": ("start_s", "end_s"), "moments": ("t_s",)}


@dataclass(frozen=True, slots=True)
class Scene:
    """A scenario file and the session that it plays (None: not there any more)."""

    file: Path
    raw: Mapping[str, Any]
    spec: ScenarioFile
    head: Head | None

    @property
    def users(self) -> frozenset[str]:
        """Whose it is: the user that it names, and the one who was recorded."""
        return frozenset(name for name in (self.user, self.head and self.head.user) if name)

    @property
    def user(self) -> str | None:
        """Whose memory it is played with."""
        return self.spec.user or (self.head.user if self.head else None)

    @property
    def folder(self) -> Path:
        """Where the session lies, or lay."""
        path = (self.file.parent / self.spec.session).resolve()
        return path.parent if path.name == FILE_NAME else path

    def tables(self) -> Iterator[tuple[Path, Place]]:
        """The event tables that it names."""
        for entry in self.spec.history:
            path = (self.file.parent / entry).resolve()
            if path.is_file() and self.user is not None:
                yield path, Place(self.user, self.head.zero_ns if self.head else None, self.file)

    def heads(self) -> Iterator[Head]:
        """The sessions that it names, to be played or as history, as far as they can be read."""
        if self.head is not None:
            yield self.head
        for entry in self.spec.history:
            folder = (self.file.parent / entry).resolve()
            with suppress(InputError):
                if is_session(folder):
                    yield read_head(folder)

    def profiles(self) -> Iterator[tuple[str | None, Path]]:
        """The files of profiles that it names, each with the profile's name (None: the only one)."""
        for name, given in ((None, self.spec.profile), *(self.spec.profiles or {}).items()):
            if isinstance(given, str):
                yield name, (self.file.parent / given).resolve()


def read_scene(file: Path) -> Scene | None:
    """A scenario, or None for a file that is something else.

    Raises:
        InputError: by its name it is a scenario, and it cannot be read.
    """
    try:
        raw = read_mapping(file)
        if "session" not in raw and file.stem != "scenario":
            return None
        spec = parse(raw, file)
    except InputError:
        if file.stem == "scenario":
            raise
        return None
    scene = Scene(file, raw, spec, None)
    try:
        return replaced(scene, head=read_head(scene.folder)) if is_session(scene.folder) else scene
    except InputError:  # told of where the session itself is looked at
        return scene


def plan_scene(
    scene: Scene, user: str, span: Span, *, stays: str | None = None, after: Head | None = None
) -> Item | Unreached | None:
    """What of a scenario is the user's; None for nothing.

    Args:
        scene: the scenario.
        user: whose.
        span: when.
        stays: why the file may not go as a whole, such as that its session does not.
        after: a session that goes too: the file goes first, but only once it is sure that nobody has that open.
    """
    mine = user in scene.users
    if span.everything and mine:
        if stays is not None:
            return Unreached(scene.file, stays)
        texts = frozenset(_words(scene.spec))
        names = frozenset((scene.spec.name,)) if scene.spec.name else frozenset()
        return Item("scenario", scene.file, "the whole file", lambda: _remove_before(scene.file, after), texts, names)
    if span.everything:
        if user not in (scene.spec.profiles or {}):
            return None
        return _rewritten(scene, lambda raw: _without_profile(raw, user), "a profile and its intents", frozenset())
    if not mine or scene.spec.truth in ("recorded", "none"):
        return None
    zero = scene.head.zero_ns if scene.head else None
    truth = scene.raw["truth"]
    entries = [(entry, _ENDS[part]) for part in _ENDS for entry in truth.get(part) or ()]
    if zero is None:
        said = "needs that count from a session whose time nobody can tell (damaged, gone, without calendar) stay"
        return Unreached(scene.file, f"{said}: {len(entries)}") if entries else None
    gone = [entry for entry, ends in entries if _touches(entry, ends, zero, span)]
    if not gone:
        return None
    said = f"{len(gone)} needs; the file's comments go too"
    texts = frozenset(str(entry["query"]) for entry in gone if entry.get("query"))
    return _rewritten(scene, lambda raw: _without_needs(raw, gone), said, texts)


def profile_items(scenes: Iterable[Scene], user: str) -> list[Item]:
    """The files of profiles that only scenarios of the user name."""
    named: dict[Path, set[bool]] = {}
    for scene in scenes:
        for name, path in scene.profiles():
            named.setdefault(path, set()).add(user in scene.users or name == user)
    paths = sorted(path for path, mine in named.items() if mine == {True} and path.is_file())
    return [Item("profile", path, "the whole file", partial(_remove, path)) for path in paths]


def _rewritten(
    scene: Scene, change: Callable[[dict[str, Any]], dict[str, Any]], said: str, texts: frozenset[str]
) -> Item | Unreached:
    """The file written anew: comments are not kept, they may speak of what goes."""
    if scene.file.suffix.lower() == ".toml":
        return Unreached(
            scene.file, f"holds {said.partition(';')[0]} of theirs; proact writes no TOML: take it out by hand"
        )

    def apply() -> list[Unreached]:
        made = yaml.safe_dump(change(read_mapping(scene.file)), sort_keys=False, allow_unicode=True, width=110)
        replace(scene.file, made.encode())
        return []

    return Item("scenario", scene.file, said, apply, texts)


def _without_profile(raw: dict[str, Any], user: str) -> dict[str, Any]:
    profiles = {k: v for k, v in raw["profiles"].items() if str(k) != user}
    truth = raw.get("truth")
    if isinstance(truth, dict) and truth.get("intents"):
        raw["truth"] = {**truth, "intents": {k: v for k, v in truth["intents"].items() if str(k) != user}}
    return {k: v for k, v in raw.items() if k != "profiles"} | ({"profiles": profiles} if profiles else {})


def _without_needs(raw: dict[str, Any], gone: list[Any]) -> dict[str, Any]:
    truth = raw["truth"]
    parts = {part: [e for e in truth[part] if e not in gone] for part in _ENDS if truth.get(part)}
    return {**raw, "truth": {**truth, **parts}}


def _touches(entry: Mapping[str, Any], ends: tuple[str, ...], zero_ns: int, span: Span) -> bool:
    """Whether a need was in the span."""
    instants = [round(entry[end] * SECOND) for end in ends if entry.get(end) is not None]
    return span.touches(zero_ns + min(instants), zero_ns + max(instants))


def _words(spec: ScenarioFile) -> Iterator[str]:
    if spec.description:
        yield spec.description
    if isinstance(spec.profile, dict):
        yield from (str(value) for value in spec.profile.values())
    if not isinstance(spec.truth, str):
        truth = spec.truth
        stated = (*(truth.opportunities or ()), *(truth.assists or ()), *(truth.moments or ()))
        yield from (n.query for n in stated if n.query)


def _remove_before(file: Path, session: Head | None) -> list[Unreached]:
    """The file, but not before a session that stays: nobody could tell any more whose that is."""
    if session is not None:
        check_free(session)
    return _remove(file)


def _remove(path: Path) -> list[Unreached]:
    remove(path)
    return []
