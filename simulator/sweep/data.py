"""The data sets of a study: named sessions, those that come with proact, made-up users, noisy twins."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError, UsageError, nearest
from simulator.runs.folder import digest
from simulator.session.play import Play
from simulator.session.scenario import plays
from simulator.sweep.study import DataSpec, GenerateSpec, NoiseSpec, StudyFile

__all__ = ["BUNDLED", "DataSet", "Session", "bundled", "data_sets", "session_of"]

_HOME = Path(__file__).resolve().parents[2] / "scenarios"
BUNDLED = ("coding_error", "desktop", "document", "nothing", "shopping", "spreadsheet", "tab_search", "translation")
MADE_UP = "made-up"


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a data set, as far as planning needs it.

    Attributes:
        key: of its unit in every run.
        scenario: what ``plays`` reads it from, absolute.
        nth: which of the plays that this makes.
        session: its own name; ``user``: whose it is.
        inputs: digest of all of it that bears on a unit.
        protocol: as its scenario says; None where it does not.
        end_ns: its length, ``period_ns`` the stream's period.
        n_moments: questions of protocol moments: as the scenario states them, or as many as are sampled at most; None
            of a session that is yet to be made.
        n_past: events of its history; of one that is yet to be made, about so many.
        dataset: hash of the files that it was read from; empty where it is yet to be made.
    """

    key: str
    scenario: Path
    nth: int
    session: str
    user: str
    inputs: str
    protocol: str | None
    end_ns: int
    period_ns: int
    n_moments: int | None
    n_past: int = 0
    dataset: str = ""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set of a study.

    Attributes:
        name: as the study calls it.
        given: the paths it is read from.
        sessions: in order; of one that is yet to be made (a dry run makes nothing) stand-ins.
        first: the first session itself, by which a cell is tried; None where it is yet to be made.
    """

    name: str
    given: tuple[Path, ...]
    sessions: tuple[Session, ...]
    first: Play | None


Tell = Callable[[str], None]


def bundled() -> tuple[Path, ...]:
    """The sessions that come with proact.

    Raises:
        UsageError: this installation has none.
    """
    found = tuple(_HOME / name for name in BUNDLED)
    if not all(path.is_dir() for path in found):
        raise UsageError("the scenarios that come with proact lie in its repository; name some under sessions")
    return found


def data_sets(study: StudyFile, where: Path, used: Sequence[str], out: Path, *, dry: bool,
              sessions: Sequence[Path] | None, tell: Tell) -> dict[str, DataSet]:  # fmt: skip
    """The data sets that cells play, read once; what is to be made is, unless it was before.

    Args:
        study: as its file says.
        where: the file; paths in it are relative to its folder.
        used: names of the sets that cells play.
        out: the sweep's folder, in which data are made.
        dry: make nothing.
        sessions: from the command line, instead of the study's own.
        tell: is told what is made.

    Raises:
        InputError: a fault of a file.
        UsageError: sessions from the command line for a study of several data sets.
    """
    if study.data is None:
        given = tuple(sessions) if sessions else _paths(study.sessions, where)
        return {used[0]: _read(used[0], given)}
    if sessions:
        raise UsageError("--sessions goes with a study that has one data set; this one names several under data")
    made: dict[str, DataSet] = {}
    for name in used:
        _make(name, study.data, where, out, made, (), dry=dry, tell=tell)
    return {name: made[name] for name in used}


def _make(name: str, specs: Mapping[str, list[str] | DataSpec], where: Path, out: Path, made: dict[str, DataSet],
          below: tuple[str, ...], *, dry: bool, tell: Tell) -> DataSet:  # fmt: skip
    if name in made:
        return made[name]
    spec, field = specs[name], f"data.{name}"
    if name in below:
        raise InputError(where, f"noise of itself ({' of '.join((*below, name))})", field=field)
    if isinstance(spec, list):
        found = _read(name, _paths(spec, where))
    elif (spec.generate is None) == (spec.noise is None):
        raise InputError(where, "a list of sessions, generate or noise is wanted", field=field)
    elif spec.generate is not None:
        found = _generated(name, spec.generate, where, out, dry=dry, tell=tell)
    else:
        assert spec.noise is not None
        if spec.noise.of not in specs:
            want = f"no such data set; {nearest(spec.noise.of, specs)}"
            raise InputError(where, want, field=f"{field}.noise.of", value=spec.noise.of)
        clean = _make(spec.noise.of, specs, where, out, made, (*below, name), dry=dry, tell=tell)
        found = _noisy(name, spec.noise, clean, out, dry=dry, tell=tell)
    made[name] = found
    return found


def _paths(given: Sequence[str] | None, where: Path) -> tuple[Path, ...]:
    """Paths relative to the study file; what comes with proact where none are given, or where it says ``bundled``."""
    if given is None:
        return bundled()
    out: list[Path] = []
    for path in given:
        out += bundled() if path == "bundled" else [(where.parent / path).resolve()]
    return tuple(out)


def _read(name: str, given: tuple[Path, ...]) -> DataSet:
    found = plays(list(given))
    if not found:
        raise UsageError(f"data set {name}: nothing to play")
    nth: dict[Path, int] = {}
    sessions = []
    for play in found:
        sessions.append(session_of(play, nth.get(play.where, 0)))
        nth[play.where] = nth.get(play.where, 0) + 1
    return DataSet(name, given, tuple(sessions), found[0])


def session_of(play: Play, nth: int) -> Session:
    """What planning needs of a play. Its digest is over all that a unit of any cell can depend on."""
    facts = {
        "key": play.key,
        "session": [play.source.session, play.source.user, getattr(play.source, "utc_anchor_ns", None)],
        "dataset": play.dataset_hash,
        "recording": play.recording,
        "person": play.person,
        "sample": play.sample,
        "user": play.user,
        "profile": dict(play.profile),
        "intentions": list(play.intentions),
        "rules": [play.period_ns, play.window_ns, play.segmentation, {k: str(v) for k, v in play.settings.items()}],
        "truth": play.truth.digest(),
    }
    protocol = play.settings.get("protocol")
    needs = sum(need.acted_ns is not None for need in play.truth.servable)
    n_moments, n_past = len(play.truth.moments) or 2 * needs, len(play.history)  # beside each need a moment without one
    return Session(play.key, play.where.absolute(), nth, play.source.session, play.user, digest(facts), protocol,
                   play.truth.end_ns, play.period_ns, n_moments, n_past, play.dataset_hash)  # fmt: skip


def _generated(name: str, spec: GenerateSpec, where: Path, out: Path, *, dry: bool, tell: Tell) -> DataSet:
    """Made-up users; the folder is named after all that they are made of."""
    recipe = where.parent / spec.recipe
    if not recipe.is_file():
        recipe = _HOME / "recipes" / f"{spec.recipe.removesuffix('.yaml')}.yaml"
    if not recipe.is_file():
        known = [file.stem for file in _HOME.glob("recipes/*.yaml")]
        want = f"no such recipe, neither as a file nor among those of proact; {nearest(spec.recipe, known)}"
        raise InputError(where, want, field=f"data.{name}.generate.recipe", value=spec.recipe)
    made_of = digest([spec.model_dump(), recipe.read_text(encoding="utf-8")])
    folder = out / MADE_UP / f"{name}-{made_of[:10]}"
    if not folder.exists():
        if dry:
            day, past = 10 * 3600 * 10**9, 250 * spec.days  # about a day of work, and so many events of each before it
            stand = [
                Session(f"user-{i}", folder, 0, "", f"user-{i}", "", None, day, 10**9, None, past)
                for i in range(spec.users)
            ]
            return DataSet(name, (folder,), tuple(stand), None)
        from simulator.workload import generate  # most studies make up nobody

        tell(f"making up {spec.users} users of {spec.days} days for {name}")
        _whole(folder, lambda to: generate(recipe, to, users=spec.users, days=spec.days, seed=spec.seed,
                                           sessions=spec.sessions))  # fmt: skip
    return _read(name, (folder,))


def _noisy(name: str, spec: NoiseSpec, clean: DataSet, out: Path, *, dry: bool, tell: Tell) -> DataSet:
    """Noisy twins of a data set, one path after the other."""
    from simulator.session.noise import Options, twins  # most studies make no noise

    made_of = digest([spec.model_dump(), [s.inputs for s in clean.sessions]])
    folder = out / MADE_UP / f"{name}-{made_of[:10]}"
    if not folder.exists():
        if dry or clean.first is None:
            return DataSet(name, (folder,), clean.sessions, None)
        tell(f"making noisy twins of {len(clean.sessions)} sessions")
        options = Options(rate=spec.rate, seed=spec.seed, kinds=tuple(spec.kinds))

        def make(to: Path) -> None:
            to.mkdir()
            for i, path in enumerate(clean.given):
                twins(path, to / f"{i:03d}", options)

        _whole(folder, make)
    return _read(name, tuple(folder / f"{i:03d}" / "noisy" for i in range(len(clean.given))))


def _whole(folder: Path, make: Callable[[Path], Any]) -> None:
    """Make a folder beside and rename it: it is there whole or not at all."""
    part = folder.with_name(f".{folder.name}.making")
    shutil.rmtree(part, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    make(part)
    part.rename(folder)
