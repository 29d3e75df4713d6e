"""``proact score``: the scores of a run from its logs and truth alone; no agent is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from simulator.cli.show import ScoreTable, invalid
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit
from simulator.play.scoring import score_folder

__all__ = ["score"]


def score(
    run: Path,
    /,
    *,
    gate: Annotated[str | None, Parameter(help="Another gate than the run's; shown, not saved.")] = None,
    scorer: Annotated[
        list[str] | None, Parameter(help="Scorers by name; default: those of the run's protocol.")
    ] = None,
    truth: Annotated[
        Path | None, Parameter(help="A scenario whose truth counts instead, as for a live run; shown, not saved.")
    ] = None,
    json: Annotated[
        bool, Parameter(help="One JSON record a line on stdout, the last one 'done'.", negative="")
    ] = False,
) -> int:
    """Score RUN, a run folder, again."""
    voice = Voice(as_json=json)
    own = gate is None and scorer is None and truth is None
    scores = score_folder(run, gate, scorer, truth=truth, save=own)
    voice.say(ScoreTable({run.name: scores}))
    for sentence in (broken := invalid(run)):
        voice.tell(sentence, "bold red")
    if not own:
        voice.say(plain("not saved: scores.json keeps the run's own gate, scorers and truth"))
    voice.record("done", run=str(run), scores=scores["scores"], valid=not broken)
    return Exit.DONE
