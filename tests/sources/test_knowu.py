"""KnowU-Bench logs as recordings without truth, with the profile and the share of noise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import InputError, UsageError
from simulator.core.types import SECOND
from simulator.session.check import check
from simulator.session.importing import Report, import_
from simulator.session.reader import Reader
from simulator.session.scenario import plays
from simulator.sources.foreign import Ledger
from simulator.sources.formats import chosen
from simulator.sources.knowu import profile_of

REAL = Path(__file__).parents[2] / "../shared/data/knowu"


def _entry(time: Any, action: Any = "At 10:45, he opened Chrome.", label: Any = "signal") -> dict[str, Any]:
    return {"time": time, "location": "home", "action": action, "label": label, "category": "idle"}


LOG = [
    _entry("2026-01-01T10:45:00+08:00", "opened Chrome"),
    _entry("2026-01-01T10:46:30+08:00", "closed Chrome", "noise"),
    _entry("2026-01-01T13:00:00+08:00", "ordered lunch"),
    _entry("2026-01-02T09:00:00+08:00", "took the train"),
    _entry("2026-01-03T09:00:00+08:00", "took the train"),
]


def _bench(folder: Path, log: Any = LOG, profile: str | None = "user_profile: {identity: {age: 30}}\n") -> Path:
    (folder / "user_logs").mkdir(parents=True)
    (folder / "user_profile").mkdir()
    text = log if isinstance(log, str) else json.dumps(log)
    (folder / "user_logs/dev_noise_25pct.json").write_text(text, encoding="utf-8")
    if profile is not None:
        (folder / "user_profile/dev.yaml").write_text(profile, encoding="utf-8")
    return folder


def _count(report: Report, outcome: str, words: str) -> int:
    return sum(w.count for w in report.lines if w.outcome == outcome and words in w.reason)


def test_a_log_is_one_users_history_and_sessions_in_the_zone_of_its_times(tmp_path: Path) -> None:
    report = import_(_bench(tmp_path / "src"), tmp_path / "out", split=0.94)
    assert [p.as_posix() for p in report.sessions] == [
        "dev_noise_25pct/20260101-104500",
        "dev_noise_25pct/20260102-090000",
        "dev_noise_25pct/20260103-090000",
    ]
    assert len(report.scenarios) == 2
    assert report.notes["dev_noise_25pct"]["noise"] == "1 of 5 labelled entries (20.0%)"
    assert report.notes["dev_noise_25pct"]["truth"].startswith("none")
    found = plays([tmp_path / "out"])
    assert not found[0].truth.known
    assert found[0].profile == {"identity.age": "30"}
    assert [e.title for e, _ in found[0].history] == ["opened Chrome", "closed Chrome", "ordered lunch"]
    assert all(label is None for _, label in found[0].history), "nothing is known of needs"
    for session in report.sessions:
        assert not [f for f in check(tmp_path / "out" / session) if f.severity == "damage"]


def test_between_entries_nothing_is_taken_to_stand_still(tmp_path: Path) -> None:
    import_(_bench(tmp_path / "src"), tmp_path / "out", split=0)
    with Reader(tmp_path / "out/dev_noise_25pct/20260101-104500") as reader:
        header = reader.header
        rows = reader.table("events", ("start_ns", "end_ns", "detailed_description"), order="id")
    assert header.zone == "Etc/GMT-8"
    assert [(g.start_ns // SECOND, g.end_ns // SECOND, g.reason) for g in header.gaps] == [(420, 8100, "missing")]
    assert [(s // SECOND, e // SECOND) for s, e, _ in rows] == [(0, 90), (90, 390), (8100, 8400)]
    assert [json.loads(said)["label"] for _, _, said in rows] == ["signal", "noise", "signal"]


def test_neither_labels_nor_habits_reach_an_agent_or_a_memory(tmp_path: Path) -> None:
    profile = "user_profile: {identity: {name: Ann}, habits: {secret_a: {answer: x}, secret_b: 1}, job: cook}\n"
    report = import_(_bench(tmp_path / "src", profile=profile), tmp_path / "out", split=0.94)
    said = (tmp_path / "out/dev_noise_25pct/history.jsonl").read_text(encoding="utf-8")
    assert "noise" not in said.replace("dev_noise_25pct", "")
    assert plays([tmp_path / "out"])[0].profile == {"identity.name": "Ann", "job": "cook"}
    assert _count(report, "left out", "habits of the profile") == 2


def test_odd_entries_are_counted(tmp_path: Path) -> None:
    odd = [*LOG, 7, _entry("2026-01-04T09:00:00"), _entry("soon"), _entry(5), _entry("2026-01-04T09:00:00+08:00", " "),
           _entry("2026-01-04T09:00:00+09:00", "x", "maybe"), _entry("2026-01-01T00:00:00+08:00", "early")]  # fmt: skip
    report = import_(_bench(tmp_path / "src", odd), tmp_path / "out")
    assert _count(report, "left out", "without a time and its zone") == 4
    assert _count(report, "left out", "without an action") == 1
    assert _count(report, "kept", "without a label") == 1
    assert _count(report, "noted", "another zone") == 1
    assert _count(report, "repaired", "before the row above") == 1


@pytest.mark.parametrize(
    ("log", "words"), [("[{", "not JSON"), ("{}", "a list of entries"), ("[]", "no entry that can be read")]
)
def test_a_file_that_is_no_log_is_one_sentence(tmp_path: Path, log: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        import_(_bench(tmp_path / "src", log), tmp_path / "out", format="knowu")


@pytest.mark.parametrize("profile", ["a: [", "user_profile: 5\n", "[]\n", "a: &a [*a]\n"])
def test_a_damaged_profile_is_counted_and_left_out(tmp_path: Path, profile: str) -> None:
    report = import_(_bench(tmp_path / "src", profile=profile), tmp_path / "out", split=0)
    assert _count(report, "left out", "profiles") == 1
    assert plays([tmp_path / "out"])[0].profile == {}


def test_a_log_without_a_profile_is_told_and_several_logs_have_users_of_their_own(tmp_path: Path) -> None:
    src = _bench(tmp_path / "src", profile=None)
    assert _count(import_(src, tmp_path / "out"), "noted", "without a profile") == 1
    (src / "user_logs/other.json").write_text(json.dumps(LOG), encoding="utf-8")
    with pytest.raises(UsageError, match="2 logs, each with a user"):
        import_(src, tmp_path / "out2", user="sam")
    assert chosen("auto", src).name == "knowu"


def test_a_profile_of_any_depth_is_flat() -> None:
    said = profile_of({"user_profile": {"a": {"b": {"c": [1, {"d": "x\ny"}]}, "e": None}, "f": ["g", ""]}}, Ledger())
    assert said == {"a.b": "c: 1, d: x y", "f": "g"}


@pytest.mark.skipif(not REAL.exists(), reason="no ../shared/data/knowu")
def test_the_published_noise_share_is_measured(tmp_path: Path) -> None:
    report = import_(REAL, tmp_path / "out")
    shares = {user: notes["noise"] for user, notes in report.notes.items()}
    assert shares == {
        "developer": "0 of 138 labelled entries (0.0%)",
        "developer_noise_25pct": "46 of 184 labelled entries (25.0%)",
        "grandma": "0 of 168 labelled entries (0.0%)",
        "grandma_noise_25pct": "56 of 224 labelled entries (25.0%)",
        "student": "0 of 96 labelled entries (0.0%)",
        "student_noise_25pct": "32 of 128 labelled entries (25.0%)",
    }
    found = plays([tmp_path / "out"])
    assert found
    assert not any(p.truth.known for p in found)
    assert found[0].profile["identity.occupation"] == "Senior DevOps Engineer / SRE"
