"""Page 2: all runs, one a row, with what they came to."""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

from aiohttp import web

from simulator.web.index_data import Index
from simulator.web.pages import answer, html
from simulator.web.place import Place

__all__ = ["index_of", "routes", "runs_of"]

_INDEXES: WeakKeyDictionary[Place, Index] = WeakKeyDictionary()


def index_of(place: Place) -> Index:
    """The rows of a place, shared by the pages that need them."""
    return _INDEXES.setdefault(place, Index())


def runs_of(place: Place) -> list[tuple[str, Any, str]]:
    """Every run there is now as id, folder and name; reads folders, so call it in a thread."""
    return [(one.id, one.path, one.name) for one in place.all("run")]


def routes(place: Place) -> list[web.AbstractRouteDef]:
    """``/`` and ``/api/runs``."""

    async def runs(request: web.Request) -> web.Response:
        rows, unread = await asyncio.to_thread(lambda: index_of(place).rows(runs_of(place)))
        return answer({"runs": rows, "unread": unread, "roots": [str(root) for root in place.roots]})

    return [web.get("/", html("index.html")), web.get("/api/runs", runs)]
