"""What workers play in tests of engines: the task's key says what to do, a file in the sweep what was done."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from simulator.core.errors import UsageError
from simulator.core.types import MS
from simulator.endpoint.limit import Limit
from simulator.sweep.types import Cell, Done, Needs, Task
from simulator.timing.clock import pause, real_ns, rest

SERVER = "http://models.example/v1"
CELL = Cell((("agent", "prior"),), {}, "default")


def task(sweep: Path, key: str, needs: Needs | None = None, run: str = "a") -> Task:
    return Task(sweep, run, key, Path("nowhere"), CELL, 0, needs or Needs())


def tasks(sweep: Path, *keys: str) -> Iterator[Task]:
    return (task(sweep, key) for key in keys)


def play(task: Task) -> Done:
    """``NAME[:WHAT[:ARGUMENT]]``: each attempt leaves a line in ``NAME``: process id, begin and end in ns."""
    name, what, argument = [*task.key.split(":"), "", ""][:3]
    begun = real_ns()
    file = task.sweep / (name or f"score-{task.run}")
    with file.open("a") as log:
        log.write(f"{os.getpid()} ")
    if what == "die" or (what == "die_once" and len(file.read_text().split()) == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "leave":
        os._exit(int(argument))
    elif what == "rest":
        rest(int(argument) * MS)
    elif what == "raise":
        raise ValueError(argument)
    elif what == "refuse":
        raise UsageError(argument)
    elif what == "full":
        raise OSError(errno.ENOSPC, "No space left on device")
    elif what == "wander":
        os.chdir("/")
    elif what == "where":
        return Done(task.run, task.key, os.getcwd())
    elif what == "print":
        print(argument)  # noqa: T201
        sys.stdout.flush()
        os.write(1, b"raw\n")
        subprocess.run(["echo", "from a child"], check=True)
        assert sys.stdin.read() == ""
    elif what == "child":
        child = subprocess.Popen(["sleep", "60"])
        (task.sweep / "child").write_text(str(child.pid))
        rest(60_000 * MS)
    elif what == "fork" and (forked := os.fork()) == 0:
        if argument == "return":
            return Done(task.run, task.key, "of the child")
        rest(60_000 * MS)
    elif what == "fork":
        (task.sweep / "child").write_text(str(forked))
    elif what == "hold" and (forked := ctypes.PyDLL(None).fork()) == 0:  # as C does it: Python is not told
        ctypes.PyDLL(None).sleep(60)
    elif what == "hold":
        (task.sweep / "child").write_text(str(forked))
    if argument == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    with file.open("a") as log:
        log.write(f"{begun} {real_ns()}\n")
    return Done(task.run, task.key, seconds=0.0, tally={"pid": os.getpid()})


def ask(task: Task) -> Done:
    """``NAME[:die]``: one call to a server that bears one at a time; when it had its place stands in ``NAME``."""

    async def call() -> None:
        limit = Limit(1, SERVER)
        await limit.enter()
        begun = real_ns()
        await pause(20 * MS)
        if task.key.endswith(":die") and not (task.sweep / "died").exists():
            (task.sweep / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        (task.sweep / task.key.partition(":")[0]).write_text(f"{os.getpid()} {begun} {real_ns()}")
        limit.leave()

    with ThreadPoolExecutor(1) as thread:  # as agents do, in a loop of another thread than the worker's
        thread.submit(asyncio.run, call()).result()
    return Done(task.run, task.key)
