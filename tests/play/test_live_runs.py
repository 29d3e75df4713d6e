"""A live run: session and run log come to lie together, and the run is afterwards as one over the recording."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from PIL import Image

from simulator.cli import _call
from simulator.cli.live import LiveOptions
from simulator.cli.live_playing import _whose
from simulator.core.errors import Exit, InputError, UsageError
from simulator.core.types import MS, Decision, Observation, Offer
from simulator.play.assemble import Choice
from simulator.play.live import LiveFolder, play_live
from simulator.play.player import Played, run
from simulator.play.scoring import open_folder, score_folder
from simulator.play.settling import settle
from simulator.play.sides import sides
from simulator.recorder.shots import Shot, Summary
from simulator.runs.folder import read_run, read_units
from simulator.session.ignored import is_hidden
from simulator.session.scenario import plays
from simulator.session.store import Writer
from simulator.timing.clock import boot_ns, pause, wall_ns

PERIOD = 100 * MS  # long enough for a busy machine: every snapshot is to be decided


class Recorder:
    """Records made-up screens: a row a period, its picture another colour at each change of the app."""

    def __init__(self, windows: str, folder: Path, session: str, user: str, on_shot: Callable[[Shot], None],
                 on_gap: Callable[[int, int, str], None]) -> None:  # fmt: skip
        self.windows, self.folder, self.session, self.user = windows, folder, session, user
        self.on_shot, self.on_gap = on_shot, on_gap
        self.stopped = False
        self._zero = boot_ns()

    def now_ns(self) -> int:
        return boot_ns() - self._zero

    def stop(self) -> None:
        self.stopped = True

    async def run(self) -> Summary:
        self._zero = boot_ns()
        n = 0
        with Writer(
            self.folder, session=self.session, user=self.user, period_ns=PERIOD, utc_anchor_ns=wall_ns()
        ) as writer:
            for tick, app in enumerate(self.windows):
                await pause(tick * PERIOD - self.now_ns())
                if self.stopped:
                    break
                if app == "-":
                    writer.gap(tick, tick, "locked")
                    self.on_gap(tick * PERIOD, (tick + 1) * PERIOD, "locked")
                    continue
                picture = Image.new("RGB", (4, 4), (ord(app), 0, 0))
                kept = writer.keep(picture)
                self.on_shot(Shot(tick, tick * PERIOD, 0, 1, app, f"{app} title", kept["file_path"],
                                  kept["pixels_hash"], picture, 4, 4))  # fmt: skip
                writer.add(tick=tick, captured_ns=tick * PERIOD, monitor=1, app_name=app, window_title=f"{app} title",
                           **kept)  # fmt: skip
                n += 1
        return Summary(self.folder, len(self.windows), n, n, 0, {}, {}, None, True)


class Named:
    """Offers the application it sees."""

    async def decide(self, observation: Observation) -> Decision:
        return Decision((Offer(str(observation.snapshot.app), f"seen {observation.snapshot.index}", 0.5),))


class Broken:
    """Cannot be opened."""

    async def open(self, setup: Any) -> None:
        raise RuntimeError("no weights")

    async def decide(self, observation: Observation) -> Decision:
        raise AssertionError


def live(folder: Path, windows: str = "aabb-cc", agent: Any = Named, **more: Any) -> Played:
    place = LiveFolder(folder)
    place.begin(more.pop("past", None), more.pop("user", None))
    choice = Choice([], agent=agent, memory="none", **more)

    def make(folder: Path, **given: Any) -> Recorder:
        return Recorder(windows, folder, **given)

    return anyio.run(lambda: play_live(place, choice, make, period_ns=PERIOD))


def test_session_and_run_lie_together_and_agree(tmp_path: Path) -> None:
    played = live(tmp_path / "demo")
    assert played.code is Exit.DONE
    (play,) = plays([tmp_path / "demo"])
    ((key, log, truth),) = read_units(tmp_path / "demo" / "run")
    assert key == play.key == "demo"
    assert truth == play.truth
    assert log.complete
    assert log.header["end_ns"] == play.truth.end_ns == 7 * PERIOD
    assert log.header["dataset"] == play.dataset_hash
    assert log.header["clock"] == "wall"
    assert log.snapshot.tolist() == list(range(6))
    assert log.captured_ns.tolist() == [0, PERIOD, 2 * PERIOD, 3 * PERIOD, 5 * PERIOD, 6 * PERIOD]
    assert played.scores is not None
    assert played.scores["counts"]["decisions"] == 6


def test_it_is_replayed_to_the_instant_as_a_journal(tmp_path: Path) -> None:
    live(tmp_path / "demo")
    again = run(tmp_path / "demo", agent=Named, memory="none", clock="journal", journal=tmp_path / "demo" / "run",
                out=tmp_path / "again")  # fmt: skip
    assert again.code is Exit.DONE
    ((_, old, _),) = read_units(tmp_path / "demo" / "run")
    ((_, new, _),) = read_units(tmp_path / "again")
    for column in ("snapshot", "captured_ns", "started_ns", "actionable_ns", "kind"):
        assert getattr(new, column).tolist() == getattr(old, column).tolist(), column


def test_a_truth_told_later_scores_it(tmp_path: Path) -> None:
    live(tmp_path / "demo", "aa" + "b" * 24 + "cc")  # needs under 2 s are not scored
    file = tmp_path / "demo" / "scenario.yaml"
    said = "truth:\n  opportunities:\n    - {id: one, opens_s: 0.2, closes_s: 2.6, intention: b}\n"
    file.write_text(file.read_text(encoding="utf-8") + "intentions: [a, b, c]\n" + said, encoding="utf-8")
    scores = score_folder(tmp_path / "demo" / "run", truth=tmp_path / "demo", save=False)
    assert scores["scores"]["R_rt"] == 1.0
    kept = json.loads((tmp_path / "demo" / "run" / "scores.json").read_text(encoding="utf-8"))
    assert kept["scores"].get("R_rt") is None, "what the run itself knew stays"


def test_a_truth_of_another_session_is_refused(tmp_path: Path) -> None:
    live(tmp_path / "one")
    live(tmp_path / "two", "aaaa")
    with pytest.raises(InputError, match=r"one.*is of the session 'one'"):
        score_folder(tmp_path / "one" / "run", truth=tmp_path / "two", save=False)


def test_what_a_past_scenario_says_of_the_person_holds_for_the_live_run(tmp_path: Path) -> None:
    past = Path(__file__).resolve().parents[2] / "scenarios" / "desktop"
    heard: list[Any] = []

    class Listening(Named):
        async def open(self, setup: Any) -> None:
            heard.append(setup)

    played = live(tmp_path / "demo", agent=Listening, past=past)
    assert played.code is Exit.DONE
    assert heard[0].user == "sam"
    assert heard[0].profile["made_up"].startswith("yes")
    (play,) = plays([tmp_path / "demo"])
    assert len(play.history) == 1046, "and the recording's own scenario says the same"
    assert play.profile == heard[0].profile


def test_an_agent_that_cannot_be_opened_records_nothing(tmp_path: Path) -> None:
    played = live(tmp_path / "demo", agent=Broken)
    assert played.code is Exit.SOME_UNITS_ERRED
    assert "no weights" in str(played.results[0].error)
    assert not (tmp_path / "demo" / "session").exists()


def test_a_killed_run_is_settled_later(tmp_path: Path) -> None:
    live(tmp_path / "demo")
    file = tmp_path / "demo" / "run" / "run.json"
    whole = read_run(tmp_path / "demo" / "run")
    unit = tmp_path / "demo" / "run" / "units" / "demo"
    # as a kill leaves it: the header of the beginning, no end line, nothing settled
    lines = (unit / "decisions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(lines[0])
    settled = (header["truth"], header["end_ns"])
    start = {"end_ns": 0, "dataset": "", "utc_anchor_ns": None}
    (unit / "decisions.jsonl").write_text(json.dumps(header | start) + "\n" + "".join(lines[1:-1]), encoding="utf-8")
    whole["given"]["settled"] = False
    whole["units"] = {"demo": {}}
    file.write_text(json.dumps(whole), encoding="utf-8")
    killed = tmp_path / "killed"
    shutil.copytree(tmp_path / "demo" / "run", killed)
    scores = score_folder(tmp_path / "demo" / "run")
    assert scores["counts"]["decisions"] == 6
    ((_, log, _),) = read_units(tmp_path / "demo" / "run")
    assert (log.header["truth"], log.header["end_ns"]) == settled
    assert not log.complete
    assert not settle(tmp_path / "demo" / "run"), "once is enough"
    log_file = killed / "units" / "demo" / "decisions.jsonl"
    text = log_file.read_text(encoding="utf-8").splitlines(keepends=True)
    log_file.write_text("".join(text[:-2]), encoding="utf-8")  # the last two decisions were in flight
    again = run(tmp_path / "demo", agent=Named, memory="none", clock="journal", journal=killed, out=tmp_path / "again")
    assert again.code is Exit.DONE
    assert again.results[0].cut is not None
    assert again.scores is not None
    assert (again.scores["counts"]["decisions"], again.scores["counts"]["interrupted"]) == (4, 1)


def test_a_run_that_goes_on_is_not_touched_by_who_asks_for_its_figures(tmp_path: Path) -> None:
    demo, said = tmp_path / "demo", list[str]()

    class Asks(Named):
        async def decide(self, observation: Observation) -> Decision:
            asks: list[Callable[[], object]] = [
                lambda: score_folder(demo / "run"),
                lambda: open_folder(demo / "run"),
                lambda: sides([tmp_path / "before" / "run", demo / "run"]),
            ]
            for ask in asks if observation.snapshot.index == 2 else ():
                with pytest.raises(UsageError) as refused:
                    ask()
                said.append(str(refused.value))
            return await super().decide(observation)

    live(tmp_path / "before")
    played = live(demo, agent=Asks)
    assert said == [f"{demo / 'run'} is a live run that still goes on; it has figures once it has ended"] * 3
    assert played.code is Exit.DONE
    ((_, log, _),) = read_units(demo / "run")
    assert log.complete
    assert len(log) == 6


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="folder of its own"):
        LiveFolder(tmp_path / "demo").begin(None, None)


def test_the_scenario_of_a_live_run_shows_how_a_truth_is_written(tmp_path: Path) -> None:
    live(tmp_path / "demo", "aa" + "b" * 24 + "cc")
    file = tmp_path / "demo" / "scenario.yaml"
    text = file.read_text(encoding="utf-8")
    assert f"# proact score {tmp_path / 'demo' / 'run'} --truth {tmp_path / 'demo'}\n" in text
    start = text.index("# truth:")
    shown = "".join(line.removeprefix("# ") for line in text[start:].splitlines(keepends=True)[:3])
    file.write_text(text[:start] + shown.replace("31,", "0.2,").replace("51.5", "2.6"), encoding="utf-8")
    scores = score_folder(tmp_path / "demo" / "run", truth=tmp_path / "demo")
    assert scores["counts"]["opportunities"] == 1


def test_a_live_run_is_left_out_by_git(tmp_path: Path) -> None:
    live(tmp_path / "demo")
    assert (tmp_path / "demo" / ".gitignore").read_text().endswith("\n*\n")


def test_whose_a_live_run_is_follows_the_past_unless_somebody_is_named(tmp_path: Path) -> None:
    past = Path(__file__).parents[2] / "scenarios" / "desktop"
    assert LiveFolder(tmp_path / "a").begin(past, None) == "sam"
    assert LiveFolder(tmp_path / "b").begin(past, "me") == "me"
    assert LiveFolder(tmp_path / "c").begin(None, None) == "user"
    said = [_whose(LiveOptions(past=past, user=user), user or "sam") for user in (None, "me", "sam")]
    assert said[0] is not None
    assert "recorded as sam's" in said[0]
    assert "--user NAME" in said[0]
    assert said[1] is not None
    assert "the past of sam" in said[1]
    assert "as if it were me's" in said[1]
    assert said[2] is None
    assert _whose(LiveOptions(), "user") is None


def test_a_live_run_cannot_be_explained_by_itself_and_the_error_names_the_way(tmp_path: Path, capsys: Any) -> None:
    live(tmp_path / "demo")
    run, demo = str(tmp_path / "demo" / "run"), str(tmp_path / "demo")
    assert _call(["explain", run]) == 2
    assert "with --truth SCENARIO" in capsys.readouterr().err
    file = tmp_path / "demo" / "scenario.yaml"
    assert f"# proact explain {run} --truth {demo}\n" in file.read_text(encoding="utf-8")
    with file.open("a", encoding="utf-8") as stream:
        stream.write("truth: {opportunities: [{opens_s: 0.1, closes_s: 0.2, intention: Translation}]}\n")
    assert _call(["explain", run, "--truth", demo]) == 0


def test_a_run_over_a_private_recording_is_left_out_by_git_and_forgotten_as_ever(tmp_path: Path, capsys: Any) -> None:
    live(tmp_path / "demo")
    played = run(tmp_path / "demo", Named, "none", out=tmp_path / "r")
    assert is_hidden(tmp_path / "r")
    before = (tmp_path / "r" / "run.json").read_bytes()
    assert run(tmp_path / "demo", Named, "none", out=tmp_path / "r").scores == played.scores
    assert (tmp_path / "r" / "run.json").read_bytes() == before
    (tmp_path / "demo" / ".gitignore").unlink()
    run(tmp_path / "demo", Named, "none", out=tmp_path / "open")
    assert not (tmp_path / "open" / ".gitignore").exists(), "whoever removed it means to publish"
    assert _call(["forget", "user", "--in", str(tmp_path), "--yes"]) == 0
    assert "did not make" not in capsys.readouterr().err
