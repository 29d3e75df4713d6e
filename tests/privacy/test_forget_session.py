"""Forgetting recorded sessions: all of a user, or a stretch of time, whenever the call is cut short."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from simulator.core.types import SECOND
from simulator.privacy.forget import plan
from simulator.privacy.forget_session import read_head
from simulator.privacy.span import Span
from simulator.session.check import check
from simulator.session.reader import Reader
from simulator.session.store import Writer
from tests.privacy.study import START, WORD, record

CUT = Span(START + 5 * SECOND, START + 10 * SECOND)


def _forget(folder: Path, span: Span | None = None, user: str = "sam") -> list[str]:
    return [str(one.why) for one in plan(user, [folder], span).carry_out()]


def _holding(folder: Path, word: str) -> list[str]:
    return [p.name for p in sorted(folder.rglob("*")) if p.is_file() and word.encode() in p.read_bytes()]


def _damage(folder: Path) -> list[str]:
    return [f.sentence for f in check(folder) if f.severity != "note"]


def test_nothing_of_a_user_is_left_of_their_session(tmp_path: Path) -> None:
    record(tmp_path / "s", "sam")
    record(tmp_path / "t", "kim", word="harmless")
    assert _holding(tmp_path, WORD)
    assert _forget(tmp_path) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t"]
    assert _damage(tmp_path / "t") == []


def test_a_stretch_goes_with_its_pictures_and_becomes_a_gap(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    record(folder, "sam")
    with Reader(folder) as before:
        paths = [p for (p,) in before.rows(("file_path",))]
        end = before.header.end_ns
    assert _forget(tmp_path, CUT) == []
    assert _holding(folder, f"{WORD} title of 1") == []
    assert not (folder / paths[5]).exists()
    assert (folder / paths[0]).exists()
    with Reader(folder) as reader:
        assert [t for (t,) in reader.rows(("tick",))] == [*range(5), *range(10, 20)]
        assert [(g.start_ns, g.end_ns, g.reason) for g in reader.header.gaps] == [(5 * SECOND, 10 * SECOND, "missing")]
        assert reader.header.end_ns == end
        assert reader.fetch("SELECT id FROM opportunities") == [("late",)]
        assert reader.fetch("SELECT note FROM labels") == [(f"{WORD} note late",)]
    assert _damage(folder) == []


def test_an_event_that_reaches_into_the_stretch_ends_there_without_its_summary(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    record(folder, "sam")
    _forget(tmp_path, CUT)
    with Reader(folder) as reader:
        rows = reader.fetch(
            "SELECT id, start_ns, end_ns, end_tick, window_title, event_summary FROM events ORDER BY id"
        )
        assert rows[0] == (1, 0, 5 * SECOND, 4, f"{WORD} title of 0", None)
        assert [r[0] for r in rows] == [1, 2, 3]


def test_an_assistance_event_in_the_stretch_goes_whole(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    record(folder, "sam")
    _forget(tmp_path, Span(START + 15 * SECOND, START + 16 * SECOND))
    with Reader(folder) as reader:
        assert [i for (i,) in reader.fetch("SELECT id FROM events ORDER BY id")] == [1, 3]
        assert reader.fetch("SELECT COUNT(*) FROM screenshots WHERE event_id = 2") == [(0,)]
    assert _holding(folder, f"{WORD} question") == []


def test_time_zero_stays_when_the_beginning_is_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    record(folder, "sam")
    _forget(tmp_path, Span(None, START + 10 * SECOND))
    with Reader(folder) as reader:
        first = next(reader.rows(("tick", "captured_ns", "window_title", "file_path", "text", "privacy_action")))
        assert first == (0, 0, None, None, None, "deleted")
        assert reader.header.utc_anchor_ns == START
        assert [(g.start_ns, g.end_ns) for g in reader.header.gaps] == [(SECOND, 10 * SECOND)]
    assert _holding(folder, f"{WORD} title of 0") == []
    assert _damage(folder) == []
    assert plan("sam", [tmp_path], Span(None, START + 10 * SECOND)).items == []


def test_the_end_is_forgotten_and_the_session_is_as_long_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    record(folder, "sam")
    _forget(tmp_path, Span(START + 15 * SECOND, None))
    with Reader(folder) as reader:
        assert reader.header.n_rows == 15
        assert reader.header.end_ns == 20 * SECOND
        assert [(g.start_ns, g.end_ns) for g in reader.header.gaps] == [(15 * SECOND, 20 * SECOND)]
    assert _damage(folder) == []


def test_a_stretch_that_covers_the_session_removes_it(tmp_path: Path) -> None:
    record(tmp_path / "s", "sam")
    _forget(tmp_path, Span(START, START + 20 * SECOND))
    assert list(tmp_path.iterdir()) == []


def test_gaps_that_are_there_are_not_overlapped(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    record(folder, "sam")
    db = sqlite3.connect(folder / "session.db")
    db.execute("DELETE FROM screenshots WHERE tick IN (4, 5)")
    db.execute("INSERT INTO gaps (from_tick, to_tick, reason, detail) VALUES (4, 5, 'locked', 'zanzibar detail')")
    db.commit()
    db.close()
    _forget(tmp_path, Span(START + 3 * SECOND, START + 7 * SECOND))
    with Reader(folder) as reader:
        gaps = reader.fetch("SELECT from_tick, to_tick, reason, detail FROM gaps ORDER BY from_tick")
        assert gaps == [(3, 3, "missing", None), (4, 5, "locked", None), (6, 6, "missing", None)]
    assert _damage(folder) == []


def test_masks_and_notes_of_the_stretch_go_too(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    record(folder, "sam")
    db = sqlite3.connect(folder / "session.db")
    db.executemany(
        "INSERT INTO masks (tick, monitor, x, y, w, h, reason) VALUES (?, 1, 0, 0, 1, 1, 'bank')", [(6,), (12,)]
    )
    db.executemany("INSERT INTO notes (tick, kind, detail) VALUES (?, 'blank', 'x')", [(6,), (12,)])
    db.commit()
    db.close()
    _forget(tmp_path, CUT)
    with Reader(folder) as reader:
        assert reader.fetch("SELECT tick FROM masks") == [(12,)]
        assert reader.fetch("SELECT tick FROM notes") == [(12,)]


def test_a_session_without_calendar_time_is_told_and_left(tmp_path: Path) -> None:
    record(tmp_path / "s", "sam", start_ns=None)
    made = plan("sam", [tmp_path], CUT)
    assert made.items == []
    assert "calendar time" in made.unreached[0].why


def test_one_that_is_being_recorded_is_told_and_left(tmp_path: Path) -> None:
    record(tmp_path / "s", "sam")
    with Writer(tmp_path / "live", session="live", user="sam", utc_anchor_ns=START) as writer:
        writer.add(tick=0, captured_ns=0, window_title=f"{WORD} live")
        left = _forget(tmp_path)
        assert (tmp_path / "live" / "session.db").exists()
    assert len(left) == 1
    assert "end the recording" in left[0]
    assert _forget(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("span", [None, CUT])
def test_a_session_that_a_crash_left_open_is_forgotten_with_its_write_ahead_log(
    tmp_path: Path, span: Span | None
) -> None:
    with Writer(tmp_path / "made", session="s", user="sam", utc_anchor_ns=START) as writer:
        for i in range(12):
            writer.add(tick=i, captured_ns=i * SECOND, monitor=1, window_title=f"{WORD} title of {i // 5}")
        shutil.copytree(tmp_path / "made", tmp_path / "in" / "s")
    assert "session.db-wal" in _holding(tmp_path / "in", WORD)
    assert _forget(tmp_path / "in", span) == []
    assert _holding(tmp_path / "in", WORD if span is None else f"{WORD} title of 1") == []
    if span is not None:
        with Reader(tmp_path / "in" / "s") as reader:
            assert (reader.header.state, reader.header.n_rows) == ("recording", 7)


def test_pictures_outside_of_the_folder_are_told_and_left(tmp_path: Path) -> None:
    folder, picture = tmp_path / "in" / "s", tmp_path / "elsewhere.webp"
    record(folder, "sam", n=3)
    picture.write_bytes(b"x")
    db = sqlite3.connect(folder / "session.db")
    db.execute("UPDATE screenshots SET file_path = '../../elsewhere.webp' WHERE tick = 1")
    db.commit()
    db.close()
    left = _forget(tmp_path / "in")
    assert "outside of its folder" in left[0]
    assert picture.exists()


@pytest.mark.parametrize("span", [None, CUT])
def test_pictures_behind_a_link_are_told_and_left(tmp_path: Path, span: Span | None) -> None:
    """Two sessions may share them."""
    record(tmp_path / "in" / "s", "sam")
    (tmp_path / "in" / "s" / "screenshots").rename(tmp_path / "shared")
    (tmp_path / "in" / "s" / "screenshots").symlink_to(tmp_path / "shared")
    left = _forget(tmp_path / "in", span)
    assert "a link, not followed" in left[0]
    assert len(list((tmp_path / "shared").rglob("*.webp"))) == 4


def test_files_that_proact_did_not_make_are_told_and_left(tmp_path: Path) -> None:
    record(tmp_path / "s", "sam", n=3)
    (tmp_path / "s" / "mine.txt").write_text("notes of mine")
    left = _forget(tmp_path)
    assert "did not make" in left[0]
    assert [p.name for p in (tmp_path / "s").iterdir()] == ["mine.txt"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    record(tmp_path / "far" / "s", "sam", n=3)
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "s").symlink_to(tmp_path / "far" / "s")
    made = plan("sam", [tmp_path / "near"])
    assert made.items == []
    assert "not followed" in made.unreached[0].why
    assert (tmp_path / "far" / "s" / "session.db").exists()


@pytest.mark.parametrize("span", [None, CUT])
def test_killed_at_any_step_the_next_call_ends_it(
    tmp_path: Path, span: Span | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut short before each removal of a file, a second call leaves the same as an undisturbed one."""
    step = 0
    while True:
        root = tmp_path / str(step)
        record(root / "s", "sam")
        done = _killed(root, span, step, monkeypatch)
        _forget(root, span)
        assert _holding(root, WORD if span is None else f"{WORD} title of 1") == [], step
        if span is None:
            assert not (root / "s").exists()
        else:
            assert _damage(root / "s") == []
            assert len(list((root / "s" / "screenshots").rglob("*.webp"))) == 3
            assert not read_head(root / "s").half_done
        if done:
            break
        step += 1
    assert step > (2 if span is None else 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("span", [None, CUT])
def test_a_process_that_dies_at_any_statement_leaves_what_a_second_call_ends(tmp_path: Path, span: Span | None) -> None:
    step = n_died = 0
    while True:
        root = tmp_path / str(step)
        record(root / "s", "sam")
        died = _dies(root, span, step)
        n_died += died
        _forget(root, span)
        assert _holding(root, WORD if span is None else f"{WORD} title of 1") == [], step
        assert (root / "s").exists() == (span is not None)
        if span is not None:
            assert _damage(root / "s") == [], step
            assert not read_head(root / "s").half_done
        if not died:
            break
        step += 11
    assert n_died > 1


def _dies(root: Path, span: Span | None, step: int) -> bool:
    """Forget in a process that ends without a word at its ``step``-th statement; whether it did."""
    child = os.fork()
    if child == 0:
        left = step
        connect = sqlite3.connect

        def counted(statement: str) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                os._exit(9)

        def traced(*args: Any, **more: Any) -> sqlite3.Connection:
            made: sqlite3.Connection = connect(*args, **more)
            made.set_trace_callback(counted)
            return made

        sqlite3.connect = traced  # type: ignore[assignment]
        try:
            plan("sam", [root], span).carry_out()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] != 0


