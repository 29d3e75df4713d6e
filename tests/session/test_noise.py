"""Noise in recordings: taking the marked rows out gives the clean twin back, whatever seed and rate."""

from __future__ import annotations

import json
import sqlite3
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from simulator.core.errors import InputError, UsageError
from simulator.core.types import SECOND, SILENT, Decision, Observation
from simulator.play.player import run
from simulator.privacy.forget_session import plan_session, read_head
from simulator.privacy.items import Item
from simulator.privacy.span import Span
from simulator.session.check import check
from simulator.session.noise import KINDS, Options, in_noise, marks, twins
from simulator.session.noise.plan import n_noise
from simulator.session.noise.shift import Shift
from simulator.session.reader import Reader
from simulator.session.recording_id import RECORDING
from simulator.session.scenario import plays
from simulator.session.store import Writer

S = SECOND


def _recorded(folder: Path, name: str, user: str, apps: list[str], n: int = 60, *, shade: int = 0) -> Path:
    with Writer(folder, session=name, user=user, utc_anchor_ns=1_796_034_520 * S + 7) as writer:
        for i in range(n):
            tick = i if i < 40 else i + 10
            app = apps[i // 12 % len(apps)]
            writer.add(
                image=Image.new("RGB", (32, 20), (i // 4, shade, 90)), tick=tick, captured_ns=tick * S + 3_000_000,
                wall_utc_ms=1_796_034_520_003 + tick * 1000, tz_offset_min=60, late_ms=3.0, app_name=app,
                window_title=f"{name} {i // 12}", event_id=i // 12 + 1, pid=4,
            )  # fmt: skip
        writer.gap(40, 49, "locked")
        writer.event(
            id=1, start_ns=3_000_000, end_ns=20 * S + 5, start_tick=0, end_tick=20, app_name=apps[0], is_llm_event=0,
            start_time="2026-11-30T10:28:40.003000Z", end_time="2026-11-30T10:29:00.000000+00:00",
        )  # fmt: skip
        writer.note(tick=30, monitor=0, kind="blank")
        writer.mask(tick=31, monitor=0, x=1, y=1, w=2, h=2, reason="excluded")
        writer.label(event_id=1, at_ns=25 * S, rater="r", help=1)
        writer.set_profile({"job": "clerk"})
        writer.close(end_ns=(n + 12) * S)
    return folder


TRUTH = """
user: ada
truth:
  opportunities:
    - {id: long, opens_s: 8.5, closes_s: 24.25, acted_s: 24.25, intention: Translation, query: "what?", weight: 0.5}
    - {id: brief, opens_s: 30.2, closes_s: 31.7, intention: Summarization}
  moments: [{t_s: 23.25, positive: true, intention: Translation}, {t_s: 40, positive: false}]
  rule: by hand
  assists:
    - {start_s: 52.125, end_s: 55, intention: Translation}
history: [past.csv]
profile: {job: clerk, languages: Português}
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("noise")
    _recorded(home / "base", "base", "ada", ["Code.exe", "chromium"])
    (home / "base" / "scenario.yaml").write_text(TRUTH, encoding="utf-8")
    (home / "base" / "past.csv").write_text("start,end,app,help\n-90,-60,Code.exe,true\n", encoding="utf-8")
    _recorded(home / "donor", "donor", "bob", ["feh", "chromium", "mousepad"], shade=40)
    (home / "donor" / "scenario.yaml").write_text(
        "truth: {opportunities: [{opens_s: 0, closes_s: 11.5, intention: Translation}]}\n", encoding="utf-8"
    )
    return home


def _made(world: Path, out: Path, **how: Any) -> Any:
    (pair,) = twins(world / "base", out, Options(**how), [world / "donor"])
    return pair


def _tables(session: Path) -> dict[str, list[dict[str, Any]]]:
    db = sqlite3.connect(session / "session.db")
    db.row_factory = sqlite3.Row
    names = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    out = {n: [dict(r) for r in db.execute(f"SELECT * FROM {n}")] for n in names if not n.startswith("sqlite_")}
    db.close()
    return out


def _without_noise(noisy: dict[str, list[dict[str, Any]]], period: int) -> dict[str, list[dict[str, Any]]]:
    """Take the marked rows out and close what they left open; written anew here, not with the code under test."""
    marked = noisy.pop("noise", [])
    by_tick = sorted(m["tick"] for m in marked)
    ends = sorted(m["captured_ns"] for m in marked)

    def ticks(t: int) -> int:
        return t - len([m for m in by_tick if m < t])

    def ns(t: int) -> int:
        return t - period * len([m for m in ends if m < t])

    gone = {(m["tick"], m["monitor"]) for m in marked}
    rows = [r for r in noisy["screenshots"] if (r["tick"], r["monitor"]) not in gone]
    assert len(rows) == len(noisy["screenshots"]) - len(marked)
    for i, row in enumerate(rows):
        off = (row["captured_ns"] - ns(row["captured_ns"])) // 1_000_000
        row |= {"id": i + 1, "wall_utc_ms": row["wall_utc_ms"] - off, "tick": ticks(row["tick"]),
                "captured_ns": ns(row["captured_ns"])}  # fmt: skip
    noisy["screenshots"] = rows
    for table, columns in {"gaps": ("from_tick", "to_tick"), "events": ("start_tick", "end_tick"), "notes": ("tick",),
                           "masks": ("tick",)}.items():  # fmt: skip
        for row in noisy[table]:
            row |= {c: ticks(row[c]) for c in columns}
    for row in noisy["events"]:
        row |= {"start_ns": ns(row["start_ns"]), "end_ns": ns(row["end_ns"])}
        row.pop("start_time"), row.pop("end_time")
    for row in noisy["labels"]:
        row["at_ns"] = ns(row["at_ns"])
    for row in noisy["meta"]:
        if row["key"] == "end_ns":
            row["value"] = str(ns(int(row["value"])))
    return noisy


@settings(max_examples=10, deadline=None)
@given(
    rate=st.floats(0, 0.9),
    seed=st.integers(0, 2**63 - 1),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, unique=True),
    spare=st.booleans(),
)
def test_taking_the_marked_rows_out_gives_the_clean_twin_back(
    world: Path, rate: float, seed: int, kinds: list[str], spare: bool
) -> None:
    with TemporaryDirectory() as place:
        out = Path(place) / "out"
        pair = _made(world, out, rate=rate, seed=seed, kinds=tuple(kinds), spare_windows=spare)
        assert abs(pair.n_noise - rate / (1 - rate) * 60) <= 0.5000001  # the nearest whole row
        assert abs(pair.rate - rate) * (60 + pair.n_noise) <= 1
        clean, noisy = (out / twin / "base" for twin in ("clean", "noisy"))
        assert len(marks(noisy / "session")) == pair.n_noise == sum(pair.kinds.values())
        assert set(pair.kinds) <= set(kinds)
        assert marks(clean / "session") == ()
        wanted = _tables(clean / "session")
        for row in wanted["events"]:
            row.pop("start_time"), row.pop("end_time")
        assert _without_noise(_tables(noisy / "session"), S) == wanted

        (a,), (b,) = plays([clean]), plays([noisy])
        found = sorted(m.t_ns for m in marks(noisy / "session"))
        starts = np.array(found, np.int64)

        def back(t: int) -> int:
            return t - S * int(np.searchsorted(starts, t))

        assert [(o.id, o.opens_ns, o.closes_ns, o.acted_ns, o.query, o.weight, o.unservable)
                for o in a.truth.opportunities] == [
            (o.id, back(o.opens_ns), back(o.closes_ns), None if o.acted_ns is None else back(o.acted_ns), o.query,
             o.weight, o.unservable) for o in b.truth.opportunities]  # fmt: skip
        assert [t.start_ns for t in a.truth.assists] == [back(t.start_ns) for t in b.truth.assists]
        assert list(a.truth.acts_ns) == [back(t) for t in b.truth.acts_ns]
        assert [(g.start_ns, g.end_ns) for g in a.truth.gaps] == [
            (back(g.start_ns), back(g.end_ns)) for g in b.truth.gaps
        ]
        assert a.truth.end_ns == back(b.truth.end_ns)
        assert [(m.t_ns, m.positive) for m in a.truth.moments] == [(back(m.t_ns), m.positive) for m in b.truth.moments]
        assert (a.profile, a.history, a.truth.session) == (b.profile, b.history, b.truth.session)
        if spare:
            assert pair.n_interrupted == 0
            assert [o.closes_ns - o.opens_ns for o in a.truth.opportunities] == [
                o.closes_ns - o.opens_ns for o in b.truth.opportunities
            ]


def test_the_clean_twin_is_the_session_as_it_was(world: Path, tmp_path: Path) -> None:
    _made(world, tmp_path / "out", seed=3)
    clean = _tables(tmp_path / "out/clean/base/session")
    clean["meta"] = [row for row in clean["meta"] if row["key"] != RECORDING]
    assert clean == _tables(world / "base")
    (before,), (after,) = plays([world / "base"]), plays([tmp_path / "out/clean/base"])
    assert before.truth == after.truth
    assert (before.profile, before.history, before.user) == (after.profile, after.history, after.user)


def test_pictures_are_the_same_to_the_byte_and_lie_once_on_the_disk(world: Path, tmp_path: Path) -> None:
    _made(world, tmp_path / "out", seed=3)
    original, clean, noisy = world / "base", tmp_path / "out/clean/base/session", tmp_path / "out/noisy/base/session"
    for file in (original / "screenshots").rglob("*.webp"):
        name = file.relative_to(original)
        assert (clean / name).read_bytes() == file.read_bytes() == (noisy / name).read_bytes()
        assert (clean / name).stat().st_ino == (noisy / name).stat().st_ino != file.stat().st_ino
    odd = [f for f in check(original) if f.severity != "note"]
    assert [f for f in check(clean) if f.severity != "note"] == odd
    assert {f.severity for f in check(noisy)} <= {"warning", "note"}


def test_the_same_words_make_the_same_bytes_and_another_seed_others(world: Path, tmp_path: Path) -> None:
    def hashes(out: Path) -> dict[str, str]:
        return {p.relative_to(out).as_posix(): sha256(p.read_bytes()).hexdigest()
                for p in sorted(out.rglob("*")) if p.is_file()}  # fmt: skip

    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        _made(world, tmp_path / name, seed=seed)
    one, two, three = (hashes(tmp_path / name) for name in ("one", "two", "three"))
    assert one == two
    assert one != three
    kept = [n for n in one if n.startswith("clean/")]
    assert {n: one[n] for n in kept} == {n: three[n] for n in kept}  # the clean twin knows of no seed


def test_noise_is_what_it_says(world: Path, tmp_path: Path) -> None:
    _made(world, tmp_path / "out", rate=0.6, seed=2)
    session = tmp_path / "out/noisy/base/session"
    tables = _tables(session)
    by_place = {(r["tick"], r["monitor"]): r for r in tables["screenshots"]}
    own = {(r["app_name"], r["window_title"]) for r in _tables(world / "base")["screenshots"]}
    donor = {r["tick"]: r for r in _tables(world / "donor")["screenshots"]}
    seen = set()
    for mark in tables["noise"]:
        row = by_place[mark["tick"], mark["monitor"]]
        window = (row["app_name"], row["window_title"])
        seen.add(mark["kind"])
        if mark["kind"] == "idle":
            before = by_place[mark["tick"] - 1, 0]
            assert window in {(before["app_name"], before["window_title"]), (None, None)}
            continue
        theirs = donor[mark["donor_tick"]]
        assert window not in own
        assert (row["app_name"], row["pixels_hash"]) == (theirs["app_name"], theirs["pixels_hash"])
        assert mark["donor_tick"] >= 12  # before that, the donor needs help
        assert row["pid"] is None
        assert mark["kind"] == "switch" or row["app_name"] == "chromium"
    assert seen == set(KINDS)


def _times(play: Any) -> list[int]:
    with Reader(play.source.header.folder) as reader:
        return [t - reader.header.zero_ns for (t,) in reader.rows(("captured_ns",))]


def test_no_noise_comes_before_time_0_in_a_gap_or_just_before_an_act(world: Path, tmp_path: Path) -> None:
    for seed in range(3):
        _made(world, tmp_path / str(seed), rate=0.9, seed=seed)
        (play,) = plays([tmp_path / str(seed) / "noisy/base"])
        found = marks(tmp_path / str(seed) / "noisy/base/session")
        assert found[0].t_ns > 0
        assert not any(g.start_ns < m.t_ns + S and m.t_ns < g.end_ns for g in play.truth.gaps for m in found)
        ends = {m.t_ns + S for m in found} - {m.t_ns for m in found}
        assert not any(0 <= act - end < S for act in play.truth.acts_ns for end in ends)
        after_gap = {min(t for t in _times(play) if t >= g.start_ns) for g in play.truth.gaps}
        assert len(after_gap) == 1
        assert not after_gap & {m.t_ns for m in found}, "what comes after a gap is what was seen first after it"
        shown = {o.id: min(t for t in _times(play) if t >= o.opens_ns) for o in play.truth.opportunities}
        assert not set(shown.values()) & {m.t_ns for m in found}, "a window opens with what shows the need"
        brief = next(o for o in play.truth.opportunities if o.id == "brief")
        assert brief.closes_ns - brief.opens_ns == 1_500_000_000


SEEN: list[str] = []


class Spy:
    """Writes down all that it is shown, but for where pictures lie."""

    async def decide(self, observation: Observation) -> Decision:
        snapshot = observation.snapshot
        image = snapshot.image
        told = (*snapshot[:6], snapshot.text, snapshot.held, image and (image.pixels_hash, image.width, image.height))
        recalled = await observation.memory.recall(5)
        profile = dict(observation.profile)
        SEEN.append(repr((told, observation.user, profile, observation.history.events, recalled)).casefold())
        if image is not None:
            assert "screenshots" in image.path.parts
            assert image.path.suffix == ".webp"
        return SILENT


def test_nothing_of_the_marks_reaches_an_agent(world: Path, tmp_path: Path) -> None:
    SEEN.clear()
    _made(world, tmp_path / "out", rate=0.5, seed=4)
    run([tmp_path / "out/noisy/base"], Spy, "window", out=tmp_path / "run", clock="modelled", latency="fixed:1ms")
    assert len(SEEN) > 100
    for word in ("noise", "switch", "'browse'", "stretch", "idle", "bob", "donor_tick", "clean"):
        assert not any(word in said for said in SEEN), word


def test_results_can_be_told_by_noise_and_the_rest(world: Path, tmp_path: Path) -> None:
    pair = _made(world, tmp_path / "out", rate=0.4, seed=1)
    session = tmp_path / "out/noisy/base/session"
    with Reader(session) as reader:
        times = np.array([t - reader.header.zero_ns for (t,) in reader.rows(("captured_ns",))], np.int64)
    found = marks(session)
    assert int(in_noise(found, times, S).sum()) == pair.n_noise
    assert set(times[in_noise(found, times, S)].tolist()) == {m.t_ns for m in found}
    assert not in_noise((), times, S).any()


def test_a_donor_keeps_its_privacy(world: Path, tmp_path: Path) -> None:
    donor = _recorded(tmp_path / "shy", "shy", "cleo", ["feh"], shade=9)
    db = sqlite3.connect(donor / "session.db")
    db.execute("UPDATE screenshots SET privacy_action = 'deleted', file_path = NULL WHERE id <= 30")
    db.execute("UPDATE screenshots SET privacy_action = 'redacted' WHERE id > 30")
    db.commit()
    db.close()
    twins(world / "base", tmp_path / "out", Options(rate=0.5, kinds=("switch",)), [donor])
    tables = _tables(tmp_path / "out/noisy/base/session")
    assert {m["donor_tick"] >= 30 for m in tables["noise"]} == {True}
    states = {r["tick"]: r["privacy_action"] for r in tables["screenshots"]}
    assert {states[m["tick"]] for m in tables["noise"]} == {"redacted"}


def test_noise_fills_no_column_that_the_recording_leaves_empty(world: Path, tmp_path: Path) -> None:
    """A text from OCR in some rows only would tell an agent which ones are noise."""
    donor = _recorded(tmp_path / "told", "told", "cleo", ["feh"], shade=9)
    db = sqlite3.connect(donor / "session.db")
    db.execute("UPDATE screenshots SET text = 'read', scene_description = 'seen', window_class = 'x'")
    db.commit()
    db.close()
    twins(world / "base", tmp_path / "out", Options(rate=0.5, kinds=("switch",)), [donor])
    rows = _tables(tmp_path / "out/noisy/base/session")["screenshots"]
    assert {(r["text"], r["scene_description"], r["window_class"]) for r in rows} == {(None, None, None)}


def test_profiles_and_intents_come_along(world: Path, tmp_path: Path) -> None:
    base = _recorded(tmp_path / "t", "traj", "ada", ["Code.exe"])
    said = {"profiles": {"Profile_A": {"job": "x"}, "Profile_B": {"job": "y"}}, "protocol": "trajectory",
            "truth": {"intents": {"Profile_A": [{"text": "Do it", "intention": "Translation"}, "Rest"],
                                  "Profile_B": []}}}  # fmt: skip
    (base / "scenario.yaml").write_text(yaml.safe_dump(said), encoding="utf-8")
    twins(base, tmp_path / "out", Options(rate=0.3), [world / "donor"])
    before, after = plays([base]), plays([tmp_path / "out/noisy"])
    assert [p.truth.intents for p in after] == [p.truth.intents for p in before]
    assert [p.profile for p in after] == [p.profile for p in before]
    assert [p.settings for p in after] == [p.settings for p in before]


def test_scenarios_of_one_name_stay_apart(world: Path, tmp_path: Path) -> None:
    both = {"profiles": {"p": {}, "q": {}}, "session": str(world / "base"), "name": "same@x"}
    for place in ("a", "b"):
        (tmp_path / "many" / place).mkdir(parents=True)
        (tmp_path / "many" / place / "scenario.yaml").write_text(yaml.safe_dump(both), encoding="utf-8")
    made = twins(tmp_path / "many", tmp_path / "out", Options(kinds=("idle",)))
    assert [pair.name for pair in made] == ["same@x", "same@x-2"]
    assert sorted(p.name for p in (tmp_path / "out/noisy").iterdir()) == ["same@x", "same@x-2"]


def test_what_cannot_be_made_is_refused(world: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"0 to 0\.9"):
        Options(rate=1.0)
    with pytest.raises(UsageError, match="switch"):
        Options(kinds=("swich",))
    with pytest.raises(UsageError, match="no recording to take from"):
        twins(world / "base", tmp_path / "a", Options(kinds=("switch",)), [world / "base"])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(UsageError, match="not empty"):
        _made(world, tmp_path / "full")
    for inside in (world / "base" / "twins", world):
        with pytest.raises(UsageError, match="must lie apart"):
            twins(world / "base", inside, Options(kinds=("idle",)))
    with pytest.raises(UsageError, match="must lie apart"):
        _made(world, world / "donor" / "twins")
    open_ = Writer(tmp_path / "open")
    open_.add(tick=0, captured_ns=0)
    with pytest.raises(InputError, match="not closed"):
        twins(tmp_path / "open", tmp_path / "b", Options(kinds=("idle",)))
    open_.close()
    with pytest.raises(UsageError, match="no place"):
        twins(tmp_path / "open", tmp_path / "b", Options(0.9, kinds=("idle",)))
    assert not (tmp_path / "b").exists()
    assert not list(tmp_path.glob(".b*"))


def test_the_account_says_where_it_came_from(world: Path, tmp_path: Path) -> None:
    _made(world, tmp_path / "out", seed=8)
    said = json.loads((tmp_path / "out/noise.json").read_text(encoding="utf-8"))
    assert said["options"]["seed"] == 8
    (pair,) = said["pairs"]
    (play,) = plays([world / "base"])
    assert pair["source"] == {"session": "base", "dataset_sha256": play.dataset_hash}
    assert [d["session"] for d in pair["donors"]] == ["donor"]
    assert str(tmp_path) not in json.dumps(said)


@given(
    points=st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 50)), max_size=6), a=st.integers(), b=st.integers()
)
def test_times_keep_their_order(points: list[tuple[int, int]], a: int, b: int) -> None:
    shift = Shift(points)
    assert (shift(a) < shift(b)) == (a < b)
    assert shift(a) - a == sum(by for at, by in points if at <= a)


def test_the_share_is_exact_to_the_row() -> None:
    assert n_noise(75, 0.25) == 25
    assert n_noise(10, 0.9) == 90
    assert n_noise(1000, 0) == 0


def test_times_in_words_move_along() -> None:
    shift = Shift([(100 * S, 7 * S)])
    assert shift.text("2026-11-30T10:28:40.000000Z", 100 * S) == "2026-11-30T10:28:47.000000Z"
    assert shift.text("2026-11-30T10:28:40.5+01:00", 101 * S) == "2026-11-30T10:28:47.500000+01:00"
    assert shift.text("2026-11-30T10:28:40Z", 99 * S) == "2026-11-30T10:28:40Z"
    assert shift.text("soon", 101 * S) == "soon"
    assert shift.wall_ms(1000, 100 * S) == 8000


def test_a_stretch_of_a_noisy_session_can_be_forgotten(world: Path, tmp_path: Path) -> None:
    _made(world, tmp_path / "out", rate=0.4, seed=1)
    session = tmp_path / "out/noisy/base/session"
    head = read_head(session)
    assert head.zero_ns is not None
    item = plan_session(head, Span(head.zero_ns + 10 * S, head.zero_ns + 30 * S))
    assert isinstance(item, Item)
    assert item.apply() == []  # nothing is left that it does not know


def test_needs_that_a_recording_shows_are_stated_in_the_twins(world: Path, tmp_path: Path) -> None:
    base = tmp_path / "asked"
    with Writer(base, session="asked", user="ada") as writer:
        columns = ("tick", "captured_ns", "app_name", "window_title")
        writer.add_rows(columns, [(t, t * S + 5, "Code.exe", f"f{t // 20}") for t in range(200)])
        for start in (0, 90, 150):
            writer.event(
                start_ns=start * S + 5, end_ns=(start + 9) * S, is_llm_event=1, user_intention="Translation"
            )  # fmt: skip
    twins(base, tmp_path / "out", Options(rate=0.3, seed=3), [world / "donor"])
    (before,), (clean,), (noisy,) = plays([base]), plays([tmp_path / "out/clean"]), plays([tmp_path / "out/noisy"])
    assert [(o.id, o.opens_ns, o.closes_ns, o.unservable) for o in before.truth.opportunities] == [
        ("a0", -1, 0, "under 2 s"), ("a1", 30 * S, 90 * S, None), ("a2", 99 * S - 5, 150 * S, None)
    ]  # fmt: skip
    assert clean.truth.opportunities[0].closes_ns == 1  # not -1 to 0 ns, but no more servable
    assert [o.opens_ns for o in clean.truth.opportunities[1:]] == [30 * S, 99 * S - 5]
    assert clean.truth.acts_ns == before.truth.acts_ns
    assert [o.unservable for o in noisy.truth.opportunities] == ["under 2 s", None, None]
    assert noisy.truth.assists[2].start_ns > 150 * S
    events = _tables(tmp_path / "out/noisy/asked/session")["events"]
    assert [e["start_ns"] - 5 for e in events] == [a.start_ns for a in noisy.truth.assists]


def test_units_of_both_twins_have_one_key_so_that_runs_can_be_held_against_each_other(
    world: Path, tmp_path: Path
) -> None:
    _made(world, tmp_path / "out", seed=3)
    (clean,), (noisy,) = plays([tmp_path / "out/clean"]), plays([tmp_path / "out/noisy"])
    assert clean.key == noisy.key == "base"
    assert clean.dataset_hash != noisy.dataset_hash
