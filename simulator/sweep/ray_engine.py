"""Workers on Ray: the same tasks by the same function, here or on a cluster (extra ``ray``).

A Ray that is started here is for this sweep alone: it listens on the loopback address only, asks for a token that
nobody else has, keeps its files in a folder of its own, and is gone with the sweep. It reports nothing to anybody. A
cluster that is there already is joined and left as it was.
"""

from __future__ import annotations

import importlib.util
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.core.errors import ProactError, UsageError
from simulator.core.extras import install_extra
from simulator.endpoint.limit import share
from simulator.sweep.engines import PLAY, Ended, drive, function, played
from simulator.sweep.ray_cluster import Pulse, check_address, joined, library
from simulator.sweep.shipping import Crate, Depot, looks, pack, pack_plan, refuse, take_back
from simulator.sweep.types import Cell, Done, Stop, Task

__all__ = ["OnRay", "PlacesBook"]

_LOOK_S = 0.1
_LEAVE_S = 5.0
_STILLBORN = 3


class OnRay:
    """Plays on Ray.

    Args:
        workers: how many at most, one CPU each.
        play: ``module:function`` that plays a task.
        address: of a cluster, or ``auto``; None starts one here, or takes the one that this process has joined.
        ship: see ``simulator.sweep.shipping``.

    Raises:
        UsageError: Ray is not installed, or nobody answers at that address.
    """

    def __init__(self, workers: int, play: str = PLAY, *, address: str | None = None, ship: bool = False) -> None:
        self._workers, self._play, self._address, self._ship = workers, play, address, ship
        if importlib.util.find_spec("ray") is None:
            raise UsageError(f"--engine ray needs Ray: {install_extra('ray')}")
        if address is not None:
            check_address(address)

    def check(self, cells: Iterable[Cell]) -> None:
        """See ``Engine``: what cannot be shipped, where that is asked for."""
        for cell in cells if self._ship else ():
            refuse(cell)

    def run(self, tasks: Iterable[Task | None], done: Callable[[Done], None], stop: Stop) -> None:
        """See ``Engine``.

        Raises:
            UsageError: no cluster can be joined.
            ProactError: workers end as soon as they are started, or the cluster has ended.
        """
        with joined(self._address, self._workers) as n:
            drive(_Pool(n, self._play, ship=self._ship), tasks, done, stop)


# ------------------------------------------------------------------ on the cluster's machines


class PlacesBook:
    """An actor: who has places at which server. A worker that is gone is struck out by the sweep, which notices."""

    def __init__(self) -> None:
        self._taken: dict[str, Counter[int]] = {}

    def take(self, server: str, most: int, worker: int) -> bool:
        """Take a place if fewer than ``most`` are taken."""
        taken = self._taken.setdefault(server, Counter())
        if taken.total() >= most:
            return False
        taken[worker] += 1
        return True

    def leave(self, server: str, worker: int) -> None:
        """Give one back."""
        self._taken[server][worker] -= 1

    def drop(self, worker: int) -> None:
        """Give all back that a worker has."""
        for taken in self._taken.values():
            del taken[worker]


class _Places:
    """See ``simulator.endpoint.limit.Places``."""

    def __init__(self, book: Any, server: str, worker: int) -> None:
        self._book, self._server, self._worker = book, server, worker

    async def take(self, most: int) -> bool:
        taken: bool = await self._book.take.remote(self._server, most, self._worker)
        return taken

    def leave(self) -> None:
        self._book.leave.remote(self._server, self._worker)


class _Player:
    """An actor: a worker, warm for the whole sweep."""

    def __init__(self, play: str, number: int, folder: str) -> None:
        with suppress(OSError):  # another machine: relative paths are shipped, or mean nothing there
            os.chdir(folder)
        self._play, self._number = function(play), number
        self._depot: Depot | None = None

    def ready(self) -> bool:
        """Whether it has started: it has, if this is answered."""
        return True

    def play(self, task: Task, book: Any = None) -> Done:
        """How a task ended; ``book``: the actor of places, for one that asks a server."""
        share(None if book is None else lambda server, most: _Places(book, server, self._number))
        return played(self._play, task)

    def play_shipped(self, task: Task, book: Any, parcels: Sequence[tuple[str, Any]]) -> tuple[Done, Crate | None]:
        """Likewise, with files that were sent: by names of parcels, where to fetch those that are not here yet."""
        self._depot = self._depot or Depot()
        for name, ref in parcels:
            if self._depot.lacks(name):
                self._depot.unpack(library().get(ref))
        moved = self._depot.moved(task)
        return self._depot.collect(moved, self.play(moved, book))

    def leave(self) -> None:
        """Remove what was sent."""
        if self._depot is not None:
            self._depot.close()


# ------------------------------------------------------------------ here


@dataclass(slots=True, eq=False)
class _Worker:
    """An actor as seen from here: what it answers when it has started, and what it was asked then."""

    actor: Any
    number: int
    ready: Any
    task: Task | None = None
    asked: Any = None


