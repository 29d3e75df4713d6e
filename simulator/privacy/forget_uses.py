"""What running programs record into or play from: it is told and left, and so are the files that say how it is played.

A recording that goes on and a run that is played hold locks. Of a run, the sessions are known by user and name, so one
of the same name is left too until the run has ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from simulator.privacy.forget_scenario import Scene
from simulator.privacy.forget_session import Head, is_recorded
from simulator.privacy.items import Item, Unreached
from simulator.privacy.run_of import in_play
from simulator.privacy.span import Span

__all__ = ["IN_USE", "Uses", "uses_of"]

IN_USE = "it is being recorded or played: end that and call again"


@dataclass(frozen=True, slots=True)
class Uses:
    """What is in use: folders of sessions, scenario files, and the histories and profiles that these name."""

    sessions: frozenset[Path]
    scenarios: frozenset[Path]
    named: frozenset[Path]

    def said(self, scene: Scene) -> str | None:
        """Why a scenario stays as a whole; None if it need not."""
        return IN_USE if scene.file in self.scenarios else None

    def kept(self, found: Item | Unreached, span: Span) -> Item | Unreached:
        """A finding, or that it is in use. A file of which a stretch goes can be written anew while it is played."""
        if span.everything and isinstance(found, Item) and found.path in self.named:
            return Unreached(
                found.path, "a scenario that is being recorded or played names it: end that and call again"
            )
        return found


def uses_of(runs: Iterable[Path], sessions: Iterable[Head], scenes: Iterable[Scene]) -> Uses:
    """What is in use at this moment of what was found."""
    playing = [one for run in runs if (one := in_play(run)) is not None]
    played = frozenset().union(*(one.sessions for one in playing))
    live = {one.scenario for one in playing if one.scenario is not None}
    scenes = list(scenes)
    folders = {head.folder for head in sessions if is_recorded(head.folder) or (head.user, head.session) in played}
    used = [scene for scene in scenes if scene.file in live or _is_used(scene, folders, played)]
    folders |= {scene.folder for scene in used}
    named = {path for scene in used for path, _ in scene.tables()} | {path for s in used for _, path in s.profiles()}
    return Uses(frozenset(folders), frozenset(scene.file for scene in used), frozenset(named))


def _is_used(scene: Scene, folders: set[Path], played: frozenset[tuple[str, str]]) -> bool:
    return scene.folder in folders or (scene.head is not None and (scene.user, scene.head.session) in played)
