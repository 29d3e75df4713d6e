"""The pasts of a run's other users, for a memory that reads somebody else's on purpose (``shuffled-user``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from simulator.core.errors import UsageError, quote
from simulator.core.types import Event, Label
from simulator.play.makers import Maker
from simulator.runs.labels import Asks
from simulator.session.play import Play
from simulator.session.segmentation import Cutter

if TYPE_CHECKING:
    from simulator.play.assemble import Choice

__all__ = ["NOBODY", "Pasts", "check_others", "pasts_of", "session_events"]

Pasts = Mapping[str, Sequence[tuple[Event, Label | None]]]
NOBODY: Pasts = MappingProxyType({})


async def session_events(play: Play) -> list[tuple[Event, Label | None]]:
    """A session's events as they close, with what is known of each by then: what a run would write."""
    cutter = Cutter(play.user, play.source.session, play.segmentation, (start for start, _, _ in play.source.gaps))
    closed = [event async for snapshot in play.source.snapshots() if (event := cutter.push(snapshot))]
    if last := cutter.flush(play.truth.end_ns):
        closed.append(last)
    asks = Asks(play.truth)
    return [asks.settle(event, event.end_ns) for event in closed]


async def pasts_of(found: Sequence[Play], choice: Choice) -> Pasts:
    """Each user's past: the history, and the events of the session unless memory is frozen.

    All instants are those since time 0 of the user's own session, which is what "at the same instants" means. A user of
    several sessions is known by the first.
    """
    pasts: dict[str, list[tuple[Event, Label | None]]] = {}
    for play in found:
        if play.user in pasts:
            continue
        protocol = choice.protocol or play.settings.get("protocol") or "stream"
        mode = choice.memory_mode or ("frozen" if protocol == "moments" else "online")
        pasts[play.user] = [pair for pair in play.history if pair[0].user == play.user]
        if mode == "online":
            pasts[play.user] += await session_events(play)
    return pasts


def check_others(memory: Maker, play: Play, others: Pasts) -> None:
    """Whether there is anybody else for a memory that wants one.

    Raises:
        UsageError: there is not.
    """
    if not memory.wants_others:
        return
    known: set[Any] = {*others, *(event.user for event, _ in play.history)}
    if not known - {play.user}:
        memory.make(seed=0, intentions=play.intentions, others={})  # a wrong word in it is the nearer fault
        raise UsageError(
            f"memory {quote(memory.text)} reads another user's past, and nobody but {quote(play.user)} is in this run: "
            "name scenarios of two users or more, or a history with the column user"
        )
