"""How ``proact view`` serves: the address it tells, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Sequence
from pathlib import Path

from simulator.cli.browsing import opened
from simulator.cli.speak import Voice
from simulator.core.errors import Exit, UsageError
from simulator.web.place import Place
from simulator.web.server import Web, new_token

__all__ = ["serve"]


def serve(
    folders: Sequence[Path],
    *,
    host: str,
    port: int,
    token: str | None,
    browser: bool,
    as_json: bool,
    edit: bool = False,
) -> int:
    """Serve pages about the folders until Ctrl-C or SIGTERM.

    Args:
        folders: runs, sweeps, sessions, or folders of them.
        host: the address to listen on.
        port: which one; 0 takes one that is free.
        token: what whoever looks must know; ``new`` makes one up.
        browser: open a browser, if there is one; not with ``as_json``, where a program is asking.
        as_json: tell the address as a record.
        edit: let the pages change recordings, with a token in any case: other users of this machine are not to.

    Raises:
        UsageError: no such folder, no such port, or it is taken.
    """
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(
                f"{folder}: there is no such folder; `proact run` makes runs, `proact view FOLDER` shows them"
            )
    if not 0 <= port <= 65535:
        raise UsageError(f"--port {port}: a port is a number from 0 to 65535")
    voice = Voice(as_json=as_json)
    token = "new" if edit and token is None else token
    pages = Web(Place(folders, editable=edit), token=new_token() if token == "new" else token)
    loop = asyncio.new_event_loop()  # closed by hand: asyncio.run would wait for pages that are being computed
    try:
        loop.run_until_complete(_serve(pages, voice, host, port, browser=browser and not as_json))
    finally:
        loop.close()
    voice.record("done")
    return Exit.DONE


async def _serve(pages: Web, voice: Voice, host: str, port: int, *, browser: bool) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C raises KeyboardInterrupt
            loop.add_signal_handler(sign, ended.set)
    url = await pages.start(host, port)
    voice.record("serving", url=url, port=pages.port)
    voice.tell(f"Open {url} to look; Ctrl-C ends it.")
    if host in ("0.0.0.0", "::"):
        voice.tell(f"From elsewhere: {url.replace(url.split('/')[2].rpartition(':')[0], socket.gethostname(), 1)}")
    if browser and not await asyncio.to_thread(opened, url):
        voice.tell("No browser could be opened here: open that address in one.")
    try:
        await ended.wait()
    finally:
        await pages.stop()
        pages.place.close()
        voice.tell("The pages are closed.")
