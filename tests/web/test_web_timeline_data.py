"""What the timeline shows of a unit is what log, truth, recording and scorer say."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from scorers.base import Context
from scorers.explaining import explain_unit
from simulator.core.errors import InputError, UsageError
from simulator.runs.folder import read_run
from simulator.runs.runlog import read
from simulator.web.clipping import clip
from simulator.web.timeline_opening import open_unit
from simulator.web.timeline_recording import read_recording
from simulator.web.timeline_threads import threads
from tests.logs import D, log
from tests.replays import HOSTILE, NEEDS, SAID, play, record


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`day`, a scenario, and `run`, a run of it with one offer of each kind."""
    folder = tmp_path_factory.mktemp("made")
    play(record(folder / "day"), folder / "run", SAID)
    return folder


def _recording(run: Path, key: str = "day") -> Any:
    return read_recording(run, read_run(run), key)


def _columns(run: Path) -> Any:
    found = _recording(run)
    assert found.columns is not None, found.notes
    return found.columns


def test_offers_have_the_classes_that_the_scorer_gives_them(made: Path) -> None:
    shown = open_unit(made / "run", "day").as_json()
    drawn = [(o["captured_s"], o["arrived_s"], o["class"], o["mark"], o["error"]) for o in shown["offers"]]
    assert drawn == [
        (12, 14, "on_time", "hit", False),
        (26, 28, "false_alarm", "false_alarm", True),
        (34, 36, "stale", "late", True),
        (52, 54, "wrong_content", "wrong", True),
    ]
    assert [(n["id"], n["class"], n["error"]) for n in shown["needs"]] == [
        ("first", "served", False), ("second", "stale", True), ("third", "wrong_content", True),
    ]  # fmt: skip
    scores = json.loads((made / "run/scores.json").read_text())["units"]["day"]["scores"]
    assert shown["figures"]["F1_rt"] == scores["F1_rt"] == pytest.approx(2 / 7)


def test_why_is_said_in_the_words_of_explain(made: Path) -> None:
    view = open_unit(made / "run", "day")
    told = [t for t in explain_unit(view.unit, Context("stream")) if t.what == "offer"]
    seq = told[2].facts["seq"]
    found = view.decision(seq)
    assert found["why"][0]["why"] == list(told[2].sentences)
    assert found["record"]["offers"][0]["text"] == "Shall I translate?"


def test_a_plain_silence_is_told_from_the_columns(made: Path) -> None:
    view = open_unit(made / "run", "day")
    silent = next(int(s) for s in view.unit.log.seq if int(s) not in view.unit.log.full)
    found = view.decision(silent)
    assert found["folded"]
    assert found["record"]["kind"] == "silent"
    assert found["why"] == []
    with pytest.raises(UsageError, match="no decision 99999"):
        view.decision(99999)


def test_stamps_are_those_of_the_log(made: Path) -> None:
    columns = open_unit(made / "run", "day").as_json()["decisions"]
    logged = read(made / "run/units/day/decisions.jsonl")
    assert columns["seq"] == logged.seq.tolist()
    assert columns["actionable_s"] == [round(t / 1e9, 6) for t in logged.actionable_ns.tolist()]
    assert sum(columns["dropped"]) == int(logged.dropped_before.sum()) > 0


def test_the_gate_is_that_of_the_scores(made: Path, tmp_path: Path) -> None:
    from simulator.play.scoring import score_folder

    run = play(made / "day", tmp_path / "run", "always", latency="fixed:0s")
    classes = {o["class"] for o in open_unit(run, "day").as_json()["offers"]}
    assert "held_back" in classes
    score_folder(run, "off")
    shown = open_unit(run, "day").as_json()
    assert shown["gate"] == "off"
    assert "held_back" not in {o["class"] for o in shown["offers"]}


def test_an_interrupted_unit_is_shown_as_far_as_it_came(made: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made / "run", tmp_path / "run"))
    file = run / "units/day/decisions.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    cut = next(i for i, line in enumerate(lines) if '"stale"' in line or "Shall I translate?" in line)
    file.write_text("".join(lines[:cut]) + '{"kind": "off')
    shown = open_unit(run, "day").as_json()
    assert not shown["complete"]
    assert shown["torn"]
    assert shown["played_s"] < 36 < shown["end_s"] == 60
    assert [n["class"] for n in shown["needs"]][-1] == "not_played"


def test_without_truth_offers_are_drawn_and_not_classified(tmp_path: Path) -> None:
    run = play(record(tmp_path / "day", needs=()), tmp_path / "run", SAID)
    shown = open_unit(run, "day").as_json()
    assert {(o["class"], o["mark"], o["error"]) for o in shown["offers"]} == {(None, "offer", False)}
    assert "nothing was classified" in shown["notes"][0]


