"""Opening a browser, without showing every user of this machine the word that the pages ask for.

What a program is called with stands in the list of processes. So a browser is given a file that only its owner can
read, which goes on to the address.
"""

from __future__ import annotations

import atexit
import html
import os
import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

__all__ = ["opened"]

_ON = """<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>proact</title>
<meta http-equiv="refresh" content="0; url={url}"><a href="{url}">on to the pages</a>
"""


def opened(url: str) -> bool:
    """Open a browser at an address; False where there is none that has a window of its own."""
    import webbrowser

    screenless = sys.platform.startswith("linux") and not (
        os.environ.keys() & {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}
    )
    if screenless:  # what would be opened is a text browser, in this very terminal
        return False
    try:
        return webbrowser.open(_redirect(url) if urlsplit(url).query else url)
    except (webbrowser.Error, OSError):
        return False


def _redirect(url: str) -> str:
    """The address of a private file that leads on to ``url``; it is gone when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="proact-"))  # for its owner alone
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = folder / "open.html"
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        stream.write(_ON.format(url=html.escape(url)))
    return file.as_uri()
