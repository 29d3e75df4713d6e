"""Forgetting stays where it was sent: below the folders named, and out of data that is made up."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import _call
from simulator.core.errors import InputError
from simulator.core.types import SECOND
from simulator.privacy.forget import plan
from simulator.privacy.forget_places import listed
from simulator.privacy.span import Span
from tests.privacy.study import START, WORD, record

ROOT = Path(__file__).parents[2]
STRETCH = Span(START - 40 * SECOND, START + 5 * SECOND)


@pytest.fixture(autouse=True)
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no cache"))


def _demo(root: Path) -> tuple[Path, Path]:
    """A folder as ``proact live demo --past sample`` leaves it, and the sample."""
    demo, sample = root / "demo", root / "sample"
    record(demo / "session", "sam")
    sample.mkdir()
    rows = [{"start": -60.0, "end": -30.0, "title": f"{WORD} past"}, {"start": -20.0, "end": -10.0, "title": "later"}]
    (sample / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (sample / "profile.yaml").write_text("job: dealer\n")
    (demo / "scenario.yaml").write_text(
        f"session: session\nuser: sam\nhistory: [{sample}/history.jsonl]\nprofile: {sample}/profile.yaml\ntruth: none\n"
    )
    return demo, sample


def _bytes(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _forget(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = _call(["forget", "sam", "--json", *words])
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


def test_what_a_scenario_names_outside_of_the_folders_is_left_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo, sample = _demo(tmp_path)
    before = _bytes(sample)
    code, done = _forget(capsys, "--in", str(demo))
    assert code == 2
    assert _bytes(sample) == before
    assert {Path(one["path"]).name for one in done["left"]} == {"history.jsonl", "profile.yaml"}
    assert all("outside" in one["why"] and "--in" in one["why"] for one in done["left"])
    assert not demo.exists() or not _bytes(demo)


def test_both_folders_named_it_all_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo, sample = _demo(tmp_path)
    code, done = _forget(capsys, "--in", str(demo), "--in", str(sample))
    assert (code, done["left"]) == (0, [])
    assert not _bytes(demo) | _bytes(sample)


def test_a_stretch_does_not_reach_outside_either(tmp_path: Path) -> None:
    demo, sample = _demo(tmp_path)
    before = _bytes(sample)
    left = plan("sam", [demo], STRETCH).carry_out()
    assert [one.path.name for one in left] == ["history.jsonl"]
    assert _bytes(sample) == before


def test_a_session_that_a_scenario_names_outside_is_left_and_told(tmp_path: Path) -> None:
    """Whether it is played, or history."""
    record(tmp_path / "far" / "a", "sam")
    record(tmp_path / "far" / "b", "sam")
    before = _bytes(tmp_path / "far")
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "scenario.yaml").write_text("session: ../far/a\nhistory: [../far/b]\ntruth: none\n")
    left = plan("sam", [tmp_path / "near"]).carry_out()
    assert [one.path.name for one in left] == ["a", "b"]
    assert not any(one.only_maybe for one in left)
    assert _bytes(tmp_path / "far") == before
    assert not _bytes(tmp_path / "near")


def test_links_lead_nowhere(tmp_path: Path) -> None:
    """To a database, to a history, to the units of a run."""
    record(tmp_path / "far" / "s", "sam")
    (tmp_path / "far" / "past.jsonl").write_text('{"start": 1, "end": 2, "user": "sam"}\n')
    (tmp_path / "far" / "units" / "u").mkdir(parents=True)
    (tmp_path / "far" / "units" / "u" / "truth.json").write_text('{"user": "sam", "session": "s"}')
    before = _bytes(tmp_path / "far")
    near = tmp_path / "near"
    (near / "s").mkdir(parents=True)
    (near / "run").mkdir()
    (near / "s" / "session.db").symlink_to(tmp_path / "far" / "s" / "session.db")
    (near / "past.jsonl").symlink_to(tmp_path / "far" / "past.jsonl")
    (near / "run" / "units").symlink_to(tmp_path / "far" / "units")
    (near / "scenario.yaml").write_text("session: s\nuser: kim\nhistory: [past.jsonl]\ntruth: none\n")
    for span in (None, STRETCH):
        assert len(plan("sam", [near], span).carry_out()) >= 2
        assert _bytes(tmp_path / "far") == before
        assert (near / "s" / "session.db").is_symlink()


def test_a_folder_above_those_named_stays_where_it_is(tmp_path: Path) -> None:
    record(tmp_path / "sam" / "s", "sam", n=3)
    plan("sam", [tmp_path / "sam" / "s"]).carry_out()
    assert list(tmp_path.iterdir()) == [tmp_path / "sam"]


def test_what_is_made_up_is_left_however_it_is_come_by(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo, sample = _demo(tmp_path)
    record(sample / "session", "sam")
    (tmp_path / ".made-up").write_text("# nobody's\nsample\n")
    before = _bytes(sample)
    for place in (sample, sample / "session", tmp_path):
        code, done = _forget(capsys, "--in", str(place))
        assert code == 0
        assert _bytes(sample) == before
        assert any("made up" in one["why"] for one in done["left"])
    assert not demo.exists() or not _bytes(demo)


def test_a_recording_beside_what_is_made_up_is_somebodys(tmp_path: Path) -> None:
    record(tmp_path / "sample", "sam", n=3)
    record(tmp_path / "mine", "sam", n=3)
    (tmp_path / ".made-up").write_text("sample\n")
    plan("sam", [tmp_path]).carry_out()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".made-up", "sample"]


def test_a_list_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".made-up").write_bytes(b"\xff\xfe\n")
    with pytest.raises(InputError, match=r"\.made-up"):
        plan("sam", [tmp_path])


def _tracked() -> list[Path]:
    asked = ["git", "-C", str(ROOT), "ls-files"]
    if shutil.which("git") is None or (said := subprocess.run(asked, capture_output=True, text=True)).returncode:
        pytest.skip("not a clone")
    return [ROOT / line for line in said.stdout.splitlines()]


def test_the_scenarios_that_come_with_proact_are_listed() -> None:
    """Each recording, past and person below ``scenarios``."""
    names = [path.relative_to(ROOT).parts for path in _tracked()]
    data = {n[1] for n in names if n[0] == "scenarios" and len(n) > 2 and n[-1].endswith((".db", ".jsonl", ".yaml"))}
    assert data
    assert data <= listed(ROOT / "scenarios")


@pytest.mark.parametrize("user", ["sam", "nora", "tomas", "mei", "lin", "kim"])
def test_no_name_takes_a_file_of_a_clone(user: str) -> None:
    tracked = _tracked()
    found = plan(user, [ROOT])
    taken = [item.path for item in found.items]
    assert [path for path in tracked if path in taken or any(folder in taken for folder in path.parents)] == []
    assert [one.path for one in found.unreached if one.path in tracked] == []
