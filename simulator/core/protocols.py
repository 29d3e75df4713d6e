"""The seams of the house: what a source, an agent, a memory and an embedder must do, and no more.

A class that has the methods fits; nothing needs to be inherited. ``tests/conformance`` holds the rules as tests that
others can run on their own classes. What a scorer must do says ``scorers.base``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from simulator.core.types import Decision, Event, Label, MemoryItem, Observation, Offer, Query, Snapshot

__all__ = ["Agent", "Embedder", "History", "LiveSource", "Memory", "MemoryView", "Meter", "SnapshotSource"]


@runtime_checkable
class SnapshotSource(Protocol):
    """Where snapshots come from, in order of ``captured_ns``, indices 0, 1, 2, …

    ``gaps`` are the stretches ``(start_ns, end_ns, reason)`` in which nothing was recorded on purpose or by mishap;
    ``end_ns`` is when the recording ends (last snapshot + period), None for a live source.
    """

    session: str
    user: str
    end_ns: int | None

    @property
    def gaps(self) -> Sequence[tuple[int, int, str]]:
        """Start, end (ns) and reason, in order."""
        ...

    def snapshots(self) -> AsyncIterator[Snapshot]:
        """Yield each snapshot once. May be called again for a fresh pass."""
        ...


@runtime_checkable
class LiveSource(SnapshotSource, Protocol):
    """A source whose snapshots are being taken: its ``end_ns`` is None until it has ended, its ``gaps`` grow.

    ``lateness_ns`` holds how late each snapshot was taken against its schedule.
    """

    lateness_ns: list[int]

    def now_ns(self) -> int:
        """Stream time, now: of the same clock as ``captured_ns``."""
        ...


class Meter(Protocol):
    """What an agent tells of one decision while it makes it; using it is optional."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Time a stage: wait, ocr, embed, retrieve, build, model, parse, write. Spans nest; a span's time counts once,
        for the innermost stage.
        """
        ...

    def usage(self, *, tokens_in: int = 0, tokens_out: int = 0, reasoning: int = 0, cached: int = 0, images: int = 0,
              cost: float | None = None) -> None:  # fmt: skip
        """Add what a model call used. ``cost`` None means unknown, which is never 0; one such call makes the decision's
        cost unknown.
        """
        ...

    def first_token(self) -> None:
        """Mark the instant of the first token of the answer (the first call counts)."""
        ...

    def emit(self, offer: Offer) -> None:
        """Hand over an offer that is ready before the call returns; it gets its own ``actionable_ns``. It counts if the
        call comes to a good end: one that fails, is cancelled or superseded delivers nothing.
        """
        ...

    def waited(self, ns: int, *, retries: int = 0) -> None:
        """Report nanoseconds spent waiting for a rate limit or a back-off: charged, and told apart."""
        ...

    def reported(self, within: str, stages: Mapping[str, int]) -> None:
        """Divide the time booked for the stage ``within``, in ns, as another process tells how it spent it; more than
        was booked is not believed. The total stays as measured.
        """
        ...

    def note(self, key: str) -> None:
        """Count something worth knowing, such as ``no_usable_evidence``; sums are shown with the scores."""
        ...


class History(Protocol):
    """The recent past as a view that ends at the moment asked about."""

    @property
    def events(self) -> Sequence[Event]:
        """Closed events of the history window, oldest first."""
        ...

    @property
    def current(self) -> Event | None:
        """The event still open, cut at now: its true end, summary and label are the future."""
        ...

    def snapshots(self, k: int) -> Sequence[Snapshot]:
        """The last k snapshots released by now, oldest first. The newest is the one asked about, or a later one where a
        policy lets snapshots wait (``queue_all``).
        """
        ...


class MemoryView(Protocol):
    """One user's memory as of now, as an agent reads it."""

    async def recall(self, k: int = 5, *, token_budget: int | None = None, text: str | None = None) -> list[MemoryItem]:
        """The k items nearest to the current window (or to ``text``), best first; timed as stage ``retrieve``."""
        ...

    def render(self, items: Sequence[MemoryItem]) -> str:
        """The items as a memory part of a prompt; empty string for none."""
        ...

    @property
    def labels(self) -> Sequence[tuple[Event, Label]]:
        """Events whose label had become known by now, in the order in which they did."""
        ...


@runtime_checkable
class Agent(Protocol):
    """A proactive-assistance agent.

    Optional besides ``decide``: ``async open(setup)``, ``async close()``, ``async cancel()`` (the running decision is
    void), ``async finish(observation) -> Decision`` (trajectory methods, asked once at the end), ``async
    rehearse(observation, label)`` (each event of the history, asked as of its start and told its label, before time
    0). Traits, as class attributes: ``inline`` (never suspends, never blocks: runs without a thread), ``background``
    (works between decisions), ``concurrent`` (``"stateless"``: decisions do not depend on each other).
    """

    async def decide(self, observation: Observation) -> Decision:
        """Answer one observation."""
        ...


@runtime_checkable
class Memory(Protocol):
    """What is remembered of users' pasts; written in order of time by the simulator, read through a view.

    Traits: ``inline`` (never suspends or blocks), ``capabilities`` (mapping: ``as_of`` native | stream_order_only,
    ``isolation`` native | collection | none, ``mutates_past`` bool, ``llm_per_write`` bool). Optional: ``async
    maintain(now_ns)`` off the decision path, ``needs_upkeep()``, ``async forget(user, start_ns, end_ns)``, ``stats()``,
    ``save(folder)``, ``load(folder)``.

    No run calls ``save`` or ``load``: a verdict calls ``save`` for the size of what is kept, the conformance rules call
    both, and whoever plays from Python may. ``save`` makes the folder, which does not exist yet (the one that it is to
    lie in does); ``load`` is called on a new memory.

    ``maintain`` is called once after the history, and after each write that ``needs_upkeep`` says needs it; on paced
    clocks other calls then go on beside it. ``upkeep_lag_ns``, where it is an int, is after how long its work is seen.
    """

    async def observe(self, event: Event) -> None:
        """Take in a closed event, at the tick that proved it closed. Its label is not known yet."""
        ...

    async def feedback(self, event: Event, label: Label) -> None:
        """Take in what became known of an event observed before."""
        ...

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The k best items of this user for the query, best first, within the token budget if there is one."""
        ...

    def render(self, items: Sequence[MemoryItem]) -> str:
        """Items as prompt text."""
        ...


class Embedder(Protocol):
    """Texts to vectors. ``identity`` names model, dimension and version: it goes into every result."""

    @property
    def identity(self) -> str:
        """Model, dimension and version, in a word."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a row."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length rows, float32 of shape (len(texts), dimension); an empty text gives a row of zeros."""
        ...
