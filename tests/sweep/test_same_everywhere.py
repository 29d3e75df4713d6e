"""Real units, played by each engine: what is on disk is the same, and so it is when another engine goes on."""

from __future__ import annotations

from pathlib import Path

from simulator.sweep.engines import Inline
from simulator.sweep.processes import Processes
from tests.sweep.studies import content, play, study


def test_processes_leave_the_same_bytes_as_this_process(tmp_path: Path) -> None:
    file = study(tmp_path)
    assert play(file, tmp_path / "inline", Inline()) == {"done": 4}
    assert play(file, tmp_path / "processes", Processes(2)) == {"done": 4}
    assert content(tmp_path / "inline") == content(tmp_path / "processes")
    assert play(file, tmp_path / "inline", Processes(2)) == {}, "nothing is left to play for another engine"
