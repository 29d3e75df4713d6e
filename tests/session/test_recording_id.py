"""Versions of one recording are one session in statistics, whatever they are called and whoever sits there."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from bench.make_session import make
from scorers.resampled import cluster_of
from scorers.statistics.clusters import Clusters
from simulator.play.player import run
from simulator.session.importing import import_
from simulator.session.noise import Options, twins
from simulator.session.scenario import plays
from simulator.session.store import Writer

ROOT = Path(__file__).resolve().parents[2]


def case(folder: Path, text: str = "", seed: int = 0, n: int = 60) -> Path:
    make(folder / "session", n, seed)
    return said(folder, text)


def said(folder: Path, text: str) -> Path:
    (folder / "scenario.yaml").write_text(f"session: session\ntruth: {{opportunities: []}}\n{text}", encoding="utf-8")
    return folder


def recordings(path: Path) -> list[str]:
    return [play.recording for play in plays([path])]


def test_copies_under_other_names_of_other_people_are_one_session_and_other_recordings_are_not(tmp_path: Path) -> None:
    case(tmp_path / "corpus/a")
    for i in range(5):
        shutil.copytree(tmp_path / "corpus/a", tmp_path / f"corpus/b{i}")
        said(tmp_path / f"corpus/b{i}", f"name: copy{i}\nuser: u{i % 2}\nprofile: {{job: clerk}}\n")
    case(tmp_path / "corpus/c", seed=1)
    case(tmp_path / "corpus/d", n=61)
    played = run([tmp_path / "corpus"], "silent", "none", out=tmp_path / "run", clock="modelled", latency="fixed:0s")
    headers = json.loads((played.folder / "run.json").read_text())["resolved"]
    group = Clusters.group([cluster_of(key, header) for key, header in headers.items()])
    assert len(headers) == 8
    assert len({header["dataset"] for header in headers.values()}) == 8
    assert (group.n_sessions, len(group)) == (3, 3)
    assert group.n_users == 1  # u0, u1 and user sit before one screen


def test_a_session_renamed_annotated_or_stored_anew_is_the_same_recording(tmp_path: Path) -> None:
    before = recordings(case(tmp_path / "a"))
    with sqlite3.connect(tmp_path / "a/session/session.db") as db:
        db.execute("UPDATE meta SET value = 'other' WHERE key IN ('session', 'user')")
        db.execute("INSERT INTO labels (at_ns, help) VALUES (1, 1)")
        db.execute("UPDATE screenshots SET text = 'read later'")
    db.close()
    assert recordings(tmp_path / "a") == before


def test_sessions_that_show_nothing_are_told_apart_by_name(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with Writer(tmp_path / name, session=name) as writer:
            writer.add_rows(("tick", "captured_ns", "monitor"), [(0, 0, 0), (1, 10**9, 0)])
    a, b = recordings(tmp_path)
    assert a != b


def test_what_a_scenario_says_wins(tmp_path: Path) -> None:
    case(tmp_path / "a", "recording: one\n")
    case(tmp_path / "b", "recording: one\n", seed=1)
    assert recordings(tmp_path) == ["one", "one"]


@pytest.mark.parametrize("text", ["", "recording: mine\n"])
def test_noise_twins_are_the_recording_that_they_were_made_of(tmp_path: Path, text: str) -> None:
    case(tmp_path / "a", text)
    twins(tmp_path / "a", tmp_path / "out", Options(kinds=("idle",)))
    (noisy,) = (tmp_path / "out/noisy").iterdir()
    twins(noisy, tmp_path / "again", Options(kinds=("idle",)))
    found = [*recordings(tmp_path / "a"), *recordings(tmp_path / "out"), *recordings(tmp_path / "again")]
    assert len(found) == 5
    assert len(set(found)) == 1


def test_two_readers_of_one_screen_and_bundled_twins_are_one_session_each() -> None:
    scenarios = ROOT / "scenarios"
    assert len(set(recordings(scenarios / "two_readers"))) == 1
    assert len(set(recordings(scenarios / "noise_twins"))) == 1
    assert len(plays([scenarios])) == 13
    assert len(set(recordings(scenarios))) == 11


def test_a_log_with_noise_is_the_same_person_on_the_same_days(tmp_path: Path) -> None:
    logs = tmp_path / "src/user_logs"
    logs.mkdir(parents=True)
    for name, hours in (("dev", (9, 13)), ("dev_noise_25pct", (8, 9, 13)), ("gran", (9,))):
        entries = [
            {"time": f"2026-01-0{day}T{hour:02}:00:00+08:00", "action": f"a{hour}", "label": "signal"}
            for day in (1, 2, 3) for hour in hours
        ]  # fmt: skip
        (logs / f"{name}.json").write_text(json.dumps(entries), encoding="utf-8")
    import_(tmp_path / "src", tmp_path / "out", split=0)
    found = plays([tmp_path / "out"])
    by_user = {user: {p.recording for p in found if p.user == user} for user in ("dev", "dev_noise_25pct", "gran")}
    assert by_user["dev"] == by_user["dev_noise_25pct"]
    assert not by_user["dev"] & by_user["gran"]
    assert {p.user: p.person for p in found} == {
        "dev": "KnowU dev",
        "dev_noise_25pct": "KnowU dev",
        "gran": "KnowU gran",
    }


def test_people_who_share_a_screen_are_drawn_as_one() -> None:
    """Mei and Tomas share a screen, Tomas and Sam another: three users, and one who is drawn."""
    units = [("mei", "r0", "a"), ("tomas", "r0", "b"), ("tomas", "r1", "c"), ("sam", "r1", "d")]
    units += [(f"u{i}", f"{i}.{k}", f"u{i}.{k}") for i in range(5) for k in range(2)]
    group = Clusters.group(units)
    assert (group.unit, group.n_users, group.n_sessions) == ("user", 6, 12)
    assert group.names[0] == "mei + sam + tomas"
    assert group.of[:4].tolist() == [0, 0, 0, 0]


def test_logs_of_earlier_versions_are_told_apart_by_their_data_set() -> None:
    assert cluster_of("k", {"user": "u", "dataset": "d"}) == ("u", "d", "k")
    assert cluster_of("k", {"user": "u", "dataset": "d", "recording": "r", "person": "p"}) == ("p", "r", "k")
