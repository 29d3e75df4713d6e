"""``proact score``: the scores of a run from its logs and truth alone; no agent is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from simulator.cli.parameters import AsJson, JudgeTimeout, ModelUrl
from simulator.cli.speak import Voice, counted, plain
from simulator.core.durations import duration, show_duration
from simulator.core.errors import Exit, UsageError, quote
from simulator.core.types import SECOND
from simulator.timing.clock import real_ns

if TYPE_CHECKING:
    from scorers.judge import Judge

__all__ = ["a_judge", "score", "tell_lost"]

PASS = ("pass^k", "pass@k")
"""What companions are for; no headline, so the table does not show it."""
_NOW_AND_THEN_NS = 10 * SECOND


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
    companion: Annotated[
        list[Path] | None, Parameter(help="The same run under another seed, for pass^k; shown, not saved.")
    ] = None,
    embedder: Annotated[
        str | None, Parameter(help="Compares texts: hash, minilm, wordllama, endpoint:model=NAME; shown, not saved.")
    ] = None,
    judge_model: Annotated[
        str | None, Parameter(help="The model behind matcher=judge of pira and realtime, as its server calls it.")
    ] = None,
    judge_base_url: ModelUrl = None,
    judge_timeout: JudgeTimeout = "60s",
    fail_if: Annotated[
        list[str] | None,
        Parameter(help="Exit with 4 if the run has such a figure: F1_rt<0.6; several times.", negative=""),
    ] = None,
    fail_on_modelled: Annotated[
        bool, Parameter(help="Gates may look at latencies that were modelled.", negative="")
    ] = False,
    json: AsJson = False,
) -> int:
    """Score a run again from its logs and its truth, without its agent."""
    from simulator.cli.show import ScoreTable, invalid  # --help does without
    from simulator.play.scoring import score_folder
    from simulator.sweep.gates import check, parse

    voice = Voice(as_json=json)
    gates = [parse(text) for text in fail_if or ()]
    own = gate is None and scorer is None and truth is None and not companion and embedder is None
    with a_judge(run, judge_model, judge_base_url, judge_timeout, voice) as judge:
        scores = score_folder(run, gate, scorer, truth=truth, judge=judge, companions=companion or (),
                              embedder=embedder, save=own)  # fmt: skip
    voice.say(ScoreTable({run.name: scores}))
    for sentence in (broken := invalid(run)):
        voice.tell(sentence, "bold red")
    tell_lost(voice, scores["lost"], "not saved: scores.json stays as it is")
    if not own:
        for metric in PASS if companion else ():
            if (detail := scores["details"].get(metric)) is not None:
                k = f", k = {detail['k']}" if "k" in detail else ""
                voice.say(
                    plain(f"{metric}: {detail.get('reason') or format(detail['value'], '.3f')}{k}, n{detail['n']}")
                )
        voice.say(plain("not saved: scores.json keeps the run's own gate, scorers, truth and embedder"))
    by = {metric: detail["scorer"] for metric, detail in scores["details"].items()}
    refused = check(gates, scores, modelled=fail_on_modelled)
    for failure in refused:
        voice.tell(failure.sentence, "bold red")
    voice.record("done", run=str(run), scores=scores["scores"], scorers=by, valid=not broken, lost=scores["lost"],
                 gates=[{"gate": f.gate, "why": f.why, "value": f.value} for f in refused])  # fmt: skip
    return Exit.GATE_FAILED if refused else Exit.DONE


def tell_lost(voice: Voice, lost: Sequence[str], so: str = "") -> None:
    """Say which units were played to their end and are not there any more."""
    if lost:
        from simulator.play.scoring import ANEW

        units = f"{counted(len(lost), 'unit')} of this run (such as {quote(lost[0])})"
        said = f"of {units} the log is gone or was cut since it was played; {ANEW}"
        voice.tell("; ".join(filter(None, (said, so))), "bold red")


@contextmanager
def a_judge(run: Path, model: str | None, base_url: str | None, timeout: str, voice: Voice) -> Iterator[Judge | None]:
    """The judge, if one is named. Its verdicts stay in the run folder, so that scoring again asks for nothing twice."""
    if model is None or not model.strip():
        if base_url is not None:
            raise UsageError("--judge-base-url needs --judge-model: a verdict names who gave it")
        yield None
        return
    from scorers.judge import KEPT, Judge
    from simulator.endpoint import Endpoint, EndpointError, ModelChoice

    patience = duration("judge-timeout", timeout)  # of silence too: models that think long; nothing here is charged
    choice = ModelChoice(model=model, base_url=base_url, timeout_ns=patience, idle_timeout_ns=patience)
    asking = _Asking(voice, model, patience)
    try:
        with (
            Judge(
                Endpoint(choice, scope="judge"), model, sent=choice.decoding, kept=run / KEPT, asking=asking
            ) as judge,
            asking.bar,
        ):
            yield judge
    except EndpointError as error:
        raise UsageError(f"the judge cannot be asked: {error.sentence}; verdicts that came are kept") from error


class _Asking:
    """Says how far the judge is: a line that stays where stderr is a terminal, else a sentence now and then."""

    def __init__(self, voice: Voice, model: str, patience_ns: int) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        self._voice, self._model, self._patience_ns, self._told_ns = voice, model, patience_ns, 0
        self.bar = Progress(*columns, console=voice.progress, transient=True, disable=not voice.progress.is_terminal)
        self._task = self.bar.add_task("", total=None, visible=False)

    def __call__(self, n_asked: int, n_failed: int) -> None:
        """See ``scorers.judge.Judge``."""
        said = f"judge: question {n_asked}" + (f", {n_failed} before it without an answer" if n_failed else "")
        self.bar.update(self._task, description=said, visible=True)
        now = real_ns()
        if n_asked == 1:
            patience = show_duration(self._patience_ns)
            self._voice.tell(f"asking {self._model}, the judge; an answer may take {patience} (--judge-timeout)")
        elif self._voice.progress.is_terminal or now - self._told_ns < _NOW_AND_THEN_NS:
            return
        else:
            self._voice.tell(said)
        self._told_ns = now
