"""The account of an import: what was kept, repaired, left out and noted, by user, and the file that keeps it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.files import read_text
from simulator.sources.foreign import Ledger

__all__ = ["ACCOUNT", "Line", "Report", "abandon", "begin", "close", "lines_of", "write_new"]

ACCOUNT = "import.json"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the account."""

    user: str
    outcome: str
    reason: str
    count: int
    examples: tuple[str, ...] = ()


@dataclass(slots=True)
class Report:
    """What an import did.

    ``unchanged``: everything was there already. ``notes``: by user, how times and rates were told.
    """

    lines: list[Line] = field(default_factory=list)
    sessions: list[Path] = field(default_factory=list)
    scenarios: list[Path] = field(default_factory=list)
    notes: dict[str, dict[str, str]] = field(default_factory=dict)
    unchanged: bool = True

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``; holds neither times nor places of this machine."""
        return {
            "unchanged": self.unchanged,
            "sessions": [p.as_posix() for p in self.sessions],
            "scenarios": [p.as_posix() for p in self.scenarios],
            "notes": self.notes,
            "account": [asdict(line) for line in self.lines],
        }


def lines_of(user: str, ledger: Ledger) -> list[Line]:
    """What a ledger holds, as lines of one user."""
    return [
        Line(user, outcome, reason, n, tuple(ledger.examples[(outcome, reason)]))
        for outcome, reason, n in ledger.lines()
    ]


def begin(file: Path, source: str) -> None:
    """Say of what the folder is before anything is written into it.

    Raises:
        InputError: it is of another source, or made with other options.
    """
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        _write_account(file, source, None)
    elif _kept(file)["source"] != source:
        raise InputError(file.parent, "came from another source or other options; choose another place to import to")


def abandon(out: Path) -> None:
    """Take back what ``begin`` wrote, where nothing has come of it: a corrected import may go there."""
    for file in (out / ACCOUNT, *out.glob(f"*/{ACCOUNT}")):
        with suppress(OSError, InputError):
            alone = all(p == file or p.name.startswith(".") for p in file.parent.iterdir())
            if alone and _kept(file)["account"] is None:
                file.unlink()
                file.parent.rmdir()


def close(file: Path, source: str, lines: list[Line], *, anew: bool) -> list[Line]:
    """Keep the account beside the sessions; a repeated import, which opens no picture, repeats the first account."""
    kept = _kept(file)["account"]
    if not anew and kept is not None:
        return [Line(**{**line, "examples": tuple(line["examples"])}) for line in kept]
    _write_account(file, source, lines)
    return lines


def _kept(file: Path) -> dict[str, Any]:
    """What an account file holds.

    Raises:
        InputError: it is none.
    """
    try:
        said = json.loads(read_text(file))
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.keys() != {"source", "account"}:
        raise InputError(file, "not the account of an import by this version; choose another place to import to")
    return said


def _write_account(file: Path, source: str, lines: list[Line] | None) -> None:
    said = {"source": source, "account": None if lines is None else [asdict(line) for line in lines]}
    file.write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_new(file: Path, text: str) -> None:
    """Write a file unless it is there: what people edited, or an equal import wrote, stays."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
