"""The values that walk through the house: what was seen, what was said, what is remembered.

Instants are integers of nanoseconds since the session's first snapshot (``…_ns``, negative for what lies before
it, such as a history), durations are integers of nanoseconds too. All values but ``Observation`` are frozen; nothing
here does work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from simulator.core.protocols import History, MemoryView, Meter

__all__ = [
    "HOUR",
    "MS",
    "SECOND",
    "SILENT",
    "Decision",
    "Event",
    "ImageRef",
    "Label",
    "MemoryItem",
    "Observation",
    "Offer",
    "Query",
    "Setup",
    "Snapshot",
]

MS = 1_000_000
SECOND = 1_000_000_000
HOUR = 3600 * SECOND


@dataclass(frozen=True, slots=True)
class ImageRef:
    """A picture by reference: pixels are read only when somebody asks (``simulator.screen.pixels``)."""

    path: Path
    pixels_hash: str | None = None
    width: int | None = None
    height: int | None = None


class Snapshot(NamedTuple):
    """The screen at one instant. (A named tuple: a million are made in a replay, and it is made 3 times as fast.)

    ``captured_ns`` is when this snapshot was taken; ``content_ns`` when the content was: they differ on a ``held``
    snapshot, one that the stream repeats because nothing was recorded on a still screen. Unknown is ``None``.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of a snapshot
    captured_ns: int
    content_ns: int
    app: str | None = None
    title: str | None = None
    category: str | None = None
    image: ImageRef | None = None
    text: str | None = None
    held: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """A stretch of work in one window: ``[start_ns, end_ns)`` of one user, known only once it is closed.

    ``assistance`` marks an event in which the user worked with an assistant (``is_llm_event`` of ProAgentBench).
    """

    id: str
    user: str
    start_ns: int
    end_ns: int
    app: str | None = None
    title: str | None = None
    category: str | None = None
    summary: str | None = None
    assistance: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """What became known of an event: whether help was needed in it, for what, and the user's own question.

    It exists for nobody before ``available_ns``, the moment the user asked (or, for ``help=False``, the moment the
    event closed without a question).
    """

    event_id: str
    user: str
    help: bool
    available_ns: int
    intention: str | None = None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """Help offered unasked. ``intention`` is a category, ``text`` what the user reads, ``thread`` a name an agent
    may give to offers that belong together (PIRF). ``confidence`` in [0, 1] or None.
    """

    intention: str
    text: str = ""
    confidence: float | None = None
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """An agent's answer to one observation; no offers and no retractions means it stays silent.

    ``retracted`` names threads (else intentions) that no longer hold. ``parse_rule`` tells how a model's text was
    read; ``unparsed`` says that it could not be, which is neither silence nor an error.
    """

    offers: tuple[Offer, ...] = ()
    retracted: tuple[str, ...] = ()
    parse_rule: str | None = None
    unparsed: bool = False


SILENT = Decision()


@dataclass(frozen=True, slots=True)
class Query:
    """What a memory is asked: the user's current window, and the instant of asking."""

    user: str
    app: str | None
    title: str | None
    category: str | None
    now_ns: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One remembered thing.

    ``help`` is the share in [0, 1] of the item's source moments in which help was needed, None where the memory
    does not know; ``intention`` the most frequent need among them; ``query`` an earlier question of the user.
    ``latest_source_ns`` is when the newest piece of it became available: a causality check compares it with now.
    ``tokens`` estimates the length of ``text`` in a prompt. ``memory`` names the memory that told it, where several
    are combined. ``neutral``: it says nothing of the need for help, and none is to be read out of its words.
    """

    text: str
    score: float
    source_event_ids: tuple[str, ...] = ()
    latest_source_ns: int | None = None
    intention: str | None = None
    help: float | None = None
    query: str | None = None
    tokens: int = 0
    memory: str | None = None
    neutral: bool = False


@dataclass(slots=True)
class Observation:
    """All that an agent gets to see for one decision; bound to the instant the decision started.

    ``now_ns`` is that instant. ``history`` and ``memory`` are views that end there: an agent cannot choose the time.
    """

    snapshot: Snapshot
    now_ns: int
    user: str
    history: History
    profile: Mapping[str, str]
    memory: MemoryView
    meter: Meter


@dataclass(frozen=True, slots=True)
class Setup:
    """What an agent is opened with: who the user is, the intentions in use, the run's seed, the session's name, and
    whether the stream runs or single moments are asked (``protocol``).
    """

    session: str
    user: str
    profile: Mapping[str, str]
    intentions: Sequence[str]
    seed: int
    period_ns: int = SECOND
    protocol: str = "stream"
