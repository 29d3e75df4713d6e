from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

from simulator.sweep.scratch import Scratch

pytest.importorskip("fcntl", reason="folders are held by locks of POSIX systems")

KILLED = """
import os, signal, sys, tempfile
tempfile.tempdir = sys.argv[1]
from simulator.sweep.scratch import Scratch
(Scratch("some").path / "private").write_text("x")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed_by_the_next_and_nobody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    living, other = Scratch("some"), tmp_path / "another-folder"
    other.mkdir()
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, cwd=Path(__file__).parents[2])
    (left,) = set(tmp_path.iterdir()) - {living.path, other}
    assert (left / "private").exists()
    one = Scratch("some")
    assert set(tmp_path.iterdir()) == {living.path, other, one.path}
    assert one.path.stat().st_mode & 0o777 == 0o700
    for scratch in (one, living, living):
        scratch.close()
    assert list(tmp_path.iterdir()) == [other]


def test_what_is_guarded_goes_with_its_process_however_that_ends(tmp_path: Path) -> None:
    killed = KILLED.replace('Scratch("some")', 'Scratch("some", guarded=True)')
    subprocess.run([sys.executable, "-c", killed, str(tmp_path)], check=False, cwd=Path(__file__).parents[2])
    for _ in range(250):
        if not any(tmp_path.iterdir()):
            break
        Event().wait(0.02)
    assert list(tmp_path.iterdir()) == []


def test_what_a_link_points_to_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "mine").mkdir()
    (tmp_path / "some-link").symlink_to(tmp_path / "mine")
    Scratch("some").close()
    assert (tmp_path / "mine").is_dir()
    assert (tmp_path / "some-link").is_symlink()
