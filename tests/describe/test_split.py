"""Splitting by time: nothing is cut, nothing leaks, and planted leaks are found."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from simulator.cli.split import split as command
from simulator.core.calendar import parse_utc_ns
from simulator.core.errors import InputError, UsageError
from simulator.core.types import SECOND
from simulator.session.check import check
from simulator.session.noise import Options, twins
from simulator.session.reader import Reader
from simulator.session.scenario import plays
from simulator.session.schema import FILE_NAME
from simulator.session.split import split
from simulator.session.split_check import Verdict, check_split
from simulator.session.split_cut import Blocks, located
from simulator.session.store import Writer

S = SECOND
ANCHOR = parse_utc_ns("2026-03-02T06:30:00Z")
EVENT_S = 10


def session(
    folder: Path,
    *,
    requests: Sequence[int] = (3, 7),
    events: int = 10,
    at_s: int = 0,
    user: str = "sam",
    anchored: bool = True,
    shade: int = 0,
) -> Path:
    """Events of 10 s, of which some are assistance events; a picture an event, its shade the event's number."""
    with Writer(
        folder, session=folder.name, user=user, utc_anchor_ns=ANCHOR + at_s * S if anchored else None
    ) as writer:
        for n in range(events):
            picture = Image.new("RGB", (32, 18), (0, 20 * n, shade))
            picture.putpixel((n, n % 9), (255, 255, 255))
            for tick in range(n * EVENT_S, (n + 1) * EVENT_S):
                writer.add(tick=tick, captured_ns=tick * S, app_name=f"a{n}", window_title=f"w{n}", image=picture)
            said = json.dumps({"user_queries": [f"{folder.name} question {n}"]}) if n in requests else None
            writer.event(start_ns=n * EVENT_S * S, end_ns=(n + 1) * EVENT_S * S, app_name=f"a{n}", window_title=f"w{n}",
                         is_llm_event=int(n in requests), conversation=said,
                         user_intention="Translation" if n in requests else None)  # fmt: skip
    return folder


def history(out: Path, user: str = "sam", name: str = "history") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / user / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def kinds(verdict: Verdict) -> set[str]:
    return {leak.kind for leak in verdict.leaks}


def test_a_session_is_cut_at_the_end_of_the_event_that_spans_the_share(tmp_path: Path) -> None:
    session(tmp_path / "src" / "s", requests=(2, 8))
    done = split(tmp_path / "src", tmp_path / "out", history=0.55)
    (user,) = done.users
    assert user.cuts == (ANCHOR + 60 * S,), "55 s lies in the event from 50 to 60 s, which goes to the history"
    assert [row["id"] for row in history(tmp_path / "out")] == [f"s/e{n}" for n in range(1, 7)]
    (play,) = plays([tmp_path / "out"])
    assert play.truth.end_ns == 40 * S
    assert [o.query for o in play.truth.opportunities] == ["s question 8"]
    assert play.truth.opportunities[0].acted_ns == 20 * S, "80 s of the session is 20 s behind the cut"
    assert max(event.end_ns for event, _ in play.history) == 0
    assert not [f for f in check(play.source.header.folder) if f.severity == "damage"]  # type: ignore[attr-defined]
    assert user.hours == pytest.approx({"history": 60 / 3600, "evaluation": 40 / 3600})


def test_a_request_that_would_begin_at_the_cut_goes_to_the_history(tmp_path: Path) -> None:
    """Its question is the label of the event before, which is history."""
    session(tmp_path / "src" / "s", requests=(6, 8))
    (user,) = split(tmp_path / "src", tmp_path / "out", history=0.6).users
    assert user.cuts == (ANCHOR + 70 * S,)
    rows = history(tmp_path / "out")
    assert (rows[5]["help"], rows[5]["query"]) == (True, "s question 6")
    assert rows[6]["assistance"]
    assert kinds(check_split(tmp_path / "out")) == set()


def test_no_label_of_a_later_question_is_in_the_history(tmp_path: Path) -> None:
    session(tmp_path / "src" / "s", requests=(3, 8))
    split(tmp_path / "src", tmp_path / "out", history=0.5)
    counts = json.loads((tmp_path / "out" / "sam" / "split.json").read_text(encoding="utf-8"))["counts"]
    assert counts == {
        "events": 5, "events with help": 1, "assistance events": 1, "questions without an event": 0
    }, "the later question is none of the history's"  # fmt: skip
    assert "question 8" not in (tmp_path / "out" / "sam" / "history.jsonl").read_text(encoding="utf-8")
    (play,) = plays([tmp_path / "out"])
    asked = [label.query for _, label in play.history if label is not None and label.help]
    assert asked == ["s question 3"]


