"""What ``proact dataset answers`` and ``proact dataset judge-cases`` share: asking a judge, and a table of rates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from simulator.cli.bars import bar
from simulator.cli.speak import Voice, plain
from simulator.core.errors import UsageError
from simulator.core.faults import told

if TYPE_CHECKING:
    from scorers.compat.proactivebench import Counts
    from simulator.annotate.proposals import Proposal, Proposals

__all__ = ["RATES", "AtOnce", "JudgeModel", "Kept", "asked_judge", "rates", "table"]

JudgeModel = Annotated[str | None, Parameter(help="The model to ask for verdicts, as its server calls it.")]
AtOnce = Annotated[int, Parameter(help="Questions at a time.")]
Kept = Annotated[Path | None, Parameter(help="Keep verdicts in this file, so that the same is not asked twice.")]
RATES = ("recall", "precision", "accuracy", "false_alarm", "f1")


def rates(counts: Counts) -> dict[str, float | None]:
    """The five rates; None where there is nothing to divide by."""
    return {name: getattr(counts, name).value for name in RATES}


def asked_judge(
    voice: Voice, asked: Sequence[Proposal], model: str, base_url: str | None, timeout: str, at_once: int,
    kept: Path | None,
) -> tuple[Proposals, list[bool | None]]:  # fmt: skip
    """Ask a model for its verdicts.

    Raises:
        UsageError: it cannot be asked; an option out of range.
    """
    import anyio

    from simulator.annotate.proposals import Proposals
    from simulator.core.durations import duration
    from simulator.endpoint import Endpoint, EndpointError, ModelChoice

    patience = duration("timeout", timeout)
    if at_once < 1:
        raise UsageError("--at-once: one question at least")
    choice = ModelChoice(model=model, base_url=base_url, temperature=0.0, timeout_ns=patience,
                         idle_timeout_ns=patience, concurrency=at_once)  # fmt: skip
    endpoint = Endpoint(choice, scope="judge")

    async def work() -> list[bool | None]:
        async with endpoint:
            return await judge.verdicts(asked)

    if kept is not None:
        with told(kept):  # before anything is asked
            kept.open("a", encoding="utf-8").close()
    with bar(voice, model, len(asked)) as done:
        judge = Proposals(endpoint, model, sent=choice.decoding, kept=kept, at_once=at_once, asked=done)
        try:
            return judge, anyio.run(work)
        except EndpointError as error:
            still = "; verdicts that came are kept" if kept is not None else ""
            raise UsageError(f"the judge cannot be asked: {error.sentence}{still}") from error


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], left: int) -> Any:
    """Rows of words and numbers; the first ``left`` columns are words. Unknown is a dash."""
    from rich.table import Table

    made = Table(box=None, show_edge=False, pad_edge=False)
    for i, name in enumerate(columns):
        made.add_column(name, justify="left" if i < left else "right", overflow="fold")
    for row in rows:
        made.add_row(*(plain(_word(value)) for value in row))
    return made


def _word(value: object) -> str:
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
