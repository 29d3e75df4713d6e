"""Ray for real, on this machine: started once for all tests here, since that takes seconds."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from simulator.core.errors import ProactError, UsageError
from simulator.core.types import MS
from simulator.sweep import ray_cluster
from simulator.sweep.engines import Inline, engine_of
from simulator.sweep.ray_engine import OnRay, PlacesBook
from simulator.sweep.types import Done, Needs, Stop, Task
from simulator.timing.clock import rest
from tests.sweep.fakeplay import SERVER, task, tasks
from tests.sweep.studies import content, play, study

PLAY = "tests.sweep.fakeplay:play"
HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed (extra ray)")


@pytest.fixture(scope="module")
def ray_here() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as there:
        there.setenv("RAY_ADDRESS", "127.0.0.1:1")  # of a cluster that is not meant
        with ray_cluster.joined(None, 2):
            yield
    assert "RAY_AUTH_TOKEN" not in os.environ


def run(engine: OnRay, made: Iterator[Task | None]) -> dict[str, Done]:
    ended: list[Done] = []
    engine.run(made, ended.append, Stop())
    assert len({d.key for d in ended}) == len(ended), "each is told once"
    return {d.key: d for d in ended}


@needs_ray
@pytest.mark.usefixtures("ray_here")
def test_tasks_are_played_by_warm_workers_and_a_killed_one_costs_its_task_an_attempt(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names = [f"t{i}" for i in range(10)]
    ended = run(OnRay(2, PLAY), tasks(tmp_path, "once:die_once", "twice:die", "bad:raise:x", *names))
    assert {key: d.kind for key, d in ended.items()} == {
        **dict.fromkeys(names, "done"), "once:die_once": "done", "twice:die": "lost", "bad:raise:x": "erred",
    }  # fmt: skip
    assert ended["bad:raise:x"].error == "a fault of proact's own: ValueError"
    assert len((tmp_path / "twice").read_text().split()) == 2
    assert len({ended[name].tally["pid"] for name in names} - {os.getpid()}) <= 5
    out, err = capfd.readouterr()
    assert (out, err) == ("", ""), "no address, no word of Ray's on the output that is ours"


@needs_ray
@pytest.mark.usefixtures("ray_here")
def test_workers_share_the_places_of_a_server_also_when_one_is_killed_on_its_place(tmp_path: Path) -> None:
    made = [task(tmp_path, f"t{i}:die" if i == 3 else f"t{i}", Needs(SERVER)) for i in range(8)]
    ended = run(OnRay(2, "tests.sweep.fakeplay:ask"), iter(made))
    assert {d.kind for d in ended.values()} == {"done"}
    at = sorted(tuple(map(int, (tmp_path / f"t{i}").read_text().split()[1:])) for i in range(8))
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(at))


@needs_ray
@pytest.mark.usefixtures("ray_here")
def test_the_second_ctrl_c_ends_what_runs(tmp_path: Path) -> None:
    stop, ended = Stop(), list[Done]()

    def done(one: Done) -> None:
        ended.append(one)
        stop.draining = stop.now = True

    OnRay(2, PLAY).run(tasks(tmp_path, "long:rest:60000", "short"), done, stop)
    assert [(d.key, d.kind) for d in ended] == [("short", "done"), ("long:rest:60000", "interrupted")]


@needs_ray
@pytest.mark.usefixtures("ray_here")
def test_workers_that_cannot_start_end_the_sweep_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ProactError, match="is proact installed on its machines"):
        run(OnRay(1, "no_such_module:play"), tasks(tmp_path, "a"))


@needs_ray
@pytest.mark.usefixtures("ray_here")
def test_units_played_on_ray_or_shipped_there_are_the_same_to_the_byte(tmp_path: Path) -> None:
    file = study(tmp_path)
    play(file, tmp_path / "inline", Inline())
    for name, engine in (("ray", OnRay(2)), ("shipped", OnRay(2, ship=True))):
        assert play(file, tmp_path / name, engine) == {"done": 4}
        assert content(tmp_path / name) == content(tmp_path / "inline")


@needs_ray
@pytest.mark.usefixtures("ray_here")
@pytest.mark.skipif(not Path("/proc/net/tcp6").exists(), reason="the sockets of a process are looked up in /proc")
def test_a_ray_of_our_own_is_heard_on_the_loopback_address_only_and_counts_nobody() -> None:
    ours = _descendants(os.getpid())
    said = [_said(pid) for pid in ours]
    assert any(b"raylet" in line for line in said)
    assert not any(b"dashboard/dashboard.py" in line for line in said), "what asks clouds for metadata is not started"
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    heard = {address for pid in ours for address in _listening(pid)}
    assert heard
    assert heard <= {"0100007F", "0000000000000000FFFF00000100007F"}, "127.0.0.1, as two families write it"


def test_places_are_counted_by_worker_and_struck_out_with_it() -> None:
    book = PlacesBook()
    assert [book.take(SERVER, 2, worker) for worker in (1, 2, 1)] == [True, True, False]
    assert book.take("http://other.example/v1", 1, 1)
    book.leave(SERVER, 2)
    assert book.take(SERVER, 2, 1)
    assert not book.take(SERVER, 2, 2)
    book.drop(1)
    assert book.take(SERVER, 1, 2)
    assert book.take("http://other.example/v1", 1, 2)


def test_without_ray_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"--engine ray needs Ray: .*\[ray\]"):
        engine_of("ray", 2)


@needs_ray
@pytest.mark.parametrize(
    ("address", "said"),
    [("ray://head:10001", "HOST:PORT"), ("head", "HOST:PORT"), ("head:99999", "HOST:PORT"), ("127.0.0.1:9", "nobody")],
)
def test_an_address_where_no_cluster_can_be_joined_is_told_at_once(address: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        engine_of("ray", 2, ray_address=address)


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    found = list(children.get(pid, []))
    for one in found:
        found.extend(children.get(one, []))
    return found


def _said(pid: int) -> bytes:
    """A process's command line; nothing of one that has ended in between."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _listening(pid: int) -> set[str]:
    """The addresses, as the kernel writes them, on which a process is heard."""
    sockets, rows = set[str](), list[list[str]]()
    with suppress(OSError):
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                sockets.add(os.readlink(fd))
        for name in ("tcp", "tcp6"):
            rows += [line.split() for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets}


