"""PIRA-Bench's trajectory folders: whatever shape profile.json has, names come back to the letter in a submission."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from simulator.cli import _call
from simulator.core.errors import Exit, InputError, UsageError
from simulator.core.types import SECOND, SILENT, Decision, Observation, Offer
from simulator.endpoint.types import ModelChoice
from simulator.play.player import run
from simulator.play.submission import submission
from simulator.session.check import check
from simulator.session.importing import import_
from simulator.session.reader import Reader
from simulator.session.scenario import plays
from simulator.sources.foreign import Ledger
from simulator.sources.formats import chosen
from simulator.sources.pira import profiles_of
from tests.endpoint.faults import FAULTS, LAST, FaultServer, Wire, chunk

S = SECOND
PHONE, DESKTOP = (60, 130), (160, 90)
ODD = "trajectory 2: été/夏".replace("/", "_")
PROFILES: dict[str, Any] = {
    "Profile_A": {"status": {"income": "low", "city": "Malmö"}, "likes": ["trains", "tea"], "age": 31, "none": None},
    "Profile_B": "wants nothing  ",
    "Profile  C – ü": {"job": True},
}


def _folder(home: Path, name: str, n: int = 12, size: tuple[int, int] = PHONE, profiles: Any = PROFILES) -> Path:
    folder = home / name
    folder.mkdir(parents=True)
    for i in range(1, n + 1):
        Image.new("RGB", size, (i * 9, 40, 90)).save(folder / f"{i}.png")
    if profiles is not None:
        (folder / "profile.json").write_text(json.dumps(profiles), encoding="utf-8")
    return folder


@pytest.fixture
def trajectories(tmp_path: Path) -> Path:
    home = tmp_path / "trajs"
    _folder(home, "traj_1")
    _folder(home, "traj_10", size=DESKTOP)
    _folder(home, ODD)
    (home / "__MACOSX" / "traj_1").mkdir(parents=True)
    (home / "__MACOSX" / "traj_1" / "profile.json").touch()
    return home


def test_a_trajectory_is_a_scenario_of_three_people(trajectories: Path, tmp_path: Path) -> None:
    assert chosen("auto", trajectories).name == "pira"
    report = import_(trajectories, tmp_path / "out")
    assert sorted(map(str, report.sessions)) == ["traj_1", "traj_10", "trajectory-2--été_夏"]
    found = plays([tmp_path / "out"])
    assert len(found) == 9
    one = found[:3]
    assert [p.sample for p in one] == [("traj_1", name) for name in PROFILES]
    assert one[0].profile == {"status.income": "low", "status.city": "Malmö", "likes": "trains; tea", "age": "31"}
    assert [p.profile for p in one[1:]] == [{"profile": "wants nothing"}, {"job": "true"}]
    assert all(p.settings["protocol"] == "trajectory" and not p.truth.known and p.truth.intents is None for p in found)
    assert {p.sample[0] for p in found if p.sample} == {"traj_1", "traj_10", ODD}


def test_pictures_come_in_natural_order_one_a_second(trajectories: Path, tmp_path: Path) -> None:
    report = import_(trajectories, tmp_path / "out")
    with Reader(tmp_path / "out" / "traj_1") as reader:
        rows = list(reader.rows(("captured_ns", "file_path", "width", "height")))
        assert reader.header.utc_anchor_ns is None
    assert [r[0] for r in rows] == [i * S for i in range(12)]
    for i, row in enumerate(rows, 1):
        with Image.open(tmp_path / "out/traj_1" / row[1]) as image:
            assert image.convert("RGB").getpixel((0, 0)) == (i * 9, 40, 90)  # 2 before 10
    assert rows[0][2:] == PHONE
    (notes,) = report.notes.values()
    assert "none are published" in notes["times"]
    assert import_(trajectories, tmp_path / "out").unchanged
    import_(trajectories, tmp_path / "slow", rate_hz=0.5)
    with Reader(tmp_path / "slow" / "traj_1") as reader:
        assert reader.header.period_ns == 2 * S


def test_what_is_broken_is_counted_and_the_rest_is_kept(trajectories: Path, tmp_path: Path) -> None:
    (trajectories / "traj_1" / "3.png").write_bytes(b"no picture")
    _folder(trajectories, "bare", profiles=None)
    _folder(trajectories, "torn")
    (trajectories / "torn" / "profile.json").write_text('{"Profile_A": ', encoding="utf-8")
    _folder(trajectories, "blank", n=0)
    report = import_(trajectories, tmp_path / "out")
    said = {(line.outcome, line.reason): (line.count, line.examples) for line in report.lines}
    assert said["left out", "folders of images without a profile.json"] == (1, ("bare",))
    assert said["left out", "trajectories without an image"] == (1, ("blank",))
    assert said["left out", "trajectories whose profiles cannot be read"][0] == 1
    assert [c for (o, r), (c, _) in said.items() if o == "repaired" and "damaged" in r] == [1]
    assert said["kept", "trajectories"][0] == 3
    assert said["kept", "samples (trajectory and profile)"][0] == 9
    assert not [f for f in check(tmp_path / "out/traj_1") if f.severity == "damage"]


A = {"job": "x"}
SHAPES: list[tuple[Any, dict[str, dict[str, str]]]] = [
    ({"Profile_A": A, "Profile_B": {}}, {"Profile_A": A, "Profile_B": {}}),
    ({"profiles": {"Profile_A": A}}, {"Profile_A": A}),
    ({"trajectory_id": 7, "profiles": [{"name": "Profile_A", "job": "x"}]}, {"Profile_A": {"name": "Profile_A", **A}}),
    ([A, {"job": "y"}], {"Profile_A": A, "Profile_B": {"job": "y"}}),
    (["one", "two"], {"Profile_A": {"profile": "one"}, "Profile_B": {"profile": "two"}}),
    ([{"id": "Profile_2", "job": "x"}, {"id": "Profile_1"}],
     {"Profile_2": {"id": "Profile_2", **A}, "Profile_1": {"id": "Profile_1"}}),
    ({"occupation": "clerk", "age": 3}, {"Profile_A": {"occupation": "clerk", "age": "3"}}),
    ({"profile_a": "text", "profile_b": ["x", "y"]},
     {"profile_a": {"profile": "text"}, "profile_b": {"profile": "x; y"}}),
    ("just a text", {"Profile_A": {"profile": "just a text"}}),
    ([{"name": "Ada Long", "job": "x"}], {"Profile_A": {"name": "Ada Long", **A}}),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "want"), SHAPES)
def test_profiles_are_read_in_whatever_shape(raw: Any, want: dict[str, dict[str, str]]) -> None:
    assert profiles_of(raw, "profile.json", Ledger()) == want


@pytest.mark.parametrize("raw", [None, 3, [], [1], ["", ""], [[]]])
def test_what_cannot_be_profiles_is_refused(raw: Any) -> None:
    with pytest.raises(InputError):
        profiles_of(raw, "profile.json", Ledger())


def test_a_folder_without_trajectories_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unpack trajs\.zip first"):
        import_(_folder(tmp_path, "bare", profiles=None), tmp_path / "out", format="pira")


TRUTH: dict[str, Any] = {
    "traj_1": {"Profile_A": ["find a train", {"text": "compare", "intention": "Translation"}], "Profile_B": [],
               "Profile  C – ü": ["x"]},
}  # fmt: skip


def test_a_truth_of_ones_own_can_be_scored(trajectories: Path, tmp_path: Path) -> None:
    file = tmp_path / "truth.json"
    file.write_text(json.dumps(TRUTH), encoding="utf-8")
    report = import_(trajectories, tmp_path / "out", truth=file)
    assert any("says nothing" in line.reason and line.count == 2 for line in report.lines)
    one = plays([tmp_path / "out/traj_1"])
    assert [[(i.text, i.intention) for i in (p.truth.intents or {})[p.sample[1]]] for p in one if p.sample] == [
        [("find a train", None), ("compare", "Translation")], [], [("x", None)]
    ]  # fmt: skip
    played = run(tmp_path / "out/traj_1", Finder, "none", out=tmp_path / "run", clock="modelled", latency="fixed:1ms")
    assert played.scores is not None
    # by hand, with the matcher of categories: of A both intents are found (F1 1), of C neither prediction is the true
    # one (F1 0), so F1_avg = 50; B is the only negative, with 2 predicted, so FPS = 2
    assert played.scores["scores"]["F1_avg"] == pytest.approx(50)
    assert played.scores["scores"]["FPS"] == pytest.approx(2)


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ({"traj_9": {}}, "no such trajectory"),
        ({"traj_1": {"Profile_Z": []}}, "no such profile"),
        ({"traj_1": {"Profile_A": []}}, "no list of intents"),
        ({"traj_1": {"Profile_A": "text"}}, "lists of intents"),
        ([], "a mapping of trajectories"),
    ],
)
def test_a_truth_that_does_not_fit_is_refused(trajectories: Path, tmp_path: Path, truth: Any, said: str) -> None:
    file = tmp_path / "truth.json"
    file.write_text(json.dumps(truth), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        import_(trajectories, tmp_path / "out", truth=file)


class Finder:
    """Two intents, one of them taken back in favour of another, one twice in other spacing."""

    async def decide(self, seen: Observation) -> Decision:
        if seen.snapshot.index == 3:
            return Decision((Offer("Translation", "read it", thread="t"), Offer("find a train", "find a  train")))
        if seen.snapshot.index == 6:
            return Decision((Offer("find a train", "find a train"), Offer("Translation", "夏 été?")), retracted=("t",))
        return SILENT


def test_a_submission_has_the_names_that_the_import_saw(trajectories: Path, tmp_path: Path) -> None:
    import_(trajectories, tmp_path / "out")
    played = run(tmp_path / "out", Finder, "none", out=tmp_path / "run", clock="modelled", latency="fixed:1ms")
    assert played.scores is not None
    assert "F1_avg" not in {k for k, v in played.scores["scores"].items() if v is not None}
    out = tmp_path / "deep" / "sub.json"
    assert _call(["dataset", "submission", str(tmp_path / "run"), str(out)]) == Exit.DONE
    said = json.loads(out.read_text(encoding="utf-8"))
    retained = ["find a train", "夏 été?"]
    assert list(said) == ["traj_1", "traj_10", ODD]
    assert said == {name: dict.fromkeys(PROFILES, retained) for name in said}
    assert [list(profiles) for profiles in said.values()] == [list(PROFILES)] * 3
    ever = submission(tmp_path / "run", "ever").intents
    assert ever["traj_1"]["Profile_A"] == ["read it", *retained]
    silent = run(tmp_path / "out", "silent", "none", out=tmp_path / "quiet")
    assert submission(silent.folder).intents["traj_10"] == {name: [] for name in PROFILES}


def test_a_submission_that_lacks_a_profile_is_refused_unless_asked_for(
    trajectories: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_(trajectories, tmp_path / "out")
    run(tmp_path / "out", Finder, "none", out=tmp_path / "run", clock="modelled", latency="fixed:1ms")
    log = tmp_path / "run/units/traj_1@Profile_B/decisions.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines()
    log.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")  # as a kill leaves it
    words = ["dataset", "submission", str(tmp_path / "run"), str(tmp_path / "sub.json")]
    assert _call(words) == Exit.USAGE
    told = capsys.readouterr().err
    assert "'traj_1', 'Profile_B' (interrupted)" in told
    assert not (tmp_path / "sub.json").exists()
    assert _call([*words, "--partial", "--json"]) == Exit.DONE
    assert list(json.loads((tmp_path / "sub.json").read_text(encoding="utf-8"))["traj_1"]) == [
        "Profile_A", "Profile  C – ü"
    ]  # fmt: skip
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["event"], told["samples"], told["missing"]) == ("done", 8, 1)


def test_a_submission_replaces_nothing_but_a_submission(
    trajectories: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_(trajectories, tmp_path / "out")
    folder = run(tmp_path / "out", "silent", "none", out=tmp_path / "run", clock="modelled", latency="fixed:1ms").folder
    held = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (tmp_path / "link").symlink_to(folder)
    for inside in (folder / "run.json", folder / "sub.json", tmp_path / "link" / "units" / "sub.json", folder):
        assert _call(["dataset", "submission", str(folder), str(inside)]) == Exit.USAGE
        assert "must lie apart" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == held
    out = tmp_path / "sub.json"
    for other in ("notes", "[1]", '{"traj_1": ["find a train"]}', '{"traj_1": {"Profile_A": [1]}}'):
        out.write_text(other, encoding="utf-8")
        assert _call(["dataset", "submission", str(folder), str(out)]) == Exit.USAGE
        assert "is no submission that could be replaced" in capsys.readouterr().err
        assert out.read_text(encoding="utf-8") == other
    out.write_text('{"traj_1": {"Profile_A": ["old"]}}', encoding="utf-8")
    assert _call(["dataset", "submission", str(folder), str(out)]) == Exit.DONE
    assert "old" not in out.read_text(encoding="utf-8")


def test_a_log_that_was_changed_is_not_submitted(trajectories: Path, tmp_path: Path) -> None:
    import_(trajectories, tmp_path / "out")
    run(tmp_path / "out", Finder, "none", out=tmp_path / "run", clock="modelled", latency="fixed:1ms")
    log = tmp_path / "run/units/traj_1@Profile_B/decisions.jsonl"
    log.write_bytes(log.read_bytes().replace(b"find a train", b"find a plane"))
    with pytest.raises(InputError, match="it was changed since the unit was played"):
        submission(tmp_path / "run")


def test_other_runs_are_no_submission(trajectories: Path, tmp_path: Path) -> None:
    desktop = Path(__file__).resolve().parents[2] / "scenarios" / "desktop"
    stream = run(desktop, "silent", "none", out=tmp_path / "stream")
    with pytest.raises(UsageError, match="another protocol"):
        submission(stream.folder)
    nameless = run(desktop / "trajectory.yaml", "silent", "none", out=tmp_path / "nameless")
    with pytest.raises(UsageError, match="no name on the leaderboard"):
        submission(nameless.folder)


async def _helpful(wire: Wire) -> None:
    asked = str(wire.asked.json["messages"])
    said = '{"intents": [{"intent": "find a train", "category": "Information Lookup"}]}'
    if "CREATE" in asked:
        said = '{"action": "CREATE", "intent": "find a train", "category": "Information Lookup"}'
    await wire.stream(chunk(said), chunk(finish="stop"), *LAST, gap_ns=0)


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setitem(FAULTS, "pira-helpful", _helpful)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with FaultServer() as server:
        yield server.url("pira-helpful")


@pytest.mark.parametrize("agent", ["naive", "pirf", "always", "oracle"])
def test_the_agents_of_the_paper_play_imported_trajectories(agent: str, url: str, tmp_path: Path) -> None:
    _folder(tmp_path / "trajs", "traj_1", n=6)
    file = tmp_path / "truth.json"
    file.write_text(json.dumps({"traj_1": {name: ["find a train"] for name in PROFILES}}), encoding="utf-8")
    import_(tmp_path / "trajs", tmp_path / "out", truth=file)
    model = ModelChoice("small", url) if agent in ("naive", "pirf") else None
    played = run(tmp_path / "out", agent, "none", out=tmp_path / "run", model=model)
    assert played.code is Exit.DONE
    assert played.scores is not None
    found = submission(played.folder)
    assert (found.missing, found.odd, found.n_samples) == ([], [], 3)
    if model is not None:
        assert found.intents == {"traj_1": {name: ["find a train"] for name in PROFILES}}


def test_a_truth_with_a_category_that_is_none_is_refused_before_anything_is_written(
    trajectories: Path, tmp_path: Path
) -> None:
    said: dict[str, dict[str, list[Any]]] = {"traj_1": {name: [] for name in PROFILES}}
    said["traj_1"]["Profile_A"] = [{"text": "book a train", "intention": "Travel"}]
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(InputError, match=r"truth.json: traj_1.Profile_A: 'Travel': unknown intention"):
        import_(trajectories, tmp_path / "out", truth=truth)
    truth.write_text(json.dumps({"traj_10": {"Profile_A": []}}), encoding="utf-8")
    with pytest.raises(InputError, match="no list of intents"):
        import_(trajectories, tmp_path / "out", truth=truth)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("profiles", "said"),
    [
        ('{"": {"age": 1}, "Profile_B": "x"}', "name is empty"),
        ("null", "profiles by name"),
        ('{"Profile_A": ', "not JSON"),
    ],
)
def test_a_profile_file_with_a_fault_is_named_with_the_reason(tmp_path: Path, profiles: str, said: str) -> None:
    folder = _folder(tmp_path / "trajs", "traj_1", 2, profiles=None)
    (folder / "profile.json").write_text(profiles, encoding="utf-8")
    with pytest.raises(InputError, match=rf"cannot be read \(traj_1/profile.json: .*{said}"):
        import_(tmp_path / "trajs", tmp_path / "out", format="pira")
