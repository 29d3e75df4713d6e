"""Small fakes for people who test an agent of theirs: a meter that counts, a past made by hand, an observation.

::

    seen = observe(app="code", title="main.py", items=[MemoryItem("…", 0.9, help=1.0)])
    decision = await MyAgent().decide(seen)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.core.protocols import MemoryView, Meter
from simulator.core.types import SECOND, Event, ImageRef, Label, MemoryItem, Observation, Offer, Snapshot
from simulator.endpoint.types import NO_PARAMS, Message, Reply, Stamps, Usage

__all__ = ["FakeHistory", "FakeMemoryView", "FakeMeter", "FakeModel", "observe"]


class FakeMeter:
    """Counts what an agent tells it; measures nothing.

    Attributes:
        stages, notes, used: how often, or how much, by name.
        offers: what was emitted early.
    """

    def __init__(self) -> None:
        self.stages: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.used: Counter[str] = Counter()
        self.offers: list[Offer] = []
        self.costs: list[float | None] = []
        self.waited_ns = 0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count a stage."""
        self.stages[name] += 1
        yield

    def usage(self, *, tokens_in: int = 0, tokens_out: int = 0, reasoning: int = 0, cached: int = 0, images: int = 0,
              cost: float | None = None) -> None:  # fmt: skip
        """Add up tokens and images."""
        self.used.update(tokens_in=tokens_in, tokens_out=tokens_out, reasoning=reasoning, cached=cached, images=images)
        self.costs.append(cost)

    def first_token(self) -> None:
        """Count a first token."""
        self.stages["first_token"] += 1

    def emit(self, offer: Offer) -> None:
        """Keep an early offer."""
        self.offers.append(offer)

    def waited(self, ns: int, *, retries: int = 0) -> None:
        """Add up waiting."""
        self.waited_ns += ns

    def reported(self, within: str, stages: Mapping[str, int]) -> None:
        """Count the stages told of."""
        self.stages.update(dict.fromkeys(stages, 1))

    def note(self, key: str) -> None:
        """Count a note."""
        self.notes[key] += 1


class FakeModel:
    """Answers every call with a text, or with what a function makes of the messages; an ``EndpointError`` is raised.

    Attributes:
        calls: the messages of each call, in order; ``schemas`` and ``params`` likewise.
        closed: how often it was closed.
    """

    def __init__(self, answer: str | Exception | Callable[[Sequence[Message]], str | Exception] = "") -> None:
        self._answer = answer
        self.calls: list[tuple[Message, ...]] = []
        self.schemas: list[Mapping[str, Any] | None] = []
        self.params: list[Mapping[str, Any]] = []
        self.closed = 0

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None,
                   meter: Meter | None = None, params: Mapping[str, Any] = NO_PARAMS) -> Reply:  # fmt: skip
        """Answer at once; four characters are a token."""
        self.calls.append(tuple(messages))
        self.schemas.append(schema)
        self.params.append(params)
        answer = self._answer(messages) if callable(self._answer) else self._answer
        if isinstance(answer, Exception):
            raise answer
        parts = [part for message in messages for part in message.parts]
        n_in, n_out = sum(len(p) for p in parts if isinstance(p, str)) // 4, len(answer) // 4
        images = sum(not isinstance(p, str) for p in parts)
        if meter is not None:
            with meter.stage("model"):
                meter.first_token()
            meter.usage(tokens_in=n_in, tokens_out=n_out, images=images)
        usage = Usage(n_in, n_out, images=images, estimated=True)
        return Reply(answer, "", "stop", usage, Stamps(0, 0, 0, (0,), 0), "fake", dict(params))

    async def embed(self, texts: Sequence[str], *, meter: Meter | None = None) -> NDArray[np.float32]:
        """Ones."""
        return np.ones((len(texts), 2), np.float32)

    async def close(self) -> None:
        """Count it."""
        self.closed += 1


class FakeHistory:
    """A past made of given events and snapshots."""

    def __init__(
        self, events: Sequence[Event] = (), current: Event | None = None, seen: Sequence[Snapshot] = ()
    ) -> None:
        self.events: Sequence[Event] = list(events)
        self.current = current
        self._seen = list(seen)

    def snapshots(self, k: int) -> Sequence[Snapshot]:
        """The last k."""
        return self._seen[max(len(self._seen) - k, 0) :]


class FakeMemoryView:
    """A memory that always recalls the same items. ``asked`` counts recalls."""

    def __init__(self, items: Sequence[MemoryItem] = (), labels: Sequence[tuple[Event, Label]] = ()) -> None:
        self._items = list(items)
        self.labels: Sequence[tuple[Event, Label]] = list(labels)
        self.asked = 0

    async def recall(self, k: int = 5, *, token_budget: int | None = None, text: str | None = None) -> list[MemoryItem]:
        """The first k items."""
        self.asked += 1
        return self._items[:k]

    def render(self, items: Sequence[MemoryItem]) -> str:
        """One line an item."""
        return "\n".join(item.text for item in items)


def observe(
    index: int = 0,
    *,
    app: str | None = None,
    title: str | None = None,
    category: str | None = None,
    text: str | None = None,
    image: ImageRef | None = None,
    now_ns: int | None = None,
    since_ns: int | None = None,
    items: Sequence[MemoryItem] = (),
    labels: Sequence[tuple[Event, Label]] = (),
    events: Sequence[Event] = (),
    profile: Mapping[str, str] | None = None,
    user: str = "user",
    memory: MemoryView | None = None,
    meter: FakeMeter | None = None,
) -> Observation:
    """An observation of snapshot ``index`` of a 1 Hz stream.

    Args:
        index: which snapshot; it was captured at that second.
        app: of the window, like ``title``.
        title: see ``app``.
        category: class of the app, like ``text`` (of the screen) and ``image`` as a recording may carry them.
        text: see ``category``.
        image: see ``category``.
        now_ns: when the decision starts; by default at once.
        since_ns: when the open event began; None: at this snapshot.
        items: what memory recalls.
        labels: what is known of past events.
        events: closed events of the history window.
        profile: of the user.
        user: their name.
        memory: instead of ``items`` and ``labels``.
        meter: to look at afterwards.
    """
    captured_ns = index * SECOND
    now_ns = captured_ns if now_ns is None else now_ns
    began_ns = captured_ns if since_ns is None else since_ns
    snapshot = Snapshot(index, captured_ns, captured_ns, app, title, category, image, text)
    current = Event(f"test/{began_ns}", user, began_ns, max(now_ns, began_ns), app, title, category)
    history = FakeHistory(events, current, [snapshot])
    view = FakeMemoryView(items, labels) if memory is None else memory
    return Observation(snapshot, now_ns, user, history, profile or {}, view, meter or FakeMeter())
