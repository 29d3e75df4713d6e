"""``proact dataset accepted``: what people called useful in a live run, as the truth of its recording."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, counted, plain
from simulator.core.errors import Exit
from simulator.core.types import SECOND

__all__ = ["accepted"]

JOURNAL = "the run's journal does not replay over this any more, since more is said of its session than it knew"
"""A sentence that is true from now on."""


def accepted(
    folder: Annotated[Path, Parameter(help="Of a live run, with session, scenario.yaml and run in it.")],
    /,
    *,
    json: AsJson = False,
) -> int:
    """Make what was called useful in a live run its truth.

    Each such offer is written into its scenario as a need, from the snapshot on which it was made until it was called
    useful. Needs that nobody offered help for are not known: scored by this truth, another agent's offers beside them
    count as false alarms although nobody was asked about them.
    """
    from simulator.play.accepted import HEAD, RULE, write_truth

    voice = Voice(as_json=json)
    done = write_truth(folder)
    for need in done.needs:
        voice.record("need", opens_s=need.opens_ns / SECOND, closes_s=need.closes_ns / SECOND, intention=need.intention,
                     offers=need.n)  # fmt: skip
    left = f", {done.n_unknown} left out, since their intention is not one of the scenario's" if done.n_unknown else ""
    voice.say(plain(f"{counted(done.n_accepted, 'offer')} called useful{left}: {counted(len(done.needs), 'need')}"))
    if done.n_short:
        those = "1 of them opens" if done.n_short == 1 else f"{done.n_short} of them open"
        voice.say(plain(f"{those} less than 2 s before the session's end: counted, and not scored"))
    voice.say(plain(f"written into {done.file}: {RULE}"))
    run = shlex.quote(str(folder / "run"))
    voice.say(plain(f"to score it by them: proact score {run} --truth {shlex.quote(str(folder))}"))
    voice.say(plain(f"to see them: proact view {shlex.quote(str(folder))}, or proact report {run}"))
    voice.say(plain(f"{JOURNAL}: cut {done.file.name} off again from the line {HEAD!r} on, then it does"))
    voice.record("done", file=str(done.file), accepted=done.n_accepted, unknown=done.n_unknown,
                 undated=done.n_undated, needs=len(done.needs), short=done.n_short)  # fmt: skip
    return Exit.DONE
