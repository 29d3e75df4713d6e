"""What is in use or damaged stays, is told, and takes nothing else with it; what says whose it is goes after it."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from simulator.cli import _call
from simulator.core.lock import FolderLock
from simulator.core.types import SECOND
from simulator.privacy.forget import plan
from simulator.privacy.items import Unreached
from simulator.privacy.span import Span
from simulator.runs.lock import Lock
from tests.privacy.study import START, WORD, record

STRETCH = Span(START + 2 * SECOND, START + 8 * SECOND)


@pytest.fixture(autouse=True)
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no cache"))


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A folder as ``proact live`` leaves it."""
    folder = tmp_path / "data" / "demo"
    record(folder / "session", "sam")
    (folder / "profile.yaml").write_text(f"job: {WORD} dealer\n")
    rows = [
        {"start": -60.0, "end": -30.0, "title": f"{WORD} long ago"},
        {"start": 3.0, "end": 4.0, "title": f"{WORD} in the stretch"},
    ]
    (folder / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "scenario.yaml").write_text(
        "session: session\nuser: sam\nhistory: [history.jsonl]\nprofile: profile.yaml\ntruth:\n  opportunities:\n"
        f"    - {{opens_s: 3, closes_s: 5, intention: Translation, query: {WORD} said}}\n"
    )
    return folder


def _damage(session: Path) -> None:
    os.truncate(session / "session.db", 9000)


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _why(left: list[Unreached]) -> dict[str, str]:
    return {one.path.name: one.why for one in left if not one.only_maybe}


def test_what_is_being_recorded_stays_with_its_scenario_and_what_that_names(demo: Path) -> None:
    before = _files(demo)
    lock = FolderLock(demo / "session" / ".recording.lock", "")
    left = plan("sam", [demo.parent]).carry_out()
    assert _files(demo) == before | {"session/.recording.lock"}
    assert set(_why(left)) == {"session.db", "scenario.yaml", "history.jsonl", "profile.yaml"}
    lock.release()
    assert plan("sam", [demo.parent]).carry_out() == []
    assert not _files(demo.parent)


def test_a_live_run_keeps_its_scenario_from_its_first_moment_on(demo: Path) -> None:
    """The run is opened before the first picture is taken: there is no session yet."""
    run = demo / "run"
    run.mkdir()
    for path in sorted((demo / "session").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    resolved = {"demo": {"user": "sam", "session": "demo"}}
    given = {"live": str(demo / "scenario.yaml")}
    (run / "run.json").write_text(json.dumps({"resolved": resolved, "units": {}, "given": given}))
    before = _files(demo)
    lock = Lock(run)
    left = plan("sam", [demo.parent]).carry_out()
    lock.release()
    assert _files(demo) == before | {"run/.lock"}
    assert {"run", "scenario.yaml"} <= set(_why(left))


def test_a_session_that_is_played_stays_until_the_run_has_ended(demo: Path) -> None:
    run = demo.parent / "run"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"resolved": {"u": {"user": "sam", "session": "session"}}, "units": {}}))
    before = _files(demo)
    lock = Lock(run)
    for span in (None, STRETCH):
        left = plan("sam", [demo.parent], span).carry_out()
        assert _files(demo) == before
        assert {"run", "session"} <= set(_why(left))
    lock.release()
    assert plan("sam", [demo.parent]).carry_out() == []


