"""The recorded scenarios: each plays, says of its truth what its script did, and is what our recorder wrote."""

from __future__ import annotations

import json
import re
import runpy
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scenarios.record.__main__ import NAMES, scripts
from scenarios.record.needs import Case, Script
from scenarios.record.table import table_text
from scenarios.record.take import SCENARIOS, case_text, readme_text, windows
from simulator.core.intentions import INTENTIONS
from simulator.core.taxonomy import category
from simulator.core.types import SECOND
from simulator.play import run
from simulator.session.check import check
from simulator.session.reader import Reader
from simulator.session.scenario import Play, plays

PEOPLE = SCENARIOS / "people"
MADE = [(name, script) for name in NAMES for script in scripts(name)]
CASES = [(name, script, case) for name, script in MADE for case in script.cases]
each_recording = pytest.mark.parametrize(("name", "script"), MADE, ids=[s.folder for _, s in MADE])
each_case = pytest.mark.parametrize(("name", "script", "case"), CASES, ids=[c.name for *_, c in CASES])


def _play(script: Script, case: Case) -> Play:
    (only,) = plays([SCENARIOS / script.folder / case.folder / "scenario.yaml"])
    return only


def _actions(script: Script) -> list[dict[str, Any]]:
    text = (SCENARIOS / script.folder / "actions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _rows(script: Script, *columns: str) -> list[tuple[Any, ...]]:
    with Reader(SCENARIOS / script.folder / "session") as reader:
        return list(reader.rows(columns))


@each_recording
def test_our_recorder_wrote_it_and_nothing_of_it_is_damaged(name: str, script: Script) -> None:
    assert not [f for f in check(SCENARIOS / script.folder / "session") if f.severity != "note"]
    with Reader(SCENARIOS / script.folder / "session") as reader:
        assert reader.header.state == "closed"
        assert not reader.header.gaps
        assert reader.header.user == script.home


@each_recording
def test_it_is_minutes_long_and_small(name: str, script: Script) -> None:
    captured = [at for (at,) in _rows(script, "captured_ns")]
    assert 180 <= len(captured) <= 600
    assert all(SECOND // 2 < b - a < 3 * SECOND // 2 for a, b in pairwise(captured)), "one a second"
    size = sum(p.stat().st_size for p in (SCENARIOS / script.folder).rglob("*") if p.is_file())
    assert size < 3_500_000


@each_recording
def test_several_classes_of_applications_are_seen(name: str, script: Script) -> None:
    seen = {category(app, title) for app, title in _rows(script, "app_name", "window_title")}
    assert len(seen - {None, "other"}) >= 2


@each_case
def test_its_files_say_what_the_script_and_the_session_say(name: str, script: Script, case: Case) -> None:
    folder = SCENARIOS / script.folder
    file = folder / case.folder / "scenario.yaml"
    assert file.read_text(encoding="utf-8") == case_text(case, script, name, folder)
    assert (folder / "README.md").read_text(encoding="utf-8") == readme_text(script, name, folder)


@each_case
def test_its_needs_open_with_a_snapshot_and_close_with_an_action(name: str, script: Script, case: Case) -> None:
    play, done = _play(script, case), {a["t_s"] for a in _actions(script) if "do" in a}
    captured = [at for (at,) in _rows(script, "captured_ns")]
    shown = {(at - captured[0]) // 1_000_000 for at in captured}
    assert [n.id for n in play.truth.opportunities] == [w.need.id for w in windows(case, SCENARIOS / script.folder)]
    assert {n.id for n in play.truth.opportunities} == {n.id for n in case.needs}
    for need in play.truth.opportunities:
        assert 0 < need.opens_ns < need.closes_ns < captured[-1] - captured[0]
        assert need.opens_ns // 1_000_000 in shown
        assert need.closes_ns / SECOND in done
        assert need.acted_ns in (None, need.closes_ns)
        assert need.closes_ns - need.opens_ns >= 5 * SECOND, "time to be of help"
        assert need.intention in INTENTIONS


@each_case
def test_the_oracle_is_right_in_time_and_silence_is_right_only_where_nothing_is_needed(
    name: str, script: Script, case: Case, tmp_path: Path
) -> None:
    place = SCENARIOS / script.folder / case.folder / "scenario.yaml"
    scores = {}
    for agent in ("oracle", "silent"):
        played = run(place, agent=agent, memory="none", clock="modelled", latency="fixed:0s", out=tmp_path / agent)
        assert played.scores is not None
        scores[agent] = played.scores["scores"]
    assert scores["silent"]["unwanted_per_hour"] == 0
    if case.needs:
        assert scores["oracle"]["F1_rt"] == 1
        assert scores["silent"]["F1_rt"] == 0
    else:
        assert scores["oracle"]["interruptions_per_hour"] == 0, "the oracle is silent too"


def test_who_speaks_where_nothing_is_needed_is_wrong_each_time(tmp_path: Path) -> None:
    played = run(SCENARIOS / "nothing", agent="always", memory="none", clock="modelled", latency="fixed:0s",
                 out=tmp_path / "run")  # fmt: skip
    assert played.scores is not None
    assert played.scores["scores"]["P_rt"] == 0
    assert played.scores["scores"]["unwanted_per_hour"] > 0


def test_two_readers_see_the_same_and_want_different_things() -> None:
    tomas, mei = plays([SCENARIOS / "two_readers"])[::-1]
    assert (tomas.user, mei.user) == ("tomas", "mei")
    assert tomas.where != mei.where
    assert [n.id for n in tomas.truth.opportunities] == ["notice-chinese", "conflict"]
    assert [n.id for n in mei.truth.opportunities] == ["lease-spanish"]
    assert tomas.profile != mei.profile
    assert len(list((SCENARIOS / "two_readers").rglob("session.db"))) == 1


def test_noise_adds_screens_and_no_need() -> None:
    clean, noisy = plays([SCENARIOS / "noise_twins"])
    said = [[(n.id, n.intention, n.query, n.weight) for n in p.truth.opportunities] for p in (clean, noisy)]
    assert said[0] == said[1]
    lengths = [len(_rows(script, "tick")) for name, script in MADE if name == "noise_twins"]
    assert lengths[1] > lengths[0] + 60
    actions = [[a.get("text") for a in _actions(s) if a.get("do") == "type"] for n, s in MADE if n == "noise_twins"]
    assert [text for text in actions[1] if text not in actions[0]] == ["ls"], "the task is the same"


def test_the_interrupted_need_is_one_need_in_two_windows() -> None:
    (play,) = plays([SCENARIOS / "resumed"])
    before, after = play.truth.opportunities
    assert (before.intention, before.query) == (after.intention, after.query)
    assert after.opens_ns - before.closes_ns > 20 * SECOND


def test_the_pasts_are_what_their_script_makes_and_end_before_the_recordings() -> None:
    made = runpy.run_path(str(PEOPLE / "make_history.py"), run_name="make_history")
    for file, text in made["texts"]().items():
        assert (PEOPLE / file).read_text(encoding="utf-8") == text
    for play in plays([SCENARIOS]):
        events = [event for event, _ in play.history]
        assert len(events) > 300
        assert events[-1].end_ns < 0


def test_everybody_is_said_to_be_made_up() -> None:
    for play in plays([SCENARIOS]):
        assert re.search("does not exist", play.profile["made_up"])


def test_the_table_of_scenarios_is_whole() -> None:
    assert (SCENARIOS / "README.md").read_text(encoding="utf-8") == table_text(MADE)
    assert len(MADE) == len(list(SCENARIOS.rglob("session.db"))) - 1, "and the desktop session"


def test_no_recording_that_ships_names_the_machine_it_was_made_on() -> None:
    for file in sorted(SCENARIOS.rglob("session.db")):
        with closing(sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)) as db:
            keys = {key for (key,) in db.execute("SELECT key FROM meta")}
        assert not keys & {"boot_id", "boot_zero_ns", "compacted_to"}, file
