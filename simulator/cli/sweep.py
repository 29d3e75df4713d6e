"""``proact sweep``: one question put to many runs. ``memories``: what is this memory worth?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from simulator.cli.options import ModelOptions
from simulator.cli.parameters import AsJson
from simulator.core.errors import UsageError

__all__ = ["sweep"]

sweep = App(name="sweep", help="Put one question to many runs.")

_BUNDLED = ("coding_error", "desktop", "document", "nothing", "shopping", "spreadsheet", "tab_search", "translation")


@sweep.command
def memories(
    scenarios: Annotated[
        list[Path] | None, Parameter(help="Scenarios to play; default: those that come with proact.")
    ] = None,
    /,
    *,
    memory: Annotated[str, Parameter(help="The memory in question: mine.py:Mine, or a name.")],
    agent: Annotated[str, Parameter(help="The agent that reads it.")] = "prior",
    out: Annotated[Path | None, Parameter(help="The folder for runs and page; default runs/sweep-MEMORY.")] = None,
    generated: Annotated[
        int, Parameter(help="Play so many made-up users with strong habits too, protocol moments.")
    ] = 0,
    days: Annotated[int, Parameter(help="Days of each made-up user; the last day of work is played.")] = 14,
    recipe: Annotated[
        Path | None, Parameter(help="Their recipe; default scenarios/recipes/habits-strong.yaml.")
    ] = None,
    protocol: Annotated[str | None, Parameter(help="stream or moments, whatever the scenarios say.")] = None,
    clock: Annotated[str, Parameter(help="As for `proact run`.")] = "measured",
    latency: Annotated[str | None, Parameter(help="As for `proact run`.")] = None,
    embedder: Annotated[str | None, Parameter(help="For all memories that embed, as for `proact run`.")] = None,
    seed: Annotated[int | None, Parameter(help="Of all draws.")] = None,
    model: ModelOptions | None = None,
    json: AsJson = False,
) -> int:
    """Say on one page whether a memory helps, and what it costs in time.

    It is played beside none, class-prior, recency, shuffled-user, rag, graph and oracle over the same sessions, and
    paired with each; the verdict is helps, no evidence or harms. The same command again plays only what is missing.
    """
    from simulator.cli.sweep_memories import Asked, sweep_memories  # what plays is imported when something is played

    if generated < 0:
        raise UsageError(f"--generated {generated}: a number of users, from 0")
    asked = Asked(memory, agent, out, generated, days, recipe, protocol, clock, latency, embedder, seed)
    return sweep_memories(scenarios, _BUNDLED, asked, model or ModelOptions(), as_json=json)
