"""Whatever JSON stands where a published file belongs: it is read or refused in one sentence, and never half."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.core.errors import InputError
from simulator.session.importing import import_
from simulator.session.scenario import plays
from simulator.sources.foreign import Ledger
from simulator.sources.proactivebench import judge_cases, proposal_of
from simulator.sources.stored_answers import read_answers, read_judgements, read_splits

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False)
    | st.sampled_from(
        ["1717377997.0", "0:00:05", "accepted", "a/../b.mp4", "", " ", "\x00", "\ud800", "1e400", "x" * 999]
    )
)
JSON: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
GOOD: dict[str, Any] = {
    "proactivebench": {
        "observation": {"time": "1717377997.0", "event": "types"},
        "agent_response": {"candidate_task": ["Help"]},
        "task_status": True,
    },
    "knowu": {"time": "2026-01-01T10:45:00+08:00", "location": "home", "action": "types", "label": "signal"},
    "streamingbench": {
        "time": "[0:00:00 - 0:00:30]",
        "video_path": "./videos/a.mp4",
        "questions": [{"question": "When?", "time_stamp": "0:00:05", "ground_truth_time_stamp": "0:00:09",
                       "ground_truth_output": "Now"}],
    },
    "case": {"obs": [{"time": "1", "event": "types"}], "pred_task": "Help", "valid": True, "annotation": [True] * 3,
             "category": "CD"},
    "verdict": {"model": "m", "file": "x.json", "index": 0, "judgement": "accepted"},
    "split": {"files": ["x.json", "y.json"]},
}  # fmt: skip


def _damaged(good: Any) -> st.SearchStrategy[Any]:
    """The same, but for what is something else here and there."""
    whole: st.SearchStrategy[Any] = st.just(good)
    if isinstance(good, dict):
        whole = st.fixed_dictionaries({key: _damaged(value) for key, value in good.items()})
    elif isinstance(good, list):
        whole = st.tuples(*map(_damaged, good)).map(list)
    return st.integers(0, 11).flatmap(lambda n: whole if n else JSON)


def _rows(kind: str) -> st.SearchStrategy[Any]:
    return st.lists(_damaged(GOOD[kind]), max_size=5)


few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _new(tmp_path: Path) -> Path:
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    folder.mkdir()
    return folder


def _fault(read: Callable[[], object]) -> str | None:
    """The sentence with which something is refused; any other error comes through."""
    try:
        read()
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("format", ["proactivebench", "knowu", "streamingbench"])
@few
@given(data=st.data())
def test_an_import_is_whole_or_refused(tmp_path: Path, format: str, data: st.DataObject) -> None:
    folder = _new(tmp_path)
    (folder / "x.json").write_text(json.dumps(data.draw(_rows(format))), encoding="utf-8")
    said = _fault(lambda: import_(folder / "x.json", folder / "out", format=format))
    assert not [*folder.rglob(".*.part"), *folder.rglob(".import-*")]
    if said is None:
        assert plays([folder / "out"])
    else:
        assert "\n" not in said


@few
@given(rows=_rows("proactivebench"), cases=_rows("case"), verdicts=_rows("verdict"), split=_damaged(GOOD["split"]))
def test_answers_cases_verdicts_and_splits_are_read_or_refused(
    tmp_path: Path, rows: Any, cases: Any, verdicts: Any, split: Any
) -> None:
    folder = _new(tmp_path)
    (folder / "a.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "s.json").write_text(json.dumps({"all": split}), encoding="utf-8")
    for name, lines in (("c.jsonl", cases), ("v.jsonl", verdicts)):
        (folder / name).write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    said = [
        _fault(lambda: read_answers(folder / "a.json")),
        _fault(lambda: read_splits(folder / "s.json")),
        _fault(lambda: judge_cases(folder / "c.jsonl", Ledger())),
        _fault(lambda: read_judgements(folder / "v.jsonl", Ledger())),
    ]
    assert not [one for one in said if one is not None and "\n" in one]


@given(JSON)
def test_an_answer_is_silence_proposals_or_of_no_known_form(raw: Any) -> None:
    tasks = proposal_of(raw)
    assert tasks is None or all(task.strip() for task in tasks)
