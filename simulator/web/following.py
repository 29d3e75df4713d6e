"""Follow mode: what is being played is told to open pages while it grows.

Files are looked at in a thread, at most once a second, never for more than a twentieth of the time, and only while a
page listens.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Hashable, Iterator
from pathlib import Path

from simulator.core.operators import operators
from simulator.runs.lock import status_now
from simulator.runs.unit import LOG
from simulator.timing.clock import pause, real_ns
from simulator.web.place import Place
from simulator.web.stamps import sources, stamp

__all__ = ["follow"]

SECOND_NS = 1_000_000_000
DUTY = 20
MOST = 200  # ids in one event; more than that and a page had better ask for everything
MOST_BYTES = 100_000  # of them: units may have long names, and events are no larger than 128 kB

Stamps = dict[str, dict[str, Hashable]]
"""Of the files that matter, by run id and by unit key (the run's own: an empty key)."""


async def follow(place: Place, least_ns: int = SECOND_NS) -> None:
    """Publish ``runs`` with ``changed`` (unit keys by run id) and ``gone`` (run ids) as files change; never returns.

    Args:
        place: whose runs.
        least_ns: the shortest time between two looks.
    """
    known: Stamps | None = None
    told = False
    while True:
        took = 0
        if place.hub.readers:
            began = real_ns()
            try:
                stamps = await asyncio.to_thread(_stamps, place)
                if known is not None and (news := _news(known, stamps)):
                    place.hub.publish("runs", news)
                known = stamps
            except Exception as error:  # noqa: BLE001  # pages would follow nothing any more, and nobody would know
                if not told:
                    operators().error("runs were not followed for a while", kind=type(error).__name__)
                told = True
            took = real_ns() - began
        await pause(max(least_ns, took * DUTY))


def _news(old: Stamps, new: Stamps) -> dict[str, object]:
    changed = {
        id_: sorted(key for key, stamp in files.items() if old.get(id_, {}).get(key) != stamp)
        for id_, files in new.items()
        if old.get(id_) != files
    }
    gone = sorted(old.keys() - new.keys())
    if not changed and not gone:
        return {}
    cut = {id_: keys[:MOST] for id_, keys in list(changed.items())[:MOST]}
    news = {"changed": cut, "gone": gone[:MOST], "all": len(changed) > MOST}
    if len(json.dumps(news)) > MOST_BYTES:
        return {"changed": {}, "gone": [], "all": True}
    return news


def _stamps(place: Place) -> Stamps:
    return {one.id: dict(_of_a_run(one.path)) for one in place.all("run")}


def _of_a_run(run: Path) -> Iterator[tuple[str, Hashable]]:
    # Whether somebody plays into it belongs to it: a run that is killed changes no file.
    yield "", (stamp(run / "run.json"), stamp(run / "scores.json"), status_now("running", run))
    for key, files in sources(run, [LOG]):
        if any(files):
            yield key, files
