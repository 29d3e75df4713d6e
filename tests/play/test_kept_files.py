"""Files of a run that are none: a pipe never answers and ``/dev/zero`` never ends; who looks at many runs goes on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simulator.core.errors import InputError
from simulator.play.kept import own_scores, read_scores
from simulator.report.summary_file import read_summary
from simulator.runs import runlog
from simulator.runs.folder import read_run
from simulator.sweep.place import read_plan
from tests.replays import play, record

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")


def _other(file: Path, kind: str) -> Path:
    file.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero")
    return file


@pytest.mark.parametrize("kind", ["pipe", "endless"])
def test_they_are_told_apart_before_they_are_read(tmp_path: Path, kind: str) -> None:
    run = play(record(tmp_path / "day"), tmp_path / "run", "always")
    told = read_run(run)
    _other(run / "scores.json", kind)
    assert read_scores(run) is None
    assert own_scores(run, told) is None
    (unit,) = (run / "units").iterdir()
    log = _other(unit / "decisions.jsonl", kind)
    for read in (
        runlog.read,
        runlog.read_header,
        runlog.has_begun,
        runlog.has_ended,
        lambda path: [*runlog.records(path)],
    ):
        with pytest.raises(InputError, match="a pipe or a device"):
            read(log)
    for name, of in (("run.json", read_run), ("sweep.json", read_plan), ("summary.json", read_summary)):
        _other(run / name, kind)
        with pytest.raises(InputError, match="a pipe or a device"):
            of(run)
