"""What ``proact forget`` says before and after it changed anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.cli import _call
from simulator.core.calendar import from_utc_ns
from simulator.core.errors import Exit
from simulator.core.types import SECOND
from simulator.endpoint.holding import Hold
from simulator.session.store import Writer


def test_a_long_path_stays_whole_where_a_program_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a-folder-with-a-name" / "that-takes-more-than-the-eighty-columns-of-a-terminal" / "s"
    with Writer(folder, user="sam") as writer:
        writer.add(tick=0, captured_ns=0)
    assert _call(["forget", "sam", "--in", str(tmp_path), "--dry-run"]) == Exit.DONE
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("session  ")]
    assert said == [f"session  {folder}  the whole session: 1 row, 0 pictures, 0 events"]


def test_files_that_are_named_go_as_a_whole_and_what_is_no_such_file_is_left_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    here = tmp_path / "here"
    with Writer(here / "s", user="sam") as writer:
        writer.add(tick=0, captured_ns=0)
    calls, texts = tmp_path / "tapes" / "calls.jsonl", tmp_path / "texts.txt"
    calls.parent.mkdir()
    calls.write_text('{"kind":"cassette","schema":1}\n{"kind":"call"}\n{"kind":"call"}\n')
    texts.write_text("what was read")
    words = ["forget", "sam", "--in", str(here), "--also", str(calls), "--also", str(texts)]
    assert _call([*words, "--dry-run"]) == Exit.DONE
    assert f"named  {calls}  a cassette of 2 calls, all of it" in capsys.readouterr().out.splitlines()
    assert calls.exists()
    (tmp_path / "link").symlink_to(texts)
    others = [tmp_path / "link", tmp_path / "nowhere", tmp_path / "tapes", here / "s" / "session.db"]
    assert _call([*words, *(word for path in others for word in ("--also", str(path)))]) == Exit.USAGE
    said = capsys.readouterr()
    assert all(f"left: {path}: " in said.err for path in others)
    assert not calls.exists()
    assert not texts.exists()
    assert not (here / "s").exists()


def test_a_cassette_that_is_being_recorded_into_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "calls.jsonl"
    path.write_text('{"kind":"cassette","schema":1}\n')
    (tmp_path / "here").mkdir()
    hold = Hold(path)
    assert _call(["forget", "sam", "--in", str(tmp_path / "here"), "--also", str(path)]) == Exit.USAGE
    assert "calls are being recorded into it" in capsys.readouterr().err
    hold.release()
    assert _call(["forget", "sam", "--in", str(tmp_path / "here"), "--also", str(path)]) == Exit.DONE
    assert not path.exists()


def test_a_stretch_that_holds_nothing_says_until_when_something_was_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start_ns = 1_780_000_000 * SECOND
    with Writer(tmp_path / "s", user="sam", utc_anchor_ns=start_ns) as writer:
        for tick in range(3):
            writer.add(tick=tick, captured_ns=tick * SECOND, wall_utc_ms=start_ns // 10**6 + 1000 * tick)
    assert _call(["forget", "sam", "--in", str(tmp_path), "--from", "10s", "--yes"]) == Exit.DONE
    said = " ".join(capsys.readouterr().out.split())
    last = from_utc_ns(start_ns + 2 * SECOND).isoformat()
    assert f"nothing of 'sam' was found in that stretch; what is recorded ends at {last}" in said
