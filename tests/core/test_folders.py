"""A folder that is written is there whole or not at all."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import pytest

from simulator.core.errors import UsageError
from simulator.core.faults import told
from simulator.core.folders import ensure_apart, is_vacant, whole_folder
from simulator.core.lock import alone_in


@pytest.mark.parametrize("made_before", [False, True])
def test_what_was_written_gets_the_name_at_the_end(tmp_path: Path, made_before: bool) -> None:
    out = tmp_path / "deep" / "out"
    if made_before:
        out.mkdir(parents=True)
    with whole_folder(out) as part:
        (part / "file").write_text("x")
        assert is_vacant(out)
        assert part.parent == out.parent
    assert [f.name for f in out.iterdir()] == ["file"]
    assert [f.name for f in out.parent.iterdir()] == ["out"]


def test_a_failure_leaves_nothing_and_neither_does_an_earlier_kill(tmp_path: Path) -> None:
    (tmp_path / ".out.part" / "left").mkdir(parents=True)

    def interrupted() -> None:
        with whole_folder(tmp_path / "out") as part:
            assert not any(part.iterdir())
            (part / "file").write_text("x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not any(tmp_path.iterdir())


def test_what_is_there_already_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    assert not is_vacant(tmp_path / "out")
    assert not is_vacant(tmp_path / "out" / "mine")
    with pytest.raises(OSError), whole_folder(tmp_path / "out"):  # noqa: PT011 - of the system, in its words
        pass
    assert [f.name for f in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "mine").read_text() == "x"


def test_two_that_write_one_folder_at_once_are_kept_apart(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out") as part:
        (part / "file").write_text("x")
        with pytest.raises(UsageError, match="another proact is writing there"), whole_folder(tmp_path / "out"):
            pass
    assert (tmp_path / "out" / "file").read_text() == "x"
    with (
        alone_in(tmp_path / "out"),
        pytest.raises(UsageError, match="out: another proact is writing there"),
        alone_in(tmp_path / "out"),
    ):
        pass
    with alone_in(tmp_path / "out"):
        pass
    assert [f.name for f in tmp_path.rglob("*")] == ["out", "file"], "nothing of ours is left"


def test_a_folder_that_stays_empty_is_gone_again_with_those_above_it(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="refused"), alone_in(tmp_path / "a" / "b"):
        raise ValueError("refused")
    assert not any(tmp_path.iterdir())
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="file: no folder can be made there"), alone_in(tmp_path / "file"):
        pass


@pytest.mark.parametrize("what", ["system", "sqlite"])
def test_a_full_disk_is_told_of_the_place_that_is_full_and_not_of_what_was_read(tmp_path: Path, what: str) -> None:
    def fill(part: Path) -> None:
        if what == "system":
            raise OSError(errno.ENOSPC, "No space left on device")
        db = sqlite3.connect(part / "session.db", isolation_level=None)
        db.execute("PRAGMA max_page_count = 3")
        db.execute("CREATE TABLE t (x)")
        db.execute("INSERT INTO t VALUES (?)", ("x" * 100_000,))

    with (
        pytest.raises(UsageError, match=r"/out: there is no room left on the disk for what is to be written there$"),
        told(tmp_path / "src"),
        whole_folder(tmp_path / "out") as part,
    ):
        fill(part)
    assert not any(tmp_path.iterdir())


def test_what_is_read_and_what_is_written_must_lie_apart(tmp_path: Path) -> None:
    ensure_apart(tmp_path / "a", tmp_path / "b")
    for out in ("a", "a/b", "."):
        with pytest.raises(UsageError, match="must lie apart"):
            ensure_apart(tmp_path / "a", tmp_path / out)