def test_of_many_sessions_only_the_one_at_the_cut_is_written_anew(tmp_path: Path) -> None:
    for i in range(4):
        session(tmp_path / "src" / f"s{i}", at_s=3600 * i, shade=i)
    (user,) = split(tmp_path / "src", tmp_path / "out", history=0.6).users
    assert user.cuts == (ANCHOR + 7200 * S + 40 * S,), "60 % of 400 s is 40 s into the third; event 3 ends there"
    names = [p.as_posix() for p in user.scenarios]
    assert names == ["sam/evaluation/s2/scenario.yaml", "sam/evaluation/s3/scenario.yaml"]
    assert [p.parent.name for p in (tmp_path / "out").rglob(FILE_NAME)] == ["session"]
    third, fourth = plays([tmp_path / "out"])
    assert (third.truth.end_ns, fourth.truth.end_ns) == (60 * S, 100 * S)
    assert [e.id for e, _ in third.history] == [e.id for e, _ in fourth.history], "memory is frozen at the split"
    assert len(third.history) == 24


def test_validation_lies_between_and_is_past_for_the_evaluation_only(tmp_path: Path) -> None:
    for i in range(4):
        session(tmp_path / "src" / f"s{i}", at_s=3600 * i, shade=i)
    (user,) = split(tmp_path / "src", tmp_path / "out", history=0.5, validation=0.25).users
    assert list(user.hours.values()) == pytest.approx([200 / 3600, 100 / 3600, 100 / 3600])
    validated, evaluated = sorted(plays([tmp_path / "out"]), key=lambda p: len(p.history))
    assert (len(validated.history), len(evaluated.history)) == (20, 30)
    assert check_split(tmp_path / "out").leaks == []


def test_users_are_split_each_by_their_own_time(tmp_path: Path) -> None:
    session(tmp_path / "src" / "a", user="sam")
    session(tmp_path / "src" / "b", user="kim", at_s=10**6, shade=1)
    done = split(tmp_path / "src", tmp_path / "out", history=0.5)
    assert [u.user for u in done.users] == ["kim", "sam"]
    assert [u.cuts[0] - ANCHOR for u in done.users] == [(10**6 + 50) * S, 50 * S]
    verdict = check_split(tmp_path / "out")
    assert verdict.users_in_both == ["kim", "sam"]
    assert not verdict.leaks


def test_what_a_scenario_states_is_shifted_behind_the_cut_and_labels_the_history(tmp_path: Path) -> None:
    session(tmp_path / "src" / "s", requests=())
    (tmp_path / "src" / "who.yaml").write_text("job: editor\n", encoding="utf-8")
    (tmp_path / "src" / "past.csv").write_text("start,end,help\n-90,-60,false\n", encoding="utf-8")
    (tmp_path / "src" / "scenario.yaml").write_text(
        "session: s\nname: mine\nprofile: who.yaml\nhistory: [past.csv]\ntruth:\n  opportunities:\n"
        "    - {opens_s: 11, closes_s: 19, acted_s: 19, intention: Translation, query: first}\n"
        "    - {opens_s: 45, closes_s: 58, acted_s: 58, intention: Summarization, query: over the cut}\n"
        "    - {opens_s: 71, closes_s: 85, acted_s: 85, intention: Translation, query: last}\n",
        encoding="utf-8",
    )
    (user,) = split(tmp_path / "src", tmp_path / "out", history=0.5).users
    assert user.cuts == (ANCHOR + 60 * S,), "the need from 45 to 58 s is not cut, nor is the event it ends in"
    (play,) = plays([tmp_path / "out"])
    assert [(o.query, o.opens_ns, o.acted_ns) for o in play.truth.opportunities] == [("last", 11 * S, 25 * S)]
    assert (play.key, play.profile) == ("mine", {"job": "editor"})
    assert [label.query for _, label in play.history if label and label.help] == ["first", "over the cut"]
    assert len(play.history) == 1 + 6


