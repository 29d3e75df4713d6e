"""Page 5: a study, as a map of two of its axes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import web

from simulator.report.study import View
from simulator.report.summary_file import FILE, read_summary
from simulator.runs.stored import stored
from simulator.web.ablation_data import ablation
from simulator.web.pages import answer, answered, html
from simulator.web.place import Place, id_of

__all__ = ["routes"]

_AT = "at."


def routes(place: Place) -> list[web.AbstractRouteDef]:
    """``/ablation`` and ``/ablation/SWEEP``, and ``/api/ablation/SWEEP?metric=…&rows=…&columns=…&at.AXIS=…``."""

    def told(id_: str, view: View) -> dict[str, Any]:
        folder = place.get("sweep", id_)
        with stored(folder / FILE):
            found = ablation(folder.name, read_summary(folder), view)
            for cell in found["cells"]:  # to the timelines: a run of a sweep has an id like any other
                cell["runs"] = [id_of(folder / run) for run in cell["runs"] if (folder / run / "run.json").is_file()]
            json.dumps(found, allow_nan=False)
        return found

    async def one(request: web.Request) -> web.Response:
        query = request.query
        fixed = {name.removeprefix(_AT): value for name, value in query.items() if name.startswith(_AT)}
        view = View(query.get("metric"), query.get("rows"), query.get("columns"), fixed)
        return await answered(told, request.match_info["id"], view)

    async def all_(request: web.Request) -> web.Response:
        found = await asyncio.to_thread(place.all, "sweep")
        return answer({"known": [{"id": one.id, "name": one.name} for one in found]})

    return [
        web.get("/ablation", html("ablation.html")),
        web.get("/ablation/{id:[0-9a-f]+}", html("ablation.html")),
        web.get("/api/ablation", all_),
        web.get("/api/ablation/{id:[0-9a-f]+}", one),
    ]
