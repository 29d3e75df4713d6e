"""``proact run``: one agent over recorded sessions, with one memory or several in turn, played and scored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from simulator.cli.options import ModelOptions, Options, split_memories
from simulator.core.errors import UsageError

__all__ = ["run"]


def run(
    scenarios: Annotated[list[Path], Parameter(help="Scenario files or folders, sessions, or folders of many.")],
    /,
    *,
    options: Options | None = None,
    model: ModelOptions | None = None,
) -> int:
    """Play one agent over recorded sessions and score it.

    The same command again finishes what is missing and does nothing when all is there.
    """
    from simulator.cli.playing import play_all  # what plays is imported when something is played, not for --help

    options = options or Options()
    if not scenarios:
        raise UsageError("name a scenario file, a scenario folder, a session or a folder of many")
    memories = split_memories(options.memory)
    if not memories:
        raise UsageError("--memory needs a name; 'none' is one")
    return play_all(scenarios, options, memories, model or ModelOptions())
