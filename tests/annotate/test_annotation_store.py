"""Annotations in the session: kept aside, applied only where nothing is, reached by forgetting, redaction, release."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from simulator.annotate.sample import Target, targets
from simulator.annotate.store import Annotation, Store
from simulator.core.errors import InputError
from simulator.core.types import SECOND
from simulator.privacy.forget_session import plan_session, read_head
from simulator.privacy.items import Item
from simulator.privacy.release import Options, release
from simulator.privacy.span import Span
from simulator.session.check import check
from simulator.session.describe import describe
from simulator.session.scenario import plays
from tests.annotate.studies import rows, session, without_annotations

CHAT = Annotation(
    "m1, prompt 0123", "model", "annotated", assistance=True, platform="ChatGPT", kind="chat", summary="asks why",
    conversation=json.dumps({"user_queries": [], "llm_responses": ["because"]}), query="why does it fail",
    intention="Error Correction", confidence=0.8,
)  # fmt: skip
MAIL = Annotation("m1, prompt 0123", "model", "annotated", assistance=False, summary="reads mail")


def put(folder: Path, *said: Annotation) -> list[Target]:
    _, events, _ = targets(folder)
    with Store(folder) as store:
        for event, one in zip(events, said, strict=False):
            store.put(event, one)
    return events


def apply(folder: Path, who: str = CHAT.annotator) -> dict[str, int]:
    _, events, _ = targets(folder)
    with Store(folder) as store:
        return store.apply(events, who)


def test_what_is_put_comes_back_and_replaces_what_the_same_annotator_said(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    events = put(folder, MAIL, CHAT)
    with Store(folder) as store:
        assert store.said_by(CHAT.annotator) == {events[0].start_ns: MAIL, events[1].start_ns: CHAT}
        store.put(events[0], CHAT)
        assert store.said_by(CHAT.annotator)[events[0].start_ns] == CHAT
        assert store.annotators() == {CHAT.annotator: "model"}
    assert rows(folder, "SELECT COUNT(*) FROM annotations") == [(2,)]
    assert not [f for f in check(folder) if f.severity == "damage"]


def test_looking_writes_nothing(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    before = (folder / "session.db").read_bytes()
    _, events, _ = targets(folder)
    with Store(folder) as store:
        assert store.annotators() == {}
        store.said_by("nobody")
        store.sample(events[0])
    assert (folder / "session.db").read_bytes() == before


def test_annotations_fill_only_what_is_empty_and_the_truth_says_whose_word_it_is(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", columns={2: {"event_summary": "by hand"}})
    (before,) = plays([folder])
    assert not before.truth.known
    put(folder, MAIL, CHAT)
    assert apply(folder)["is_llm_event"] == 2
    sql = (
        "SELECT is_llm_event, llm_platform, user_intention, intention_confidence, event_summary FROM events ORDER BY id"
    )
    assert rows(folder, sql)[:3] == [
        (0, None, None, None, "reads mail"),
        (1, "ChatGPT", "Error Correction", 0.8, "by hand"),
        (None, None, None, None, None),
    ]
    (play,) = plays([folder])
    (need,) = play.truth.opportunities
    assert (need.intention, need.query, need.closes_ns) == ("Error Correction", "why does it fail", 8 * SECOND)
    assert play.truth.rule.endswith("annotated by m1, prompt 0123, not official")
    assert before.truth.rule != play.truth.rule


def test_applying_twice_changes_nothing(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    put(folder, MAIL, CHAT)
    apply(folder)
    before = without_annotations(folder)
    assert apply(folder) == {}
    assert without_annotations(folder) == before


def test_what_one_annotator_filled_another_does_not_change(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    put(folder, CHAT)
    put(folder, Annotation("rules 1", "rules", "annotated", assistance=False))
    apply(folder)
    assert apply(folder, "rules 1") == {}
    assert rows(folder, "SELECT is_llm_event FROM events WHERE id = 1") == [(1,)]


def test_what_could_not_be_read_fills_nothing(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    before = without_annotations(folder)
    put(folder, Annotation(CHAT.annotator, "model", "unannotated", "no object"))
    assert apply(folder) == {}
    assert without_annotations(folder) == before


def test_events_that_were_cut_become_rows_when_applied(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", events=False)
    put(folder, MAIL, CHAT, MAIL, MAIL)
    apply(folder)
    found = rows(folder, "SELECT id, start_ns, end_ns, window_title, is_llm_event FROM events ORDER BY id")
    assert [row[0] for row in found] == [1, 2, 3, 4]
    assert found[1] == (2, 8 * SECOND, 48 * SECOND, "ChatGPT - Google Chrome", 1)
    assert rows(folder, "SELECT event_id FROM annotations ORDER BY id") == [(1,), (2,), (3,), (4,)]
    (play,) = plays([folder])
    assert len(play.truth.opportunities) == 1
    assert apply(folder) == {}


def test_a_session_that_another_program_has_open_is_left_alone(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    events = put(folder, MAIL)
    other = sqlite3.connect(folder / "session.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(InputError, match="another program has this session open"):
            Store(folder).put(events[0], CHAT)
    finally:
        other.close()


def test_a_session_of_before_there_were_annotations_gets_the_table(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    with sqlite3.connect(folder / "session.db") as db:
        db.execute("DROP TABLE annotations")
    db.close()
    put(folder, MAIL)
    assert rows(folder, "SELECT summary, official FROM annotations") == [("reads mail", 0)]


def test_forgetting_a_stretch_removes_what_was_said_of_events_that_touch_it(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    put(folder, MAIL, CHAT, MAIL, MAIL)
    anchor = 1_700_000_000 * SECOND
    span = Span(anchor + 20 * SECOND, anchor + 50 * SECOND)
    item = plan_session(read_head(folder), span)
    assert isinstance(item, Item)
    assert "2 annotations" in item.said
    assert "why does it fail" in item.texts
    assert item.apply() == []
    assert rows(folder, "SELECT start_ns / 1000000000 FROM annotations ORDER BY start_ns") == [(0,), (60,)]
    assert b"because" not in (folder / "session.db").read_bytes()


def test_a_release_says_whose_word_the_events_are_and_holds_no_annotations(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    put(folder, MAIL, CHAT)
    apply(folder)
    out = tmp_path / "out"
    release(folder, out, Options(unreviewed="leave-out"))
    (play,) = plays([out])
    assert "annotated by m1" in play.truth.rule
    assert rows(out, "SELECT COUNT(*) FROM annotations") == [(0,)]
    assert b"because" not in (out / "session.db").read_bytes()


def test_describe_counts_what_was_said_by_whom_and_check_finds_a_strange_intention(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    assert describe(folder)["annotations"] == {}
    put(folder, MAIL, CHAT, Annotation(CHAT.annotator, "model", "unannotated", "no object"))
    assert describe(folder)["annotations"] == {CHAT.annotator: {"n": 3, "annotated": 2, "assistance": 1}}
    assert not [f for f in check(folder) if f.kind == "intention"]
    put(folder, Annotation(CHAT.annotator, "model", "annotated", assistance=True, intention="gardening"))
    assert [f.kind for f in check(folder) if f.severity == "damage"] == ["intention"]
