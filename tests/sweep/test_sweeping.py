"""A study from its file to its summary: what is played, what is kept, what is noticed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from scorers.base import scorers
from simulator.core.errors import Exit, InputError, NoRoom, UsageError
from simulator.play.comparing import compare
from simulator.play.kept import read_scores
from simulator.play.player import run
from simulator.play.scoring import score_folder
from simulator.sweep.place import is_starting_over, locked, read_plan, remove_runs
from simulator.sweep.sweeping import Asked, sweep
from simulator.sweep.types import Stop
from tests.sweep.small import LATENCY, Watch, session, summaries, swept, world, write

AGENT = '''"""An agent in a file of its own: its code is a part of what a unit is made of."""

from simulator import SILENT


class Mine:
    """Silent."""

    async def decide(self, observation):
        """Nothing."""
        return SILENT
'''

MOODY = '''"""An agent that reads a file of which nobody knows."""

from pathlib import Path

from simulator import SILENT, Offer


class Moody:
    """Offers what the file says."""

    async def decide(self, observation):
        """By mood."""
        said = (Path(__file__).parent / "mood.txt").read_text()
        return SILENT if said == "silent" else Offer(said, "look", 0.9)
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return world(tmp_path)


def units_of(out: Path) -> dict[str, int]:
    return {str(p.relative_to(out)): p.stat().st_ctime_ns for p in sorted(out.glob("runs/*/units/*"))}


def test_every_cell_and_seed_ends_as_a_run_folder_that_score_explain_and_compare_read(
    file: Path, tmp_path: Path
) -> None:
    done, watch = swept(write(tmp_path, seeds=2), tmp_path / "out")
    assert (done.code, dict(done.ended), len(watch.scored)) == (Exit.DONE, {"done": 4 * 2 * 3}, 8)
    runs = sorted((tmp_path / "out" / "runs").iterdir())
    assert len(runs) == 8
    for folder in runs:
        assert sorted(p.name for p in (folder / "units").iterdir()) == ["s0", "s1", "s2"]
        kept = read_scores(folder)
        assert kept is not None
        assert score_folder(folder, save=False)["scores"] == kept["scores"]
    (found,) = compare(runs[:2], ["F1_rt"])
    assert found.n_sessions == 3
    told = read_plan(tmp_path / "out")
    assert (told["status"], len(told["cells"]), told["seeds"]) == ("done", 4, [0, 1])
    assert [r["run"] for cell in told["cells"] for r in cell["runs"]] == [r.name for r in _in_order(told, runs)]


def _in_order(told: dict[str, Any], runs: list[Path]) -> list[Path]:
    by_name = {r.name: r for r in runs}
    return [by_name[f"{cell['name']}-{cell['id']}-s{seed}"] for cell in told["cells"] for seed in told["seeds"]]


def test_a_run_of_a_sweep_has_the_bytes_of_the_run_that_proact_run_plays(file: Path, tmp_path: Path) -> None:
    swept(write(tmp_path, axes={"agent": "always", "memory": "rag", "latency": LATENCY}), tmp_path / "out")
    (mine,) = (tmp_path / "out" / "runs").iterdir()
    plain = run(tmp_path / "sessions", "always", "rag", clock="modelled", latency=LATENCY, seed=0, out=tmp_path / "run")
    for key in ("s0", "s1", "s2"):
        for name in ("decisions.jsonl", "truth.json"):
            assert (mine / "units" / key / name).read_bytes() == (plain.folder / "units" / key / name).read_bytes()
    theirs, ours = (json.loads((f / "run.json").read_text()) for f in (plain.folder, mine))
    assert (ours["identity"], ours["resolved"]) == (theirs["identity"], theirs["resolved"])
    assert json.loads((mine / "scores.json").read_text())["scores"] == plain.scores["scores"]  # type: ignore[index]
    again = run(tmp_path / "sessions", "always", "rag", clock="modelled", latency=LATENCY, seed=0, out=mine)
    assert not again.results, "the same command finds all of it there"


def test_the_same_again_plays_nothing_and_leaves_the_summary_as_it_is(file: Path, tmp_path: Path) -> None:
    swept(file, tmp_path / "out")
    before, units = summaries(tmp_path / "out"), units_of(tmp_path / "out")
    done, watch = swept(file, tmp_path / "out")
    assert (watch.ended, done.code) == ([], Exit.DONE)
    assert (summaries(tmp_path / "out"), units_of(tmp_path / "out")) == (before, units)


def test_again_plays_all_anew_to_the_same_summary(file: Path, tmp_path: Path) -> None:
    swept(file, tmp_path / "out")
    before, units = summaries(tmp_path / "out"), units_of(tmp_path / "out")
    _, watch = swept(file, tmp_path / "out", again=True)
    assert len(watch.units) == 12
    assert summaries(tmp_path / "out") == before
    assert not set(units.values()) & set(units_of(tmp_path / "out").values())


def moody(place: Path) -> Path:
    """A study of an agent in a bad mood, played, whose mood has changed since."""
    world(place)
    (place / "moody.py").write_text(MOODY)
    (place / "mood.txt").write_text("silent")
    axes = {"agent": f"{place / 'moody.py'}:Moody", "memory": ["none", "rag"], "latency": LATENCY}
    file = write(place, axes=axes)
    swept(file, place / "out")
    (place / "mood.txt").write_text("Translation")
    swept(file, place / "fresh")
    assert summaries(place / "out") != summaries(place / "fresh")
    return file


def test_what_again_began_is_finished_by_the_plain_command(tmp_path: Path) -> None:
    file, stop, watch = moody(tmp_path), Stop(), Watch()
    watch.done = lambda done: setattr(stop, "draining", True)  # type: ignore[method-assign]
    asked = Asked(out=tmp_path / "out", again=True)
    assert sweep(file, asked, engine="inline", watcher=watch, stop=stop).code == Exit.INTERRUPTED
    assert watch.said == [f"{tmp_path / 'out'}: what was played before is removed"]
    _, watch = swept(file, tmp_path / "out")
    assert len(watch.units) == 5, "all but the one that was played anew"
    assert summaries(tmp_path / "out") == summaries(tmp_path / "fresh")


def test_again_that_is_stopped_while_it_clears_away_is_finished_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = moody(tmp_path)
    first = min((tmp_path / "out" / "runs").iterdir()).name

    def one_then_stop(sweep: Path, names: list[str]) -> None:
        remove_runs(sweep, [first])
        raise KeyboardInterrupt

    monkeypatch.setattr("simulator.sweep.sweeping.remove_runs", one_then_stop)
    with pytest.raises(KeyboardInterrupt):
        swept(file, tmp_path / "out", again=True)
    monkeypatch.undo()
    assert read_plan(tmp_path / "out")["status"] == "starting_over"
    assert is_starting_over(tmp_path / "out"), "a dry run says that all is to be played"
    _, watch = swept(file, tmp_path / "out")
    assert len(watch.units) == 6
    assert summaries(tmp_path / "out") == summaries(tmp_path / "fresh")


def test_again_leaves_runs_that_are_in_the_study_no_more(tmp_path: Path) -> None:
    axes = {"agent": "silent", "memory": ["none", "rag"], "latency": LATENCY}
    swept(world(tmp_path, n=1, axes=axes), tmp_path / "out")
    _, watch = swept(write(tmp_path, axes={**axes, "memory": ["none"]}), tmp_path / "out", again=True)
    assert (len(watch.units), watch.n_gone) == (1, 1)


def test_a_session_that_has_changed_is_played_again_and_no_other(file: Path, tmp_path: Path) -> None:
    swept(file, tmp_path / "out")
    scenario = tmp_path / "sessions" / "s1" / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace('"closes_s": 26.0', '"closes_s": 30.0'))
    _, watch = swept(file, tmp_path / "out")
    assert watch.plan is not None
    assert (watch.plan.n_changed, {key for _, key in watch.units}) == (4, {"s1"})
    assert len(watch.scored) == 4
    swept(file, tmp_path / "fresh")
    assert summaries(tmp_path / "out") == summaries(tmp_path / "fresh")


def test_an_agent_whose_code_has_changed_is_played_again_and_no_other(file: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(AGENT)
    write(tmp_path, axes={"agent": [f"{mine}:Mine", "silent"], "memory": "none", "latency": LATENCY})
    swept(file, tmp_path / "out")
    mine.write_text(AGENT + "\n# changed\n")
    _, watch = swept(file, tmp_path / "out")
    assert watch.plan is not None
    assert watch.plan.n_changed == 3
    assert {name.split("-")[0] for name, _ in watch.units} != {"silent"}
    assert len(watch.scored) == 1


def test_a_unit_that_is_gone_or_damaged_is_played_again(file: Path, tmp_path: Path) -> None:
    swept(file, tmp_path / "out")
    before = summaries(tmp_path / "out")
    first, second, third = sorted((tmp_path / "out").glob("runs/*/units/s0"))[:3]
    shutil.rmtree(first)
    (second / "unit.json").write_text("{")
    (third / "unit.json").unlink()
    _cut(first.parent / "s1" / "decisions.jsonl")
    _, watch = swept(file, tmp_path / "out")
    assert watch.plan is not None
    assert (watch.plan.n_missing, watch.plan.n_changed, watch.plan.n_damaged) == (4, 0, 2), "no input has changed"
    assert {(p.parents[1].name, "s0") for p in (first, second, third)} < set(watch.units)
    assert summaries(tmp_path / "out") == before


def _cut(log: Path) -> None:
    log.write_bytes(log.read_bytes()[:-50])


def test_score_and_compare_tell_what_is_true_of_a_run_whose_sweep_was_stopped(file: Path, tmp_path: Path) -> None:
    swept(file, tmp_path / "out")
    run = min((tmp_path / "out" / "runs").iterdir())
    other = max((tmp_path / "out" / "runs").iterdir())
    scenario = tmp_path / "sessions" / "s0" / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace('"closes_s": 25.0', '"closes_s": 30.0'))
    stop, watch = Stop(), Watch()
    watch.done = lambda done: setattr(stop, "draining", True)  # type: ignore[method-assign]
    sweep(file, Asked(out=tmp_path / "out"), engine="inline", watcher=watch, stop=stop)
    since = "played the unit anew since the run was scored, and was stopped; the sweep's command goes on"
    with pytest.raises(InputError, match=since):
        score_folder(run)
    with pytest.raises(InputError, match=since):
        compare([run, other])
    swept(file, tmp_path / "out")
    score_folder(run)
    log = run / "units" / "s0" / "decisions.jsonl"
    log.write_bytes(log.read_bytes().replace(b"May I help", b"May I harm"))
    with pytest.raises(InputError, match="it was changed since the unit was played; remove the unit's folder, and its"):
        score_folder(run)
    (run / "run.json").unlink()
    with pytest.raises(InputError, match="not all of its units are played yet; the command of its sweep goes on"):
        score_folder(run)


def test_scores_that_are_gone_are_made_again_without_playing(file: Path, tmp_path: Path) -> None:
    swept(file, tmp_path / "out")
    before = summaries(tmp_path / "out")
    one = sorted((tmp_path / "out" / "runs").iterdir())[0]
    (one / ".scored").unlink()
    (one / "scores.json").unlink()
    _, watch = swept(file, tmp_path / "out")
    assert (watch.units, watch.scored) == ([], [one.name])
    assert summaries(tmp_path / "out") == before


def test_a_study_with_a_value_more_keeps_what_is_there(file: Path, tmp_path: Path) -> None:
    axes = {"agent": "always", "memory": ["none", "rag"], "latency": LATENCY}
    swept(write(tmp_path, axes={**axes, "memory": ["rag"]}), tmp_path / "out")
    _, watch = swept(write(tmp_path, axes=axes), tmp_path / "out")
    assert {name.split("-")[0] for name, _ in watch.units} == {"none"}, "rag is there, under the name it has now"
    _, watch = swept(write(tmp_path, axes={**axes, "memory": ["none"]}), tmp_path / "out")
    assert (watch.ended, watch.n_gone) == ([], 1)


def test_another_study_or_anything_else_in_the_folder_is_refused(file: Path, tmp_path: Path) -> None:
    swept(file, tmp_path / "out")
    with pytest.raises(UsageError, match="holds the study 'small'; choose another --out for 'other'"):
        swept(write(tmp_path, name="other"), tmp_path / "out")
    with pytest.raises(UsageError, match="is not empty and holds no sweep"):
        swept(file, tmp_path / "sessions")


def test_two_processes_in_one_folder_are_refused(file: Path, tmp_path: Path) -> None:
    lock = locked(tmp_path / "out")
    with pytest.raises(UsageError, match="another proact is playing the sweep"):
        swept(file, tmp_path / "out")
    lock.release()
    assert swept(file, tmp_path / "out")[0].code == Exit.DONE


def test_a_unit_that_cannot_be_played_costs_no_other_and_is_tried_again(tmp_path: Path) -> None:
    file = world(tmp_path, axes={"agent": "always", "memory": ["none", "rag"], "latency": LATENCY})
    shown = tmp_path / "sessions" / "s2" / "session.db"
    whole = shown.read_bytes()
    _damage(shown)
    done, watch = swept(file, tmp_path / "out")
    assert (done.code, dict(done.ended)) == (Exit.SOME_UNITS_ERRED, {"done": 4, "bad_input": 2})
    assert done.summary is not None
    assert [cell["units"] for cell in done.summary.summary["cells"]] == [{"done": 2, "erred": 1, "missing": 0}] * 2
    assert read_plan(tmp_path / "out")["status"] == "some_units_erred"
    shown.write_bytes(whole)
    done, watch = swept(file, tmp_path / "out")
    assert (done.code, {key for _, key in watch.units}) == (Exit.DONE, {"s2"})
    swept(file, tmp_path / "fresh")
    assert summaries(tmp_path / "out") == summaries(tmp_path / "fresh")


def _damage(database: Path) -> None:
    """A value of another kind in the middle: its head is sound, and so are its times."""
    import sqlite3

    with sqlite3.connect(database) as link:
        link.execute("update screenshots set app_name = x'00ff' where tick = 21")
    link.close()


def test_a_full_disk_ends_the_sweep_with_one_sentence(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play_unit(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("simulator.play.player.play_unit", play_unit)
    watch = Watch()
    with pytest.raises(NoRoom, match="there is no room left on the disk"):
        sweep(file, Asked(out=tmp_path / "out"), engine="inline", watcher=watch)
    assert not watch.ended
    assert not list((tmp_path / "out").glob("runs/*/units/*"))


def test_a_cell_that_cannot_be_played_is_refused_before_anything_is(tmp_path: Path) -> None:
    file = world(tmp_path, axes={"agent": "silent", "memory": ["none", "rag:documents=nothing"], "latency": LATENCY})
    with pytest.raises(InputError, match=r"study\.yaml: cell rag-documents=nothing: "):
        swept(file, tmp_path / "out")
    assert not (tmp_path / "out" / "runs").exists()


def test_a_rate_thins_a_recording_and_never_makes_more_of_it(tmp_path: Path) -> None:
    axes = {"agent": "silent", "memory": "none", "latency": "profile:instant"}
    file = world(tmp_path, axes={**axes, "rate": [1, 0.5]})
    swept(file, tmp_path / "out")
    heads = [_head(p) for p in sorted((tmp_path / "out").glob("runs/*/units/s0"))]
    assert sorted(h["period_ns"] for h in heads) == [10**9, 2 * 10**9]
    assert heads[0]["dataset"] == heads[1]["dataset"]
    with pytest.raises(InputError, match=r"axes\.rate: '2': session s0 was recorded at 1 a second"):
        swept(write(tmp_path, axes={**axes, "rate": [1, 2]}), tmp_path / "more")
    with pytest.raises(InputError, match=r"axes\.rate: 'often': snapshots a second"):
        swept(write(tmp_path, axes={**axes, "rate": ["often"]}), tmp_path / "more")


def _head(unit: Path) -> dict[str, Any]:
    with (unit / "decisions.jsonl").open() as lines:
        return dict(json.loads(lines.readline()))


def test_a_memory_that_reads_others_gets_the_pasts_of_its_data_set(tmp_path: Path) -> None:
    file = world(tmp_path, axes={"agent": "prior", "memory": "shuffled-user", "latency": LATENCY})
    assert dict(swept(file, tmp_path / "out")[0].ended) == {"done": 3}
    plain = run(tmp_path / "sessions", "prior", "shuffled-user", clock="modelled", latency=LATENCY, seed=0,
                out=tmp_path / "run")  # fmt: skip
    (mine,) = (tmp_path / "out" / "runs").iterdir()
    for key in ("s0", "s1", "s2"):
        names = [f / "units" / key / "decisions.jsonl" for f in (mine, plain.folder)]
        assert names[0].read_bytes() == names[1].read_bytes()
    session(tmp_path / "sessions" / "s3", 3)
    _, watch = swept(file, tmp_path / "out")
    assert len(watch.units) == 4, "another user is another past for all"


def test_data_sets_are_an_axis_and_those_that_are_made_are_made_once(tmp_path: Path) -> None:
    world(tmp_path, 2)
    data = {
        "clean": ["sessions"],
        "noise": {"noise": {"of": "clean", "rate": 0.2, "kinds": ["idle"]}},
        "made": {"generate": {"users": 2, "days": 2}},
    }
    axes = {"agent": "silent", "memory": "none", "protocol": "moments", "latency": LATENCY}
    file = write(tmp_path, sessions=None, data=data, axes=axes, metrics=[])
    text = file.read_text().replace("sessions: null\n", "")
    file.write_text(text)
    done, _ = swept(file, tmp_path / "out")
    assert dict(done.ended) == {"done": 6}
    told = read_plan(tmp_path / "out")
    assert [len(d["sessions"]) for d in told["data"].values()] == [2, 2, 2]
    made = {p: p.stat().st_mtime_ns for p in (tmp_path / "out" / "made-up").rglob("*")}
    _, watch = swept(file, tmp_path / "out")
    assert watch.ended == []
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "out" / "made-up").rglob("*")} == made


def test_a_gate_that_fails_is_an_exit_code_of_its_own(file: Path, tmp_path: Path) -> None:
    done, _ = swept(write(tmp_path, fail_if=["F1_rt<0.99"]), tmp_path / "out")
    assert done.code == Exit.GATE_FAILED
    assert swept(write(tmp_path, fail_if=["F1_rt>2"]), tmp_path / "other")[0].code == Exit.DONE
    with pytest.raises(UsageError):
        swept(file, tmp_path / "out", fail_if=["F1_rt is bad"])
    with pytest.raises(InputError, match="metrics: 'F1_rtt': there is no such metric; did you mean 'F1_rt'"):
        swept(write(tmp_path, metrics=["F1_rtt"]), tmp_path / "out")


def test_a_figure_of_another_protocol_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="metrics: 'accuracy': a figure of protocol moments, which no cell has"):
        swept(write(tmp_path, axes={"protocol": "stream"}, metrics=["F1_rt", "accuracy"]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_measured_units_are_alone_unless_asked_and_then_marked(tmp_path: Path) -> None:
    file = world(tmp_path, 1, axes={"agent": "silent", "memory": "none"})
    _, watch = swept(file, tmp_path / "alone")
    assert watch.plan is not None
    assert [f.needs.alone for f in watch.plan.facts] == [True]
    done, watch = swept(file, tmp_path / "beside", beside=True)
    assert watch.plan is not None
    assert [(f.needs.alone, f.marked) for f in watch.plan.facts] == [(False, True)]
    (one,) = (tmp_path / "beside" / "runs").iterdir()
    assert json.loads((one / "run.json").read_text())["sweep"]["beside"] is True
    assert done.summary is not None
    assert [c["marked"] for c in done.summary.summary["cells"]] == [True]


def test_all_scorers_are_known_where_metrics_are_named() -> None:
    assert "realtime" in scorers.names()


def test_what_figures_leave_out_is_among_the_caveats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.figures.ablation._MOST_PANELS", 1)
    axes = {"agent": ["always", "silent"], "memory": ["none", "rag"], "latency": [LATENCY, "fixed:1s"]}
    done, _ = swept(world(tmp_path, n=1, axes=axes, figures=["heatmap:agent,memory"]), tmp_path / "out")
    assert done.summary is not None
    assert done.summary.summary["caveats"][-1].startswith("heatmap:agent,memory leaves out 1 of its panels")
    assert "leaves out 1 of its panels" in (tmp_path / "out" / "summary.md").read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_disk_that_is_full_before_anything_is_played_is_told_with_its_place(file: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sweep.json.part").symlink_to("/dev/full")
    with pytest.raises(NoRoom, match=f"{tmp_path / 'out'}: there is no room left on the disk"):
        swept(file, tmp_path / "out")