class _Kill(BaseException):
    pass


def _killed(root: Path, span: Span | None, step: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Forget, but raise before the ``step``-th removal; whether it came to its end."""
    left = step
    unlink = Path.unlink

    def counted(path: Path, missing_ok: bool = False) -> None:
        nonlocal left
        if left == 0:
            raise _Kill
        left -= 1
        unlink(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", counted)
        try:
            plan("sam", [root], span).carry_out()
        except _Kill:
            return False
    return True


def test_what_was_deleted_before_goes_too(tmp_path: Path) -> None:
    """A row that somebody deleted leaves its text in the file until it is written anew."""
    folder = tmp_path / "s"
    record(folder, "sam")
    db = sqlite3.connect(folder / "session.db")
    db.execute("PRAGMA secure_delete=OFF")
    db.execute("INSERT INTO meta VALUES ('x', ?)", ("pemba " * 2000,))
    db.commit()
    db.execute("DELETE FROM meta WHERE key = 'x'")
    db.commit()
    db.close()
    assert _holding(folder, "pemba") == ["session.db"]
    _forget(tmp_path, CUT)
    assert _holding(folder, "pemba") == []


def test_what_a_review_noted_of_pictures_that_go_goes_too(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    record(folder, "sam")
    db = sqlite3.connect(folder / "session.db")
    db.execute("CREATE TABLE privacy_looks (file_path TEXT PRIMARY KEY, reading TEXT NOT NULL)")
    db.execute("INSERT INTO privacy_looks SELECT DISTINCT file_path, 'x' FROM screenshots")
    db.commit()
    db.close()
    assert _forget(tmp_path, CUT) == []
    with Reader(folder) as reader:
        kept = reader.fetch("SELECT DISTINCT file_path FROM screenshots ORDER BY file_path")
        assert reader.fetch("SELECT file_path FROM privacy_looks ORDER BY file_path") == kept
        assert len(kept) == 3


def test_a_table_that_nobody_knows_is_told_of(tmp_path: Path) -> None:
    record(tmp_path / "s", "sam")
    db = sqlite3.connect(tmp_path / "s" / "session.db")
    db.execute("CREATE TABLE later (words TEXT)")
    db.commit()
    db.close()
    assert "does not know: later" in _forget(tmp_path, CUT)[0]
