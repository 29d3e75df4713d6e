from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from simulator.core.errors import NoRoom, ProactError, UsageError
from simulator.core.types import MS
from simulator.sweep.engines import Inline, engine_of
from simulator.sweep.processes import Processes
from simulator.sweep.types import Done, Engine, Needs, Stop, Task
from simulator.timing.clock import real_ns, rest
from tests.sweep.fakeplay import SERVER, task, tasks

PLAY = "tests.sweep.fakeplay:play"


def run(engine: Engine, made: Iterator[Task | None], stop: Stop | None = None) -> list[Done]:
    ended: list[Done] = []
    engine.run(made, ended.append, stop or Stop())
    return ended


def spans(sweep: Path, name: str) -> tuple[int, int]:
    """When a task of the fake began and ended, ns of the machine's clock."""
    _, begin, end = (sweep / name).read_text().split()
    return int(begin), int(end)


@pytest.mark.parametrize("engine", [Inline(PLAY), Processes(2, PLAY)], ids=["inline", "processes"])
def test_each_task_is_played_once_and_told_once(engine: Engine, tmp_path: Path) -> None:
    names = [f"t{i}" for i in range(20)]
    ended = run(engine, tasks(tmp_path, *names))
    assert sorted(d.key for d in ended) == sorted(names)
    assert {d.kind for d in ended} == {"done"}
    assert all(len((tmp_path / name).read_text().split()) == 3 for name in names)


