"""ProactiveBench (thunlp/ProactiveAgent): recorded desktop events with what was proposed and whether people took it.

A trace is a list of ``{"observation": {"time", "event"}, "agent_response": {"candidate_task": […]}, "task_status"}``.
Each becomes one scenario: a row of text an observation, no pictures. What it can tell of needs: a proposal that was
accepted is a need with those words, a rejected one is none; where nothing was proposed nothing is known (of such rows
92 of 96 say ``task_status`` false, which by the letter of their metric would be 92 missed needs), so protocol
``moments`` does not ask there.

Reward cases (``judge_cases``) are for testing a judge: observations, a proposal or none, and three people's verdicts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.files import json_lines
from simulator.core.names import plain
from simulator.core.types import SECOND
from simulator.sources.foreign import Foreign, ForeignEvent, Ledger, Shot
from simulator.sources.formats import Case, Cases, Wanted
from simulator.sources.loose_rows import digest_of, epoch_ns, in_order, json_files, load, start_of, words

__all__ = ["CATEGORY", "JudgeCase", "Row", "cases", "judge_cases", "looked_at", "proposal_of", "sniff", "trace_rows"]

CATEGORY = "Uncategorized"
"""Proposals have words and no category; with one category in use, only *when* and the words are compared."""
STEP_NS = SECOND
LAST_NS = 30 * SECOND
RULE = (
    "ProactiveBench: a task that was proposed at an observation and that people accepted (task_status true) is a need "
    "with those words, from the observation until the next one; a rejected proposal is a moment without a need; "
    "observations without a proposal are not asked, for nothing is known of them"
)
_INSIDE = (Path(), Path("test_data"), Path("dataset/test_data"))


@dataclass(frozen=True, slots=True)
class Row:
    """One observation. ``proposals`` empty: nothing was proposed; ``accepted`` None: nobody said."""

    at_ns: int
    event: str
    proposals: tuple[str, ...]
    accepted: bool | None


@dataclass(frozen=True, slots=True)
class JudgeCase:
    """A question to a judge: would the user accept ``proposal`` (None: silence) after these observations?

    Attributes:
        valid: what most of the annotators said.
        help_needed: whether the user needed help at all, as published.
        votes: of each annotator.
        category: Missed-Need, Correct-Rejection, Correct-Detection or False-Alarm, as published.
    """

    where: str
    observations: tuple[tuple[str, str], ...]
    proposal: str | None
    valid: bool
    help_needed: bool | None
    votes: tuple[bool, ...]
    category: str


def sniff(src: Path) -> bool:
    """Whether it is a trace, or a folder (of the repository too) that holds one."""
    return any('"observation"' in head and head.startswith("[") for head in map(start_of, _files(src)[:8]))


def cases(wanted: Wanted) -> Cases:
    """Each trace as a scenario.

    Raises:
        InputError: no trace; the only one cannot be read.
    """
    files = _files(wanted.src)
    if not files:
        raise InputError(wanted.src, "there is no trace (a .json file with a list of observations) here")
    ledger = Ledger()
    return Cases(digest_of(files), ledger, _each(files, wanted, ledger), {"times": "as published, UTC"})


def looked_at(src: Path) -> Iterable[Path]:
    """The traces."""
    return _files(src)


def _files(src: Path) -> list[Path]:
    return json_files(src, _INSIDE, but="splits.json")


def _each(files: Sequence[Path], wanted: Wanted, ledger: Ledger) -> Iterator[Case]:
    digest = digest_of(files)
    for file in files:
        try:
            rows = trace_rows(load(file), file, ledger)
        except InputError as error:
            if len(files) == 1:
                raise
            ledger.add("left out", "files that are no traces", f"{file.name}: {error.want}")
            continue
        if not rows:
            ledger.add("left out", "traces without an observation that can be read", file.name)
            continue
        yield _case(file, rows, wanted, ledger, digest)


def trace_rows(raw: Any, where: Path | str, ledger: Ledger) -> list[Row]:
    """The observations of a trace, in the order published; what cannot be read is counted.

    Raises:
        InputError: it is no list.
    """
    if not isinstance(raw, list):
        raise InputError(where, "a list of observations is wanted")
    name = Path(where).name
    out: list[Row] = []
    for i, row in enumerate(raw):
        seen = row.get("observation") if isinstance(row, dict) else None
        event = words(seen.get("event")) if isinstance(seen, dict) else None
        at = epoch_ns(seen.get("time")) if isinstance(seen, dict) else None
        if event is None or at is None:
            what = "a text" if event is None else "a time"
            ledger.add("left out", f"observations without {what}", f"{name}[{i}]")
            continue
        status = row.get("task_status")
        if not isinstance(status, bool):
            ledger.add("noted", "observations of which nobody says whether the proposal was accepted", f"{name}[{i}]")
        answer = row.get("agent_response")
        unknown = isinstance(answer, dict) and "candidate_task" not in answer  # of traces; a model's answer may be one
        proposals = None if unknown else proposal_of(answer)
        if proposals is None:
            ledger.add("left out", "answers of another form (taken as no proposal, and not asked)", f"{name}[{i}]")
        out.append(
            Row(at, event, proposals or (), status if isinstance(status, bool) and proposals is not None else None)
        )
    return out


def proposal_of(answer: Any) -> tuple[str, ...] | None:
    """The tasks that an answer proposes: empty for silence, None for a form that is not known.

    Published are ``{"candidate_task": […]}`` in traces, and lists, mappings, a text or null in model answers.
    """
    if isinstance(answer, dict) and "candidate_task" in answer:
        answer = answer["candidate_task"]
        if isinstance(answer, dict):
            return None
    if answer is None:
        return ()
    if isinstance(answer, str):
        answer = [answer]
    if isinstance(answer, dict):
        return (json.dumps(answer, ensure_ascii=False),) if answer else ()
    if not isinstance(answer, list) or not all(one is None or isinstance(one, str | dict) for one in answer):
        return None
    return tuple(words(one) or json.dumps(one, ensure_ascii=False) for one in answer if one not in (None, "", {}))


def _case(file: Path, rows: Sequence[Row], wanted: Wanted, ledger: Ledger, digest: str) -> Case:
    name = plain(file.stem)
    times = in_order([r.at_ns for r in rows], STEP_NS, ledger, file.name)
    ends = [*times[1:], times[-1] + LAST_NS]
    shots, events = [], []
    for i, (row, start, end) in enumerate(zip(rows, times, ends, strict=True), 1):
        shots.append(Shot(start, title=row.event, text=row.event, event=i))
        said = {"proposed": list(row.proposals), "accepted": row.accepted}
        events.append(ForeignEvent(i, start, end, title=row.event, description=json.dumps(said, ensure_ascii=False)))
    ledger.add("kept", "observations", n=len(rows))
    needs, moments = _truth(rows, times, ends, ledger)
    foreign = Foreign(wanted.user or name, file, shots, events, ledger, digest, period_ns=SECOND)
    return Case(
        name,
        foreign,
        {
            "description": f"ProactiveBench test trace {file.stem}: what a user did, in words",
            "protocol": "moments",
            "intentions": [CATEGORY],
            "truth": {"rule": RULE, "opportunities": needs, "moments": moments},
        },
    )


def _truth(
    rows: Sequence[Row], times: Sequence[int], ends: Sequence[int], ledger: Ledger
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Windows and moments, in seconds since the first row."""
    needs: list[Mapping[str, Any]] = []
    moments: list[Mapping[str, Any]] = []
    for row, start, end in zip(rows, times, ends, strict=True):
        opens, closes = (start - times[0]) / SECOND, (end - times[0]) / SECOND
        if not row.proposals or row.accepted is None:
            said = {True: "true", False: "false", None: "unknown"}[row.accepted]
            ledger.add("noted", f"observations without a proposal, task_status {said} (not asked)")
            continue
        query = " / ".join(row.proposals)
        known = {"intention": CATEGORY, "query": query} if row.accepted else {}
        moments.append({"t_s": opens, "positive": row.accepted, **known})
        if row.accepted:
            needs.append({"opens_s": opens, "closes_s": closes, "intention": CATEGORY, "query": query})
            ledger.add("noted", "observations with a proposal that people accepted (a need)")
        else:
            ledger.add("noted", "observations with a proposal that people rejected (no need)")
    return needs, moments


