"""What happens before time 0: the agent opens, memory is built from the user's history in order of time, and an agent
that wants to is rehearsed on it.

Causal by construction, as in the session itself: at each instant first what closed is observed, then what became known
is fed back, then the event that begins is asked about. So a rehearsed question sees the past of its own moment only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from memory.view import NOTHING, LabelBook, View
from simulator.core.protocols import Memory, MemoryView
from simulator.core.types import Event, Label, MemoryItem, Observation, Setup, Snapshot
from simulator.runs.history import HistoryView, Recent
from simulator.timing.meter import SilentMeter

__all__ = ["REHEARSED", "Doing", "prepare"]

REHEARSED = 2000
"""At most so many of the user's own events, the newest, are rehearsed."""


class Doing:
    """What is being done before time 0, the how manieth call it is, and of how many of the history (0: not known)."""

    what = "nothing"
    nth = of = 0

    def begin(self, what: str) -> None:
        """The next call is made."""
        self.what, self.nth = what, self.nth + 1

    @contextmanager
    def within(self, what: str) -> Iterator[None]:
        """A call is made within the one that is being made; where that is given up, ``what`` stays."""
        outer, self.what = self.what, what
        try:
            yield
        except Exception:
            self.what = outer
            raise
        self.what = outer


class _Rehearsed(View):
    """The view of a rehearsed question: a recall that hangs, or is slow, is not told as the agent's."""

    __slots__ = ("doing",)

    doing: Doing

    async def recall(self, k: int = 5, *, token_budget: int | None = None, text: str | None = None) -> list[MemoryItem]:
        """See ``View``."""
        with self.doing.within("the memory's recall"):
            return await super().recall(k, token_budget=token_budget, text=text)


async def settled(made: Any) -> Any:
    """What an async method gives once awaited, and a plain one at once."""
    return await made if isinstance(made, Awaitable) else made


_OBSERVE, _FEEDBACK, _REHEARSE = range(3)


def _timeline(history: Sequence[tuple[Event, Label | None]], rehearsed: bool, user: str) -> list[tuple[int, int, int]]:
    """(instant, what, index into history), in the order in which it happens.

    Rehearsed are the user's own events that last: one of no length would be asked about after its own label was told.
    """
    steps: list[tuple[int, int, int]] = []
    later = sum(event.user == user for event, _ in history)  # of the user's own events, those not yet gone through
    for i, (event, label) in enumerate(history):
        newest, later = later <= REHEARSED, later - (event.user == user)
        steps.append((event.end_ns, _OBSERVE, i))
        if label is not None:
            steps.append((max(event.end_ns, label.available_ns), _FEEDBACK, i))
            own = event.user == user and not event.assistance and event.start_ns < event.end_ns
            if rehearsed and newest and own:
                steps.append((event.start_ns, _REHEARSE, i))
    return sorted(steps)


async def prepare(agent: Any, memory: Memory | None, history: Sequence[tuple[Event, Label | None]], setup: Setup,
                  recent: Recent, book: LabelBook, doing: Doing) -> None:  # fmt: skip
    """Open the agent and build the memory; runs inside the agent's lane.

    Args:
        agent: with or without ``open`` and ``rehearse``.
        memory: None when it is inert.
        history: events before time 0 with what is known of them; those of other users only fill the memory.
        setup: what the agent is opened with.
        recent: gets the last events, so that the history view reaches back before time 0.
        book: gets the labels.
        doing: is told what is being done, for the sentence that says what failed.
    """
    if hasattr(agent, "open"):
        doing.begin("the agent's open")
        await settled(agent.open(setup))
    rehearse = getattr(agent, "rehearse", None)
    steps = _timeline(history, rehearse is not None, setup.user)
    doing.of = doing.nth + len(steps)
    for t, what, i in steps:
        event, label = history[i]
        if what == _OBSERVE:
            if event.user == setup.user:
                recent.remember(event)
            if memory is not None:
                doing.begin("the memory's observe")
                await memory.observe(event)
        elif what == _FEEDBACK:
            assert label is not None
            if memory is not None:
                doing.begin("the memory's feedback")
                book.add(event, label)
                await memory.feedback(event, label)
        else:
            assert rehearse is not None
            meter = SilentMeter()
            doing.begin("the agent's rehearse")
            await settled(rehearse(_question(event, t, setup, memory, recent, book, meter, doing), label))
            meter.close()
    recent.open = None
    maintain = getattr(memory, "maintain", None)
    if maintain is not None:
        doing.begin("the memory's maintain")
        await settled(maintain(0))


def _question(event: Event, t: int, setup: Setup, memory: Memory | None, recent: Recent, book: LabelBook,
              meter: SilentMeter, doing: Doing) -> Observation:  # fmt: skip
    """The observation at the start of a past event."""
    recent.open = replace(event, end_ns=t, summary=None, assistance=False)
    snapshot = Snapshot(-1, t, t, event.app, event.title, event.category)
    view: MemoryView = NOTHING
    if memory is not None:
        view = asked = _Rehearsed(memory, book, event.user, t, event.app, event.title, event.category, meter)
        asked.doing = doing
    return Observation(snapshot, t, event.user, HistoryView(recent, t), setup.profile, view, meter)
