"""What is evaluated and what lies before it, by user: the scenarios of a split, however it was made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simulator.core.errors import InputError
from simulator.core.files import read_text
from simulator.session.play import Play
from simulator.session.reader import Reader, is_session
from simulator.session.scenario import find, plays
from simulator.session.scenario_file import load
from simulator.session.split import ACCOUNT, EVALUATION, VALIDATION
from simulator.sources.recording import header_of

__all__ = ["Before", "Own", "by_user"]


@dataclass(frozen=True, slots=True)
class Before:
    """A session of the history, until an instant of its stream time (None: whole)."""

    folder: Path
    until_ns: int | None


@dataclass(slots=True)
class Own:
    """One side of a split of one user, or one scenario whose session has no calendar.

    ``plays`` are the ones whose histories are looked at, ``evaluated`` these and those of later sides: what is
    evaluated may know what was validated.
    """

    user: str
    plays: list[Play] = field(default_factory=list)
    evaluated: list[Play] = field(default_factory=list)
    before: dict[Path, Before] = field(default_factory=dict)
    tables: set[Path] = field(default_factory=set)


def by_user(path: Path, files: Sequence[Path]) -> list[Own]:
    """The users' parts of the scenarios that a path holds.

    Args:
        path: what is looked through.
        files: its scenario files.

    Raises:
        InputError: a scenario, a session or the account of a split that cannot be read.
    """
    owns: dict[tuple[str, str, str], Own] = {}
    for file in files:
        spec = load(file)
        for play in plays([file]):
            key = (play.user, "" if header_of(play.source).utc_anchor_ns is not None else play.key, _side(file))
            own = owns.setdefault(key, Own(play.user))
            own.plays.append(play)
            for entry in spec.history:
                if is_session(place := (file.parent / entry).resolve()):
                    own.before[place] = Before(place, None)
                else:
                    own.tables.add(place)
    for (user, alone, side), own in owns.items():
        own.evaluated += own.plays
        if side == VALIDATION and (later := owns.get((user, alone, EVALUATION))) is not None:
            own.evaluated += later.plays
            later.before |= {f: Before(f, None) for p in own.plays for f in [header_of(p.source).folder.resolve()]}
    _left_behind(path, owns)
    _from_accounts(path, owns)
    return list(owns.values())


def _side(scenario: Path) -> str:
    """The side on which a split put a scenario; all others are of one."""
    home = scenario.absolute().parent.parent
    return home.name if home.name == VALIDATION and (home.parent / ACCOUNT).is_file() else EVALUATION


def _left_behind(path: Path, owns: dict[tuple[str, str, str], Own]) -> None:
    """An import leaves the sessions of the history beside the others."""
    played = {header_of(play.source).folder.resolve() for own in owns.values() for play in own.plays}
    for folder in find(path).sessions:
        if (place := folder.resolve()) not in played:
            with Reader(folder) as reader:
                user = reader.header.user
            for key in ((user, "", VALIDATION), (user, "", EVALUATION)):
                if key in owns:
                    owns[key].before.setdefault(place, Before(place, None))


def _from_accounts(path: Path, owns: dict[tuple[str, str, str], Own]) -> None:
    """The sessions that a split drew its histories from, as its account names them."""
    for file in sorted(path.rglob(ACCOUNT)) if path.is_dir() else ():
        try:
            said = json.loads(read_text(file))
            user = str(said["user"])
            named = [
                ((file.parent / one["session"]).resolve(), int(one["until_ns"])) for one in said["history_sessions"]
            ]
        except (ValueError, KeyError, TypeError):
            raise InputError(file, "not the account of a split by this version") from None
        for key in ((user, "", VALIDATION), (user, "", EVALUATION)):
            for place, until in named:
                if key in owns and is_session(place):
                    owns[key].before.setdefault(place, Before(place, until))
