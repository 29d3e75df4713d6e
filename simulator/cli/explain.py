"""``proact explain``: why each offer and each need of a run was counted as it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from simulator.cli.parameters import AsJson, JudgeTimeout, ModelUrl
from simulator.cli.score import a_judge, tell_lost
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit, UsageError, nearest, quote

if TYPE_CHECKING:
    from scorers.base import Unit
    from scorers.explaining import Told
    from simulator.play.scoring import Opened

__all__ = ["explain"]


def explain(
    run: Annotated[Path, Parameter(help="A run folder.")],
    unit: Annotated[str | None, Parameter(help="One of its units; default: all.")] = None,
    /,
    *,
    offer: Annotated[int | None, Parameter(help="Only the offers of this decision, by its seq.")] = None,
    need: Annotated[str | None, Parameter(help="Only this need, by its id.")] = None,
    gate: Annotated[str | None, Parameter(help="Another gate than the run's.")] = None,
    matcher: Annotated[str, Parameter(help="What makes content right: category, embedding>=0.8, judge.")] = "category",
    truth: Annotated[Path | None, Parameter(help="A scenario whose truth counts instead.")] = None,
    judge_model: Annotated[str | None, Parameter(help="The model behind --matcher judge.")] = None,
    judge_base_url: ModelUrl = None,
    judge_timeout: JudgeTimeout = "60s",
    json: AsJson = False,
) -> int:
    """Say of each offer and each need of a run why it counted as it did.

    Of a run of protocol moments: of each moment; of a trajectory: of each intent, true or predicted. The classes are
    those of scores.json. Words of the user and of the agent are shown, and kept nowhere.
    """
    from simulator.play.scoring import open_folder  # --help does without

    voice = Voice(as_json=json)
    with a_judge(run, judge_model, judge_base_url, judge_timeout, voice) as judge:
        opened = open_folder(run, gate, truth=truth, judge=judge)
        explained = [(key, _chosen(told, offer, need)) for key, told in _explained(opened, unit, matcher)]
    found = [(key, told) for key, told in explained if told]
    if not found and (offer is not None or need is not None):
        raise UsageError(_absent(opened, unit, offer, need))
    for key in (untold := [u.key for u in _of(opened, unit) if not u.has_truth(opened.context.protocol)]):
        voice.tell(f"{key}: nothing is known of what was needed, so nothing was classified")
    tell_lost(voice, opened.lost)
    counts: Counter[str] = Counter()
    rules = {u.key: u.truth.rule for u in opened.units}
    for key, told in found:
        counts.update(f"{t.what} {t.verdict}" for t in told)
        for item in told:
            voice.record(item.what, unit=key, **item.record())
        if not json:
            _say(voice, key, rules[key], told)
    voice.record("done", run=str(run), n=dict(counts), rules={key: rules[key] for key, _ in found},
                 without_truth=untold, lost=list(opened.lost))  # fmt: skip
    return Exit.DONE


def _of(opened: Opened, unit: str | None) -> list[Unit]:
    """The units that were asked for."""
    keys = [u.key for u in opened.units]
    if unit is not None and unit not in keys:
        raise UsageError(f"the run has no unit {quote(unit)}; {nearest(unit, keys)}")
    return [u for u in opened.units if unit in (None, u.key)]


def _explained(opened: Opened, unit: str | None, matcher: str) -> list[tuple[str, list[Told]]]:
    from scorers.explaining import explain_unit
    from scorers.judge import JudgeFailed

    asked = _of(opened, unit)
    known = [u for u in asked if u.has_truth(opened.context.protocol)]
    try:
        if asked and not known:
            explain_unit(asked[0], opened.context, matcher)  # says why
    except UsageError as error:
        raise UsageError(f"{error}; a scenario that says when help was needed counts with --truth SCENARIO") from None
    try:
        return [(u.key, explain_unit(u, opened.context, matcher)) for u in known]
    except JudgeFailed as failed:
        raise UsageError(f"not all was judged: {failed}; the same command asks for what is missing") from failed


def _chosen(told: Sequence[Told], offer: int | None, need: str | None) -> list[Told]:
    """What was asked for; all of it where nothing was."""
    if offer is None and need is None:
        return list(told)
    return [
        t
        for t in told
        if (t.what == "offer" and offer is not None and t.facts["seq"] == offer) or (t.what == "need" and t.id == need)
    ]


def _absent(opened: Opened, unit: str | None, offer: int | None, need: str | None) -> str:
    """Why nothing was found: what the decision did instead, or the needs that there are."""
    from simulator.runs.records import Kind

    units = _of(opened, unit)
    if offer is not None:
        kinds = [Kind(int(u.log.kind[row])).name.lower() for u in units for row in (u.log.seq == offer).nonzero()[0]]
        if not kinds:
            return f"there is no decision {offer}"
        return f"decision {offer} made no offer; it was {' and '.join(dict.fromkeys(kinds))}"
    return f"there is no need {quote(need)}; {nearest(str(need), {n.id for u in units for n in u.truth.opportunities})}"


def _say(voice: Voice, key: str, rule: str, told: Sequence[Told]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    voice.say(Text(plain(key).plain, "bold"))
    voice.say(plain(f"truth: {' '.join(rule.split())}"))
    for item in told:
        head = plain(f"{item.what} {item.id}: {item.title}: ")
        voice.say(Text.assemble(head, (item.verdict, "bold")))
        voice.people.print(Padding(plain(item.text), (0, 0, 0, 4)))
