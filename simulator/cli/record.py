"""``proact record``: a session of what this screen shows, until Ctrl-C. Light, since ``--help`` shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token

from simulator.cli.parameters import AsJson, option, switch
from simulator.core.errors import UsageError

__all__ = ["Options", "new_folder", "record"]


@Parameter(name="*")
@dataclass
class Options:
    """The options of ``proact record``."""

    for_: Annotated[str | None, Parameter(name="--for", help="How long, such as 10m. Default: until Ctrl-C.")] = None
    period: Annotated[str, option("Time from one look to the next.")] = "1s"
    monitor: Annotated[
        list[int] | None, Parameter(help="A monitor's number, from 1; may be given several times. Default: all.",
                                    negative="")
    ] = None  # fmt: skip
    exclude: Annotated[Path | None, option("YAML file of what is left out, on top of the built-in list.")] = None
    user: Annotated[str | None, option("Whose session it is. Default: 'user'.")] = None
    screen_command: Annotated[str | None, option('A command that writes a picture to its stdout: "grim -t ppm -".')] = (
        None
    )
    portal: Annotated[bool, switch("Through the desktop's sharing dialog (GNOME and KDE on Wayland).")] = False
    budget: Annotated[str | None, option("How large the session may become, such as 2GB.")] = None
    keep_free: Annotated[str, option("What is left free on the disk.")] = "500MB"
    screener: Annotated[
        str | None, option("Address and model that look at pictures: http://127.0.0.1:8000/v1,qwen.")
    ] = None
    yes: Annotated[bool, switch("What is recorded has been read: do not ask.")] = False
    json: AsJson = False


def new_folder(kind: type, words: Sequence[Token]) -> Path:
    """A folder to be made, by a name that somebody gave: an empty one (a variable not set) would be the current folder.

    Raises:
        UsageError: it is empty.
    """
    if not (word := words[0].value).strip():
        raise UsageError("FOLDER: an empty name; for the current folder write .")
    return Path(word)


def record(
    folder: Annotated[
        Path, Parameter(help="Where the session is kept; made if it is not there.", converter=new_folder)
    ],
    /,
    *,
    options: Options | None = None,
) -> int:
    """Record this screen into a session, until Ctrl-C.

    It gets a row a second, each distinct picture once, the window in front. A session that a crash left in FOLDER is
    repaired and goes on. Ctrl-C closes it. A file named pause in FOLDER pauses it, and so does p and Enter. Excluded
    windows are covered before anything is kept.
    """
    from simulator.cli.recording import record_all  # what records is imported when something is recorded

    return record_all(folder, options or Options())
