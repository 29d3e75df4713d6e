"""The pages that there are, and what their modules answer with.

A page module has ``routes(place) -> list of aiohttp routes``; its HTML lies in ``static`` and its texts come as JSON.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from scorers.base import scorers
from simulator.core.errors import UsageError
from simulator.runs.stored import stored
from simulator.screen.pixels import ready
from simulator.web.place import Place

__all__ = ["PAGES", "STATIC", "answer", "answered", "html", "number", "posted", "routes"]

PAGES = (
    "simulator.web.about",
    "simulator.web.index",
    "simulator.web.timeline",
    "simulator.web.comparing",
    "simulator.web.ablation",
    "simulator.web.labels",
    "simulator.web.reviewing",
)
"""Page modules, by name. The live page is not among them: it needs a run, which ``proact live`` hands to ``Web``."""

NEEDED = ("scorers.explaining_intents", "scorers.explaining_moments", "scorers.explaining_stream")
"""What pages import where they first need it: imported with them instead, so that nobody who looks waits for it."""

SLOWEST_S = 10.0
"""For 64 kB."""

PIECE = 500
"""Elements of a list that become text at once; meanwhile no other thread of the process gets on."""
DEEP = 4

STATIC = Path(__file__).parent / "static"
_SCRIPT = re.compile(r'"/static/([\w/.-]+\.js)"')

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def routes(place: Place) -> list[web.AbstractRouteDef]:
    """The routes of every page."""
    ready()
    scorers.names()  # which imports all of them
    for name in NEEDED:
        importlib.import_module(name)
    found: list[web.AbstractRouteDef] = []
    for name in PAGES:
        if importlib.util.find_spec(name) is not None:
            found += importlib.import_module(name).routes(place)
    return found


def number(said: str | None) -> int | None:
    """A count from 0 as an address or a header says it; None of anything else. Of any length: Python refuses to read
    very long ones, and no count of ours has 16 digits.

    >>> number("12"), number("-1"), number("١٢"), number("9" * 5000), number(None)
    (12, None, None, None, None)
    """
    return int(said) if said is not None and len(said) < 16 and said.isascii() and said.isdigit() else None


def html(name: str) -> Handler:
    """A handler that answers with one of our HTML files, such as ``live.html``, and names all scripts that it needs:
    else a browser hears of each only from the one that imports it.
    """
    file = STATIC / name
    headers = {
        "Cache-Control": "no-cache",
        "Link": ", ".join(f"</static/{script}>; rel=modulepreload" for script in _scripts(file)),
    }

    async def page(request: web.Request) -> web.StreamResponse:
        return web.FileResponse(file, headers=headers)

    return page


def _scripts(page: Path) -> list[str]:
    """The scripts of a page, and those that they import."""
    found, todo = dict[str, None](), [page]
    while todo:
        new = [one for one in _SCRIPT.findall(todo.pop().read_text(encoding="utf-8")) if one not in found]
        found.update(dict.fromkeys(new))
        todo += [STATIC / one for one in new]
    return list(found)


def answer(data: Any, status: int = 200) -> web.Response:
    """JSON that is not kept by anybody. NaN does not exist: unknown is null."""
    return web.Response(
        body=_text(data, DEEP).encode(errors="replace"),
        status=status,
        content_type="application/json",
        charset="utf-8",
        headers={"Cache-Control": "no-store"},
    )


async def answered(make: Callable[..., Any], *args: Any, **how: Any) -> web.Response:
    """``answer`` with what a function makes; both happen in a thread, so that other pages and a run get on."""

    def both() -> web.Response:
        made = make(*args, **how)
        with stored("what is shown here"):  # 1e999 in a file is read as a number, and is none
            return answer(made)

    return await asyncio.to_thread(both)


def _text(data: Any, deep: int) -> str:
    """As JSON, made in pieces: Python makes one text without a pause, a quarter of a second for 18 MB."""
    if deep and type(data) is dict and all(type(name) is str for name in data):
        return "{" + ",".join(f"{_dumped(name)}:{_text(value, deep - 1)}" for name, value in data.items()) + "}"
    if type(data) in (list, tuple) and len(data) > PIECE:
        return "[" + ",".join(_dumped(data[at : at + PIECE])[1:-1] for at in range(0, len(data), PIECE)) + "]"
    return _dumped(data)


def _dumped(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


async def posted(request: web.Request) -> Mapping[str, Any]:
    """The JSON object that was posted.

    Raises:
        UsageError: it is not one, or does not arrive.
    """
    try:
        async with asyncio.timeout(SLOWEST_S):
            data = json.loads(await request.read())
    except TimeoutError:
        raise UsageError("what was posted did not arrive") from None
    except (ValueError, RecursionError):
        raise UsageError("what was posted is not JSON") from None
    if not isinstance(data, dict):
        raise UsageError("what was posted must be a JSON object")
    return data
