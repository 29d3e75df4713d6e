"""A memory filled as a run fills it, for whoever wants to look into one."""

from __future__ import annotations

from typing import Any

from simulator.core.protocols import Memory
from simulator.core.traits import trait
from simulator.core.types import Event, Label, Setup
from simulator.play.others import session_events
from simulator.runs.history import Recent
from simulator.runs.prepare import Doing, prepare
from simulator.session.play import Play
from simulator.session.segmentation import Segmenter

__all__ = ["remember"]


async def remember(memory: Memory, play: Play, *, whole: bool = False) -> int:
    """Let a memory take in the history of a session, in the order in which a run would.

    Args:
        memory: an empty one.
        play: the session.
        whole: also the session's own events, as a run would have written them by its end.

    Returns:
        The instant as of which it can be asked, ns: time 0, or the session's end.

    Raises:
        Exception: what a call to the memory raised, with a note that names the call (``core.traits.MEMORYS``).
    """
    from memory.view import LabelBook

    setup = Setup(play.source.session, play.user, play.profile, play.intentions, 0, play.period_ns)
    recent = Recent(Segmenter(play.user, play.source.session, play.segmentation), play.window_ns)
    doing = Doing()
    own = await session_events(play) if whole else []
    try:
        await prepare(None, memory, play.history, setup, recent, LabelBook(), doing)
        for event, label in own:
            await _write(memory, event, label, doing)
    except Exception as error:
        error.add_note(doing.what)
        raise
    return play.truth.end_ns if whole else 0


async def _write(memory: Memory, event: Event, label: Label | None, doing: Doing) -> None:
    doing.begin("the memory's observe")
    await memory.observe(event)
    if label is not None:
        doing.begin("the memory's feedback")
        await memory.feedback(event, label)
    needs: Any = trait(memory, "needs_upkeep")
    if needs is not None and needs():
        doing.begin("the memory's maintain")
        await trait(memory, "maintain")(event.end_ns)
