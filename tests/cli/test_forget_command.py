"""What ``proact forget`` says before and after it changed anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.cli import _call
from simulator.core.errors import Exit
from simulator.session.store import Writer


def test_a_long_path_stays_whole_where_a_program_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a-folder-with-a-name" / "that-takes-more-than-the-eighty-columns-of-a-terminal" / "s"
    with Writer(folder, user="sam") as writer:
        writer.add(tick=0, captured_ns=0)
    assert _call(["forget", "sam", "--in", str(tmp_path), "--dry-run"]) == Exit.DONE
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("session  ")]
    assert said == [f"session  {folder}  the whole session: 1 row, 0 pictures, 0 events"]
