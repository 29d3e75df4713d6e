"""Labelling in the browser: windows of need marked on the timeline of a recording, written as they are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from simulator.annotate.marks import case_of
from simulator.session.reader import Reader
from simulator.web.labels_data import change, offers, recording, windows
from simulator.web.pages import answered, html, posted
from simulator.web.place import Place
from simulator.web.turns import Turns

__all__ = ["routes"]


def routes(place: Place) -> list[web.AbstractRouteDef]:
    """``/recordings`` and ``/label/ID``, and what they ask for below ``/api``."""
    turns = Turns()
    of = "/api/label/{id:[0-9a-f]+}"

    async def read(request: web.Request, what: Callable[[Path], Any]) -> web.Response:
        def now() -> Any:
            return what(place.session(request.match_info["id"]))

        return await answered(now)

    async def listed(request: web.Request) -> web.Response:
        return await answered(_recordings, place)

    async def shown(request: web.Request) -> web.Response:
        return await read(request, lambda folder: {**recording(folder, place), "editable": place.editable})

    async def marked(request: web.Request) -> web.Response:
        return await read(request, lambda folder: windows(case_of(folder), request.query.get("by", "")[:200]))

    async def offered(request: web.Request) -> web.Response:
        return await read(request, lambda folder: {"offers": offers(case_of(folder), place)})

    async def told(request: web.Request) -> web.Response:
        place.ensure_editable()
        given = await posted(request)

        def now() -> Mapping[str, Any]:
            folder = place.session(request.match_info["id"])
            with turns.at(folder):
                return change(folder, given)

        return await answered(now)

    return [
        web.get("/recordings", html("recordings.html")),
        web.get("/api/recordings", listed),
        web.get("/label/{id:[0-9a-f]+}", html("label.html")),
        web.get(f"{of}/recording", shown),
        web.get(f"{of}/windows", marked),
        web.get(f"{of}/offers", offered),
        web.post(f"{of}/windows", told),
    ]


def _recordings(place: Place) -> dict[str, Any]:
    """Every recorded session that may be shown, by name; of one that cannot be read why not."""
    rows = []
    for one in place.all("session"):
        row: dict[str, Any] = {"id": one.id, "name": one.name}
        try:
            with Reader(one.path) as reader:
                header = reader.header
            row |= {"session": header.session, "user": header.user, "length_s": header.end_ns / 1e9,
                    "rows": header.n_rows, "state": header.state}  # fmt: skip
        except Exception as error:  # noqa: BLE001  # whatever is wrong with one, the others are shown
            row["why"] = getattr(error, "want", None) or f"it cannot be read ({type(error).__name__})"
        rows.append(row)
    return {"recordings": rows, "editable": place.editable}
