"""Where an agent runs: inline for agents that never suspend, else a thread and event loop of its own.

No agent can stall the simulator, escape it or fool it: a call is bounded from outside, whatever it does with
cancellation, exceptions or tasks; what goes wrong becomes an ``Outcome`` with an error, never an exception here.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import threading
import weakref
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from types import CoroutineType
from typing import Any

from simulator.core.types import MS, SECOND
from simulator.runs.blame import said
from simulator.timing.aside import aside
from simulator.timing.clock import real_ns

__all__ = ["GRACE_NS", "InlineLane", "Lane", "Outcome", "ThreadLane", "Work"]

GRACE_NS = SECOND
INLINE_LIMIT_NS = 100 * MS
Work = Callable[[], Any]
"""Makes a call: returns what is to be awaited, or the answer itself where the method is a plain one."""
_process = os.getpid()
"""This one, also where it was forked."""
_owner: ContextVar[int | None] = ContextVar("proact_call", default=None)


_lanes = weakref.WeakSet["ThreadLane"]()


def _note_fork() -> None:
    """In the child: its loop goes no further than to the first await."""
    global _process  # looked at after every call: the system takes ten times as long to tell
    _process = os.getpid()
    for lane in list(_lanes):
        lane.end_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def _end_child() -> None:
    """End a process that an agent forked, and whose work is done or wants to wait: it has no part in the run, shares
    the log and what wakes the loops with its parent, and would take from it what it waits for.
    """
    os._exit(0)


class Outcome:
    """How a call ended. ``error`` is (kind, text); ``ended_real_ns`` the lane's own stamp; ``service_ns`` the real time
    from hand-over to that stamp. ``guarded``: the real-time guard stopped it. ``stopped``: the engine cancelled it.
    ``raised``: the exception, where there was one.
    """

    __slots__ = ("ended_real_ns", "error", "guarded", "raised", "service_ns", "stopped", "value")

    def __init__(self, value: Any, error: tuple[str, str] | None, service_ns: int, ended_real_ns: int,
                 raised: BaseException | None = None, *, guarded: bool = False,
                 stopped: bool = False) -> None:  # fmt: skip
        self.value, self.error, self.service_ns, self.ended_real_ns = value, error, service_ns, ended_real_ns
        self.guarded, self.stopped, self.raised = guarded, stopped, raised


class Lane:
    """Base of the lanes. ``lost`` is set when an agent did not come back: every later call is an error at once."""

    lost = False

    async def run(self, work: Work, limit_ns: int) -> Outcome:
        """Make the call, for at most ``limit_ns`` of real time plus the grace."""
        raise NotImplementedError

    async def close(self) -> None:
        """Free what the lane holds."""

    def stop_running(self) -> None:
        """Cancel the calls in flight; each ends as ``stopped``."""


class InlineLane(Lane):
    """Runs the coroutine on the spot. The agent has declared that it neither suspends nor blocks.

    ``slow`` tells that a call took over 100 ms: the engine then moves the agent to a thread of its own.
    """

    def __init__(self) -> None:
        self._process = _process
        self.slow = False
        self._outcome = Outcome(None, None, 0, 0)

    async def run(self, work: Work, limit_ns: int) -> Outcome:
        """See ``Lane``."""
        return self.run_now(work)

    def run_now(self, work: Callable[..., Any], *given: Any) -> Outcome:
        """Make the call without any loop: what suspends is in error. The outcome holds until the next call."""
        value, error, raised = None, None, None
        begun = real_ns()
        try:
            made = work(*given)
            if type(made) is not CoroutineType:
                value = made
            else:
                try:
                    made.send(None)
                except StopIteration as stop:
                    value = stop.value
                else:
                    error = ("agent_error", "declared inline, but it suspended")
                    with contextlib.suppress(BaseException):  # it may refuse to be closed
                        made.close()
        except KeyboardInterrupt:  # in the simulator's own thread it is the user's
            raise
        except BaseException as foreign:  # noqa: BLE001 - the border to foreign code
            error, raised = said(foreign), foreign
        if _process != self._process:
            _end_child()
        ended = real_ns()
        if ended - begun > INLINE_LIMIT_NS:
            self.slow = True
        outcome = self._outcome  # one for all, since a million are made
        outcome.value, outcome.error, outcome.raised = value, error, raised
        outcome.service_ns, outcome.ended_real_ns = ended - begun, ended
        return outcome


class _Running:
    """A call in a thread lane."""

    __slots__ = ("began", "stopped", "task", "void")

    def __init__(self) -> None:
        self.began = self.stopped = self.void = False
        self.task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        """End it. A task cancelled before its first step would end without a word, so that step looks at ``void``."""
        self.void = True
        if self.began and self.task is not None:
            self.task.cancel()


class ThreadLane(Lane):
    """A daemon thread with an event loop. Each call is one task; the loop outlives whatever an agent does to it (one
    that manages to close it is lost).
    """

    def __init__(self, name: str = "agent") -> None:
        self._loop = asyncio.new_event_loop()
        self._process = _process
        self._closing = False
        self._keys = itertools.count()
        self._running: dict[int, _Running] = {}
        self._children: dict[int, weakref.WeakSet[asyncio.Task[Any]]] = {}
        self.allows_background = False
        self._loop.set_task_factory(self._owned_task)
        self._loop.set_exception_handler(lambda loop, context: None)  # tasks left behind are told in the log
        self._thread = threading.Thread(target=self._serve, name=f"lane-{name}", daemon=True)
        _lanes.add(self)
        self._thread.start()

    def end_child(self) -> None:
        """In a process that was forked from this one: end it when it comes back to the loop."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon(_end_child)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self._closing and not self._loop.is_closed():
            with contextlib.suppress(BaseException):  # a left-behind task that exits, an agent that stops its loop
                self._loop.run_forever()
        with contextlib.suppress(Exception):
            self._loop.close()

    def _owned_task(self, loop: asyncio.AbstractEventLoop, work: Any, **kwargs: Any) -> asyncio.Task[Any]:
        """Every task that a call starts, directly or not, is known to be its own."""
        task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **kwargs)
        owner = _owner.get()
        if owner in self._children:
            self._children[owner].add(task)
        return task

    async def run(self, work: Work, limit_ns: int) -> Outcome:
        """See ``Lane``."""
        handed_over = real_ns()
        if self.lost:
            return Outcome(None, ("agent_lost", "an earlier call never came back"), 0, handed_over)
        waiter: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        key, running = next(self._keys), _Running()
        self._post(self._begin, key, running, work, handed_over, waiter)
        done, _ = await asyncio.wait({waiter}, timeout=limit_ns / 1e9)
        if done:
            return waiter.result()
        guard = real_ns()
        self._post(running.cancel)
        done, _ = await asyncio.wait({waiter}, timeout=GRACE_NS / 1e9)
        if done:
            late = waiter.result()
            if late.service_ns <= limit_ns:  # it had ended in time, and only its word was on the way
                return late
            error = ("guarded", f"stopped by the guard after {limit_ns / 1e9:g} s of real time")
            return Outcome(None, error, late.service_ns, late.ended_real_ns, guarded=True, stopped=running.stopped)
        self.lost = True
        waiter.cancel()
        text = "the call neither returned nor could be cancelled"
        return Outcome(None, ("agent_lost", text), guard - handed_over, guard, guarded=True)

    def _post(self, step: Callable[..., None], *args: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the guard finds out that nobody answers
            self._loop.call_soon_threadsafe(step, *args)

    def _begin(self, key: int, running: _Running, work: Work, handed_over: int, waiter: Any) -> None:
        self._running[key] = running
        running.task = self._loop.create_task(self._call(key, running, work, handed_over, waiter))

    async def _call(self, key: int, running: _Running, work: Work, handed_over: int, waiter: Any) -> None:
        value, error, raised = None, None, None
        _owner.set(key)
        self._children[key] = weakref.WeakSet()
        running.began = True
        try:
            if running.void:
                raise asyncio.CancelledError
            made = work()
            value = await made if isinstance(made, Awaitable) else made
        except BaseException as foreign:  # noqa: BLE001 - the border to foreign code
            error, raised = said(foreign), foreign
        if _process != self._process:
            _end_child()
        ended = real_ns()
        self._running.pop(key, None)
        left = [task for task in self._children.pop(key) if not task.done()]
        if left and not self.allows_background:
            for task in left:
                task.cancel()
            error = error or ("tasks_left", f"{len(left)} tasks were still alive when the call returned")
        outcome = Outcome(value, error, ended - handed_over, ended, stopped=running.stopped, raised=raised)
        with contextlib.suppress(RuntimeError):  # the engine's loop is gone: nobody waits any more
            waiter.get_loop().call_soon_threadsafe(_hand_back, waiter, outcome)

    def stop_running(self) -> None:
        """See ``Lane``."""

        def stop() -> None:
            for running in list(self._running.values()):
                running.stopped = True
                running.cancel()

        self._post(stop)

    async def close(self) -> None:
        """See ``Lane``; a lost thread is left to itself (it is a daemon)."""
        self._closing = True
        self._post(self._loop.stop)
        if not self.lost:
            await aside(self._thread.join, 1.0)


def _hand_back(waiter: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not waiter.done():
        waiter.set_result(outcome)
