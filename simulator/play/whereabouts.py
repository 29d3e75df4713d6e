"""Where the recording behind a run is now: a run folder holds no pictures, no titles, and no truth told later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.session.play import Play
from simulator.session.reader import Reader
from simulator.session.scenario import find, plays
from simulator.session.scenario_file import load
from simulator.session.truth import Truth

__all__ = ["fits", "plays_of", "told_since"]


def plays_of(run: Path, told: Mapping[str, Any], key: str) -> Iterator[Play]:
    """Sessions of the name of a unit's, at the places that its run was played from; a damaged one is passed over.

    Args:
        run: the run folder.
        told: as ``simulator.runs.folder.read_run`` gives it; of a live run too.
        key: of the unit.
    """
    header = told["resolved"][key]
    for case in _cases(run, told.get("given", {})):
        try:
            play = _matching(case, header, key)
        except (InputError, OSError):
            continue  # damaged, or no scenario any more
        if play is not None:
            yield play


def fits(play: Play, header: Mapping[str, Any]) -> bool:
    """Whether a session is, by its length and rate, the one that a unit with this header was played over."""
    return header.get("end_ns") in (None, 0, play.truth.end_ns) and play.period_ns == header.get("period_ns")


def told_since(run: Path, told: Mapping[str, Any], key: str) -> tuple[Truth, Path] | None:
    """What was needed in a unit's session, as its scenario says it now, and that scenario; None where it does not."""
    header = told["resolved"][key]
    for play in plays_of(run, told, key):
        known = play.truth.intents is not None if header.get("protocol") == "trajectory" else play.truth.known
        if known and fits(play, header):
            return play.truth, play.where
    return None


def _cases(run: Path, given: Mapping[str, Any]) -> Iterator[Path]:
    """Scenario files and sessions that the run may have been played from. Relative paths were typed somewhere above."""
    named = [Path(p) for p in [*given.get("scenarios", []), *([given["live"]] if given.get("live") else [])]]
    places = [Path.cwd(), *run.absolute().parents]
    tried = set[Path]()
    for path in [*named, *([run.parent] if (run.parent / "scenario.yaml").is_file() else [])]:
        for place in [place / path for place in places]:  # of an absolute path it is always itself
            if (place := place.absolute()) in tried or not place.exists():
                continue
            tried.add(place)
            try:
                found = find(place)
            except (InputError, OSError):
                continue
            yield from found.scenarios or found.sessions


def _matching(case: Path, header: Mapping[str, Any], key: str) -> Play | None:
    """The play of a case whose session is the unit's; only a case that names the session is read whole."""
    if case.is_file():
        spec = load(case)
        folder, monitor = (case.parent / spec.session).resolve(), spec.monitor
    else:
        folder, monitor = case, None
    with Reader(folder, monitor=monitor) as reader:
        if reader.header.session != header.get("session"):
            return None
    made = [play for play in plays([case]) if play.user == header.get("user")]
    return next((play for play in made if play.key == key), made[0] if made else None)