def test_what_is_told_after_the_run_counts_as_with_score_truth(tmp_path: Path) -> None:
    from simulator.play.scoring import score_folder

    day = record(tmp_path / "day", needs=())
    run = play(day, tmp_path / "run", SAID)
    assert open_unit(run, "day").as_json()["truth"]["known"] is False
    record(tmp_path / "other", needs=NEEDS)
    (day / "scenario.yaml").write_text((tmp_path / "other/scenario.yaml").read_text())
    shown = open_unit(run, "day").as_json()
    assert [o["mark"] for o in shown["offers"]] == ["hit", "false_alarm", "late", "wrong"]
    scores = score_folder(run, truth=day, save=False)
    assert shown["figures"]["F1_rt"] == scores["units"]["day"]["scores"]["F1_rt"] == pytest.approx(2 / 7)
    assert "told after the run was played, in day/scenario.yaml: " in shown["notes"][0]
    assert str(tmp_path) not in shown["notes"][0]
    found = _recording(run)
    assert found.columns is not None
    (note,) = found.notes
    assert "pictures and titles are as they were" in note


def test_answers_are_in_order_and_say_when_they_are_not_dated(made: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made / "run", tmp_path / "run"))
    assert open_unit(run, "day").as_json()["answers"] is None  # nobody was asked
    log = read(run / "units/day/decisions.jsonl")
    first, second, *_ = (offer.seq for offer in log.offers())
    said = [{"seq": second, "said": "rejected", "t_s": 29.5, "by": "sam"}, {"seq": first, "said": "accepted"}]
    (run / "units/day/feedback.jsonl").write_text("".join(json.dumps(one) + "\n" for one in said))
    answers = open_unit(run, "day").as_json()["answers"]
    assert [(a["t_s"], a["said"], a["dated"]) for a in answers] == [(14, "accepted", False), (29.5, "rejected", True)]


def test_of_a_changed_mind_the_last_answer_is_shown_as_the_scores_count_it(made: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made / "run", tmp_path / "run"))
    seq, intention = next((o.seq, o.intention) for o in read(run / "units/day/decisions.jsonl").offers())
    said = [{"said": "accepted", "t_s": 15}, {"said": "rejected", "t_s": 16, "intention": intention.upper()}]
    file = run / "units/day/feedback.jsonl"
    file.write_text("".join(json.dumps({"seq": seq, "by": "sam"} | one) + "\n" for one in said))
    answers = open_unit(run, "day").as_json()["answers"]
    assert [(a["t_s"], a["said"], a["intention"]) for a in answers] == [(16, "rejected", intention)]


def test_a_unit_says_why_its_own_audit_takes_its_figures_back(made: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made / "run", tmp_path / "run"))
    assert open_unit(run, "day").as_json()["invalid"] == []
    told = json.loads((run / "run.json").read_text())
    told["units"]["day"]["audit"] = {**(told["units"]["day"]["audit"] or {}), "invalid": ["the loop was late"]}
    (run / "run.json").write_text(json.dumps(told))
    assert open_unit(run, "day").as_json()["invalid"] == ["the loop was late"]


def test_a_run_that_goes_on_has_missed_nothing_that_is_not_over(made: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made / "run", tmp_path / "run"))
    whole = open_unit(run, "day").as_json()
    file = run / "units/day/decisions.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    cut = next(i for i, line in enumerate(lines) if "Shall I translate?" in line)
    file.write_text("".join(lines[:cut]))
    (run / "scores.json").unlink()
    shown = open_unit(run, "day", going_on=True).as_json()
    assert [n["class"] for n in shown["needs"]] == ["served", "still_open", "not_played"]
    assert not any(n["error"] for n in shown["needs"])
    assert "interrupted" not in json.dumps(shown["needs"])
    assert shown["offers"] == whole["offers"][:2]  # classes do not change while it goes on
    assert shown["figures"]["R_rt"] == 1
    assert "false_alarms_per_hour" not in shown["figures"]


def test_moments_are_marks_of_their_own(made: Path, tmp_path: Path) -> None:
    run = play(made / "day", tmp_path / "run", "silent", protocol="moments", clock="measured", latency=None)
    shown = open_unit(run, "day").as_json()
    assert {m["class"] for m in shown["moments"]} <= {"true_negative", "false_negative"}
    assert [m["t_s"] for m in shown["moments"] if m["positive"]] == [19.0]
    assert all(m["seq"] is not None for m in shown["moments"])


