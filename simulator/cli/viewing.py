"""How ``proact view`` serves: the address it tells, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Sequence
from pathlib import Path

from simulator.cli.speak import Voice
from simulator.core.errors import Exit, UsageError
from simulator.web.place import Place
from simulator.web.server import Web, new_token

__all__ = ["serve"]


def serve(folders: Sequence[Path], *, host: str, port: int, token: str | None, browser: bool, as_json: bool) -> int:
    """Serve pages about the folders until Ctrl-C or SIGTERM."""
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(
                f"{folder}: there is no such folder; `proact run` makes runs, `proact view FOLDER` shows them"
            )
    if not 0 <= port <= 65535:
        raise UsageError(f"--port {port}: a port is a number up to 65535")
    voice = Voice(as_json=as_json)
    place = Place(folders)
    pages = Web(place, token=new_token() if token == "new" else token)
    asyncio.run(_serve(pages, voice, host, port, browser=browser))
    voice.record("done")
    return Exit.DONE


async def _serve(pages: Web, voice: Voice, host: str, port: int, *, browser: bool) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C raises KeyboardInterrupt
            loop.add_signal_handler(sign, ended.set)
    url = await pages.start(host, port)
    voice.record("serving", url=url)
    voice.tell(f"{url}  (Ctrl-C ends it)")
    if browser and not await asyncio.to_thread(_opened, url):
        voice.tell("No browser could be opened here; open that address in one.")
    try:
        await ended.wait()
    finally:
        await pages.stop()
        pages.place.close()
        voice.tell("The pages are closed.")


def _opened(url: str) -> bool:
    import webbrowser

    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
