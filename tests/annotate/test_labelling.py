"""Windows that people mark: written as they are made, undone until closed, and then the truth of the session."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.annotate.labelling import Labels
from simulator.annotate.marks import Mark, case_of, problems, scenario_text, standing
from simulator.cli import _call
from simulator.core.errors import Exit, InputError, UsageError
from simulator.core.lock import FolderLock
from simulator.core.types import SECOND
from simulator.session.scenario import plays
from simulator.session.scenario_file import parse
from simulator.session.schema import LOCK
from simulator.session.store import Writer
from tests.replays import NEEDS, SAID, play, record

S = SECOND


@pytest.fixture
def day(tmp_path: Path) -> Path:
    """The folder of a session without a truth, in a scenario that takes the recorded one."""
    return record(tmp_path / "day", needs=(), gap=None, truth="recorded") / "session"


def _marks(day: Path, by: str = "ann") -> list[tuple[float, float, str | None]]:
    return [(m.opens_ns / S, m.closes_ns / S, m.intention) for m in standing(case_of(day), by).marks]


def test_what_is_marked_is_there_after_a_crash_and_can_still_be_undone(day: Path) -> None:
    labels = Labels(case_of(day), "ann").__enter__()
    first = labels.add(Mark(10 * S, 20 * S))
    labels.change(Mark(10 * S, 25 * S, "translation", id=first))
    labels._db.close()  # nothing is folded in, nothing let go: as a kill leaves it
    labels._lock.release()
    assert _marks(day) == [(10, 25, "Translation")]
    with Labels(case_of(day), "ann") as labels:
        labels.undo()
    assert _marks(day) == [(10, 20, None)]


def test_undo_and_redo_walk_through_every_change(day: Path) -> None:
    with Labels(case_of(day), "ann") as labels:
        first = labels.add(Mark(10 * S, 20 * S, "Translation"))
        labels.add(Mark(30 * S, 40 * S, "Translation"))
        labels.remove(first)
        states = []
        for _ in range(3):
            labels.undo()
            states.append([m.opens_ns // S for m in labels.marks()])
        assert states == [[10, 30], [10], []]
        with pytest.raises(UsageError, match="nothing is left to undo"):
            labels.undo()
        for wanted in ([10], [10, 30], [30]):
            labels.redo()
            assert [m.opens_ns // S for m in labels.marks()] == wanted
        labels.undo()
        labels.add(Mark(50 * S, 55 * S))
        with pytest.raises(UsageError, match="nothing was undone"):
            labels.redo()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("acrur"), st.integers(0, 50)), max_size=8))
def test_undoing_everything_leaves_nothing_and_redoing_it_all_of_it(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    day = record(tmp_path_factory.mktemp("day"), needs=(), gap=None, truth="recorded") / "session"
    with Labels(case_of(day), "ann") as labels:
        n = 0
        for what, at in steps:
            there = labels.marks()
            if what == "a" or not there:
                labels.add(Mark(at * S, (at + 5) * S))
            elif what == "c":
                labels.change(Mark(at * S, (at + 2) * S, id=there[at % len(there)].id))
            elif what == "r":
                labels.remove(there[at % len(there)].id)
            else:
                labels.undo()
                n -= 2
            n += 1
        last = labels.marks()
        for _ in range(n):
            labels.undo()
        assert labels.marks() == []
        for _ in range(n):
            labels.redo()
        assert labels.marks() == last


def test_closed_windows_are_the_truth_of_a_run_and_nothing_is_left_to_undo(day: Path) -> None:
    with Labels(case_of(day), "ann") as labels:
        labels.add(
            Mark(30 * S, 40 * S, "translation", acted_ns=40 * S, query="what does it say", note="sure", weight=0.5)
        )
        gone = labels.add(Mark(10 * S, 20 * S))
        labels.remove(gone)
        assert labels.close() == 1
    (play,) = plays([day.parent])
    (need,) = play.truth.opportunities
    assert (need.opens_ns, need.closes_ns, need.acted_ns) == (30 * S, 40 * S, 40 * S)
    assert (need.intention, need.query, need.weight, need.origin) == ("Translation", "what does it say", 0.5, "label")
    assert play.truth.known
    assert play.truth.rule == "recorded: marked by ann on the recording"
    assert play.truth.acts_ns == (40 * S,)
    with Labels(case_of(day), "ann") as labels:
        for change in (labels.undo, labels.close, lambda: labels.add(Mark(0, 5 * S))):
            with pytest.raises(UsageError, match="has closed"):
                change()
    with sqlite3.connect(day / "session.db") as db:
        assert db.execute("SELECT verdict, state, note FROM labels").fetchall() == [("need", "closed", "sure")]


def test_who_marked_the_truth_stands_above_what_is_explained_by_it(
    day: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Labels(case_of(day), "ann") as labels:
        labels.add(Mark(10 * S, 20 * S, "Translation"))
        labels.close()
    run = play(day.parent, day.parent.parent / "run", SAID)
    assert _call(["explain", str(run)]) == Exit.DONE
    assert "truth: recorded: marked by ann on the recording\n" in capsys.readouterr().out
    assert _call(["explain", str(run), "--json"]) == Exit.DONE
    (rule,) = json.loads(capsys.readouterr().out.splitlines()[-1])["rules"].values()
    assert rule == "recorded: marked by ann on the recording"


def test_two_labellers_have_windows_of_their_own(day: Path) -> None:
    with Labels(case_of(day), "ann") as labels:
        ann = labels.add(Mark(10 * S, 20 * S, "Translation"))
    with Labels(case_of(day), "bo") as labels:
        labels.add(Mark(12 * S, 22 * S, "Error Correction"))
        with pytest.raises(UsageError, match="not there any more"):
            labels.remove(ann)
        labels.close()
    assert standing(case_of(day), "ann").others == {"bo": (1, True)}
    with Labels(case_of(day), "ann") as labels:
        with pytest.raises(UsageError, match="bo"):
            labels.close()
        labels.close(replace=True)
    (need,) = plays([day.parent])[0].truth.opportunities
    assert need.opens_ns == 10 * S
    assert standing(case_of(day), "bo").marks
    assert standing(case_of(day), "bo").truth_by == ("ann",)


@pytest.mark.parametrize(
    ("mark", "why"),
    [
        (Mark(20 * S, 10 * S), "close after it opens"),
        (Mark(-S, 10 * S), "open within the session"),
        (Mark(70 * S, 80 * S), "open within the session"),
        (Mark(50 * S, 100 * S), "after the recording"),
        (Mark(10 * S, 20 * S, acted_ns=5 * S), "cannot act before"),
        (Mark(10 * S, 20 * S, "Baking"), "unknown intention"),
        (Mark(10 * S, 20 * S, weight=0.0), "a weight from"),
        (Mark(10 * S, 20 * S, query="x" * 5000), "up to 4,000 letters"),
    ],
)
def test_what_cannot_be_a_window_is_refused_in_the_words_of_scenarios(day: Path, mark: Mark, why: str) -> None:
    with Labels(case_of(day), "ann") as labels, pytest.raises(UsageError, match=why):
        labels.add(mark)
    assert _marks(day) == []


def test_unfinished_and_overlapping_windows_are_told_and_not_closed(day: Path) -> None:
    with Labels(case_of(day), "ann") as labels:
        first = labels.add(Mark(10 * S, 20 * S))
        assert problems(case_of(day), labels.marks()) == (["it has no intention yet"], None)
        with pytest.raises(UsageError, match="window 1: it has no intention"):
            labels.close()
        labels.change(Mark(10 * S, 20 * S, "Translation", id=first))
        labels.add(Mark(15 * S, 30 * S, "Translation"))
        with pytest.raises(UsageError, match="overlap"):
            labels.close()


def test_a_truth_that_is_there_is_not_replaced(tmp_path: Path) -> None:
    stated = record(tmp_path / "stated", needs=NEEDS) / "session"
    with Labels(case_of(stated), "ann") as labels:
        labels.add(Mark(10 * S, 20 * S, "Translation"))
        with pytest.raises(UsageError, match="states a truth of its own"):
            labels.close()
    with Writer(tmp_path / "own", session="own") as writer:
        writer.add(tick=0, captured_ns=7 * S)
        writer.add(tick=9, captured_ns=16 * S)
        writer.opportunity(id="n", opens_ns=7 * S, closes_ns=12 * S, intention="Translation")
    with Labels(case_of(tmp_path / "own"), "ann") as labels:
        labels.add(Mark(S, 4 * S, "Translation"))
        with pytest.raises(UsageError, match="1 recorded needs"):
            labels.close()


def test_instants_count_from_the_first_snapshot(tmp_path: Path) -> None:
    with Writer(tmp_path / "late", session="late") as writer:
        for k in range(7, 20):
            writer.add(tick=k, captured_ns=k * S)
    with Labels(case_of(tmp_path / "late"), "ann") as labels:
        labels.add(Mark(2 * S, 6 * S, "Translation", acted_ns=6 * S))
        labels.close()
    (need,) = plays([tmp_path / "late"])[0].truth.opportunities
    assert (need.opens_ns, need.closes_ns, need.acted_ns) == (2 * S, 6 * S, 6 * S)


def test_a_session_that_is_recorded_or_held_by_another_program_is_left_alone(day: Path) -> None:
    lock = FolderLock(day / LOCK, "")
    with pytest.raises(UsageError, match="another program"):
        Labels(case_of(day), "ann")
    lock.release()
    with sqlite3.connect(day / "session.db") as db:
        db.execute("UPDATE meta SET value = 'recording' WHERE key = 'state'")
    with pytest.raises(InputError, match="being recorded"):
        Labels(case_of(day), "ann")
    assert not (day / LOCK).exists()


def test_a_name_is_needed(day: Path) -> None:
    for name in ("", "  ", "x" * 41, "a\nb"):
        with pytest.raises(UsageError, match="pseudonym"):
            Labels(case_of(day), name)


def test_a_recording_of_an_earlier_version_gets_the_columns(day: Path) -> None:
    with sqlite3.connect(day / "session.db") as db:
        db.execute("DROP TABLE labels")
        db.execute(
            "CREATE TABLE labels (id INTEGER PRIMARY KEY, event_id INTEGER, at_ns INTEGER, rater TEXT, help INTEGER,"
            " intention TEXT, query TEXT, verdict TEXT, note TEXT, created_at TEXT)"
        )
        db.execute("INSERT INTO labels (at_ns, rater, verdict) VALUES (5, 'ann', 'useful')")
    assert _marks(day) == []
    with Labels(case_of(day), "ann") as labels:
        labels.add(Mark(10 * S, 20 * S, "Translation"))
        labels.close()
    with sqlite3.connect(day / "session.db") as db:
        assert db.execute("SELECT verdict FROM labels ORDER BY id").fetchall() == [("useful",), ("need",)]


def test_the_text_for_a_scenario_file_is_one(day: Path) -> None:
    import yaml

    text = scenario_text([Mark(10 * S, 20 * S, "Translation", query="\u202e: # é"), Mark(30 * S, 40 * S)], "ann")
    spec = parse(yaml.safe_load(text), Path("s.yaml"))
    assert not isinstance(spec.truth, str)
    assert spec.truth.opportunities is not None
    assert [(one.opens_s, one.query) for one in spec.truth.opportunities] == [(10, "\u202e: # é")]
