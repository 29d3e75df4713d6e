"""The page that says what these pages are, and which keys work on all of them."""

from __future__ import annotations

import asyncio

from aiohttp import web

from simulator.report.naming import name_of
from simulator.web import pages
from simulator.web.place import Place

__all__ = ["routes"]


def routes(place: Place) -> list[web.AbstractRouteDef]:
    """``/about``, and ``/api/about``: how much there is to see."""

    async def about(request: web.Request) -> web.StreamResponse:
        found = await asyncio.to_thread(place.all)
        counts = {kind: sum(one.kind == kind for one in found) for kind in ("run", "sweep", "session")}
        return pages.answer({"found": counts, "roots": [name_of(root) for root in place.roots]})

    return [web.get("/about", pages.html("about.html")), web.get("/api/about", about)]