def test_splitting_again_changes_nothing_and_other_shares_are_refused(tmp_path: Path) -> None:
    session(tmp_path / "src" / "s")
    split(tmp_path / "src", tmp_path / "out")
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in (tmp_path / "out").rglob("*") if p.is_file()}
    source = {p: p.read_bytes() for p in (tmp_path / "src").rglob("*") if p.is_file()}
    assert split(tmp_path / "src", tmp_path / "out").users[0].unchanged
    assert {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in (tmp_path / "out").rglob("*") if p.is_file()} == before
    with pytest.raises(InputError, match="other sessions or shares"):
        split(tmp_path / "src", tmp_path / "out", history=0.6)
    assert {p: p.read_bytes() for p in (tmp_path / "src").rglob("*") if p.is_file()} == source, "only read"


@pytest.mark.parametrize("harm", ["emptied", "gone"])
def test_what_was_damaged_since_is_no_split_that_changed_nothing(tmp_path: Path, harm: str) -> None:
    session(tmp_path / "src" / "s")
    split(tmp_path / "src", tmp_path / "out")
    table = tmp_path / "out" / "sam" / "history.jsonl"
    table.write_text("") if harm == "emptied" else table.unlink()
    with pytest.raises(
        InputError, match=r"history.jsonl: it is not as the split wrote it; to split anew remove .*/sam"
    ):
        split(tmp_path / "src", tmp_path / "out")


