"""``proact dataset privacy``: scan, review and status, by words, files and keys."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import _call
from simulator.core.errors import Exit
from simulator.privacy import scan as scanning
from tests.privacy import desk


@pytest.fixture(autouse=True)
def _exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """No OCR here: a reader that knows what is written where."""
    monkeypatch.setattr(scanning, "readings", lambda language: desk.readings())


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return desk.record(tmp_path / "s", titles={7: "Online Banking", 8: "Online Banking"})


def call(*words: object) -> int:
    return _call(["dataset", "privacy", *map(str, words)])


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def states(session: Path) -> list[str | None]:
    with sqlite3.connect(session / "session.db") as db:
        return [state for (state,) in db.execute("SELECT privacy_action FROM screenshots ORDER BY id")]


def test_a_scan_says_what_it_did_and_what_rules_cannot_find(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("scan", session) == Exit.DONE
    said = capsys.readouterr().out
    assert "1 window: banking" in said
    assert "cannot find names and faces" in said
    assert not any(secret in said for secret in desk.SECRETS)


def test_scan_and_status_agree_on_pictures_that_became_the_same(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("scan", session) == Exit.DONE
    assert "7, 7 looked at now; filling made some the same, so there are 6 now" in capsys.readouterr().out
    assert _call(["dataset", "status", str(session), "--json"]) == Exit.DONE
    assert records(capsys.readouterr().out)[-1]["pictures"] == 6
    call("status", session, "--json")
    status, _ = records(capsys.readouterr().out)
    assert sum(status["pictures"].values()) == 6


def test_in_json_the_same_as_records(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("scan", session, "--dry-run", "--json") == Exit.DONE
    scanned, done = records(capsys.readouterr().out)
    assert (scanned["event"], scanned["dry"], scanned["n_redacted"], scanned["found"]["iban"]) == (
        "scanned",
        True,
        0,
        3,
    )
    assert done["event"] == "done"
    assert set(states(session)) == {None}


def test_a_dry_run_says_how_many_texts_it_would_change(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("scan", session, "--dry-run") == Exit.DONE
    assert "would be changed, 3 OCR texts removed" in capsys.readouterr().out


def test_status_counts_states(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("status", session, "--json")
    status, done = records(capsys.readouterr().out)
    assert status["pictures"] == {"unreviewed": 7, "passed": 0, "redacted": 0}
    assert done["unreviewed"] == 7
    call("scan", session)
    capsys.readouterr()
    assert call("status", session) == Exit.DONE
    assert "waiting: window: banking" in capsys.readouterr().out


def test_a_review_by_files(session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("scan", session)
    file = tmp_path / "queue.jsonl"
    assert call("review", session, "--queue", file) == Exit.DONE
    (line,) = records(file.read_text(encoding="utf-8"))
    assert line["why"] == ["window: banking"]
    file.write_text(json.dumps({**line, "decision": "delete"}), encoding="utf-8")
    capsys.readouterr()
    assert call("review", session, "--decisions", file, "--json") == Exit.DONE
    assert records(capsys.readouterr().out) == [{"event": "done", "waiting": 1, "decisions": 1}]
    assert states(session)[7] == "unreviewed"
    assert call("review", session, "--close", "--neighbours", "--json") == Exit.DONE
    closed, done = records(capsys.readouterr().out)
    assert closed["deleted"] == 1 + closed["like_deleted"]
    assert (done["waiting"], done["decisions"]) == (0, 0)
    assert states(session)[7:9] == ["deleted", "deleted"]


def test_a_decision_can_be_taken_back_until_the_review_is_closed(session: Path, tmp_path: Path) -> None:
    with sqlite3.connect(session / "session.db") as db:
        ((path,),) = db.execute("SELECT file_path FROM screenshots WHERE tick = 7").fetchall()
    file = tmp_path / "d.csv"
    file.write_text(f"picture,decision\n{path},delete\n", encoding="utf-8")
    call("review", session, "--decisions", file)
    call("review", session, "--undo", 1, "--close")
    assert states(session)[7] is None


def test_a_review_by_keys(session: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    keys = iter(["x", "r", "u", "d", "s", "s", "b", "c"])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt="": next(keys))
    assert call("review", session) == Exit.DONE
    said = capsys.readouterr().out
    assert "7 pictures" in said
    assert "0 retained, 1 filled" in said
    assert states(session)[0] == "deleted"


def test_leaving_carries_nothing_out(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(prompt: str = "") -> str:
        raise EOFError

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", gone)
    assert call("review", session) == Exit.DONE
    assert set(states(session)) == {None}


@pytest.mark.parametrize("words", [["scan"], ["scan", "/nowhere"], ["status", "/nowhere"], ["review", "/nowhere"],
                                   ["scan", "{s}", "--jobs", "0"], ["scan", "{s}", "--rules", "/nowhere.yaml"],
                                   ["review", "{s}", "--decisions", "/nowhere.jsonl"]])  # fmt: skip
def test_what_cannot_be_done_is_one_sentence(
    session: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*(word.replace("{s}", str(session)) for word in words)) == Exit.USAGE
    error = capsys.readouterr().err
    assert error.startswith("proact: ")
    assert error.count("\n") == 1


def test_a_review_counts_in_words_what_waits_and_what_a_queue_holds(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call("scan", session)
    file = tmp_path / "queue.jsonl"
    capsys.readouterr()
    call("review", session, "--queue", file)
    said = capsys.readouterr().out
    assert f"1 line in {file}" in said
    assert "1 picture waits, 0 decisions noted\n" in said
    (line,) = records(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**line, "decision": "retain"}), encoding="utf-8")
    call("review", session, "--decisions", file)
    assert "1 picture waits, 1 decision noted; --close carries it out" in capsys.readouterr().out
    call("review", session, "--close")
    capsys.readouterr()
    call("review", session, "--queue", file)
    assert f"{file} has no lines: nothing waits for a decision" in capsys.readouterr().out


def test_a_queue_shows_what_was_found_on_a_picture_that_waits(tmp_path: Path) -> None:
    session = desk.record(tmp_path / "q", titles={6: "Online Banking"})  # the card is on it, and is filled
    call("scan", session)
    for file in (tmp_path / "queue.jsonl", tmp_path / "queue.csv"):
        call("review", session, "--queue", file)
    (line,) = records((tmp_path / "queue.jsonl").read_text(encoding="utf-8"))
    assert {(one["kind"], one["filled"], len(one["box"])) for one in line["found"]} == {("card", True, 4)}
    assert line["boxes"] == []
    assert "card (filled)" in (tmp_path / "queue.csv").read_text(encoding="utf-8")


def _named(session: Path, name: str) -> Path:
    with sqlite3.connect(session / "session.db") as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'session'", (name,))
    return session


def test_runs_and_reports_that_a_scan_does_not_change_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    day, other = (_named(desk.record(tmp_path / "live" / name), name) for name in ("day", "night"))
    played = ("--agent", "silent", "--memory", "none", "--clock", "modelled", "--latency", "fixed:0s")
    for session, out in ((day, "live/run"), (day, "runs/later"), (other, "live/another")):
        assert _call(["run", str(session), *played, "--out", out]) == Exit.DONE
    assert _call(["report", "live/run", "--with-frames", "1"]) == Exit.DONE
    capsys.readouterr()
    call("scan", day, "--dry-run")
    assert "not changed" not in capsys.readouterr().err
    call("scan", day)
    said = capsys.readouterr().err
    assert "what agents said of it stays in live/run, runs/later;" in said
    assert "may stand in live/run/report.html; `proact report` makes" in said
    call("review", day, "--close", "--json")
    told = next(one for one in records(capsys.readouterr().out) if one["event"] == "not_changed")
    assert (told["runs"], told["reports"]) == (["live/run", "runs/later"], ["live/run/report.html"])
    call("scan", _named(desk.record(tmp_path / "elsewhere" / "dawn"), "dawn"))
    assert "not changed" not in capsys.readouterr().err
