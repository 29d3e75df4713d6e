"""``proact live``: this screen into an agent, now; session and run log are kept together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from simulator.cli.options import Embedder, ModelOptions
from simulator.cli.parameters import AsJson, option, switch
from simulator.cli.record import new_folder

__all__ = ["LiveOptions", "live"]


@Parameter(name="*")
@dataclass
class LiveOptions:
    """The options of ``proact live``."""

    agent: Annotated[str, option("Name or path.py:Class, with parameters.")] = "prior"
    memory: Annotated[str, option("none, window, rag, graph, personas.")] = "rag"
    embedder: Embedder = None
    past: Annotated[Path | None, option("A scenario whose person, profile and history the agent gets.")] = None
    user: Annotated[str | None, option("Whose screen it is; default: as the past says.")] = None
    for_: Annotated[str | None, Parameter(name="--for", help="How long, such as 10m; default: until Ctrl-C.")] = None
    period: Annotated[str, option("Time from one look to the next.")] = "1s"
    monitor: Annotated[int | None, option("The monitor that is watched, from 1; default: the first.")] = None
    exclude: Annotated[Path | None, option("A YAML file of what is left out, on top of the built-in list.")] = None
    screen_command: Annotated[str | None, option('Writes a picture to its stdout, such as "grim -t ppm -".')] = None
    budget: Annotated[str | None, option("How large the recording may become, such as 2GB.")] = None
    keep_free: Annotated[str, option("What is left free on the disk.")] = "500MB"
    portal: Annotated[bool, switch("Capture through the desktop's sharing dialog.")] = False
    policy: Annotated[str | None, option("When the agent is slower than the screen: latest_only, overlap:4, ….")] = None
    gate: Annotated[str | None, option("What of repeated offers is shown: standard, off or window:30s.")] = None
    timeout: Annotated[str, option("Limit of one decision.")] = "60s"
    window: Annotated[str | None, option("How far back the history view reaches, such as 5min.")] = None
    seed: Annotated[int | None, option("Seed of the agent's chance.")] = None
    fallback: Annotated[Path | None, option("A recording to play, visibly, where the screen cannot be had.")] = None
    replay: Annotated[Path | None, option("Show this recording instead of the screen; nothing is recorded.")] = None
    speed: Annotated[int | None, option("Of --replay: idle stretches at so many times real time.")] = None
    web: Annotated[bool, Parameter(help="Serve the page in a browser; its address is printed.")] = True
    port: Annotated[int, option("Of the page; 0: any that is free.")] = 0
    linger: Annotated[str, option("How long the page takes answers after the end; 0s: not at all.")] = "30s"
    open_: Annotated[bool, Parameter(name="--open", help="Open the page in the browser.", negative="")] = False
    yes: Annotated[bool, switch("The text on what is recorded was read: do not ask.")] = False
    json: AsJson = False


def live(
    folder: Annotated[
        Path, Parameter(help="A new one, for the session, a scenario file and the run folder.", converter=new_folder)
    ],
    /,
    *,
    options: LiveOptions | None = None,
    model: ModelOptions | None = None,
) -> int:
    """Play this screen into an agent, now, and record it.

    What the agent offers is shown. `proact score FOLDER/run` scores the run again, and `proact run FOLDER --clock
    journal --journal FOLDER/run` replays it. Ctrl-C ends it. This terminal is left out of what is recorded, and so is
    what the exclusion list names.
    """
    from simulator.cli.live_playing import play  # what plays and records is imported when it is needed

    asked = model or ModelOptions()
    return play(folder, asked.shown_to(options or LiveOptions()), asked.choice())
