"""``proact dataset answers``: model answers that ProactiveBench stored, counted, judged, held against its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from simulator.cli.parameters import AsJson, JudgeTimeout, ModelUrl
from simulator.cli.proposing import (
    RATES,
    AtOnce,
    JudgeModel,
    Kept,
    asked_judge,
    rates,
    table,
)
from simulator.cli.speak import Voice, counted, plain
from simulator.core.errors import Exit, UsageError
from simulator.core.faults import told
from simulator.core.folders import ensure_apart

if TYPE_CHECKING:
    from simulator.sources.stored_answers import Key, Split, Stored

__all__ = ["answers"]

SHOWN = 20
"""So many events up to the one in question are told to a judge."""


def answers(
    file: Annotated[
        Path, Parameter(help="traces.zip of ProactiveBench, a folder with one folder a model, or a trace.")
    ],
    /,
    *,
    splits: Annotated[Path | None, Parameter(help="splits.json: traces by name; default: all traces together.")] = None,
    judgements: Annotated[
        Path | None, Parameter(help='Verdicts, JSON lines {"model", "file", "index", "judgement": "accepted"}.')
    ] = None,
    judge_model: JudgeModel = None,
    base_url: ModelUrl = None,
    timeout: JudgeTimeout = "60s",
    at_once: AtOnce = 4,
    kept: Kept = None,
    only: Annotated[list[str] | None, Parameter(help="Only this model's answers; may be given several times.")] = None,
    results: Annotated[Path | None, Parameter(help="A folder of published tables (.csv) to hold them against.")] = None,
    json: AsJson = False,
) -> int:
    """Count and judge model answers that ProactiveBench stored.

    Nothing of the archive is unpacked. The five rates need verdicts, which were not published: from a file, or by a
    model that is asked. With --results the whole numbers behind each printed rate are recovered, and the number of
    proposals is held against the one that is counted here.
    """
    if judgements is not None and judge_model is not None:
        raise UsageError("verdicts come from --judgements or from --judge-model, not from both")
    from simulator.sources.stored_answers import read_answers, read_splits

    if kept is not None:
        ensure_apart(file, kept)
    voice = Voice(as_json=json)
    with told(file):
        stored = read_answers(file)
    _keep_only(stored, only)
    parts: list[Split | None] = [None] if splits is None else [*read_splits(splits)]
    judge, verdicts = _verdicts(voice, stored, parts, judgements, judge_model, base_url, timeout, at_once, kept)
    rows = [_counted(stored, model, part, verdicts) for model in stored.answers for part in parts]
    for row in rows:
        voice.record("answers", **row)
    if not json:
        _say_answers(voice, rows, judge)
    checked: list[dict[str, Any]] = []
    if results is not None:
        with told(results):
            checked = _checked(voice, results, stored, parts)
    _say_account(voice, stored)
    summary = _summary(checked)
    if checked and not json:
        voice.say(plain(summary["sentence"]))
    voice.record("done", models=len(stored.answers), judge=judge, **({"results": summary} if checked else {}))
    return Exit.DONE


def _keep_only(stored: Stored, only: Sequence[str] | None) -> None:
    from simulator.core.errors import nearest, quote

    for name in only or ():
        if name not in stored.answers:
            raise UsageError(f"no answers of the model {quote(name)}; {nearest(name, stored.answers)}")
    if only:
        stored.answers = {name: traces for name, traces in stored.answers.items() if name in only}


def _verdicts(
    voice: Voice, stored: Stored, parts: Sequence[Split | None], file: Path | None, model: str | None,
    base_url: str | None, timeout: str, at_once: int, kept: Path | None,
) -> tuple[str | None, Mapping[Key, bool] | None]:  # fmt: skip
    """Who judged, and the verdicts; None without any."""
    from simulator.sources.stored_answers import observed, read_judgements

    if file is not None:
        given = read_judgements(file, stored.ledger)
        there = {key for name in stored.answers for key, _ in stored.of(name, None)}
        n = sum(key not in there for key in given)
        stored.ledger.add("left out", "verdicts of answers that are not counted (no such model, trace or index)", n=n)
        return f"as given in {file.name}", given
    if model is None:
        return None, None
    from simulator.annotate.proposals import Proposal

    keys = dict.fromkeys(
        key for name in stored.answers for part in parts for key, one in stored.of(name, part)
        if one.proposals is not None
    )  # fmt: skip
    asked = [
        Proposal(tuple(observed(stored, key, SHOWN)), stored.answers[key[0]][key[1]][key[2]].proposals or ())
        for key in keys
    ]
    judge, said = asked_judge(voice, asked, model, base_url, timeout, at_once, kept)
    stored.ledger.add("noted", "answers that the judge did not judge", n=sum(v is None for v in said))
    return judge.judge, {key: v for key, v in zip(keys, said, strict=True) if v is not None}


def _counted(stored: Stored, model: str, part: Split | None, verdicts: Mapping[Key, bool] | None) -> dict[str, Any]:
    """The counts of one model on one split."""
    from scorers.compat.proactivebench import Counts

    found = list(stored.of(model, part))
    known = [(key, one) for key, one in found if one.proposals is not None]
    row: dict[str, Any] = {
        "model": model,
        "split": "all" if part is None else part.name,
        "events": len(found),
        "proposals": sum(one.counted for _, one in known),
        "silences": sum(not one.counted for _, one in known),
        "unknown": len(found) - len(known),
        "null_words": sum(one.null_word for _, one in known),
        "missing_traces": 0 if part is None else len(stored.missing(model, part)),
    }
    if verdicts is not None:
        judged = [(one.counted, verdicts[key]) for key, one in known if key in verdicts]
        counts = Counts.of(judged)
        row |= {"judged": len(judged), "tp": counts.tp, "fp": counts.fp, "tn": counts.tn, "fn": counts.fn}
        row |= rates(counts)
    return row


def _say_answers(voice: Voice, rows: Sequence[Mapping[str, Any]], judge: str | None) -> None:
    columns = ("model", "split", "events", "proposals", "silences", "null_words")
    heads = ("model", "split", "events", "proposals", "silences", "'null'")
    voice.say(table(heads, [[row[c] for c in columns] for row in rows], 2))
    if judge is not None:
        voice.say(plain(""))
        shown = ("model", "split", "judged", *RATES)
        voice.say(
            table(("model", "split", "n", "R", "P", "Acc", "FA", "F1"), [[row[c] for c in shown] for row in rows], 2)
        )
        voice.say(plain("R recall, P precision, Acc accuracy, FA false alarm = FP / (TP + FP), as published"))
        voice.say(plain(f"verdicts: {judge}, not official"))


def _checked(voice: Voice, results: Path, stored: Stored, parts: Sequence[Split | None]) -> list[dict[str, Any]]:
    """Each published row with the whole numbers behind it, held against what is counted."""
    from scorers.compat.proactivebench import Counts
    from simulator.sources.published_tables import recover, tables

    by_name = {part.name: part for part in parts if part is not None}
    checked: list[dict[str, Any]] = []
    for model, published in tables(results, stored.ledger).items():
        for row in published:
            found = recover(row)
            part = by_name.get(row.category)
            own = _counted(stored, model, part, None) if model in stored.answers and part is not None else None
            only = found[0] if len(found) == 1 else None
            checked.append({
                "model": model, "split": row.category, "events": row.events, "solutions": len(found),
                **{k: None if only is None else getattr(only, k) for k in ("tp", "fp", "tn", "fn", "epsilon")},
                **({} if only is None else rates(Counts(only.tp, only.fp, only.tn, only.fn))),
                "proposals_published": None if only is None else only.proposals,
                "proposals_counted": None if own is None else own["proposals"],
                "agrees": None if own is None or only is None
                else (own["proposals"], own["events"]) == (only.proposals, row.events),
            })  # fmt: skip
    for line in checked:
        voice.record("published", **line)
    if not voice.as_json:
        columns = ("model", "split", "tp", "fp", "tn", "fn", "proposals_published", "proposals_counted")
        said = {True: "yes", False: "NO", None: None}
        rows = [[*(line[c] for c in columns), said[line["agrees"]]] for line in checked]
        voice.say(plain(""))
        voice.say(table(("table", "split", "TP", "FP", "TN", "FN", "TP+FP", "counted", "agree"), rows, 2))
    return checked


def _summary(checked: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How many rows were reproduced, and how many agree."""
    reproduced = [line for line in checked if line["solutions"] == 1]
    held = [line["agrees"] for line in checked if line["agrees"] is not None]
    epsilons = sorted({line["epsilon"] for line in reproduced})
    made: dict[str, Any] = {
        "rows": len(checked),
        "reproduced": len(reproduced),
        "compared": len(held),
        "agree": sum(held),
        "epsilon": epsilons,
    }
    added = f" with {' or '.join(f'{e:g}' for e in epsilons)} added to each denominator" if epsilons else ""
    made["sentence"] = (
        f"{len(reproduced)} of {counted(len(checked), 'published row')} follow to every printed digit from one set of "
        f"whole numbers{added}; the number of proposals agrees in {sum(held)} of {counted(len(held), 'row')} that have "
        "answers"
    )
    return made


def _say_account(voice: Voice, stored: Stored) -> None:
    """What was kept, noted and left out."""
    rows = stored.ledger.lines()
    for outcome, reason, n in rows:
        voice.record("account", outcome=outcome, reason=reason, count=n)
    if rows and not voice.as_json:
        voice.say(plain(""))
        voice.say(table(("account", "", "n"), rows, 2))