def test_a_scenario_stays_with_a_session_that_is_found_open_at_the_last_moment(demo: Path) -> None:
    """By a program that holds no lock of ours."""
    made = plan("sam", [demo.parent])
    other = sqlite3.connect(demo / "session" / "session.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    left = made.carry_out()
    other.close()
    assert {"scenario.yaml", "session"} <= set(_why(left))
    assert (demo / "scenario.yaml").exists()
    assert (demo / "session" / "session.db").exists()


@pytest.mark.parametrize("gone", [True, False])
def test_a_scenario_stays_with_a_session_that_cannot_be_read(
    demo: Path, gone: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    (demo / "session" / "session.db").unlink() if gone else _damage(demo / "session")
    before = {name for name in _files(demo) if name.startswith("session/")}
    code = _call(["forget", "sam", "--in", str(demo)])
    said = capsys.readouterr().err
    assert code == 2
    assert ("session.db is gone" if gone else "the database is damaged") in said.replace("\n", " ")
    assert _files(demo) == before | {"scenario.yaml"}
    assert _call(["forget", "sam", "--in", str(demo)]) == 2


def test_pictures_that_nobody_names_are_told(demo: Path) -> None:
    (demo / "scenario.yaml").unlink()
    (demo / "session" / "session.db").unlink()
    left = plan("sam", [demo / "session"]).carry_out()
    assert "remove the folder by hand" in _why(left)["session"]


def test_pictures_that_a_scenario_names_elsewhere_are_told(demo: Path, tmp_path: Path) -> None:
    (demo / "session").rename(tmp_path / "far")
    (tmp_path / "far" / "session.db").unlink()
    (demo / "scenario.yaml").write_text("session: ../../far\nuser: sam\ntruth: none\n")
    left = plan("sam", [demo]).carry_out()
    assert set(_why(left)) == {"far", "scenario.yaml"}


def test_what_lies_outside_is_told_as_that_also_while_it_is_played(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (demo / "history.jsonl").rename(tmp_path / "history.jsonl")
    text = (demo / "scenario.yaml").read_text().replace("[history.jsonl]", "[../../history.jsonl]")
    (demo / "scenario.yaml").write_text(text)
    lock = FolderLock(demo / "session" / ".recording.lock", "")
    assert "outside" in _why(plan("sam", [demo]).carry_out())["history.jsonl"]
    assert _call(["forget", "sam", "--in", str(demo)]) == 2
    assert capsys.readouterr().out == "nothing was forgotten\n"
    lock.release()


def test_screenshots_of_others_are_no_session(tmp_path: Path) -> None:
    (tmp_path / "screenshots" / "holiday").mkdir(parents=True)
    (tmp_path / "screenshots" / "holiday" / "sea.png").write_bytes(b"x")
    assert plan("sam", [tmp_path]).unreached == []


def test_a_damaged_session_does_not_widen_a_stretch(demo: Path) -> None:
    history = demo / "history.jsonl"
    _damage(demo / "session")
    before = (history.read_bytes(), (demo / "scenario.yaml").read_bytes())
    left = plan("sam", [demo], STRETCH).carry_out()
    assert (history.read_bytes(), (demo / "scenario.yaml").read_bytes()) == before
    assert "rows that count from a session whose time nobody can tell" in _why(left)["history.jsonl"]
    assert _why(left)["scenario.yaml"].endswith("stay: 1")


def test_rows_with_a_date_go_by_it_whatever_their_session_is(demo: Path) -> None:
    history = demo / "history.jsonl"
    rows = [
        {"start": "2026-10-26T07:33:23Z", "end": "2026-10-26T07:33:24Z", "title": "in it"},
        {"start": "2026-10-20T07:33:23Z", "end": "2026-10-20T07:33:24Z", "title": "before"},
        {"start": -60.0, "end": -30.0, "title": "by the session"},
        {"start": None, "end": "soon", "title": "without a time"},
    ]
    history.write_text("".join(json.dumps(row) + "\n" for row in rows))
    _damage(demo / "session")
    left = plan("sam", [demo], STRETCH).carry_out()
    assert [json.loads(line)["title"] for line in history.read_text().splitlines()] == ["before", "by the session"]
    assert _why(left)["history.jsonl"].endswith("stay: 1")


def test_a_sound_session_says_what_goes_where_another_is_damaged(demo: Path) -> None:
    """Both name one history: what is of the stretch for the sound one goes, and no more."""
    record(demo / "broken", "sam")
    _damage(demo / "broken")
    (demo / "other.yaml").write_text("session: broken\nuser: sam\nhistory: [history.jsonl]\ntruth: none\n")
    left = plan("sam", [demo], STRETCH).carry_out()
    kept = [json.loads(line)["title"] for line in (demo / "history.jsonl").read_text().splitlines()]
    assert kept == [f"{WORD} long ago"]
    assert _why(left)["history.jsonl"].endswith("stay: 1")
