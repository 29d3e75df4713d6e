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
    json: Annotated[
        bool, Parameter(help="One JSON record a line on stdout, the last one 'done'.", negative="")
    ] = False,
) -> int:
    """Score RUN, a run folder, again."""
    voice = Voice(as_json=json)
    scores = score_folder(run, gate, scorer, save=gate is None and scorer is None)
    voice.say(ScoreTable({run.name: scores}))
    for sentence in (broken := invalid(run)):
        voice.tell(sentence, "bold red")
    if gate is not None or scorer is not None:
        voice.say(plain("not saved: scores.json keeps the run's own gate and scorers"))
    voice.record("done", run=str(run), scores=scores["scores"], valid=not broken)
    return Exit.DONE
