"""What lies in a sweep's folder and is not what was asked for: old units, damaged files, copies, what a kill left."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import Exit, InputError
from simulator.sweep import work
from simulator.sweep.engines import Inline
from simulator.sweep.types import Done, Task
from tests.sweep.small import LATENCY, Watch, summaries, swept, world, write
from tests.sweep.test_sweeping import AGENT

HERE = "tests.sweep.test_old_and_damaged"


def lose_s1(task: Task) -> Done:
    """As an engine tells of a worker that was killed over it."""
    return (
        Done(task.run, task.key, "its worker was killed, twice", "lost") if task.key == "s1" else work.play_task(task)
    )


def fail_s1(task: Task) -> Done:
    """As a failing disk does."""
    if task.key == "s1":
        raise OSError(5, "Input/output error")
    return work.play_task(task)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    world(tmp_path)
    (tmp_path / "mine.py").write_text(AGENT)
    return write(tmp_path, axes={"agent": f"{tmp_path}/mine.py:Mine", "memory": "none", "latency": LATENCY})


def run_of(out: Path) -> Path:
    (found,) = (out / "runs").iterdir()
    return found


def told(file: Path) -> dict[str, Any]:
    return dict(json.loads(file.read_bytes()))


def counted(out: Path) -> dict[str, int]:
    return dict(told(out / "summary.json")["cells"][0]["units"])


def heals(file: Path, out: Path, *units: str) -> None:
    """The same command again plays these, and leaves what a fresh sweep would."""
    done, watch = swept(file, out)
    assert (done.code, [key for _, key in watch.units]) == (Exit.DONE, list(units))
    swept(file, out.with_name("fresh"))
    assert summaries(out) == summaries(out.with_name("fresh"))
    assert swept(file, out)[1].ended == []


@pytest.mark.parametrize("play", ["lose_s1", "fail_s1"])
@pytest.mark.parametrize("changed", [True, False])
def test_a_unit_that_is_lost_has_no_figures_of_before(file: Path, tmp_path: Path, play: str, changed: bool) -> None:
    out = tmp_path / "out"
    swept(file, out)
    if changed:
        (tmp_path / "mine.py").write_text(AGENT + "\n# changed\n")
    done, _ = swept(file, out, engine=Inline(f"{HERE}:{play}"), again=not changed)
    assert (done.code, counted(out)) == (Exit.SOME_UNITS_ERRED, {"done": 2, "erred": 1, "missing": 0})
    unit = told(run_of(out) / "run.json")["units"]["s1"]
    said = "its worker was killed, twice" if play == "lose_s1" else "a fault of proact's own: OSError"
    assert (unit["error"], unit["log_sha256"]) == (said, None)
    assert set(told(run_of(out) / "scores.json")["made_of"]) == {"s0", "s2"}
    heals(file, out, "s1")


@pytest.mark.parametrize("cut", [lambda b: b[:-40], lambda b: b"", None])
def test_a_log_that_was_cut_is_noticed_and_played_anew(
    file: Path, tmp_path: Path, cut: Callable[[bytes], bytes] | None
) -> None:
    out = tmp_path / "out"
    swept(file, out)
    log = run_of(out) / "units" / "s1" / "decisions.jsonl"
    log.write_bytes(cut(log.read_bytes())) if cut else log.unlink()
    heals(file, out, "s1")


@pytest.mark.parametrize("name", ["decisions.jsonl", "truth.json"])
def test_a_file_that_changed_and_is_as_long_as_before_is_noticed_at_scoring_and_healed(
    file: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    swept(file, out)
    one = run_of(out) / "units" / "s1" / name
    raw = one.read_bytes()
    one.write_bytes(raw.replace(b"user-1", b"user-X") if name == "decisions.jsonl" else raw.replace(b"26", b"27"))
    assert one.read_bytes() != raw
    shutil.rmtree(run_of(out) / "units" / "s2")
    done, _ = swept(file, out)
    assert (done.code, told(out / "sweep.json")["status"]) == (Exit.SOME_UNITS_ERRED, "some_units_erred")
    assert counted(out) == {"done": 2, "erred": 1, "missing": 0}
    assert "was changed since it was played" in told(run_of(out) / "run.json")["units"]["s1"]["error"]
    heals(file, out, "s1")


@pytest.mark.parametrize("name", ["run.json", "scores.json"])
@pytest.mark.parametrize("damage", [lambda p: p.unlink(), lambda p: p.write_bytes(p.read_bytes()[:-30] + b" " * 30)])
def test_scores_that_are_gone_or_damaged_are_made_anew(
    file: Path, tmp_path: Path, name: str, damage: Callable[[Path], object]
) -> None:
    out = tmp_path / "out"
    swept(file, out)
    damage(run_of(out) / name)
    heals(file, out)


def test_scores_that_were_only_touched_stay(file: Path, tmp_path: Path) -> None:
    swept(file, tmp_path / "out")
    os.utime(run_of(tmp_path / "out") / "scores.json")
    assert swept(file, tmp_path / "out")[1].ended == []


class Editing(Watch):
    """Changes a file when the first unit has ended."""

    def __init__(self, file: Path, text: str) -> None:
        super().__init__()
        self._edit = (file, text)

    def done(self, done: Done) -> None:
        super().done(done)
        self._edit[0].write_text(self._edit[1])


@pytest.mark.parametrize("which", ["agent", "session"])
def test_what_is_edited_while_a_sweep_runs_is_not_mixed_in(file: Path, tmp_path: Path, which: str) -> None:
    from simulator.sweep.sweeping import Asked, sweep

    out = tmp_path / "out"
    edited = tmp_path / "mine.py" if which == "agent" else tmp_path / "sessions" / "s1" / "scenario.yaml"
    before = edited.read_text()
    after = before + "\n# changed\n" if which == "agent" else before.replace('"closes_s": 26.0', '"closes_s": 30.0')
    watch = Editing(edited, after)
    done = sweep(file, Asked(out=out), engine="inline", watcher=watch)
    lost = {"agent": ["s1", "s2"], "session": ["s1"]}[which]
    assert [one.key for one in watch.ended if one.error] == lost
    assert "was changed while the sweep ran" in str(next(one.error for one in watch.ended if one.error))
    assert (done.code, counted(out)["erred"]) == (Exit.SOME_UNITS_ERRED, len(lost))
    edited.write_text(before)
    heals(file, out, *lost)


def test_what_a_kill_left_at_the_first_start_is_in_nobodys_way(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in (".lock", "sweep.json.part"):
        (out / name).write_text("{")
    assert swept(file, out)[0].code == Exit.DONE


def test_a_damaged_sweep_file_says_the_way_out_and_that_is_one(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    swept(file, out)
    (out / "sweep.json").write_text("{")
    with pytest.raises(InputError, match=r"damaged: .*; remove it, and the command that played the sweep"):
        swept(file, out)
    (out / "sweep.json").unlink()
    heals(file, out)


def test_a_copy_of_a_run_beside_it_is_in_nobodys_way(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    swept(file, out)
    one = run_of(out)
    for before in ("a-", "z-"):
        shutil.copytree(one, one.with_name(before + one.name))
    done, watch = swept(file, out)
    assert (done.code, watch.ended, watch.n_gone) == (Exit.DONE, [], 2)