def test_two_versions_of_one_recording_are_not_split_into_one_history(tmp_path: Path) -> None:
    twins(session(tmp_path / "s", user="ann"), tmp_path / "src", Options(kinds=("idle",)))
    with pytest.raises(InputError, match=r"noisy/.* and .*clean/.* are versions of one recording, such as noise twins"):
        split(tmp_path / "src", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    session(tmp_path / "src" / "other")
    done = split(tmp_path / "src", tmp_path / "out")
    assert [user.user for user in done.users] == ["sam"]
    assert len(done.left_out) == 1


def test_two_sessions_of_one_name_are_not_split_into_one_history(tmp_path: Path) -> None:
    session(tmp_path / "src" / "a" / "s")
    session(tmp_path / "src" / "b" / "s", at_s=3600)
    with pytest.raises(InputError, match="two sessions of this user have one name"):
        split(tmp_path / "src", tmp_path / "out")


def test_no_cut_lies_where_only_the_last_screen_stands_still(tmp_path: Path) -> None:
    with Writer(tmp_path / "src" / "s", session="s", user="sam", utc_anchor_ns=ANCHOR) as writer:
        writer.add(tick=0, captured_ns=0, app_name="a")
        writer.add(tick=1, captured_ns=S, app_name="b")
        writer.close(end_ns=100 * S)
    session(tmp_path / "src" / "t", at_s=200)
    (user,) = split(tmp_path / "src", tmp_path / "out", history=0.3).users
    assert user.cuts == (ANCHOR + 100 * S,), "behind its last row at 1 s a part would hold none"


def test_of_many_that_cannot_be_split_one_reason_is_told(tmp_path: Path) -> None:
    for n in range(3):
        session(tmp_path / "src" / f"s{n}", anchored=False)
    with pytest.raises(InputError, match=r"without a calendar .* and 2 more of which likewise$"):
        split(tmp_path / "src", tmp_path / "out")


@pytest.mark.parametrize("shares", [(0.0, 0.0), (1.0, 0.0), (0.7, 0.3), (-0.1, 0.5)])
def test_shares_that_leave_nothing_are_refused(tmp_path: Path, shares: tuple[float, float]) -> None:
    session(tmp_path / "src" / "s")
    with pytest.raises(UsageError, match="above 0 and below 1"):
        split(tmp_path / "src", tmp_path / "out", history=shares[0], validation=shares[1])


def test_what_cannot_be_split_is_left_out_and_told(tmp_path: Path) -> None:
    session(tmp_path / "src" / "a")
    session(tmp_path / "src" / "b", anchored=False)
    done = split(tmp_path / "src", tmp_path / "out")
    assert len(done.users) == 1
    assert "without a calendar" in done.left_out[0]
    with pytest.raises(InputError, match="without a calendar"):
        split(tmp_path / "src" / "b", tmp_path / "other")
    with pytest.raises(UsageError, match="must lie apart"):
        split(tmp_path / "src", tmp_path / "src" / "out")


def test_a_part_holds_nothing_of_what_was_cut_off(tmp_path: Path) -> None:
    folder = session(tmp_path / "src" / "s", requests=(2,))
    with closing(sqlite3.connect(folder / FILE_NAME)) as db:
        db.execute("CREATE TABLE secrets (text)")
        db.execute("INSERT INTO secrets VALUES ('whatever')")
        db.execute("INSERT INTO gaps (from_tick, to_tick, reason) VALUES (15, 15, 'locked')")
        db.execute("INSERT INTO notes (tick, kind) VALUES (5, 'blank'), (95, 'blank')")
        db.commit()
    split(tmp_path / "src", tmp_path / "out", history=0.5)
    (file,) = (tmp_path / "out").rglob(FILE_NAME)
    held = file.read_bytes()
    for word in (b"question 2", b"w3", b"whatever", b"locked"):
        assert word not in held, word
    with Reader(file.parent) as reader:
        assert reader.fetch("SELECT MIN(captured_ns), MAX(captured_ns), COUNT(*) FROM screenshots") == [
            (50 * S, 99 * S, 50)
        ]
        assert reader.table("notes", ("tick",)) == [(95,)]
        assert reader.fetch("PRAGMA freelist_count") == [(0,)], "no page that somebody could look into"
    assert len(list((file.parent / "screenshots").rglob("*.webp"))) == 5


def planted(tmp_path: Path) -> Path:
    session(tmp_path / "src" / "s", requests=(2, 8))
    split(tmp_path / "src", tmp_path / "out", history=0.5)
    assert check_split(tmp_path / "out").leaks == []
    return tmp_path / "out" / "sam" / "history.jsonl"


def plant(file: Path, **row: object) -> None:
    told = {"start": "2026-03-02T06:00:00Z", "end": "2026-03-02T06:00:10Z", **row}
    file.write_text(file.read_text(encoding="utf-8") + json.dumps(told) + "\n", encoding="utf-8")


def test_a_planted_question_is_found_and_may_be_allowed(tmp_path: Path) -> None:
    file = planted(tmp_path)
    plant(file, help=True, intention="Translation", query=" S Question 8 ", id="planted")
    (leak,) = check_split(tmp_path / "out").leaks
    assert (leak.kind, leak.user) == ("query", "sam")
    assert leak.history.endswith("event planted")
    assert "question" not in f"{leak.evaluated} {leak.history}".lower(), "ids, not what was asked"
    allowed = check_split(tmp_path / "out", allow_repeats=True)
    assert (allowed.leaks, allowed.repeats["query"]) == ([], 1)


def test_a_planted_question_of_an_assistance_row_is_found(tmp_path: Path) -> None:
    file = planted(tmp_path)
    plant(file, assistance=True, query="s question 8", id="planted")
    assert kinds(check_split(tmp_path / "out")) == {"query"}


def test_a_planted_event_is_found_by_its_id(tmp_path: Path) -> None:
    file = planted(tmp_path)
    plant(file, app="a9", id="s/e9")
    assert kinds(check_split(tmp_path / "out")) == {"event"}


def test_an_event_of_the_evaluated_time_in_another_history_is_found(tmp_path: Path) -> None:
    for i in range(2):
        session(tmp_path / "src" / f"s{i}", at_s=3600 * i, shade=i, requests=(4,))
        (tmp_path / "src" / f"s{i}" / "scenario.yaml").write_text(
            "session: .\n" + ("history: [../past.csv]\n" if i else ""), encoding="utf-8"
        )
    (tmp_path / "src" / "past.csv").write_text(
        "start,end,help,intention\n2026-03-02T06:30:20Z,2026-03-02T06:30:40Z,true,Translation\n", encoding="utf-8"
    )
    assert kinds(check_split(tmp_path / "src")) == {"moment", "label"}, "of s0, which is evaluated too"


def test_a_planted_picture_is_found_and_near_duplicates_are_only_counted(tmp_path: Path) -> None:
    planted(tmp_path)
    out = tmp_path / "out"
    assert check_split(out, pictures=True).near_duplicates == 0
    with closing(sqlite3.connect(tmp_path / "src" / "s" / FILE_NAME)) as db:
        columns = "file_path, file_hash, pixels_hash"
        (late,) = db.execute(f"SELECT {columns} FROM screenshots WHERE id = 95").fetchall()
        db.execute("UPDATE screenshots SET file_path = ?, file_hash = ?, pixels_hash = ? WHERE id = 12", late)
        db.commit()
    verdict = check_split(out, pictures=True)
    assert kinds(verdict) == {"picture"}
    assert verdict.near_duplicates == 1
    assert check_split(out, allow_repeats=True).leaks == []


def test_a_history_that_reaches_into_its_own_session_is_an_error_of_its_own(tmp_path: Path) -> None:
    file = planted(tmp_path)
    plant(file, start="2026-03-02T06:31:00Z", end="2026-03-02T06:31:10Z")
    with pytest.raises(InputError, match="before the session's first snapshot"):
        check_split(tmp_path / "out")


def test_the_command_says_leaks_by_ids_and_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session(tmp_path / "src" / "s", requests=(2, 8))
    assert command(tmp_path / "src", tmp_path / "out", history=0.5, json=True) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [r["event"] for r in records] == ["split", "done"]
    assert command(tmp_path / "out", check=True) == 0
    assert "0 leaks" in capsys.readouterr().out
    plant(tmp_path / "out" / "sam" / "history.jsonl", help=True, intention="Translation", query="s question 8")
    assert command(tmp_path / "out", check=True, json=True) == 2
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [r["event"] for r in records] == ["leak", "done"]
    assert records[-1]["leaks"] == {"query": 1}
    with pytest.raises(UsageError, match="name OUT"):
        command(tmp_path / "src")
    with pytest.raises(UsageError, match="belong to --check"):
        command(tmp_path / "src", tmp_path / "o", pictures=True)


def test_two_scenarios_of_a_session_are_of_one_user_each_once(tmp_path: Path) -> None:
    session(tmp_path / "src" / "s")
    for name, user in (("a", "sam"), ("b", "kim"), ("c", "kim")):
        (tmp_path / "src" / name).mkdir()
        (tmp_path / "src" / name / "scenario.yaml").write_text(f"session: ../s\nuser: {user}\n", encoding="utf-8")
    done = split(tmp_path / "src", tmp_path / "out", history=0.5)
    assert [u.user for u in done.users] == ["kim", "sam"]
    assert "of one user each once" in done.left_out[0]


spans = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 40)).map(lambda p: (p[0], p[0] + p[1])), max_size=12)


