"""``proact sweep``: one question put to many runs, as a study file says. ``memories``: what is this memory worth?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from simulator.cli.options import ModelOptions
from simulator.cli.parameters import AsJson, option, switch, whole
from simulator.core.errors import UsageError

__all__ = ["sweep"]

sweep = App(
    name="sweep",
    help="Play a study: each agent with each memory, rule and seed over the same sessions, and summarise it.",
)

_BUNDLED = ("coding_error", "desktop", "document", "nothing", "shopping", "spreadsheet", "tab_search", "translation")


@sweep.default
def study(
    what: Annotated[str | None, option("A study file (.yaml, .toml), or a preset; none: list the presets.")] = None,
    /,
    *,
    out: Annotated[Path | None, option("The sweep's folder; default runs/sweep-NAME-HASH.")] = None,
    sessions: Annotated[
        list[Path] | None,
        Parameter(help="Play these instead of the study's own; may be given several times.", negative=""),
    ] = None,
    set_: Annotated[
        list[str] | None,
        Parameter(name="--set", help="Values of an axis, over those of the file: memory=none,rag.", negative=""),
    ] = None,
    workers: Annotated[int | None, whole("Units side by side; default: a process for each CPU.")] = None,
    engine: Annotated[Literal["processes", "inline", "ray"], option("Where units are played.")] = "processes",
    ray_address: Annotated[str | None, option("Of a Ray cluster, or auto; default: one is started here.")] = None,
    ship: Annotated[bool, switch("For Ray machines that do not see this one's files: send sessions along.")] = False,
    dry_run: Annotated[bool, switch("Say what would be played, and what it would take; play nothing.")] = False,
    measured_beside: Annotated[bool, switch("Measured units may run beside others; they are marked.")] = False,
    fail_if: Annotated[
        list[str] | None,
        Parameter(help="Exit with 4 if a cell has such a figure: F1_rt<0.6; several times.", negative=""),
    ] = None,
    fail_on_modelled: Annotated[bool, switch("Gates may look at latencies that were modelled.")] = False,
    parquet: Annotated[
        bool, switch("Write decisions.parquet too: all decisions as one table (extra parquet).")
    ] = False,
    again: Annotated[bool, switch("Remove what was played before, and play all units anew.")] = False,
    model: ModelOptions | None = None,
    json: AsJson = False,
) -> int:
    """Play a study: each agent with each memory, rule and seed over the same sessions, and summarise it.

    The same command again plays only what is missing, or what was made of inputs that have changed since. The first
    Ctrl-C lets units in flight end, the second stops.
    """
    from simulator.cli.sweep_study import Options, list_presets, play_study, tell_plan  # imported when it is called

    if what is None:
        return list_presets(as_json=json)
    options = Options(
        what, out, sessions or [], set_ or [], workers, engine, ray_address, ship, measured_beside, fail_if or [],
        fail_on_modelled, parquet, again, model or ModelOptions(), json,
    )  # fmt: skip
    return tell_plan(options) if dry_run else play_study(options)


@sweep.command
def memories(
    scenarios: Annotated[
        list[Path] | None, Parameter(help="Scenarios to play; default: eight of those that come with proact.")
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
    again: Annotated[bool, switch("Play all of it anew.")] = False,
    model: ModelOptions | None = None,
    json: AsJson = False,
) -> int:
    """Say on one page whether a memory helps, and what it costs in time.

    It is played beside none, class-prior, recency, shuffled-user, rag, graph and oracle over the same sessions, and
    paired with each; the verdict is helps, no evidence or harms, or not judged where half of the decisions failed.
    The same command again plays only what is missing. Where the code of the memory has changed since, that is
    the memory's own units; the others stay.
    """
    from simulator.cli.sweep_memories import Asked, sweep_memories  # what plays is imported when something is played

    if generated < 0:
        raise UsageError(f"--generated {generated}: a number of users, from 0")
    asked = Asked(memory, agent, out, generated, days, recipe, protocol, clock, latency, embedder, seed, again)
    return sweep_memories(scenarios, _BUNDLED, asked, model or ModelOptions(), as_json=json)