@pytest.mark.parametrize("engine", [Inline(PLAY), Processes(1, PLAY)], ids=["inline", "processes"])
def test_a_fault_in_one_task_is_told_and_the_others_go_on(
    engine: Engine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = {
        d.key: (d.kind, d.error) for d in run(engine, tasks(tmp_path, "a:raise:secret", "b:refuse:no such thing", "c"))
    }
    assert said == {
        "a:raise:secret": ("erred", "a fault of proact's own: ValueError"),
        "b:refuse:no such thing": ("erred", "no such thing"),
        "c": ("done", None),
    }
    assert "a task failed by a fault of proact's own" in capfd.readouterr().err


@pytest.mark.parametrize("engine", [Inline(PLAY), Processes(1, PLAY)], ids=["inline", "processes"])
def test_a_full_disk_ends_it_at_once_with_the_place(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(NoRoom, match="there is no room left on the disk") as caught:
        run(engine, tasks(tmp_path, "a", "b:full", *(f"t{i}:rest:20" for i in range(5))))
    assert str(tmp_path) in str(caught.value)
    assert not (tmp_path / "t4").exists()


@pytest.mark.parametrize("engine", [Inline(PLAY), Processes(1, PLAY)], ids=["inline", "processes"])
def test_an_agent_that_goes_elsewhere_does_not_take_the_next_task_along(engine: Engine, tmp_path: Path) -> None:
    ended = run(engine, tasks(tmp_path, "a:wander", "b:where"))
    assert ended[1].error == os.getcwd()


def test_an_engine_says_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, ran = Stop(), list[list[str]]()
    Processes(2, PLAY).run(
        tasks(tmp_path, "a", "b:rest:300"), lambda _: ran.append([key for _, key in stop.running]), stop
    )
    assert ran == [["b:rest:300"], []]

    def play(one: Task) -> Done:
        ran.append([key for _, key in stop.running])
        return Done(one.run, one.key)

    monkeypatch.setattr("tests.sweep.fakeplay.play", play)
    Inline(PLAY).run(tasks(tmp_path, "c"), lambda _: None, stop)
    assert (ran[-1], stop.running) == (["c"], {})


@pytest.mark.parametrize("engine", [Inline(PLAY), Processes(2, PLAY)], ids=["inline", "processes"])
def test_more_is_asked_for_when_a_task_has_ended(engine: Engine, tmp_path: Path) -> None:
    ended: list[str] = []

    def stream() -> Iterator[Task | None]:
        yield from tasks(tmp_path, "a", "b")
        while len(ended) < 2:
            yield None
        yield task(tmp_path, "")

    engine.run(stream(), lambda done: ended.append(done.key), Stop())
    assert sorted(ended[:2]) == ["a", "b"]
    assert ended[2:] == [""]


def test_workers_are_warm_and_side_by_side(tmp_path: Path) -> None:
    ended = run(Processes(2, PLAY), tasks(tmp_path, *(f"t{i}:rest:30" for i in range(12))))
    workers = {d.tally["pid"] for d in ended}
    assert len(workers) == 2
    assert os.getpid() not in workers
    at = sorted(spans(tmp_path, f"t{i}") for i in range(12))
    assert any(later[0] < earlier[1] for earlier, later in pairwise(at))
    assert not any(map(_is_alive, workers)), "they end with the sweep"


def test_no_more_workers_are_started_than_there_are_tasks(tmp_path: Path) -> None:
    assert len({d.tally["pid"] for d in run(Processes(8, PLAY), tasks(tmp_path, "a", "b"))}) <= 2


def test_measured_tasks_run_beside_nothing(tmp_path: Path) -> None:
    alone = Needs(alone=True)
    made = [task(tmp_path, f"t{i}:rest:20", alone if i % 3 == 0 else None) for i in range(9)]
    run(Processes(3, PLAY), iter(made))
    at = {i: spans(tmp_path, f"t{i}") for i in range(9)}
    for i in (0, 3, 6):
        assert not [k for k in at if k != i and at[k][0] < at[i][1] and at[i][0] < at[k][1]]


def test_workers_share_the_places_of_a_server_also_when_one_is_killed_on_its_place(tmp_path: Path) -> None:
    made = [task(tmp_path, f"t{i}:die" if i == 3 else f"t{i}", Needs(SERVER)) for i in range(8)]
    ended = run(Processes(2, "tests.sweep.fakeplay:ask"), iter(made))
    assert [d.kind for d in ended] == ["done"] * 8
    at = sorted(spans(tmp_path, f"t{i}") for i in range(8))
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(at))


def test_a_task_whose_worker_is_killed_is_tried_once_more_by_another(tmp_path: Path) -> None:
    ended = {d.key: d for d in run(Processes(2, PLAY), tasks(tmp_path, "a:die_once", *(f"t{i}" for i in range(6))))}
    assert {d.kind for d in ended.values()} == {"done"}
    first, second, *_ = (tmp_path / "a").read_text().split()
    assert first != second


def test_a_task_that_kills_two_workers_is_lost_and_the_others_are_played(tmp_path: Path) -> None:
    ended = {d.key: d for d in run(Processes(2, PLAY), tasks(tmp_path, "a:die", *(f"t{i}" for i in range(6))))}
    assert ended["a:die"].kind == "lost"
    assert ended["a:die"].error == "its worker was killed (SIGKILL), twice: is there memory enough?"
    assert len((tmp_path / "a").read_text().split()) == 2
    assert [d.kind for d in ended.values()].count("done") == 6


def test_a_task_that_ends_its_worker_is_told_with_the_exit_code(tmp_path: Path) -> None:
    ended = {d.key: d for d in run(Processes(1, PLAY), tasks(tmp_path, "a:leave:7", "b"))}
    assert (ended["a:leave:7"].kind, ended["b"].kind) == ("lost", "done")
    assert ended["a:leave:7"].error == "its worker ended with exit code 7, twice"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("key", ["a:fork", "a:hold", "a:fork:die", "a:hold:die"])
def test_what_an_agent_forked_holds_nothing_up_and_goes_with_its_worker(key: str, tmp_path: Path) -> None:
    begun = real_ns()
    ended = run(Processes(1, PLAY), tasks(tmp_path, key, "b"))
    assert [(d.key, d.kind) for d in ended] == [(key, "lost" if "die" in key else "done"), ("b", "done")]
    assert real_ns() - begun < 8_000 * MS
    assert _is_gone(int((tmp_path / "child").read_text()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_child_that_comes_back_says_nothing_in_its_workers_name(tmp_path: Path) -> None:
    ended = run(Processes(1, PLAY), tasks(tmp_path, "a:fork:return", "b", "c"))
    assert [(d.key, d.error) for d in ended] == [("a:fork:return", None), ("b", None), ("c", None)]
    assert _is_gone(int((tmp_path / "child").read_text()))


def test_workers_that_cannot_start_end_the_sweep_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ProactError, match="end as soon as they are started"):
        run(Processes(2, "no_such_module:play"), tasks(tmp_path, "a", "b", "c"))


def test_what_agents_print_reaches_people_and_not_the_pipe(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (ended,) = run(Processes(1, PLAY), tasks(tmp_path, "a:print:hello"))
    assert ended.kind == "done"
    out, err = capfd.readouterr()
    assert out == ""
    assert err.split("\n")[:3] == ["hello", "raw", "from a child"]


@pytest.mark.parametrize("engine", [Inline(PLAY), Processes(2, PLAY)], ids=["inline", "processes"])
def test_the_first_ctrl_c_lets_what_runs_end_and_starts_nothing(engine: Engine, tmp_path: Path) -> None:
    stop, ended = Stop(), list[Done]()

    def done(one: Done) -> None:
        ended.append(one)
        stop.draining = True

    engine.run(tasks(tmp_path, *(f"t{i}:rest:20" for i in range(20))), done, stop)
    assert 1 <= len(ended) <= 3
    assert {d.kind for d in ended} == {"done"}
    assert len(list(tmp_path.iterdir())) == len(ended)


def test_the_second_ctrl_c_ends_what_runs(tmp_path: Path) -> None:
    stop, ended = Stop(), list[Done]()

    def stream() -> Iterator[Task | None]:
        yield task(tmp_path, "long:child")
        yield task(tmp_path, "short:rest:300")

    def done(one: Done) -> None:
        ended.append(one)
        stop.draining = stop.now = True

    Processes(2, PLAY).run(stream(), done, stop)
    assert [(d.key, d.kind) for d in ended] == [("short:rest:300", "done"), ("long:child", "interrupted")]
    assert _is_gone(int((tmp_path / "child").read_text())), "what an agent started goes with its worker"


def test_a_ctrl_c_that_raises_leaves_no_worker(tmp_path: Path) -> None:
    workers: list[int] = []

    def done(one: Done) -> None:
        workers.append(one.tally["pid"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Processes(1, PLAY).run(tasks(tmp_path, "a", "b"), done, Stop())
    assert all(map(_is_gone, workers))


@pytest.mark.parametrize(
    ("name", "workers", "more", "said"),
    [
        ("process", 1, {}, "did you mean 'processes'"),
        ("processes", 0, {}, "--workers 0"),
        ("processes", 100_000, {}, "--workers 100000: .* at most on this machine"),
        ("inline", 2, {}, "one unit after the other"),
        ("processes", 2, {"ray_address": "auto"}, "go with --engine ray"),
        ("inline", 1, {"ship": True}, "go with --engine ray"),
    ],
)
def test_what_no_engine_can_do_is_refused(name: str, workers: int, more: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        engine_of(name, workers, **more)  # type: ignore[arg-type]


def test_an_engine_is_found_by_its_name() -> None:
    assert isinstance(engine_of("inline"), Inline)
    assert isinstance(engine_of("processes", 3), Processes)


def _is_alive(pid: int) -> bool:
    """Also a process that has ended counts as alive until its parent has looked: unlike ``_is_gone``."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _is_gone(pid: int) -> bool:
    """Whether it has ended, within a second; ended and not yet looked after counts."""
    for _ in range(50):
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        rest(20 * MS)
    os.kill(pid, signal.SIGKILL)
    return False


def test_workers_end_themselves_when_their_parent_is_killed(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    parent = subprocess.Popen([sys.executable, "-m", "tests.sweep.orphans", str(tmp_path)], cwd=root)
    try:
        _until(lambda: all((tmp_path / name).exists() for name in ("a", "b", "child")))
        _until(lambda: (tmp_path / "child").read_text() != "")
        pids = [int((tmp_path / name).read_text()) for name in ("a", "b", "child")]
    finally:
        parent.kill()
        parent.wait()
    assert all(map(_is_gone, pids)), "with what their agents started, in the middle of a task"


def test_ctrl_c_in_the_terminal_reaches_the_parent_only(tmp_path: Path) -> None:
    """The signal goes to the whole group in the foreground: workers are not in it."""
    groups: list[int] = []
    Processes(1, PLAY).run(tasks(tmp_path, "a"), lambda done: groups.append(os.getpgid(done.tally["pid"])), Stop())
    assert groups != [os.getpgrp()]


def _until(holds: Callable[[], bool]) -> None:
    for _ in range(250):
        if holds():
            return
        rest(20 * MS)
    pytest.fail("it never came to be")
