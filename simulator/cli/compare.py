"""``proact compare``: what differs between runs, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from simulator.cli.parameters import AsJson

__all__ = ["compare"]


def compare(
    runs: Annotated[
        list[Path],
        Parameter(
            help="Run folders, the baseline first; or folders of runs: seeds of one choice are one side; or a sweep "
            "with the names of its cells behind it (or SWEEP/CELL), each with all its seeds."
        ),
    ],
    /,
    *,
    metric: Annotated[
        list[str] | None, Parameter(help="Metrics to compare; default: the headlines of the protocol.")
    ] = None,
    scorer: Annotated[
        list[str] | None,
        Parameter(help="Scorers by name, or path.py:Class; both sides are scored by them in memory, from their logs."),
    ] = None,
    common: Annotated[bool, Parameter(help="Leave out sessions that one side lacks.", negative="")] = False,
    force: Annotated[
        bool, Parameter(help="Compare runs that should not be compared; every line says so.", negative="")
    ] = False,
    json: AsJson = False,
) -> int:
    """Compare runs session by session: differences, intervals, tests, which sessions make them."""
    from simulator.cli.comparison import tell  # what compares is imported when something is, not for --help

    return tell(runs, metric, scorer, force=force, common=common, as_json=json)
