"""Page 4: runs held against each other."""

from __future__ import annotations

import json
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

from aiohttp import web

from simulator import report
from simulator.runs.lock import status_now
from simulator.runs.stored import stored
from simulator.web.comparing_data import compared, known
from simulator.web.pages import answered, html
from simulator.web.place import Place
from simulator.web.stamps import sources, stamp

__all__ = ["routes"]

_HELD = 16
_STYLE = Path(report.__path__[0]) / "figures.css"


def routes(place: Place) -> list[web.AbstractRouteDef]:
    """``/compare``, ``/api/compare?runs=A,B[&force=1][&common=1]``, and the looks of all figures."""
    kept = _Kept(place)

    async def told(request: web.Request) -> web.Response:
        ids = [id_ for id_ in request.query.get("runs", "").split(",") if id_]
        if not ids:
            return await answered(known, place)
        force, common = (request.query.get(name) == "1" for name in ("force", "common"))
        return await answered(kept.compared, ids, force=force, common=common)

    async def style(request: web.Request) -> web.StreamResponse:
        return web.FileResponse(_STYLE, headers={"Cache-Control": "no-cache"})

    return [
        web.get("/compare", html("compare.html")),
        web.get("/api/compare", told),
        web.get("/figures.css", style),
    ]


class _Kept:
    """Comparisons that were asked for lately, as long as the files of their runs stay as they are."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._held: OrderedDict[Any, dict[str, Any]] = OrderedDict()
        self._lock = Lock()

    def compared(self, ids: list[str], *, force: bool, common: bool) -> dict[str, Any]:
        key = (tuple(ids), force, common, tuple(_stamp(self._place.run(id_)) for id_ in ids))
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        with stored("these runs"):
            found = compared(self._place, ids, force=force, common=common)
            json.dumps(found, allow_nan=False)
        with self._lock:
            self._held[key] = found
            while len(self._held) > _HELD:
                self._held.popitem(last=False)
        return found


def _stamp(run: Path) -> tuple[object, ...]:
    """Of its files, and whether it is being played: that ends without a word when it is killed."""
    own = (stamp(run / name) for name in ("run.json", "scores.json"))
    return *own, sources(run), status_now("running", run)