def judge_cases(path: Path, ledger: Ledger) -> list[JudgeCase]:
    """The labelled cases of ``reward_data/*.jsonl``; what cannot be read, or has no majority, is counted.

    Raises:
        InputError: it cannot be read, a line is not JSON, or no line is a case.
    """
    out: list[JudgeCase] = []
    for number, raw in json_lines(path, keys_once=True):
        where = f"line {number}"
        case = _judge_case(raw, where)
        if case is None:
            ledger.add("left out", "lines that are no case: obs, pred_task and a majority of votes are wanted", where)
            continue
        said = raw.get("valid")
        if isinstance(said, bool) and said != case.valid:
            ledger.add("noted", "cases whose published verdict is not that of the majority (which is taken)", where)
        out.append(case)
    if not out:
        raise InputError(path, "no line is a case of ProactiveBench's reward data")
    return out


def _judge_case(raw: Any, where: str) -> JudgeCase | None:
    if not isinstance(raw, dict) or not isinstance(raw.get("obs"), list) or "pred_task" not in raw:
        return None
    votes, task = raw.get("annotation"), raw["pred_task"]
    if not isinstance(votes, list) or not votes or not all(isinstance(v, bool) for v in votes):
        return None
    if 2 * sum(votes) == len(votes) or not (task is None or isinstance(task, str)):
        return None
    seen = [(str(o.get("time", "")), words(o.get("event"))) for o in raw["obs"] if isinstance(o, dict)]
    needed, category = raw.get("help_needed"), words(raw.get("category")) or "unknown"
    return JudgeCase(
        where=where,
        observations=tuple((time, event) for time, event in seen if event is not None),
        proposal=words(task),
        valid=2 * sum(votes) > len(votes),
        help_needed=needed if isinstance(needed, bool) else None,
        votes=tuple(votes),
        category=category.partition(" (")[0],
    )