@given(spans, spans, st.integers(0, 250))
def test_a_cut_lies_in_nothing_and_before_no_request(events: list[tuple[int, int]], asks: list[tuple[int, int]], at: int
                                                     ) -> None:  # fmt: skip
    cut = Blocks(events, asks).first_cut(at)
    assert cut >= at
    assert not any(start < cut < end for start, end in [*events, *asks])
    assert not any(start == cut < end for start, end in asks)
    free = (
        t
        for t in range(at, cut)
        if not any(a < t < b for a, b in [*events, *asks]) and not any(a == t < b for a, b in asks)
    )
    assert next(free, None) is None, "the first one"


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=8), st.floats(0, 0.999))
def test_a_share_is_located_where_so_much_lies_before_it(lengths: list[int], share: float) -> None:
    i, offset = located(lengths, share)
    assert sum(lengths[:i]) + offset == round(share * sum(lengths))
    assert i == len(lengths) or 0 <= offset < lengths[i]


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=6, max_size=14),
    st.floats(0.1, 0.8),
)
def test_whatever_is_split_by_time_leaks_nothing(
    tmp_path_factory: pytest.TempPathFactory, stretches: list[tuple[int, bool]], share: float
) -> None:
    home = tmp_path_factory.mktemp("any")
    with Writer(home / "src" / "s", user="sam", utc_anchor_ns=ANCHOR) as writer:
        at = 0
        for n, (length, asked) in enumerate(stretches):
            rows = [(t, t * S, f"a{n}", f"w{n}") for t in range(at, at + length)]
            writer.add_rows(("tick", "captured_ns", "app_name", "window_title"), rows)
            said = json.dumps({"user_queries": [f"question {n}"]}) if asked else None
            writer.event(start_ns=at * S, end_ns=(at + length) * S, app_name=f"a{n}", window_title=f"w{n}",
                         is_llm_event=int(asked), conversation=said)  # fmt: skip
            at += length
    with suppress(InputError):  # nothing would be left to evaluate
        split(home / "src", home / "out", history=share)
    if not (home / "out").exists():
        return
    verdict = check_split(home / "out")
    assert verdict.leaks == []
