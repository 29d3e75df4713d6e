"""Where tasks run: in this process, in worker processes, on Ray. One loop drives them all; only pools differ."""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from simulator.core.errors import NoRoom, ProactError, UsageError, nearest, quote
from simulator.core.faults import writing
from simulator.core.operators import operators
from simulator.sweep.scheduling import Schedule
from simulator.sweep.types import Cell, Done, Engine, Stop, Task
from simulator.timing.clock import real_ns

__all__ = ["ENGINES", "PLAY", "Ended", "Inline", "Play", "Pool", "drive", "engine_of", "function", "played"]

ENGINES = ("processes", "inline", "ray")
PLAY = "simulator.sweep.work:play_task"
"""What plays a task, by name: each worker imports it itself."""

_MOST_A_CPU = 16  # those that wait for a server do not compute, and yet each takes a hundred MB

_KILLED = 9  # as the system does when there is no memory left

Play = Callable[[Task], Done]


def engine_of(name: str = "processes", workers: int = 1, *, ray_address: str | None = None, ship: bool = False,
              play: str = PLAY) -> Engine:  # fmt: skip
    """An engine by name.

    Args:
        name: one of ``ENGINES``.
        workers: how many tasks may run side by side.
        ray_address: of a Ray cluster, ``auto`` for the one this machine belongs to; None starts one here.
        ship: send sessions to Ray's machines and bring units back, since they do not see the same paths.
        play: ``module:function`` that plays a task.

    Raises:
        UsageError: no such engine, no worker or far too many, an option of another engine, or Ray is not installed.
    """
    if name not in ENGINES:
        raise UsageError(f"--engine {quote(name)} is unknown; {nearest(name, ENGINES)}")
    if workers < 1:
        raise UsageError(f"--workers {workers}: a whole number from 1 is wanted")
    if name == "processes" and workers > (most := _MOST_A_CPU * max(4, os.cpu_count() or 1)):
        raise UsageError(f"--workers {workers}: {most} at most on this machine; several machines: --engine ray")
    if name != "ray" and (ray_address is not None or ship):
        raise UsageError("--ray-address and --ship go with --engine ray")
    if name == "inline":
        if workers > 1:
            raise UsageError("--engine inline plays in this process, one unit after the other: leave --workers out")
        return Inline(play)
    if name == "processes":
        from simulator.sweep.processes import Processes

        return Processes(workers, play)
    from simulator.sweep.ray_engine import OnRay

    return OnRay(workers, play, address=ray_address, ship=ship)


def function(name: str) -> Play:
    """What ``module:function`` names."""
    module, _, attribute = name.partition(":")
    found: Play = getattr(importlib.import_module(module), attribute)
    return found


def played(play: Play, task: Task) -> Done:
    """How a task ended; a fault of ours in one does not cost the others, and the next begins where this one did."""
    try:
        with writing(task.sweep), _here():
            return play(task)
    except NoRoom as error:
        return Done(task.run, task.key, str(error), "no_room")
    except ProactError as error:
        return Done(task.run, task.key, str(error), "erred")
    except Exception as error:  # noqa: BLE001 - told with its traceback, and counted
        operators().error("a task failed by a fault of proact's own", run=task.run, unit=task.key, exc_info=error)
        return Done(task.run, task.key, f"a fault of proact's own: {type(error).__name__}", "erred")


@contextmanager
def _here() -> Iterator[None]:
    """Relative paths mean the same afterwards, wherever an agent has gone."""
    try:
        here = Path.cwd()
    except OSError:  # the folder is gone: then nothing relative is found, now or later
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            os.chdir(here)


def _ensure_room(result: Done) -> Done:
    """A full disk ends the sweep: all that follows would fail there as well."""
    if result.kind == "no_room":
        raise NoRoom(result.error)
    return result


class Inline:
    """Plays in this process, one task after the other."""

    def __init__(self, play: str = PLAY) -> None:
        self._play = play

    def check(self, cells: Iterable[Cell]) -> None:
        """Any cell can be played here."""

    def run(self, tasks: Iterable[Task | None], done: Callable[[Done], None], stop: Stop) -> None:
        """See ``Engine``. A task that runs ends before either Ctrl-C is looked at, unless its handler raises."""
        play, schedule = function(self._play), Schedule(tasks)
        while not (stop.draining or stop.now) and (task := schedule.next()) is not None:
            stop.running[task.run, task.key] = real_ns()
            try:
                result = played(play, task)
            finally:
                del stop.running[task.run, task.key]
            schedule.ended(task)
            done(_ensure_room(result))


@dataclass(frozen=True, slots=True)
class Ended:
    """What a pool tells of a task. ``result`` None: its worker is gone; ``begun`` False: before it looked at it.

    ``code`` is the exit code of a worker that is gone, negative for a signal; None where nobody knows.
    """

    task: Task
    result: Done | None
    begun: bool = True
    code: int | None = None


class Pool(Protocol):
    """Workers. Every task that is given comes back from ``wait`` once."""

    def has_room(self) -> bool:
        """Whether a worker is idle, or one more may be started."""
        ...

    def give(self, task: Task) -> None:
        """Have an idle worker play it."""
        ...

    def wait(self) -> Sequence[Ended]:
        """What has ended; blocks until something has, a tenth of a second at most.

        Raises:
            ProactError: workers cannot be kept alive.
        """
        ...

    def close(self, *, now: bool) -> None:
        """Let the workers go; ``now``: end them at once, with what they do. Twice does no harm."""
        ...


def drive(pool: Pool, tasks: Iterable[Task | None], done: Callable[[Done], None], stop: Stop) -> None:
    """Run tasks in a pool, and close it; see ``Engine.run``."""
    schedule, running = Schedule(tasks), dict[tuple[str, str], Task]()
    is_whole = False
    try:
        while not stop.now:
            while not (stop.draining or stop.now) and pool.has_room() and (task := schedule.next()) is not None:
                running[task.run, task.key] = task
                stop.running[task.run, task.key] = real_ns()
                pool.give(task)
            if not running:
                is_whole = True
                break
            for ended in pool.wait():
                _note(ended, schedule, running, done, stop)
    finally:
        stop.running.clear()
        pool.close(now=not is_whole)
    for task in running.values():
        done(Done(task.run, task.key, "stopped before its end", "interrupted"))


def _note(ended: Ended, schedule: Schedule, running: dict[tuple[str, str], Task], done: Callable[[Done], None],
          stop: Stop) -> None:  # fmt: skip
    task = ended.task
    del running[task.run, task.key]
    stop.running.pop((task.run, task.key), None)
    if ended.result is not None:
        schedule.ended(task)
        done(_ensure_room(ended.result))
    elif not schedule.lost(task, blameless=not ended.begun):
        killed = ": is there memory enough?" if ended.code in (None, -_KILLED) else ""
        done(Done(task.run, task.key, f"its worker {_way(ended.code)}, twice{killed}", "lost"))
    elif stop.draining:  # nobody will try it again
        done(Done(task.run, task.key, f"its worker {_way(ended.code)}", "interrupted"))


def _way(code: int | None) -> str:
    """How a worker ended."""
    if code is None:
        return "was killed, or ended itself"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed ({signal.Signals(-code).name})"
    except ValueError:
        return f"was killed (signal {-code})"
