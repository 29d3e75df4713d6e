"""``proact report``: one HTML file of a run, of several held against the first, or of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from simulator.cli.parameters import AsJson, option, switch
from simulator.cli.speak import Voice
from simulator.core.errors import Exit, UsageError

__all__ = ["report"]

NAME = "report.html"


def report(
    runs: Annotated[
        list[Path], Parameter(help="Run folders; others are held against the first. Or the folder of a sweep.")
    ],
    /,
    *,
    out: Annotated[Path | None, option("The file; default: report.html in the first run's folder.")] = None,
    with_frames: Annotated[int, option("So many of the most telling moments, each with its picture.")] = 0,
    force: Annotated[bool, switch("Compare runs that should not be compared; the report says so.")] = False,
    json: AsJson = False,
) -> int:
    """Write one HTML file that holds a run: figures, timelines, caveats.

    It needs no script, no other file and no network, and prints. Without --with-frames it holds no pictures; with it,
    those that the recording holds now: what was redacted or deleted is not in it. Of a sweep the file holds the study:
    heat maps, curves, marginal effects, all cells.
    """
    from simulator.report.page import make
    from simulator.report.study import is_study
    from simulator.report.study_page import make_study
    from simulator.session.ignored import IGNORED, hide_file
    from simulator.session.store import replace_file

    voice = Voice(as_json=json)
    if with_frames < 0:
        raise UsageError(f"--with-frames: a number from 0 is wanted, not {with_frames}")
    if study := next((run for run in runs if is_study(run)), None):
        if len(runs) > 1 or with_frames:
            said = f"{study} is a study, which is reported alone and without pictures"
            raise UsageError(f"{said}; its runs are in {study / 'runs'}")
        made = make_study(study)
    else:
        made = make(runs, frames=with_frames, force=force)
    file = out if out is not None else runs[0] / NAME
    if file.is_dir():
        file = file / NAME
    content = made.html.encode(errors="replace")
    replace_file(file, content)
    for sentence in made.notes:
        voice.tell(sentence, "yellow" if made.private else "")
    hidden = made.private and hide_file(file)
    if made.private and not hidden:
        said = "is yours, and does not leave this file out of version control: see to that yourself"
        voice.tell(f"{file.parent / IGNORED} {said}", "red")
    voice.tell(f"report: {file} ({len(content) // 1000} kB)")
    voice.record("done", report=str(file), bytes=len(content), frames=made.n_frames, private=made.private,
                 hidden=hidden)  # fmt: skip
    return Exit.DONE
