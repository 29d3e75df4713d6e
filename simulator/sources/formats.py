"""The formats of other people's data that ``proact dataset import`` reads: one table, one line a format.

The command, its ``auto``, ``proact list sources`` and the documentation all come from it. A new reader is a module with
three functions and a line in ``FORMATS``::

    def sniff(src: Path) -> bool: ...                                             # by names and first bytes
    def recordings(wanted: Wanted, account: Account) -> Iterator[Foreign]: ...    # where it gives recordings
    def cases(wanted: Wanted) -> Cases: ...                                       # where it gives cases
    def looked_at(src: Path) -> Iterable[Path]: ...                               # of a folder: the files it reads

*Recordings* are what users did over time, one ``Foreign`` a user; they are cut into sessions and split by time into
history and evaluation. *Cases* are ready scenarios (trajectories with profiles, questions about a video); nothing of
them is split.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from simulator.core.errors import InputError, UsageError, nearest, quote
from simulator.core.faults import told
from simulator.sources.foreign import Foreign, Ledger, Outcome, Times

__all__ = ["FORMATS", "Account", "Case", "Cases", "Format", "Wanted", "chosen"]

Account = Callable[[str, Outcome, str, str], None]
"""Takes a line that belongs to no recording: user (may be empty), outcome, reason, example."""
HALF_AN_HOUR_S = 1800.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be read, and how. A format reads the options that it ``takes``.

    Attributes:
        src: file or folder; only read.
        zone: IANA zone of times that name none; for a format that needs none, ``UTC`` unless the user gave one.
        user: name given by the user, for a source that holds one.
        pictures: False where only texts are wanted, so that nothing needs to be decoded.
        scratch: an empty folder to make pictures in, gone after the import; a ``Shot.file`` may lie there.
    """

    src: Path
    zone: str
    scratch: Callable[[], Path]
    user: str | None = None
    pictures: bool = True
    times: Times = "auto"
    rate_hz: float | None = None
    videos: Path | None = None
    truth: Path | None = None


@dataclass(slots=True)
class Case:
    """One ready scenario.

    Attributes:
        name: of its folder, and of the unit in results; unique in the source (see ``lifetrace_db.plain``).
        recording: what was on screen; one session, whatever the pauses.
        scenario: keys of the scenario file beside ``session`` and ``segmentation``: ``truth`` (its ``rule`` says where
            the windows come from), ``profile`` or ``profiles``, ``protocol``, ``intentions``, ….
        remarks: sentences for a comment at the head of the scenario file.
        segmentation: how a run cuts events out of it.
    """

    name: str
    recording: Foreign
    scenario: Mapping[str, Any]
    remarks: Sequence[str] = ()
    segmentation: str = "app_title"


@dataclass(slots=True)
class Cases:
    """All scenarios of a source. ``each`` is read once, while ``ledger`` fills; ``digest`` is of the whole source."""

    digest: str
    ledger: Ledger
    each: Iterator[Case]
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Format:
    """One line of the table.

    Attributes:
        about: one line for lists and help.
        module: full name of the reader's module.
        takes: options beyond the common ones: ``user``, ``times``, ``videos``, ``rate``, ``side``,
            ``truth``.
        zone: ``needed`` where times are local ones without a zone.
        makes_pictures: its pictures exist only during the import, so they cannot be referenced.
        stretch_gap_s: of recordings, a longer time without a row starts a new session.
    """

    name: str
    about: str
    module: str
    gives: Literal["recordings", "cases"] = "recordings"
    takes: tuple[str, ...] = ()
    zone: Literal["needed", "told"] = "told"
    makes_pictures: bool = False
    stretch_gap_s: float = HALF_AN_HOUR_S

    def sniff(self, src: Path) -> bool:
        """Whether a file or folder looks like one of these."""
        return bool(importlib.import_module(self.module).sniff(src))

    def recordings(self, wanted: Wanted, account: Account) -> Iterator[Foreign]:
        """Each user's recording."""
        found: Iterator[Foreign] = importlib.import_module(self.module).recordings(wanted, account)
        return found

    def cases(self, wanted: Wanted) -> Cases:
        """The scenarios."""
        found: Cases = importlib.import_module(self.module).cases(wanted)
        return found

    def looked_at(self, src: Path) -> Iterable[Path]:
        """Of a folder the files that are read, or counted one by one; all others are counted as passed over."""
        found: Iterable[Path] = importlib.import_module(self.module).looked_at(src)
        return found


FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format("proactivebench", "test traces of ProactiveBench: events in words, proposals, whether people took them",
               "simulator.sources.proactivebench", gives="cases", takes=("user",)),
        Format("knowu", "logs of KnowU-Bench: a phone's actions in words over a month, signal and noise",
               "simulator.sources.knowu", takes=("user", "rate"), stretch_gap_s=6 * 3600.0),
        Format("streamingbench", "proactive-output questions of StreamingBench, with the videos or no pictures",
               "simulator.sources.streamingbench", gives="cases", takes=("user", "rate", "videos"),
               makes_pictures=True),
        Format("pira", "trajectory folders of PIRA-Bench: images and a profile.json, no truth published",
               "simulator.sources.pira", gives="cases", takes=("user", "rate", "truth")),
        Format("video", "video and GIF files, one picture a period by presentation time", "simulator.sources.video",
               takes=("user", "rate"), makes_pictures=True),
        # auto takes the first that recognises the source; the last three take any database, or any folder
        Format("lifetrace", "databases of LifeTrace of every generation, with their screenshots",
               "simulator.sources.lifetrace_format", takes=("user", "rate", "side"), zone="needed"),
        Format("proagentbench", "databases of ProAgentBench, one a participant",
               "simulator.sources.lifetrace_format", takes=("user", "rate", "side"), zone="needed"),
        Format("folder", "images; times from their names, EXIF, file dates or a rate",
               "simulator.sources.folder", takes=("user", "rate", "side", "times"), zone="needed"),
    )
}  # fmt: skip


_NOT_IMPORTED = {
    ".zip": "stored model answers are read by `proact dataset answers`, other archives are to be unpacked first",
    ".jsonl": "cases for a judge are read by `proact dataset judge-cases`",
}


def chosen(name: str, src: Path) -> Format:
    """The format of that name; for ``auto`` the first that recognises the source.

    Raises:
        InputError: there is no such source; ``auto``, and none recognises it, or it is a folder of several.
        UsageError: no such format.
    """
    if name != "auto" and name not in FORMATS:
        raise UsageError(f"unknown format {quote(name)}; {nearest(name, FORMATS)}")
    with told(src):
        if not src.exists():
            raise InputError(src, "there is no such file or folder")
        found = FORMATS[name] if name != "auto" else next((f for f in FORMATS.values() if f.sniff(src)), None)
    if found is None:
        other = _NOT_IMPORTED.get(src.suffix.lower(), "name it with --format")
        raise InputError(src, f"none of the known formats ({', '.join(FORMATS)}); {other}")
    if name == "auto" and src.is_dir():
        _ensure_one(src, found)
    return found


def _ensure_one(src: Path, found: Format) -> None:
    """Refuse a folder in which folders are of other formats than the one that was recognised.

    Raises:
        InputError: it names the folders and their formats.
    """
    inside: dict[str, Format] = {}
    with told(src):
        for child in sorted(p for p in src.iterdir() if p.is_dir() and not p.name.startswith(".")):
            kind = next((f for f in FORMATS.values() if f.name != "folder" and f.sniff(child)), None)
            if kind is not None:
                inside[child.name] = kind
    if any(kind.module != found.module for kind in inside.values()):
        said = ", ".join(f"{name} ({kind.name})" for name, kind in inside.items())
        raise InputError(
            src, f"a folder of several sources, {said}: import each by itself, or say what it is (--format)"
        )
