"""What may be taken from other recordings as noise: rows that have nothing to do with the session they come into.

Left aside are the session itself, windows (application and title) that it shows as well, stretches in which the donor
needed help or worked with an assistant (what is a need there may be one here), and rows whose picture was deleted or is
gone. A redacted picture is taken as it is: redacted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.core.rng import below
from simulator.core.taxonomy import DEFAULT
from simulator.session.noise.spans import Spans
from simulator.session.play import Play
from simulator.session.reader import Header, Reader
from simulator.session.schema import COLUMNS
from simulator.sources.recording import header_of

__all__ = ["Base", "Donor", "Rows", "load"]

_WINDOW = ("id", "captured_ns", "app_name", "window_title", "file_path", "privacy_action")
_FEWEST = 3  # rows of a kind that make a donor: fewer would stand still for a whole stretch
_DELETED = "deleted"  # simulator.privacy.states.State.DELETED: what nobody may see again


@dataclass(frozen=True, slots=True)
class Base:
    """Of the session that noise comes into: its folder, who it is, its windows, whether it has pictures."""

    folder: Path
    session: str
    user: str
    windows: frozenset[tuple[str | None, str | None]]
    pictured: bool


@dataclass(slots=True)
class Donor:
    """A recording to take from.

    Attributes:
        header: of the recording.
        sha256: of its database.
        rows: by kind of noise, the ids of rows that may be taken, in order of time.
    """

    header: Header
    sha256: str
    rows: Mapping[str, Sequence[int]]

    def take(self, rows: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Rows by their ids, with all columns that the file has."""
        with Reader(self.header.folder, known=self.header) as reader:
            have = [r[1] for r in reader.fetch("PRAGMA table_info(screenshots)") if r[1] in COLUMNS]
            sql = f"SELECT {', '.join(have)} FROM screenshots WHERE id = ?"
            return {row: dict(zip(have, reader.fetch(sql, (row,))[0], strict=True)) for row in dict.fromkeys(rows)}


class Rows:
    """Draws stretches of donors' rows.

    Args:
        donors: in any order; it does not matter for the draws.
        seed: of all draws.
        session: the name of the session that noise comes into.
    """

    def __init__(self, donors: Iterable[Donor], seed: int, session: str) -> None:
        self._donors = sorted(donors, key=lambda d: (d.sha256, d.header.session))
        self._seed, self._session = seed, session

    def can(self, kind: str) -> bool:
        """Whether anybody has rows of that kind."""
        return bool(self._able(kind))

    def _able(self, kind: str) -> list[Donor]:
        return [donor for donor in self._donors if len(donor.rows[kind]) >= _FEWEST]

    def stretch(self, kind: str, number: int, n_rows: int) -> list[tuple[Donor, dict[str, Any]]]:
        """So many rows in a row of one donor; one who has fewer begins again."""
        able = self._able(kind)
        donor = able[below(len(able), self._seed, "noise", self._session, "donor", number)]
        rows = donor.rows[kind]
        first = below(max(1, len(rows) - n_rows + 1), self._seed, "noise", self._session, "first", number)
        ids = [rows[(first + i) % len(rows)] for i in range(n_rows)]
        taken = donor.take(ids)
        return [(donor, taken[row]) for row in ids]


def load(plays: Sequence[Play], base: Base) -> list[Donor]:
    """The donors among recordings, each once, without the session itself.

    Args:
        plays: scenarios or sessions; what they know of needs is kept out.
        base: the session that noise comes into.
    """
    by_folder: dict[Path, list[Play]] = {}
    for play in plays:
        folder = header_of(play.source).folder.resolve()
        by_folder.setdefault(folder, []).append(play)
    out = []
    for folder, found in by_folder.items():
        who = (found[0].source.session, found[0].source.user)
        if folder != base.folder.resolve() and who != (base.session, base.user):
            out.append(_donor(folder, found, base))
    return out


def _donor(folder: Path, plays: Sequence[Play], base: Base) -> Donor:
    needs = [(o.opens_ns, o.closes_ns) for p in plays for o in p.truth.opportunities]
    shut = Spans([*needs, *((a.start_ns, a.end_ns) for p in plays for a in p.truth.assists)])
    switch: list[int] = []
    browse: list[int] = []
    there: dict[str, bool] = {}
    with Reader(folder) as reader:
        header = reader.header
        for row, captured, app, title, path, action in reader.rows(_WINDOW):
            t = captured - header.zero_ns
            if (app, title) in base.windows or action == _DELETED or shut.cover(t):
                continue
            if app is None and title is None and path is None:
                continue  # nothing is seen in it
            if base.pictured and path not in there:
                there[path] = path is not None and (folder / path).is_file()
            if base.pictured and not there[path]:
                continue
            switch.append(row)
            if DEFAULT.category(app, title) == "browser":
                browse.append(row)
        digest = sha256(reader.file.read_bytes()).hexdigest()
    return Donor(header, digest, {"switch": switch, "browse": browse})
