"""A scenario as a pair of twins: with noise, and the same without."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError, UsageError, quote
from simulator.core.faults import told, writing
from simulator.core.folders import ensure_apart, is_vacant, whole_folder
from simulator.core.names import free
from simulator.session.check import check
from simulator.session.noise.copying import Copy
from simulator.session.noise.donors import Base, Donor, Rows, load
from simulator.session.noise.plan import Options, draw, n_interrupted, n_noise, places
from simulator.session.noise.scenario import text, with_files
from simulator.session.play import Play
from simulator.session.reader import Reader
from simulator.session.scenario import find, plays
from simulator.session.scenario_file import ScenarioFile, parse
from simulator.session.scenario_file import load as load_file
from simulator.session.truth import active_ns
from simulator.sources.recording import Recording

__all__ = ["Made", "bundled", "twins"]

ACCOUNT = "noise.json"


@dataclass(frozen=True, slots=True)
class Made:
    """One pair.

    Attributes:
        name: of the folders ``clean/<name>`` and ``noisy/<name>``.
        n_rows: of the clean session; n_noise: rows that came in.
        rate: share of the noisy session's rows that are noise, measured.
        time_rate: share of its released time that is noise: lower, where still screens were not recorded again.
        kinds: noise rows by kind.
        n_windows: windows of need; n_interrupted: those with noise inside.
    """

    name: str
    n_rows: int
    n_noise: int
    rate: float
    time_rate: float
    kinds: dict[str, int]
    n_windows: int
    n_interrupted: int


def bundled() -> Path | None:
    """The folder of the scenarios that come with the repository, None where proact is installed without it."""
    root = Path(__file__).resolve().parents[3]
    return root / "scenarios" if (root / "scenarios" / "README.md").is_file() else None


def twins(path: Path, out: Path, options: Options, donors: Sequence[Path] = ()) -> list[Made]:
    """Write the twins of every scenario that a path holds; the originals are only read.

    Args:
        path: a scenario, a session, or a folder of many.
        out: a folder that is not there yet, or empty; gets ``clean/``, ``noisy/``, ``shared/`` and ``noise.json``.
        options: see there.
        donors: scenarios or sessions to take noise from; by default those that come with the repository.

    Returns:
        One entry a pair, in the order of the scenarios' names.

    Raises:
        InputError: a scenario or session with a fault.
        UsageError: ``out`` holds something, or lies in a source; no donor has rows of a kind that is wanted.
    """
    for source in (path, *donors):
        ensure_apart(source, out)
    if not is_vacant(out):
        raise UsageError(f"{quote(out)} is not empty: twins need a folder of their own")
    found = _grouped(path)
    giving = _donors(options, donors)
    with whole_folder(out) as part:
        told_of = []
        made = []
        for name, group in found.items():
            with told(group[0].where), writing(out):
                pair, account = _Pair(name, group, options, giving).write(part)
            made.append(pair)
            told_of.append(account)
        said = {"options": asdict(options), "pairs": told_of}
        (part / ACCOUNT).write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return made


def _grouped(path: Path) -> dict[str, list[Play]]:
    """Plays by scenario file: one file has a play a profile."""
    out: dict[Path, list[Play]] = {}
    for play in plays([path]):
        out.setdefault(play.where, []).append(play)
    taken: set[str] = set()
    stems = ((group[0].key.rpartition("@")[0] if len(group) > 1 else "") or group[0].key for group in out.values())
    return {free(stem, taken): group for stem, group in zip(stems, out.values(), strict=True)}


def _donors(options: Options, named: Sequence[Path]) -> list[Play]:
    if set(options.kinds) == {"idle"} or options.rate == 0:
        return []
    if named:
        return plays(named)
    home = bundled()
    if home is None:
        raise UsageError("name recordings to take noise from (--from): none come with this installation")
    return plays(find(home).scenarios)


class _Pair:
    """One scenario on its way to twins."""

    def __init__(self, name: str, group: Sequence[Play], options: Options, donors: Sequence[Play]) -> None:
        self._name, self._plays, self._options, self._donors = name, group, options, donors

    def write(self, out: Path) -> tuple[Made, dict[str, Any]]:
        """Both twins; what was made, and what the account says of it."""
        options, first = self._options, self._plays[0]
        source = first.source
        assert isinstance(source, Recording)
        folder = source.header.folder
        spec, base = self._spec()
        with Reader(folder, monitor=source.header.monitor) as reader:
            _refuse(reader)
            rows = list(reader.rows(("captured_ns", "tick", "app_name", "window_title", "file_path")))
            times, ticks = [r[0] for r in rows], [r[1] for r in rows]
            header = reader.header
            windows = frozenset((r[2], r[3]) for r in rows)
            given = load(self._donors, Base(folder, header.session, header.user, windows, any(r[4] for r in rows)))
            drawn_from = Rows(given, options.seed, header.session)
            n = n_noise(len(rows), options.rate)
            self._able(drawn_from, given, n)
            free = places(times, ticks, first.truth, header.zero_ns, spare_windows=options.spare_windows)
            stretches = draw(free, n, options, header.session)
            said = with_files(spec, base, out / "shared" / self._name)
            clean = Copy(reader, first.recording, (), drawn_from, options.seed)
            clean.write(out / "clean" / self._name / "session")
            noisy = Copy(
                reader, first.recording, stretches, drawn_from, options.seed, out / "clean" / self._name / "session"
            )
            noisy.write(out / "noisy" / self._name / "session")
        for twin, copy in (("clean", clean), ("noisy", noisy)):
            about = f"{first.truth.session}, {'with noise in between' if twin == 'noisy' else 'as it is'}"
            page = text({**said, "name": self._name, "description": about}, self._plays, copy.stream)
            (out / twin / self._name / "scenario.yaml").write_text(page, encoding="utf-8")
        self._verify(out)
        points = [times[s.place] - header.zero_ns for s in stretches]
        length = active_ns(header)
        more = n * header.period_ns
        made = Made(
            name=self._name,
            n_rows=len(rows),
            n_noise=noisy.n_marked,
            rate=noisy.n_marked / (len(rows) + noisy.n_marked),
            time_rate=more / (length + more),
            kinds=dict(sorted(noisy.by_kind.items())),
            n_windows=len(first.truth.opportunities),
            n_interrupted=n_interrupted(first.truth, points),
        )
        return made, asdict(made) | {"source": _named(first), "donors": [_giver(d) for d in given]}

    def _spec(self) -> tuple[ScenarioFile, Path]:
        where = self._plays[0].where
        return (parse({"session": "."}, where), where) if where.is_dir() else (load_file(where), where.parent)

    def _able(self, rows: Rows, given: Sequence[Donor], n: int) -> None:
        for kind in self._options.kinds:
            if n and kind != "idle" and not rows.can(kind):
                why = "no recording to take from is left" if not given else "no donor shows a browser at such a time"
                raise UsageError(f"{self._name}: no noise of kind {kind}: {why}; name others, or other kinds")

    def _verify(self, out: Path) -> None:
        """What was made is played, and knows of the needs what the original knows."""
        before = [_known(play) for play in self._plays]
        for twin in ("clean", "noisy"):
            file = out / twin / self._name / "scenario.yaml"
            after = [_known(play) for play in plays([file])]
            if after != before:
                raise InputError(file, "its needs are not those of the original: this is a fault of proact's own")


def _known(play: Play) -> tuple[Any, ...]:
    truth = play.truth
    needs = [(o.id, o.intention, o.query, o.weight, o.unservable) for o in truth.opportunities]
    return (
        truth.known,
        needs,
        len(truth.assists),
        truth.intents,
        len(truth.moments),
        len(truth.gaps),
        play.profile,
        len(play.history),
    )


def _refuse(reader: Reader) -> None:
    if reader.header.state == "recording":
        raise InputError(reader.file, "it is being recorded, or was not closed: end it first")
    damage = [finding.sentence for finding in check(reader.folder) if finding.severity == "damage"]
    if damage:
        raise InputError(reader.file, f"it is damaged ({damage[0]}); `proact dataset check` says what is wrong")


def _named(play: Play) -> dict[str, str]:
    return {"session": play.truth.session, "dataset_sha256": play.dataset_hash}


def _giver(donor: Donor) -> dict[str, Any]:
    rows = {kind: len(ids) for kind, ids in donor.rows.items()}
    return {
        "session": donor.header.session,
        "user": donor.header.user,
        "session_sha256": donor.sha256,
        "rows_fit": rows,
    }
