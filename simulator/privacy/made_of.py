"""What was made of a session and lies beside it: redacting the session changes none of that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from simulator.privacy.forget_opening import read_head
from simulator.privacy.leftovers import Traces, report_of
from simulator.privacy.run_of import is_run, sessions_of

__all__ = ["MadeOf", "made_of"]

_DEPTH = 3  # data/session, and beside that runs/agent, or sweep/runs/agent
_RUNS = Path("runs")  # where commands put them, seen from here


@dataclass(frozen=True, slots=True)
class MadeOf:
    """Runs of a session, which hold what agents said of it, and reports, which may hold pictures too."""

    runs: tuple[Path, ...]
    reports: tuple[Path, ...]

    @property
    def sentence(self) -> str | None:
        """What to say of them; None if there are none."""
        runs = f"what agents said of it stays in {_listed(self.runs)}" if self.runs else ""
        reports = f"pictures and words as they were may stand in {_listed(self.reports)}" if self.reports else ""
        if not (runs or reports):
            return None
        again = "; `proact report` makes a report again, of the pictures that there are now" if reports else ""
        return f"not changed, and to be looked at: {'; '.join(part for part in (runs, reports) if part)}{again}"


def made_of(session: Path) -> MadeOf:
    """Runs and reports of a session in its folder, in the one that this lies in, and in ``runs`` of the current folder.

    Args:
        session: its folder.

    Raises:
        InputError: it cannot be read.
    """
    folder = session.parent if session.is_file() else session
    head = read_head(folder)
    traces = Traces(head.user, {head.session}, ())
    runs, reports = dict[Path, None](), dict[Path, None]()
    for place in dict.fromkeys(_folders(folder.absolute().parent)) | dict.fromkeys(_folders(_RUNS.absolute())):
        if is_run(place) and (head.user, head.session) in sessions_of(place):
            runs[place] = None
        for page in sorted(place.glob("*.html")):
            with suppress(OSError):
                if page.is_file() and report_of(page.read_bytes(), traces) is not None:
                    reports[page] = None
    return MadeOf(tuple(_short(path) for path in runs), tuple(_short(path) for path in reports))


def _folders(top: Path, depth: int = _DEPTH) -> Iterator[Path]:
    """A folder and those in it, a few levels down; not what is hidden, linked, or a session's pictures."""
    yield top
    with suppress(OSError):
        for path in sorted(top.iterdir()) if depth and not is_run(top) else ():
            if path.is_dir() and not path.is_symlink() and path.name != "screenshots" and path.name[0] != ".":
                yield from _folders(path, depth - 1)


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _listed(paths: tuple[Path, ...]) -> str:
    shown = ", ".join(str(path) for path in paths[:5])
    return shown if len(paths) <= 5 else f"{shown} and {len(paths) - 5} more"
