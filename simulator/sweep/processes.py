"""Worker processes of this machine: started afresh (no fork of a parent with threads), warm, replaced when they die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO, Any

from simulator.core.errors import ProactError
from simulator.core.operators import operators
from simulator.core.types import MS
from simulator.core.user_files import path_without
from simulator.sweep.engines import PLAY, Ended, drive
from simulator.sweep.messages import receive, send
from simulator.sweep.types import Cell, Done, Stop, Task
from simulator.sweep.worker import READY
from simulator.timing.clock import real_ns, rest

__all__ = ["Processes"]

_LOOK_S = 0.1  # how late a Ctrl-C is seen at most
_END_S = 5.0
_HEAR_S = 1.0  # what a worker said before it ended is read in no time, unless a process that it left holds its pipe
_STILLBORN = 3
# What a worker imports from is what its parent does, whatever folder it is started in.
_BEGIN = "import json,sys; sys.path[:] = json.loads(sys.argv.pop(1)); from simulator.sweep.worker import main; main(sys.argv[1])"  # fmt: skip # noqa: E501


class Processes:
    """Plays in worker processes.

    Args:
        workers: how many at most; they are started when there is something to do.
        play: ``module:function`` that plays a task.
    """

    def __init__(self, workers: int, play: str = PLAY) -> None:
        self._workers, self._play = workers, play

    def check(self, cells: Iterable[Cell]) -> None:
        """Any cell can be played here."""

    def run(self, tasks: Iterable[Task | None], done: Callable[[Done], None], stop: Stop) -> None:
        """See ``Engine``.

        Raises:
            ProactError: workers end as soon as they are started.
        """
        drive(_Pool(self._workers, self._play), tasks, done, stop)


class _Worker:
    """A process, and a thread of ours that hears what it says. Its end is heard at once, as the end of its pipe; where
    something that it started holds that open, it is seen by who looks (``look``).
    """

    def __init__(self, play: str, heard: SimpleQueue[tuple[_Worker, Any]]) -> None:
        self.task: Task | None = None
        self.is_ready = False
        self._heard, self._is_over = heard, False
        places = [place or os.getcwd() for place in path_without(sys.path)]
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BEGIN, json.dumps(places), play],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            process_group=0 if os.name == "posix" else None,
        )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._inbox, outbox = self.process.stdin, self.process.stdout
        self._ear = threading.Thread(target=self._listen, args=(outbox, heard), name="proact-worker", daemon=True)
        self._ear.start()

    def _listen(self, outbox: IO[bytes], heard: SimpleQueue[tuple[_Worker, Any]]) -> None:
        try:
            with outbox:
                while True:
                    heard.put((self, receive(outbox)))
        except Exception as error:  # noqa: BLE001 - who talks nonsense is ended like one who is gone
            if not isinstance(error, EOFError | OSError):
                operators().error("a worker said what nobody understands", exc_info=error)
        heard.put((self, None))

    def look(self) -> None:
        """Where its process has ended, see to it that this is heard, after all that it said."""
        if not self._is_over and self._has_ended():
            self._is_over = True
            self._kill_group()
            self._ear.join(_HEAR_S)
            if self._ear.is_alive():
                self._heard.put((self, None))

    def _has_ended(self) -> bool:
        """Its number stays taken, so that its group can still be named by it."""
        if self.process.returncode is not None or not hasattr(os, "waitid"):
            return self.process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def _kill_group(self) -> None:
        """End what it started, and itself."""
        if os.name == "posix" and self.process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def tell(self, what: Task | None) -> None:
        """Send it something; who is gone hears nothing, and that is heard."""
        with suppress(OSError):
            send(self._inbox, what)

    def end(self, within_s: float) -> None:
        """Wait until it has ended, and end it if it takes longer; with it goes what it started."""
        until_ns = real_ns() + int(within_s * 1e9)
        while not self._has_ended() and real_ns() < until_ns:
            rest(5 * MS)
        self._kill_group()
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()
        with suppress(OSError):
            self._inbox.close()
        self._ear.join(_HEAR_S)


class _Pool:
    """See ``engines.Pool``."""

    def __init__(self, most: int, play: str) -> None:
        self._most, self._play = most, play
        self._workers: list[_Worker] = []
        self._heard = SimpleQueue[tuple[_Worker, Any]]()
        self._n_stillborn = 0

    def has_room(self) -> bool:
        return len(self._workers) < self._most or any(w.task is None for w in self._workers)

    def give(self, task: Task) -> None:
        worker = next((w for w in self._workers if w.task is None), None)
        if worker is None:
            worker = _Worker(self._play, self._heard)
            self._workers.append(worker)
        worker.task = task
        worker.tell(task)

    def wait(self) -> Sequence[Ended]:
        ended: list[Ended] = []
        for worker in self._workers:
            worker.look()
        with suppress(Empty):
            heard = self._heard.get(timeout=_LOOK_S)
            while True:
                ended.extend(self._note(*heard))
                heard = self._heard.get_nowait()
        return ended

    def _note(self, worker: _Worker, said: Any) -> list[Ended]:
        if worker not in self._workers:  # buried before its pipe came to an end
            return []
        if said == READY:
            worker.is_ready, self._n_stillborn = True, 0
            return []
        if said is not None and (worker.task is None or (said.run, said.key) != (worker.task.run, worker.task.key)):
            return []  # not what it was asked: from a process that it started
        task, worker.task = worker.task, None
        if said is None:
            self._bury(worker)
        code = worker.process.returncode if said is None else None
        return [] if task is None else [Ended(task, said, begun=worker.is_ready, code=code)]

    def _bury(self, worker: _Worker) -> None:
        """A worker is gone: another one takes its place when there is something to do."""
        self._workers.remove(worker)
        worker.end(0)
        self._n_stillborn += not worker.is_ready
        if self._n_stillborn >= _STILLBORN:
            code = worker.process.returncode
            raise ProactError(
                f"worker processes end as soon as they are started (exit code {code}); see what they say above"
            )

    def close(self, *, now: bool) -> None:
        if not now:
            for worker in self._workers:
                worker.tell(None)
        for worker in self._workers:
            worker.end(0 if now else _END_S)
        self._workers.clear()
