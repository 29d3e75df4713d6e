"""Page 2: all runs, one a row, with what they came to."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from aiohttp import web

from simulator.web.index_data import Index
from simulator.web.pages import answered, html, number
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
        return await answered(_news, place, number(request.query.get("since")) or 0)

    return [web.get("/", html("index.html")), web.get("/api/runs", runs)]


def _news(place: Place, since: int) -> dict[str, Any]:
    """All ids that there are, and the rows that changed since a page was last told. One that waits gets more a call."""
    there = runs_of(place)
    rows, unread = index_of(place).rows(there, budget_s=1.0 if since else 0.25, since=since)
    places = {id_: _lies_in(place, path) for id_, path, _ in there}
    rows = [{**row, "lies_in": places[row["id"]]} for row in rows]
    return {"ids": [id_ for id_, _, _ in there], "rows": rows, "unread": unread}


def _lies_in(place: Place, path: Path) -> str:
    """The folders that a run lies in, from the one that was named to these pages on: a sweep's is known by its name."""
    root = next((root for root in place.roots if path.is_relative_to(root)), path)
    return "/".join((root.name, *path.relative_to(root).parts[:-1]))
