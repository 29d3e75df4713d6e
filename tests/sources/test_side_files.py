"""What side files say of events, in every form they come in."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.core.errors import InputError
from simulator.sources.foreign import ForeignEvent, Ledger
from simulator.sources.side_files import apply, load


def _apply(tmp_path: Path, files: dict[str, str], *, only_user: bool = False) -> tuple[list[ForeignEvent], Ledger]:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    events, ledger = [ForeignEvent(n, 0, 1) for n in (1, 2, 3)], Ledger()
    apply(load([tmp_path / name for name in files]), "ada", events, ledger, only_user=only_user)
    return events, ledger


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "user,event_id,reason\nada,2,game\nbob,1,game\n"),
        ("x.jsonl", '{"user_id": "ada", "event_id": "2", "reason": "game"}\n'),
        ("x.json", '[{"participant": "ada", "id": 2, "exclude": "game"}]'),
        ("x.json", '{"ada": {"2": "game"}, "bob": {"1": "game"}}'),
        ("x.json", '{"ada": {"2": {"reason": "game"}}}'),
        ("x.json", '{"ada": [{"event_id": 2, "reason": "game"}]}'),
    ],
)
def test_exclusions_come_in_every_form(tmp_path: Path, name: str, text: str) -> None:
    events, ledger = _apply(tmp_path, {name: text})
    assert [e.excluded for e in events] == [None, "game", None]
    assert ledger.of("noted") == {"events excluded by a side file": 1}


def test_a_list_of_events_excludes_them_and_false_excludes_nothing(tmp_path: Path) -> None:
    events, _ = _apply(tmp_path, {"x.json": '{"ada": [2, 3]}', "y.csv": "user,event_id,exclude\nada,1,false\n"})
    assert [e.excluded for e in events] == [None, "excluded", "excluded"]


def test_the_surest_intention_counts_and_names_are_made_canonical(tmp_path: Path) -> None:
    text = (
        "user,event_id,user_intention,confidence,llm_platform\nada,1,Code Programming,0.6,chatgpt\n"
        "ada,1,Translation,0.9,\nada,1,Summarization,0.5,\nada,2,Cooking,1,\nada,9,Translation,1,\n"
    )
    events, ledger = _apply(tmp_path, {"x.csv": text})
    assert (events[0].intention, events[0].confidence, events[0].platform) == ("Translation", 0.9, "chatgpt")
    assert events[1].intention is None
    assert ledger.of("left out") == {
        "intentions that are none of the 16 categories": 1,
        "remarks of side files on events that do not exist": 1,
        "second intentions of an event, less sure than the first": 1,
    }


def test_rows_without_a_user_mean_the_only_one(tmp_path: Path) -> None:
    files = {"x.csv": "event_id,reason\n1,game\n"}
    assert _apply(tmp_path, files, only_user=True)[0][0].excluded == "game"
    assert _apply(tmp_path, files)[0][0].excluded is None


def test_reasons_may_hold_odd_ends_of_lines(tmp_path: Path) -> None:
    files = {
        "x.csv": 'user,event_id,reason\nada,1,"two\nlines"\n',
        "y.jsonl": '{"user": "ada", "id": 2, "reason": "a\u2028b"}\n',
    }
    events, _ = _apply(tmp_path, files)
    assert [e.excluded for e in events] == ["two\nlines", "a\u2028b", None]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.csv", "user,reason\nada,game\n", "event_id: must be a whole number"),
        ("x.csv", "event_id,confidence,intention\n1,nan,Translation\n", "confidence: 'nan': must be a number"),
        ("x.jsonl", '{"event_id": 1}\n{"event', "line 2: not JSON"),
        ("x.json", "3", "a list of objects, or a mapping"),
        ("x.txt", "", r"\.csv, \.json or \.jsonl"),
    ],
)
def test_each_fault_is_one_sentence(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        _apply(tmp_path, {name: text})
