"""A report of a live run: its pictures, what is not known of it, and what was told of it afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scorers import feedback
from scorers.feedback import Feedback
from simulator.core.types import Decision, Observation, Offer
from simulator.play.accepted import write_truth
from simulator.report.page import make
from simulator.runs.folder import read_units
from tests.play.test_live_runs import live


class Helps:
    """Offers help on b and fails on c."""

    async def decide(self, observation: Observation) -> Decision:
        if observation.snapshot.app == "c":
            raise RuntimeError("no idea")
        return Decision((Offer("Error Correction", "shall I?"),)) if observation.snapshot.app == "b" else Decision()


def _cells(html: str, name: str) -> str:
    """The cells of a table's row."""
    return html.partition(f'<th scope="row">{name}</th>')[2].partition("</tr>")[0]


@pytest.mark.timeout(30)
def test_what_was_accepted_counts_in_its_report_and_before_that_nothing_is_known(tmp_path: Path) -> None:
    demo = tmp_path / "demo"
    live(demo, "aa" + "b" * 22 + "cc", agent=Helps)
    made = make([demo / "run"], frames=9)
    assert made.n_frames > 0, "its recording is found"
    assert made.private
    assert "the same runs and options give the same file" in made.html
    assert "The recording is not where" not in made.html
    assert _cells(made.html, "opportunities") == "<td>–</td>"
    assert _cells(made.html, "demo").endswith("<td>–</td>" * 4), "neither hit nor missed, neither late nor unwanted"
    assert "counts as 60" in made.html, "a failure is charged the timeout, its wait before that on top"
    ((_, log, _),) = read_units(demo / "run")
    seq = log.offers()[0].seq  # the one that surfaces; on a busy machine a snapshot before it may have given way
    for said in ("rejected", "accepted"):  # of a changed mind the last counts, and once
        feedback.add(demo / "run" / "units" / "demo" / feedback.FILE, Feedback(seq, said, "user", None, None, 2.0))
    write_truth(demo)
    after = make([demo / "run"], frames=9)
    assert "what was needed was told after the run, in demo/scenario.yaml: " in after.html
    assert str(tmp_path) not in after.html
    assert "the recording was changed" not in after.html
    assert _cells(after.html, "opportunities") == "<td>1</td>"
    assert _cells(after.html, "answers: accepted") == "<td>1</td>"
    assert _cells(after.html, "answers: rejected") == "<td>0</td>"
    assert "band: need served" in after.html
    alone = (demo / "run").rename(tmp_path / "moved")
    shutil.rmtree(demo)
    assert make([alone]).private, "nobody decided that a live run may be seen"
