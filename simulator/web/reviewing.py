"""Privacy review in the browser: retain, blur or delete a picture after the other; nothing changes until it is closed.

Pictures of this page are read anew each time, and no browser may keep them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from simulator.web.pages import answered, html, posted
from simulator.web.place import Place
from simulator.web.reviewing_data import Reviews

__all__ = ["routes"]


def routes(place: Place) -> list[web.AbstractRouteDef]:
    """``/review/ID``, and what it asks for below ``/api/review/ID``."""
    reviews = Reviews(place)
    of = "/api/review/{id:[0-9a-f]+}"

    async def read(request: web.Request, what: Callable[[str], Mapping[str, Any]]) -> web.Response:
        return await answered(what, request.match_info["id"])

    async def state(request: web.Request) -> web.Response:
        return await read(request, reviews.state)

    async def progress(request: web.Request) -> web.Response:
        return await read(request, reviews.progress)

    async def about(request: web.Request) -> web.Response:
        return await read(request, lambda id_: reviews.about(id_, request.match_info["key"]))

    async def picture(request: web.Request) -> web.Response:
        found = await asyncio.to_thread(reviews.picture, request.match_info["id"], request.match_info["key"])
        return web.Response(body=found[0], content_type=found[1], headers={"Cache-Control": "no-store"})

    async def told(request: web.Request) -> web.Response:
        place.ensure_editable()
        given = await posted(request)
        return await read(request, lambda id_: reviews.tell(id_, given))

    return [
        web.get("/review/{id:[0-9a-f]+}", html("review.html")),
        web.get(of, state),
        web.get(f"{of}/closing", progress),
        web.get(f"{of}/about/{{key:[0-9a-f]{{24}}}}", about),
        web.get(f"{of}/picture/{{key:[0-9a-f]{{24}}}}", picture),
        web.post(of, told),
    ]