def test_an_intent_lasts_until_it_is_taken_back() -> None:
    def one(t: int, thread: str | None, intention: str, **more: Any) -> D:
        return D(t, t + 1, [{"intention": intention, "text": "x", "thread": thread}], more=more)

    found = threads(
        log([one(0, "a", "Translation"), one(5, None, "Summarization"), one(9, "a", "Translation"),
             one(20, "b", "Coding", retracted=["a", "Summarization"])]),
        {("a",): "matched"},
    )  # fmt: skip
    assert [(t["from_s"], t["to_s"], t["intention"], t["class"]) for t in found] == [
        (1.0, 21.0, "Translation", "matched"), (6.0, 21.0, "Summarization", None), (21.0, None, "Coding", None),
    ]  # fmt: skip


def test_a_unit_that_the_run_has_not_is_refused(made: Path) -> None:
    with pytest.raises(InputError, match="has no unit"):
        open_unit(made / "run", "../day")


def test_a_recording_gives_windows_pictures_and_gaps(made: Path) -> None:
    shown = _columns(made / "run")
    assert shown["t_s"] == [*range(40), *range(44, 60)]
    assert len(shown["apps"]) == 3
    assert [s[:2] for s in shown["spans"]][:2] == [[0, 10], [10, 20]]
    assert shown["picture"][:4] == [0, 0, 1, 1]  # one picture each two seconds
    assert shown["gaps"] == [[40, 44, "locked"]]
    assert set(shown["states"]) == {"unreviewed"}
    assert shown["gone"] == []


def test_what_was_deleted_or_blurred_since_is_told(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "day", tmp_path / "day")
    run = Path(shutil.copytree(made / "run", tmp_path / "run"))
    told = read_run(run)
    told["given"]["scenarios"] = [str(tmp_path / "day")]
    with sqlite3.connect(tmp_path / "day/session/session.db") as db:
        db.execute("UPDATE screenshots SET privacy_action = 'redacted' WHERE tick BETWEEN 4 AND 7")
        db.execute("UPDATE screenshots SET privacy_action = 'deleted', file_path = NULL WHERE tick BETWEEN 8 AND 9")
        (path,) = db.execute("SELECT file_path FROM screenshots WHERE tick = 20").fetchone()
    db.close()
    (tmp_path / "day/session" / path).unlink()
    found = read_recording(run, told, "day")
    assert found.columns is not None
    assert "changed since" in found.notes[0]
    states = [found.columns["states"][s] for s in found.columns["state"]]
    assert states[3:11] == ["unreviewed", *["redacted"] * 4, *["deleted"] * 2, "unreviewed"]
    assert found.columns["picture"][8] is None
    assert found.columns["gone"] == [found.columns["picture"][20]]


@pytest.mark.parametrize("harm", ["moved", "damaged", "other"])
def test_without_its_recording_the_log_is_shown_alone_and_says_why(made: Path, tmp_path: Path, harm: str) -> None:
    run = Path(shutil.copytree(made / "run", tmp_path / "run"))
    told, day = read_run(run), tmp_path / "day"
    told["given"]["scenarios"] = [str(day)]
    if harm == "damaged":
        shutil.copytree(made / "day", day)
        file = day / "session/session.db"
        file.write_bytes(file.read_bytes()[:200])
    elif harm == "other":
        record(day, seconds=30, needs=())
    found = read_recording(run, told, "day")
    assert found.columns is None
    assert found.pictures == ()
    assert "the log is shown alone" in found.notes[0]
    assert ("does not fit" in found.notes[0]) == (harm == "other")
    assert len(open_unit(run, "day").as_json()["offers"]) == 4


def test_a_recording_is_found_from_wherever_the_pages_are_served(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = read_run(made / "run")
    told["given"]["scenarios"] = ["day"]  # as typed beside the run folder
    monkeypatch.chdir(tmp_path)
    assert read_recording(made / "run", told, "day").columns is not None


def test_hostile_titles_and_texts_are_handed_over_as_they_are(tmp_path: Path) -> None:
    said = {12: ("Error Correction", HOSTILE[0]), 26: ("Translation", HOSTILE[3])}
    run = play(record(tmp_path / "day", titles=HOSTILE), tmp_path / "run", said)
    assert set(_columns(run)["titles"]) == set(HOSTILE)
    view = open_unit(run, "day")
    offers = view.as_json()["offers"]
    assert offers[0]["text"] == HOSTILE[0]
    assert offers[1]["text"] == clip(HOSTILE[3], 400)
    assert view.decision(offers[1]["seq"])["record"]["offers"][0]["text"] == HOSTILE[3]
