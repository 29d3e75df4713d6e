"""``proact view``: runs, sweeps and recordings in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from simulator.cli.parameters import AsJson, option, switch

__all__ = ["view"]


def view(
    folders: Annotated[
        list[Path] | None,
        Parameter(help="Runs, sweeps, sessions, or folders of them; default: runs."),
    ] = None,
    /,
    *,
    port: Annotated[int, option("Where it listens; 0: any port that is free.")] = 0,
    host: Annotated[
        str, option("The address it listens on; another than this machine's own needs a token.")
    ] = "127.0.0.1",
    token: Annotated[str | None, option("A word that everybody needs who looks; new: make one up.")] = None,
    edit: Annotated[
        bool, switch("Let the pages change recordings: label them, review what is private; with a token of its own.")
    ] = False,
    no_open: Annotated[bool, switch("Open no browser.")] = False,
    json: AsJson = False,
) -> int:
    """Look at runs, sweeps and recordings in a browser, until Ctrl-C.

    The pages are served from this machine to this machine only, unless `--host` says otherwise. Nothing is changed
    without `--edit`.
    """
    from simulator.cli.viewing import serve  # what serves is imported when it is needed

    return serve(
        folders or [Path("runs")], host=host, port=port, token=token, edit=edit, browser=not no_open, as_json=json
    )
