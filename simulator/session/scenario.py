"""Scenarios and sessions on disk to ``Play``s: what a run needs of each, checked before anything starts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.faults import told
from simulator.core.intentions import INTENTIONS
from simulator.core.names import free
from simulator.core.protocols import SnapshotSource
from simulator.core.taxonomy import DEFAULT, Taxonomy
from simulator.core.taxonomy import load as load_taxonomy
from simulator.core.types import Event, Label
from simulator.session.history import History, merge, read_session, read_table
from simulator.session.play import Play
from simulator.session.reader import Header, Reader, is_session
from simulator.session.recording_id import PERSON, recording_of
from simulator.session.scenario_file import Profile, ScenarioFile, json_schema, load, parse, read_mapping
from simulator.session.scenario_truth import Intentions, StatedTruth, to_ns
from simulator.session.schema import FILE_NAME
from simulator.session.truth import Truth
from simulator.sources.recording import Recording

__all__ = ["Found", "Play", "beginning", "files_of", "find", "json_schema", "plays"]

SUFFIXES = (".yaml", ".yml", ".toml")
_IMAGES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif"})
_SETTINGS = ("policy", "protocol", "gate", "seed")


def plays(paths: Sequence[Path], *, rate_hz: float | None = None) -> list[Play]:
    """Everything that the paths name, ready to be played, in the order given (folders: by name).

    Args:
        paths: scenario files, folders with a ``scenario.yaml`` (or .yml, .toml), recorded sessions, or folders of many
            of these. In a folder of many the scenarios are played; without any, the sessions.
        rate_hz: snapshots a second, whatever a scenario says; none above that of a recording.

    Raises:
        InputError: any fault of a file, in one sentence that names it; one that is named twice, since its session would
            count twice in every figure.
    """
    out: list[Play] = []
    taken: set[str] = set()
    named: set[Path] = set()
    for path in paths:
        with told(path):
            cases = _to_play(Path(path))
        for found in cases:
            if (place := found.resolve()) in named:
                raise InputError(found, "named twice; each scenario or session is played once")
            named.add(place)
            with told(found):
                made = _Case(found, rate_hz).plays()
            for play in made:
                key = free(play.key, taken)
                out.append(play if play.key == key else replace(play, key=key))
    return out


def beginning(where: Path, source: SnapshotSource, period_ns: int, utc_anchor_ns: int) -> Play:
    """A scenario file whose session is only about to be recorded: profile, history and rules, and no truth yet.

    Args:
        where: the file.
        source: what the recording will be played from.
        period_ns: of its snapshots.
        utc_anchor_ns: about when it begins, by which the history finds its place before it.

    Raises:
        InputError: any fault of the file or of what it names.
    """
    return _Case(where).beginning(source, period_ns, utc_anchor_ns)


def files_of(scenario: Path) -> list[Path]:
    """What one scenario file, or one session, is made of, its recording first: all that ``Play.dataset_hash`` is over.
    Pictures are not among them.

    Raises:
        InputError: a fault of the scenario file.
    """
    with told(scenario):
        return _Case(scenario).files()


@dataclass(frozen=True, slots=True)
class Found:
    """Scenario files, and the folders of sessions, sound or not."""

    scenarios: list[Path]
    sessions: list[Path]


def find(path: Path) -> Found:
    """What a path holds, by name: itself, or what lies up to 5 folders below it.

    Not looked into are folders whose names start with a dot (an import that was stopped leaves one), and those below a
    session; below a scenario there are only its sessions.
    """
    found = Found([], [])
    if path.is_dir():
        with told(path):
            _walk(path, 5, found)
    elif path.suffix.lower() in SUFFIXES:
        found.scenarios.append(path)
    elif path.name == FILE_NAME:
        found.sessions.append(path.parent)
    return found


def _walk(folder: Path, depth: int, found: Found, below: bool = False) -> None:
    scenarios = [] if below else [f for suffix in SUFFIXES if (f := folder / f"scenario{suffix}").is_file()]
    found.scenarios.extend(scenarios)
    if is_session(folder):
        found.sessions.append(folder)
    elif depth:
        for inner in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")):
            _walk(inner, depth - 1, found, below or bool(scenarios))


def _to_play(path: Path) -> list[Path]:
    """The scenario files under a path, or without any the sessions."""
    if not path.exists():
        raise InputError(path, "there is no such file or folder")
    found = find(path)
    for one, other in pairwise(found.scenarios):
        if one.parent == other.parent:
            raise InputError(one.parent, f"{one.name} and {other.name} stand side by side; keep one")
    if not found.scenarios and not found.sessions:
        raise _foreign(path)
    return found.scenarios or found.sessions


def _foreign(path: Path) -> InputError:
    want = "a scenario file (.yaml, .toml), a folder with a scenario.yaml, or a recorded session (session.db)"
    inner = [path] if path.is_file() else sorted(path.iterdir())
    if any(p.suffix.lower() == ".db" for p in inner):
        return InputError(path, f"{want}; a LifeTrace database is read with `proact dataset import --format lifetrace`")
    if any(p.suffix.lower() in _IMAGES for p in inner):
        return InputError(path, f"{want}; a folder of images is read with `proact dataset import --format folder`")
    return InputError(path, f"nothing to play here; wanted: {want}")


def _slug(text: str) -> str:
    return re.sub(r"[^\w.@+-]+", "-", text).strip("-.")[:80] or "session"


@dataclass(slots=True)
class _Case:
    """One scenario file (or a bare session) on its way to plays."""

    where: Path
    rate_hz: float | None = None

    def plays(self) -> list[Play]:
        spec, base = self._spec()
        folder = (base / spec.session).resolve() if self.where.is_file() else base
        if not is_session(folder):
            raise InputError(self.where, f"there is no session.db in {folder}", field="session", value=spec.session)
        with Reader(folder, monitor=spec.monitor) as reader:
            return self._build(spec, base, reader)

    def beginning(self, source: SnapshotSource, period_ns: int, utc_anchor_ns: int) -> Play:
        """See there."""
        spec, base = self._spec()
        names = self._names(spec)
        taxonomy = DEFAULT if spec.taxonomy is None else load_taxonomy(base / spec.taxonomy)
        header = Header(
            folder=base / spec.session, session=source.session, user=source.user, period_ns=period_ns, zone="UTC",
            state="recording", utc_anchor_ns=utc_anchor_ns, zero_ns=0, end_ns=0, n_rows=0, monitor=None, monitors={},
            gaps=(), profile={}, meta={},
        )  # fmt: skip
        return Play(
            key=_slug(spec.name or source.session),
            user=source.user,
            profile=self._profile(spec, base, header, None),
            source=source,
            truth=Truth(source.session, source.user, 0, period_ns, known=False),
            history=self._history(spec, base, header, names, taxonomy),
            intentions=names.known,
            period_ns=period_ns,
            window_ns=to_ns(spec.window_s),
            segmentation=spec.segmentation,
            settings={k: v for k in _SETTINGS if (v := getattr(spec, k)) is not None},
            dataset_hash="",
            recording="",
            where=self.where,
        )

    def _spec(self) -> tuple[ScenarioFile, Path]:
        if self.where.is_dir():
            return parse({"session": "."}, self.where), self.where
        return load(self.where), self.where.parent

    def _build(self, spec: ScenarioFile, base: Path, reader: Reader) -> list[Play]:
        header = reader.header
        names = self._names(spec)
        taxonomy = DEFAULT if spec.taxonomy is None else load_taxonomy(base / spec.taxonomy)
        rate = spec.rate_hz if self.rate_hz is None else self.rate_hz
        period = header.period_ns if rate is None else to_ns(1 / rate)
        if self.rate_hz is not None and period < header.period_ns:
            own = f"{1e9 / header.period_ns:g}"
            raise InputError(self.where, f"recorded at {own} a second; none between was seen", field="rate", value=rate)
        source = Recording(header.folder, period_ns=period, monitor=header.monitor, taxonomy=taxonomy)
        source.user = spec.user or header.user
        truths = StatedTruth(self.where, spec, reader, names, source.period_ns, source.user).by_profile()
        history = self._history(spec, base, header, names, taxonomy)
        digest = self._digest(spec, base, header)
        recording = recording_of(reader, spec.recording)
        settings = {k: v for k in _SETTINGS if (v := getattr(spec, k)) is not None}
        return [
            Play(
                key=_slug((spec.name or header.session) + (f"@{name}" if name else "")),
                user=source.user,
                profile=self._profile(spec, base, header, name),
                source=source,
                truth=truth,
                history=history,
                intentions=names.known,
                period_ns=source.period_ns,
                window_ns=to_ns(spec.window_s),
                segmentation=spec.segmentation,
                settings=settings,
                dataset_hash=digest,
                recording=recording,
                person=header.meta.get(PERSON),
                where=self.where,
                sample=None if spec.trajectory is None else (spec.trajectory, name or ""),
            )
            for name, truth in truths
        ]

    def _names(self, spec: ScenarioFile) -> Intentions:
        given = tuple(spec.intentions or INTENTIONS)
        if len({g.casefold() for g in given}) < len(given):
            raise InputError(self.where, "each intention once", field="intentions")
        return Intentions(given)

    def _profile(self, spec: ScenarioFile, base: Path, header: Header, name: str | None) -> dict[str, str]:
        given: Profile | None = spec.profile if name is None else (spec.profiles or {})[name]
        if given is None:
            return dict(header.profile)
        raw: Mapping[str, Any] = read_mapping(base / given) if isinstance(given, str) else given
        return {k: v if isinstance(v, str) else str(v) for k, v in raw.items()}

    def _history(
        self, spec: ScenarioFile, base: Path, header: Header, names: Intentions, taxonomy: Taxonomy
    ) -> tuple[tuple[Event, Label | None], ...]:
        parts: list[History] = []
        user, anchor = spec.user or header.user, header.utc_anchor_ns
        for i, entry in enumerate(spec.history):
            path = base / entry
            if path.is_file() and path.suffix.lower() in (".jsonl", ".csv"):
                parts.append(read_table(path, user, anchor, names.named, taxonomy))
            elif is_session(path):
                parts.append(read_session(path, user, anchor, names.named, spec.segmentation, taxonomy))
            else:
                want = "the folder of an earlier session, or an event table that exists (.jsonl or .csv)"
                raise InputError(self.where, want, field=f"history[{i}]", value=entry)
        return merge(parts, header.session)

    def files(self) -> list[Path]:
        """See ``files_of``."""
        spec, base = self._spec()
        session = (base / spec.session).resolve() if self.where.is_file() else base
        return self._files(spec, base, session / FILE_NAME)

    def _digest(self, spec: ScenarioFile, base: Path, header: Header) -> str:
        """SHA-256 over the bytes of the recording, the scenario, and every file that it names."""
        whole = sha256()
        for file in self._files(spec, base, header.file):
            whole.update(_file_digest(file))
        return whole.hexdigest()

    def _files(self, spec: ScenarioFile, base: Path, session: Path) -> list[Path]:
        files = [session, session.with_name(session.name + "-wal")]
        if self.where.is_file():
            files.append(self.where)
        profiles = [spec.profile, *(spec.profiles or {}).values()]
        named = [p for p in profiles if isinstance(p, str)] + ([spec.taxonomy] if spec.taxonomy else []) + spec.history
        files += [(base / n / FILE_NAME) if is_session(base / n) else base / n for n in named]
        return [file for file in files if file.is_file()]


def _file_digest(file: Path) -> bytes:
    one = sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            one.update(chunk)
    return one.digest()
