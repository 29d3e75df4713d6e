"""Windows that people marked are forgotten with their stretch, earlier versions too; drafts are passed on to nobody."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from simulator.annotate.labelling import Labels
from simulator.annotate.marks import Mark, case_of, standing
from simulator.core.types import SECOND
from simulator.privacy.forget import plan
from simulator.privacy.release import Options, release
from simulator.privacy.span import Span
from simulator.session.check import check
from simulator.session.scenario import plays
from simulator.session.store import Writer

START = 1_760_000_000 * SECOND
WORD = "quillon"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    with Writer(tmp_path / "s", session="s", user="sam", utc_anchor_ns=START) as writer:
        for k in range(60):
            writer.add(tick=k, captured_ns=k * SECOND, app_name="mail", window_title="Inbox")
    return tmp_path / "s"


def _labels(session: Path) -> list[Any]:
    with sqlite3.connect(session / "session.db") as db:
        return db.execute("SELECT at_ns / 1000000000, closes_ns / 1000000000 FROM labels ORDER BY id").fetchall()


def test_a_stretch_takes_the_windows_that_touch_it_and_all_that_followed_from_them(session: Path) -> None:
    with Labels(case_of(session), "ann") as labels:
        labels.add(Mark(0, 8 * SECOND, "Translation", query=f"{WORD} stays"))
        labels.add(Mark(8 * SECOND, 25 * SECOND, "Translation", query=WORD))
        moved = labels.add(Mark(22 * SECOND, 24 * SECOND, "Translation", query=WORD))
        labels.change(Mark(50 * SECOND, 55 * SECOND, "Translation", query=WORD, id=moved))
        labels.undo()
    cut = Span(START + 20 * SECOND, START + 30 * SECOND)
    assert [str(one.why) for one in plan("sam", [session.parent], cut).carry_out()] == []
    assert _labels(session) == [(0, 8)]
    assert (session / "session.db").read_bytes().count(WORD.encode()) == 1
    assert [m.query for m in standing(case_of(session), "ann").marks] == [f"{WORD} stays"]
    assert [f for f in check(session) if f.severity != "note"] == []


def test_drafts_are_in_no_release_and_closed_windows_are(session: Path, tmp_path: Path) -> None:
    with Labels(case_of(session), "ann") as labels:
        labels.add(Mark(0, 8 * SECOND, "Translation", note=WORD))
        labels.close()
    with Labels(case_of(session), "bo") as labels:
        labels.add(Mark(10 * SECOND, 18 * SECOND, "Translation", note=WORD))
    with sqlite3.connect(session / "session.db") as db:
        db.execute("UPDATE labels SET origin = 'quillon' WHERE rater = 'ann'")
    made = release(session, tmp_path / "out", Options("public"))
    assert made.removed["labels: drafts"] == 1
    assert _labels(tmp_path / "out") == [(0, 8)]
    whole = (tmp_path / "out/session.db").read_bytes()
    assert WORD.encode() not in whole
    assert b"ann" not in whole.replace(b"annotat", b"")
    (need,) = plays([tmp_path / "out"])[0].truth.opportunities
    assert (need.opens_ns, need.closes_ns, need.origin) == (0, 8 * SECOND, "label")
