"""Which task may begin now: what must run alone does, the rest fills the workers. Pure: no process, no clock.

Tasks are taken from their stream a few hundred ahead, so that a study of 100,000 units is never held as a whole, and
kept by what they need. Those that share go first; one that needs the whole machine begins when nothing runs and nothing
that is waiting could, and then all of its kind that are waiting follow, so that the workers are emptied once for many.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from simulator.endpoint.address import is_here
from simulator.sweep.types import Needs, Task

__all__ = ["AHEAD", "Schedule", "wants_machine"]

AHEAD = 256
"""Tasks that are waiting at most: among so many the scheduler chooses."""

_ATTEMPTS = 2
"""How often a task is begun: a worker may be killed for the sake of another program, and hardly twice by chance."""


@lru_cache(maxsize=1024)
def wants_machine(needs: Needs) -> bool:
    """Whether nothing else may run on this machine: a measured task that asks nobody, or a server that runs here too
    and would be slowed down by whatever else computes.
    """
    if not needs.alone:
        return False
    if needs.endpoint is None:
        return True
    try:
        return is_here(urlsplit(needs.endpoint).hostname or "")
    except ValueError:  # an address that nobody can read says nothing of where it is
        return False


class Schedule:
    """Tasks waiting and running.

    Args:
        tasks: asked when there is room; a None says that nothing more is ready before another task has ended.
        ahead: how many may wait.
    """

    def __init__(self, tasks: Iterable[Task | None], *, ahead: int = AHEAD) -> None:
        self._tasks, self._ahead = iter(tasks), ahead
        self._waiting: dict[Needs, deque[tuple[int, Task]]] = {}
        self._n_waiting = self._n_taken = 0
        self._is_exhausted = self._is_dry = False
        self._running: Counter[Needs] = Counter()
        self._begun: Counter[tuple[str, str]] = Counter()
        self._is_quiet = False  # tasks that need the whole machine have their turn

    @property
    def n_running(self) -> int:
        """Tasks that have begun and not ended."""
        return self._running.total()

    def next(self) -> Task | None:
        """The task that begins now; None where none may before another has ended, or there is none.

        Raises:
            RuntimeError: the stream waits for a task to end, and none runs: a fault of who made it.
        """
        self._refill()
        if (needs := self._choose()) is None:
            if self._is_dry and not self._n_waiting and not self.n_running:
                raise RuntimeError("the stream of tasks waits for the end of a task, and none runs")
            return None
        queue = self._waiting[needs]
        _, task = queue.popleft()
        if not queue:
            del self._waiting[needs]
        self._n_waiting -= 1
        self._running[needs] += 1
        self._begun[task.run, task.key] += 1
        return task

    def ended(self, task: Task) -> None:
        """A task that had begun came to an end, whichever."""
        self._stopped(task)
        del self._begun[task.run, task.key]

    def lost(self, task: Task, *, blameless: bool = False) -> bool:
        """The worker of a task is gone. True: the task waits again, before all others; False: it has had its chances.

        Args:
            task: had begun.
            blameless: the worker was gone before it looked at the task, which does not count as a chance.
        """
        if not blameless and self._begun[task.run, task.key] >= _ATTEMPTS:
            self.ended(task)
            return False
        self._stopped(task)
        if blameless:
            self._begun[task.run, task.key] -= 1
        self._wait(task, first=True)
        return True

    # ------------------------------------------------------------------ inside

    def _stopped(self, task: Task) -> None:
        self._running[task.needs] -= 1
        if not self._running[task.needs]:
            del self._running[task.needs]
        self._is_dry = False

    def _wait(self, task: Task, *, first: bool) -> None:
        queue = self._waiting.setdefault(task.needs, deque())
        if first:
            queue.appendleft((-1, task))
        else:
            self._n_taken += 1
            queue.append((self._n_taken, task))
        self._n_waiting += 1

    def _refill(self) -> None:
        while not (self._is_exhausted or self._is_dry) and self._n_waiting < self._ahead:
            try:
                task = next(self._tasks)
            except StopIteration:
                self._is_exhausted = True
                return
            if task is None:
                self._is_dry = True
            else:
                self._wait(task, first=not task.key)  # what finishes a run is short, and frees what waits for it

    def _choose(self) -> Needs | None:
        """The needs whose oldest waiting task begins."""
        whole = [needs for needs in self._waiting if wants_machine(needs)]
        self._is_quiet = self._is_quiet and bool(whole)
        if not self._is_quiet:
            beside = [n for n in self._waiting if not wants_machine(n) and self._may_share(n)]
            if beside:
                return self._oldest(beside)
        if not whole or self._running:
            return None
        self._is_quiet = True
        return self._oldest(whole)

    def _oldest(self, among: list[Needs]) -> Needs:
        return min(among, key=lambda needs: self._waiting[needs][0][0])

    def _may_share(self, needs: Needs) -> bool:
        """Whether what runs now lets a task with these needs begin beside it."""
        if any(wants_machine(n) for n in self._running):
            return False
        if needs.endpoint is None:
            return True
        there = {n: count for n, count in self._running.items() if n.endpoint == needs.endpoint}
        if needs.alone:
            return not there
        # A unit has a call in flight most of the time: more units than calls are allowed would only wait for each
        # other, and a call that waits too long runs into its time limit.
        return not any(n.alone for n in there) and (needs.limit is None or sum(there.values()) < needs.limit)