class _Hold:
    """What is shipped, kept in Ray's store: each scenario once, and once more with pictures where they are wanted."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._parcels: dict[tuple[Path, bool], tuple[str, Any]] = {}
        self._looks: dict[tuple[str, Path], bool] = {}

    def parcels(self, task: Task) -> list[tuple[str, Any]]:
        """Names of what a task needs, and where it is to be fetched."""
        who = (str(task.cell.choice["agent"]), task.scenario)
        if who not in self._looks:
            self._looks[who] = looks(task.cell, task.scenario)
        return [self._kept(task.sweep, False, plan=True), self._kept(task.scenario, self._looks[who])]

    def _kept(self, path: Path, pictures: bool, *, plan: bool = False) -> tuple[str, Any]:
        if (path, pictures) not in self._parcels:
            parcel = pack_plan(path) if plan else pack(path, pictures=pictures)
            self._parcels[path, pictures] = parcel.name, self._ray.put(parcel)
        return self._parcels[path, pictures]


class _Pool:
    """See ``engines.Pool``."""

    def __init__(self, most: int, play: str, *, ship: bool) -> None:
        self._ray, self._most, self._play = library(), most, play
        self._pulse = Pulse(self._ray)
        self._hold = _Hold(self._ray) if ship else None
        self._played_here: list[Ended] = []
        self._player = self._ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(_Player)
        self._workers: list[_Worker] = []
        self._book: Any = None
        self._n_started = self._n_stillborn = 0

    def has_room(self) -> bool:
        return len(self._workers) < self._most or any(w.task is None for w in self._workers)

    def give(self, task: Task) -> None:
        if self._hold is not None and not task.key:  # the units are here, and scoring them is short
            self._played_here.append(Ended(task, played(function(self._play), task)))
            return
        worker = next((w for w in self._workers if w.task is None), None) or self._start()
        worker.task = task
        if worker.ready is None:
            self._ask(worker, task)

    def _ask(self, worker: _Worker, task: Task) -> None:
        """Have it play; one that is still starting is asked later, so that a death tells what it is the fault of."""
        if task.needs.endpoint is not None and self._book is None:
            self._book = self._ray.remote(num_cpus=0)(PlacesBook).remote()
        book = None if task.needs.endpoint is None else self._book
        if self._hold is None:
            worker.asked = worker.actor.play.remote(task, book)
        else:
            worker.asked = worker.actor.play_shipped.remote(task, book, self._hold.parcels(task))

    def _start(self) -> _Worker:
        self._n_started += 1
        actor = self._player.remote(self._play, self._n_started, os.getcwd())
        worker = _Worker(actor, self._n_started, actor.ready.remote())
        self._workers.append(worker)
        return worker

    def wait(self) -> Sequence[Ended]:
        if self._played_here:
            ended, self._played_here = self._played_here, []
            return ended
        self._pulse.ensure()
        by_ref = {ref: w for w in self._workers if (ref := w.ready or w.asked) is not None}
        refs = list(by_ref)
        self._ray.wait(refs, num_returns=1, timeout=_LOOK_S)
        known, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        return [ended for ref in known for ended in self._note(by_ref[ref], ref)]

    def _note(self, worker: _Worker, ref: Any) -> list[Ended]:
        task, errors = worker.task, self._ray.exceptions
        try:
            said = self._ray.get(ref)
        except errors.RayTaskError as error:  # it lives, and what it said cannot be read
            assert task is not None
            said = Done(task.run, task.key, f"a fault of proact's own: {type(error.cause).__name__}", "erred")
        except errors.RayError as error:
            begun = worker.ready is None
            self._bury(worker, begun=begun, hopeless=getattr(error, "actor_init_failed", False))
            return [] if task is None else [Ended(task, None, begun=begun)]
        if worker.ready is not None:
            worker.ready, self._n_stillborn = None, 0
            if task is not None:
                self._ask(worker, task)
            return []
        worker.task = worker.asked = None
        assert task is not None
        if isinstance(said, tuple):
            said, crate = said
            if crate is not None:
                take_back(task, crate)
        return [Ended(task, said)]

    def _bury(self, worker: _Worker, *, begun: bool, hopeless: bool) -> None:
        self._workers.remove(worker)
        if self._book is not None:
            self._book.drop.remote(worker.number)
        self._n_stillborn += not begun
        if hopeless or self._n_stillborn >= _STILLBORN:
            raise ProactError("Ray's workers end as soon as they are started: is proact installed on its machines?")

    def close(self, *, now: bool) -> None:
        if self._hold is not None:
            idle = [w.actor.leave.remote() for w in self._workers if w.task is None]
            self._ray.wait(idle, num_returns=len(idle), timeout=_LEAVE_S) if idle else None
        # A worker that has nothing to do loses nothing; one that has is to be stopped.
        for actor in [w.actor for w in self._workers] + ([] if self._book is None else [self._book]):
            self._ray.kill(actor)
        self._workers.clear()
        self._book = None