class Head:
    """Stands in for Ray: who belongs to the cluster, as its head tells it."""

    def __init__(self, *, lives: bool = True, answers: bool = True) -> None:
        self.lives, self.answers = lives, answers

    def get_runtime_context(self) -> Head:
        return self

    def get_node_id(self) -> str:
        return "here"

    def nodes(self) -> list[dict[str, object]]:
        if not self.answers:
            raise ConnectionError
        return [{"NodeID": "here", "Alive": self.lives}, {"NodeID": "there", "Alive": True}]


@pytest.mark.parametrize(
    ("head", "said"),
    [(Head(lives=False), "Ray has ended on this machine"), (Head(answers=False), "Ray has not answered for 0 sec")],
    ids=["ended", "silent"],
)
def test_a_cluster_that_is_gone_ends_the_wait_with_a_sentence(
    head: Head, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_cluster, "_ASK_S", 0.0)
    monkeypatch.setattr(ray_cluster, "_ANSWER_S", 0.2)
    pulse = ray_cluster.Pulse(head)
    with pytest.raises(ProactError, match=said):
        _wait_with(pulse)


def test_a_cluster_that_lives_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "_ASK_S", 0.0)
    monkeypatch.setattr(ray_cluster, "_ANSWER_S", 0.2)
    _wait_with(ray_cluster.Pulse(Head()))


def _wait_with(pulse: ray_cluster.Pulse) -> None:
    for _ in range(30):
        pulse.ensure()
        rest(10 * MS)
