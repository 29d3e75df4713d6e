"""The session that comes with proact: whole, reproducible where it can be, and true to what its README says."""

from __future__ import annotations

import json
import re
import runpy
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from simulator.core.intentions import INTENTIONS
from simulator.core.types import SECOND
from simulator.session.reader import Reader
from simulator.session.scenario import Play, plays
from simulator.session.store import pixels_hash

DESKTOP = Path(__file__).resolve().parents[2] / "scenarios" / "desktop"
SESSION = DESKTOP / "session"
RAW = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "desktop-session"


@pytest.fixture(scope="module")
def play() -> Play:
    (only,) = plays([DESKTOP])
    return only


def _rows(*columns: str) -> list[tuple[Any, ...]]:
    with Reader(SESSION) as reader:
        return list(reader.rows(columns))


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DESKTOP / name).read_text(encoding="utf-8").splitlines()]


def test_it_holds_200_snapshots_one_a_second_of_60_screens() -> None:
    rows = _rows("tick", "captured_ns", "pixels_hash")
    assert [tick for tick, _, _ in rows] == list(range(200))
    assert all(0 <= captured - tick * SECOND < SECOND // 40 for tick, captured, _ in rows)
    assert len({pixels for _, _, pixels in rows}) == 60


def test_every_stored_file_is_the_one_the_rows_name() -> None:
    named = dict(_rows("file_path", "file_hash"))
    there = {p.relative_to(SESSION).as_posix() for p in SESSION.rglob("*.webp")}
    assert there == set(named)
    assert all(sha256((SESSION / path).read_bytes()).hexdigest() == digest for path, digest in named.items())


@pytest.mark.parametrize("tick", [33, 125, 140])
def test_pixels_hash_is_that_of_the_pixels_as_stored(tick: int) -> None:
    path, pixels = _rows("file_path", "pixels_hash")[tick]
    assert pixels_hash(Image.open(SESSION / path).convert("RGB")) == pixels


@pytest.mark.skipif(not RAW.is_dir(), reason="the raw recording is not here")
@pytest.mark.parametrize("tick", [0, 33, 140, 199])
def test_screens_are_stored_pixel_for_pixel(tick: int) -> None:
    raw = json.loads((RAW / "snapshots.jsonl").read_text(encoding="utf-8").splitlines()[tick])
    (pixels,) = _rows("pixels_hash")[tick]
    assert pixels_hash(Image.open(RAW / raw["file"]).convert("RGB")) == pixels


def test_the_whole_folder_is_small() -> None:
    assert sum(p.stat().st_size for p in DESKTOP.rglob("*") if p.is_file()) < 6_000_000


def test_the_history_is_what_its_script_makes() -> None:
    made = runpy.run_path(str(DESKTOP / "make_history.py"), run_name="make_history")
    assert made["text"]() == (DESKTOP / "history.jsonl").read_text(encoding="utf-8")


def test_the_history_ends_before_the_session_and_never_overlaps(play: Play) -> None:
    events = [event for event, _ in play.history]
    assert all(a.end_ns <= b.start_ns for a, b in pairwise(events))
    assert events[-1].end_ns < 0
    assert all(label is None or label.available_ns >= event.end_ns for event, label in play.history)


def test_the_history_says_what_the_readme_says_of_it(play: Play) -> None:
    readme = " ".join((DESKTOP / "README.md").read_text(encoding="utf-8").split())
    n_assist = sum(event.assistance for event, _ in play.history)
    asked = [event for event, label in play.history if label is not None and label.help]
    others = len(play.history) - n_assist
    assert f"{len(play.history):,} events of 20 workdays" in readme
    assert f"{n_assist} of them in the assistant's window" in readme
    assert f"Of the {others} events outside the assistant's window, {len(asked) / others:.0%} end" in readme.replace(
        " %", "%"
    )
    for part, words in (
        ("proj: bash", "in `proj: bash`"),
        ("Fahrkarten", "in the train search"),
        ("项目周报", "in the weekly reports"),
    ):
        n = sum(part in (event.title or "") for event, _ in play.history)
        assert f"{sum(part in (event.title or '') for event in asked)} of {n} {words}" in readme


def test_windows_open_with_a_snapshot_and_close_with_what_was_done(play: Play) -> None:
    readme = (DESKTOP / "README.md").read_text(encoding="utf-8")
    done = {action["t_s"] for action in _lines("actions.jsonl")}
    for need in play.truth.opportunities:
        closes = f"{need.closes_ns / SECOND:g}"
        assert need.opens_ns % SECOND == 0
        assert float(closes) in done
        assert need.acted_ns in (None, need.closes_ns)
        assert f"* **{need.id}**, `[{need.opens_ns // SECOND}, {closes})`, *{need.intention}*" in readme
        assert need.intention in INTENTIONS


@pytest.mark.parametrize(
    ("need", "title"),
    [("traceback", "proj: bash"), ("trains", "Fahrkarten"), ("hotel", "notes.txt"), ("report", "项目周报")],
)
def test_each_need_lies_within_the_window_that_shows_it(play: Play, need: str, title: str) -> None:
    one = next(n for n in play.truth.opportunities if n.id == need)
    seen = [t for captured, t in _rows("captured_ns", "window_title") if one.opens_ns <= captured < one.closes_ns]
    assert seen
    assert all(title in t for t in seen)


def test_nothing_is_wanted_while_personal_data_are_typed(play: Play) -> None:
    form = [captured for captured, t in _rows("captured_ns", "window_title") if t.startswith("New hire form")]
    assert form
    assert not any(n.opens_ns <= t < n.closes_ns for t in form for n in play.truth.opportunities)


def test_the_trajectory_is_asked_for_three_people_one_of_whom_wants_nothing() -> None:
    truths = {play.key.rpartition("@")[2]: play.truth.intents for play in plays([DESKTOP / "trajectory.yaml"])}
    assert {name: len((intents or {})[name]) for name, intents in truths.items()} == {"sam": 4, "lin": 1, "kim": 0}


def test_everything_invented_is_said_to_be() -> None:
    for play in plays([DESKTOP, DESKTOP / "trajectory.yaml"]):
        assert re.search("does not exist", play.profile["made_up"])
