"""``proact score``: the scores of a run from its logs and truth alone; no agent is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from simulator.cli.show import ScoreTable, invalid
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit, UsageError
from simulator.core.types import SECOND
from simulator.play.scoring import score_folder

if TYPE_CHECKING:
    from scorers.judge import Judge

__all__ = ["score"]


def score(
    run: Annotated[Path, Parameter(help="A run folder.")],
    /,
    *,
    gate: Annotated[str | None, Parameter(help="Another gate than the run's; shown, not saved.")] = None,
    scorer: Annotated[
        list[str] | None, Parameter(help="Scorers by name; default: those of the run's protocol.")
    ] = None,
    truth: Annotated[
        Path | None, Parameter(help="A scenario whose truth counts instead, as for a live run; shown, not saved.")
    ] = None,
    judge_model: Annotated[
        str | None, Parameter(help="The model behind --scorer pira:matcher=judge, as its server calls it.")
    ] = None,
    judge_base_url: Annotated[
        str | None, Parameter(help="Its OpenAI-compatible server; default OPENAI_BASE_URL. The key: OPENAI_API_KEY.")
    ] = None,
    json: Annotated[
        bool, Parameter(help="One JSON record a line on stdout, the last one 'done'.", negative="")
    ] = False,
) -> int:
    """Score a run again from its logs and its truth, without its agent."""
    voice = Voice(as_json=json)
    own = gate is None and scorer is None and truth is None
    with _judge(run, judge_model, judge_base_url) as judge:
        scores = score_folder(run, gate, scorer, truth=truth, judge=judge, save=own)
    voice.say(ScoreTable({run.name: scores}))
    for sentence in (broken := invalid(run)):
        voice.tell(sentence, "bold red")
    if not own:
        voice.say(plain("not saved: scores.json keeps the run's own gate, scorers and truth"))
    voice.record("done", run=str(run), scores=scores["scores"], valid=not broken)
    return Exit.DONE


@contextmanager
def _judge(run: Path, model: str | None, base_url: str | None) -> Iterator[Judge | None]:
    """The judge, if one is named. Its verdicts stay in the run folder, so that scoring again asks for nothing twice."""
    if model is None:
        if base_url is not None:
            raise UsageError("--judge-base-url needs --judge-model: a verdict names who gave it")
        yield None
        return
    from scorers.judge import KEPT, Judge
    from simulator.endpoint import Endpoint, EndpointError, ModelChoice

    patience = 300 * SECOND  # models that think long; nothing here is charged
    choice = ModelChoice(model=model, base_url=base_url, timeout_ns=patience, idle_timeout_ns=patience)
    try:
        with Judge(Endpoint(choice, scope="judge"), model, sent=choice.decoding, kept=run / KEPT) as judge:
            yield judge
    except EndpointError as error:
        raise UsageError(f"the judge cannot be asked: {error.sentence}") from error
