"""``proact memory keep``: sessions and their histories into a store, to be read by later runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from simulator.cli.parameters import option, switch
from simulator.cli.speak import Voice, counted, plain
from simulator.core.errors import Exit, InputError

if TYPE_CHECKING:
    from simulator.core.types import Event, Label
    from simulator.session.play import Play

__all__ = ["keep"]


def keep(
    store: Annotated[Path, option("The store's folder; made if it is not there.")],
    scenarios: Annotated[list[Path], option("Scenarios or sessions, or folders of them.")],
    /,
    *,
    json: Annotated[bool, switch("One JSON record a line on stdout, the last one 'done'.")] = False,
) -> int:
    """Keep sessions and the histories before them in a store, which '--memory rag:store=STORE' then reads.

    Everybody's events and what became known of each go in, in calendar time; what is there already is left out, so this
    can be called again. A run only reads a store, as of each moment. It holds titles and questions: 'proact forget'
    finds it.
    """
    import anyio

    from simulator.play.others import session_events
    from simulator.session.scenario import plays

    _check_free(store)
    voice = Voice(as_json=json)
    total: Counter[str] = Counter()
    for play in plays(scenarios):
        pairs = [*play.history, *anyio.run(session_events, play)]
        found = _kept(store, play, pairs)
        total.update(found)
        voice.record("kept", unit=play.key, **found)
        voice.say(plain(f"{play.key}: {_said(found)}"))
    voice.say(plain(f"{store}: --memory rag:store={store} reads it"))
    voice.record("done", store=str(store), **total)
    return Exit.DONE


def _check_free(store: Path) -> None:
    """A folder of other things stays as it is."""
    from memory.journal import NAME

    if store.is_dir() and not (store / NAME).exists() and any(path.name != ".lock" for path in store.iterdir()):
        raise InputError(store, "is not empty and holds no store; name one, or a folder that is still to be made")


def _kept(store: Path, play: Play, pairs: list[tuple[Event, Label | None]]) -> dict[str, int]:
    """Write one session's events; all of them or, where it is cut short, none."""
    from memory.journal import Journal

    anchor_ns: int | None = getattr(play.source, "utc_anchor_ns", None)
    if anchor_ns is None:
        raise InputError(play.where, "its recording says no calendar time, so its events have no place among others")
    n = {"events": 0, "labels": 0, "known": 0, "other": 0}
    journal = Journal(store, utc_anchor_ns=anchor_ns)
    try:
        if journal.clock != "utc":
            raise InputError(journal.path, "does not count in calendar time")
        with journal.batch():
            for event, label in pairs:
                there = journal.find(event.user, event.id)
                if there is None:
                    n["events"] += journal.observe(event)
                else:
                    n["known" if there.event == event else "other"] += 1
                if label is not None and (there is None or there.event == event):
                    n["labels"] += journal.feedback(label)
    finally:
        journal.close()
    return n


def _said(n: dict[str, int]) -> str:
    said = f"{counted(n['events'], 'event')} and {counted(n['labels'], 'label')} kept, {n['known']} known already"
    return said + (f", {n['other']} left out: their ids are those of other events" if n["other"] else "")
