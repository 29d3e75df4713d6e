"""What the labelling page asks for is done in the recording, or refused in a sentence; whatever is sent."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scorers import feedback
from scorers.feedback import Feedback
from simulator.annotate.marks import case_of
from simulator.core.errors import UsageError
from simulator.core.types import SECOND
from simulator.runs.folder import read_units
from simulator.session.scenario import plays
from simulator.web.labels_data import change, offers, recording, windows
from simulator.web.place import Place
from tests.replays import HOSTILE, SAID, play, record


@pytest.fixture
def day(tmp_path: Path) -> Path:
    return record(tmp_path / "day", needs=(), truth="recorded", titles=HOSTILE) / "session"


def _add(day: Path, opens: float = 10, closes: float = 20, by: str = "ann", **more: Any) -> dict[str, Any]:
    return change(day, {"by": by, "do": "add", "opens_s": opens, "closes_s": closes, **more})


def _turn(day: Path, do: str, seen: dict[str, Any]) -> dict[str, Any]:
    return change(day, {"by": "ann", "do": do, "seen": seen["version"]})


def test_a_change_tells_how_the_windows_are_then(day: Path) -> None:
    told = _add(day, intention="translation", query=" what ", weight=2)
    (one,) = told["windows"]
    assert (one["id"], one["intention"], one["query"], one["weight"]) == (told["made"], "Translation", "what", 2)
    assert (told["can_undo"], told["can_redo"], told["closing"]["why"]) == (True, False, None)
    told = change(day, {"by": "ann", "do": "change", **one, "closes_s": 25, "acted_s": 25})
    assert [(w["closes_s"], w["acted_s"]) for w in told["windows"]] == [(25, 25)]
    told = _turn(day, "undo", told)
    assert told["windows"][0]["closes_s"] == 20
    told = _turn(day, "undo", told)
    assert told["windows"] == []
    told = _turn(day, "redo", told)
    assert (len(told["windows"]), told["can_redo"]) == (1, True)
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize("word", ["undo", "redo", "close"])
def test_nothing_is_undone_redone_or_closed_that_the_page_has_not_seen(day: Path, word: str) -> None:
    first = _add(day, intention="Translation")
    _turn(day, "undo", first)
    _add(day, 30, 40, intention="Translation")  # another page of theirs: the id is the first one's
    before = windows(case_of(day), "ann")
    for seen in (first["version"], None, 1):
        with pytest.raises(UsageError, match="changed elsewhere"):
            change(day, {"by": "ann", "do": word, "seen": seen})
    assert windows(case_of(day), "ann") == before


def test_anothers_changes_are_in_nobodys_way(day: Path) -> None:
    told = _add(day, intention="Translation")
    _add(day, 30, 40, by="bo")
    assert _turn(day, "undo", told)["windows"] == []


def test_who_closes_must_have_seen_what_is_closed(day: Path) -> None:
    told = _turn(day, "close", _add(day, intention="Translation"))
    assert told["closed"]
    assert told["truth_by"] == ["ann"]
    assert windows(case_of(day), "bo")["others"] == [{"by": "ann", "n": 1, "closed": True}]


def test_windows_of_no_length_of_the_recording_are_told_one_by_one(day: Path) -> None:
    _add(day, 10, 20, intention="Translation")
    told = _add(day, 12, 30, intention="Translation")
    assert "overlap" in told["together"]
    assert "overlap" in told["closing"]["why"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(["do", "id", "opens_s", "closes_s", "acted_s", "weight", "intention", "query", "by", "seen"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.none(), max_size=1)
        | st.sampled_from(["add", "change", "remove", "undo", "redo", "take", "close", "ann", 10, 20.5, "Translation"]),
    )
)  # fmt: skip
def test_whatever_is_sent_is_done_or_refused(day: Path, sent: dict[str, Any]) -> None:
    with suppress(UsageError):
        change(day, {"by": "ann", "do": "add", "opens_s": 10, "closes_s": 20, **sent})
    for one in windows(case_of(day), "ann")["windows"]:
        assert 0 <= one["opens_s"] < one["closes_s"] <= 61
        assert math.isfinite(one["weight"])
    plays([day.parent])


def test_what_was_on_the_screen_is_what_the_timeline_shows(day: Path) -> None:
    place = Place([day.parent], editable=True)
    shown = recording(day, place)
    place.close()
    assert (len(shown["t_s"]), shown["end_s"], shown["gaps"]) == (56, 60, [[40, 44, "locked"]])
    assert shown["titles"] == list(HOSTILE)
    assert len(shown["intentions"]) == 16
    assert shown["accepted"] == 0
    assert not shown["being_recorded"]


def test_agents_offers_come_without_a_verdict(day: Path) -> None:
    play(day.parent, day.parent.parent / "runs/scripted", SAID)
    place = Place([day.parent.parent])
    found = offers(case_of(day), place)
    place.close()
    assert [(one["t_s"], one["intention"]) for one in found] == [(t, name) for t, (name, _) in sorted(SAID.items())]
    assert set(found[0]) == {"t_s", "run", "intention", "text"}


def test_accepted_offers_of_a_live_run_are_taken_over_as_windows(tmp_path: Path) -> None:
    demo = record(tmp_path / "demo", needs=(), truth="recorded", name="demo")
    play(demo, demo / "run", SAID)
    ((unit, log, _),) = read_units(demo / "run")
    (seq,) = (one.seq for one in log.offers() if one.captured_ns == 12 * SECOND)
    said = Feedback(seq, "accepted", "sam", None, "Error Correction", 18.0)
    feedback.add(demo / "run/units" / unit / feedback.FILE, said)
    session = demo / "session"
    place = Place([demo])
    assert recording(session, place)["accepted"] == 1
    place.close()
    (one,) = change(session, {"by": "ann", "do": "take"})["windows"]
    assert (one["opens_s"], one["closes_s"], one["intention"], one["origin"]) == (
        12,
        18,
        "Error Correction",
        "accepted offer",
    )
    with pytest.raises(UsageError, match="among the windows already"):
        change(session, {"by": "ann", "do": "take"})
    _turn(session, "close", windows(case_of(session), "ann"))
    (need,) = plays([demo])[0].truth.opportunities
    assert need.opens_ns == 12 * SECOND
    assert (demo / "scenario.yaml").read_text().count("opportunities") == 0
