"""``proact dataset judge-cases``: how good a judge is, on ProactiveBench's cases that three people labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from simulator.cli.parameters import AsJson, JudgeTimeout, ModelUrl
from simulator.cli.proposing import (
    AtOnce,
    JudgeModel,
    Kept,
    asked_judge,
    table,
)
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit, InputError, UsageError
from simulator.core.faults import told
from simulator.core.folders import ensure_apart

if TYPE_CHECKING:
    from simulator.sources.proactivebench import JudgeCase

__all__ = ["judge_cases"]

_WORDS = {True: "accepted", False: "rejected"}


def judge_cases(
    file: Annotated[Path, Parameter(help="ProactiveBench's reward cases, such as reward_data/test_data.jsonl.")],
    /,
    *,
    verdicts: Annotated[
        Path | None, Parameter(help='A judge\'s verdicts, JSON lines {"line": 1, "judgement": "accepted"}.')
    ] = None,
    judge_model: JudgeModel = None,
    base_url: ModelUrl = None,
    timeout: JudgeTimeout = "60s",
    at_once: AtOnce = 4,
    kept: Kept = None,
    json: AsJson = False,
) -> int:
    """Score a judge of proposals on labelled cases.

    True is what most of the people asked said; positive is what they accepted. Beside the judge stand judges that look
    at nothing: one that accepts all, one that rejects all, one that accepts every proposal and no silence, and the
    other way round. A case without a verdict counts as wrong, and is counted.
    """
    if verdicts is not None and judge_model is not None:
        raise UsageError("verdicts come from --verdicts or from --judge-model, not from both")
    from simulator.sources.foreign import Ledger
    from simulator.sources.proactivebench import judge_cases as read

    if kept is not None:
        ensure_apart(file, kept)
    voice = Voice(as_json=json)
    ledger = Ledger()
    with told(file):
        cases = read(file, ledger)
    said: list[tuple[str, Sequence[bool | None]]] = [
        ("accepts all", [True] * len(cases)),
        ("rejects all", [False] * len(cases)),
        ("accepts proposals", [c.proposal is not None for c in cases]),
        ("accepts silence", [c.proposal is None for c in cases]),
    ]
    if verdicts is not None:
        said.append((f"as given in {verdicts.name}", _given(verdicts, cases)))
    elif judge_model is not None:
        from simulator.annotate.proposals import Proposal

        asked = [Proposal(tuple(e for _, e in c.observations), (c.proposal,) if c.proposal else ()) for c in cases]
        judge, answered = asked_judge(voice, asked, judge_model, base_url, timeout, at_once, kept)
        said.append((judge.judge, answered))
    rows = [_scored(name, cases, verdict) for name, verdict in said]
    for row in rows:
        voice.record("judge", **row)
    for outcome, reason, n in ledger.lines():
        voice.record("account", outcome=outcome, reason=reason, count=n)
        voice.tell(f"{outcome}: {n} {reason}")
    if not json:
        _say(voice, rows, cases)
    voice.record("done", cases=len(cases), judges=len(rows))
    return Exit.DONE


def _given(path: Path, cases: Sequence[JudgeCase]) -> list[bool | None]:
    """Verdicts of a file by the line of their case.

    Raises:
        InputError: a line of another form, or two of one case that differ.
    """
    from simulator.core.files import json_lines
    from simulator.sources.stored_answers import verdict_of

    known: dict[str, bool] = {}
    for number, row in json_lines(path, keys_once=True):
        line, verdict = (row.get("line"), verdict_of(row.get("judgement"))) if isinstance(row, dict) else (None, None)
        if type(line) is not int or verdict is None:
            want = '{"line": 1, "judgement": "accepted" or "rejected"} is wanted'
            raise InputError(f"{path}, line {number}", want)
        if known.setdefault(f"line {line}", verdict) != verdict:
            raise InputError(f"{path}, line {number}", "a line above says the opposite of the same case")
    return [known.get(case.where) for case in cases]


def _scored(name: str, cases: Sequence[JudgeCase], said: Sequence[bool | None]) -> dict[str, Any]:
    """Rates of one judge, and in which share of each category people agree with it."""
    from scorers.compat.proactivebench import Counts

    pairs = [
        (case.valid, (not case.valid) if verdict is None else verdict)
        for case, verdict in zip(cases, said, strict=True)
    ]
    counts = Counts.of((verdict, true == verdict) for true, verdict in pairs)
    agreed: dict[str, list[bool]] = {}
    for case, (true, verdict) in zip(cases, pairs, strict=True):
        agreed.setdefault(case.category, []).append(true == verdict)
    return {
        "judge": name,
        "cases": len(cases),
        "unjudged": sum(v is None for v in said),
        "tp": counts.tp, "fp": counts.fp, "tn": counts.tn, "fn": counts.fn,
        **{key: getattr(counts, key).value for key in ("recall", "precision", "accuracy", "f1")},
        "agreement": {category: sum(hits) / len(hits) for category, hits in sorted(agreed.items())},
    }  # fmt: skip


def _say(voice: Voice, rows: Sequence[Mapping[str, Any]], cases: Sequence[JudgeCase]) -> None:
    columns = ("judge", "unjudged", "recall", "precision", "accuracy", "f1")
    heads = ("judge", "unjudged", "Recall", "Precis.", "Accur.", "F1")
    voice.say(table(heads, [[row[c] for c in columns] for row in rows], 1))
    voice.say(plain(""))
    kinds = sorted({case.category for case in cases})
    broken = [kind.replace("-", "-\n") for kind in kinds]  # else the longest would break in mid-word on 80 columns
    voice.say(table(("agreement", *broken), [[row["judge"], *(row["agreement"][k] for k in kinds)] for row in rows], 1))
    n = sum(case.valid for case in cases)
    voice.say(plain(f"{len(cases)} cases, {n} accepted by most of the people asked"))
