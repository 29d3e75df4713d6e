"""What a person agrees to before their screen is recorded: shown once, remembered in their configuration folder.

There is one agreement to recording, and one for each host that a screener or a live agent would send the screen to. A
text that changes in substance (``_VERSION``) is shown again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from simulator.core.errors import UsageError
from simulator.timing.clock import utc_now

__all__ = ["RECORDING", "asking", "obtain", "recipient", "screening", "state_file", "text"]

RECORDING = "recording"

_VERSION = 1
_RECORDING_TEXT = """\
proact is about to record your screen.

What is recorded
  A picture of your monitors, by default every second, and the application and title of the window in front. Whatever
  is on the screen is on the picture: messages and names of other people too. No keystrokes, sound, camera, clipboard.
What is left out
  Private browsing, password managers, banking and health pages, as far as window titles tell, in any window that is
  to be seen; plus your own rules (--exclude). They are covered before anything is stored. No list is complete: close
  what must not be seen, or pause. Chrome says nothing in the titles of private windows but the first page.
Where, and for how long
  In the folder that you name, on this machine, unencrypted, until you delete it. proact sends nothing anywhere unless
  you name a model's address yourself.
How to stop, and to take back
  Ctrl-C ends it, p and Enter (or a file named 'pause' in the folder) pauses it. `proact dataset privacy` finds and
  covers private things in what was recorded; `proact forget` removes any stretch of it and says what it cannot reach.
If other people can be seen or read on your screen, you may need their consent, and your employer's.
"""
_SCREENING_TEXT = """\
Pictures of your screen will be sent to {host}, which judges how private they are. What is left out by rules is covered
before. What {host} keeps, and for how long, proact does not know.
"""
_ASKING_TEXT = """\
What your screen shows, as text, as pictures or both, and what is known of you and your past windows will be sent to
{who} as long as this runs: the agent asks a model there. What is left out by rules is covered before. What {host}
keeps, and for how long, proact does not know.
"""


def asking(host: str) -> str:
    """The scope of agreeing that a live agent sends the screen to a host; a key before ``@`` is nothing to be kept."""
    return f"asking {host.rpartition('@')[2]}"


def screening(host: str) -> str:
    """The scope of agreeing that pictures are sent to a host; a key before ``@`` is nothing to be kept."""
    return f"screening by {host.rpartition('@')[2]}"


def recipient(hosts: str) -> str:
    """Hosts as those who get something: one of this machine may be the end of a tunnel, or of a proxy.

    >>> recipient("127.0.0.1:8899 and models.example")
    '127.0.0.1:8899 (a program on this machine, which may pass it on) and models.example'
    """
    here = " (a program on this machine, which may pass it on)"
    return " and ".join(host + here * _is_here(host) for host in hosts.split(" and "))


def _is_here(host: str) -> bool:
    """Whether a host, with or without its port, is this machine itself."""
    name = urlsplit(f"//{host}").hostname or ""
    return name in ("localhost", "::1") or name.startswith("127.")


def text(scope: str) -> str:
    """What is shown for a scope."""
    if scope == RECORDING:
        return _RECORDING_TEXT
    if scope.startswith("asking "):
        host = scope.removeprefix("asking ")
        return _ASKING_TEXT.format(host=host, who=recipient(host))
    return _SCREENING_TEXT.format(host=scope.removeprefix("screening by "))


def state_file(env: Mapping[str, str] = os.environ) -> Path:
    """Where agreements are kept: ``$XDG_CONFIG_HOME/proact/consent.json``, below ``~/.config`` by default."""
    given = env.get("XDG_CONFIG_HOME") or env.get("APPDATA") or ""
    base = Path(given) if Path(given).is_absolute() else Path(env.get("HOME") or Path.home()) / ".config"
    return base / "proact" / "consent.json"


def obtain(
    *scopes: str,
    yes: bool,
    say: Callable[[str], None],
    ask: Callable[[str], str] | None,
    env: Mapping[str, str] = os.environ,
) -> None:
    """Make sure that somebody agreed, asking where nobody has yet.

    Args:
        scopes: what is to be agreed to, such as ``RECORDING``.
        yes: the user said so beforehand (``--yes``): the text is still shown the first time.
        say: shows a text.
        ask: asks a question on a terminal and returns the answer; None where there is no terminal.
        env: for tests.

    Raises:
        UsageError: nobody agreed.
    """
    file = state_file(env)
    given = _read(file)
    for scope in scopes:
        if given.get(scope, {}).get("version") == _VERSION:
            continue
        say(text(scope))
        if not yes:
            if ask is None:
                raise UsageError(f"nobody has agreed to {scope} yet, and there is no terminal to ask on: add --yes")
            if ask("Do you agree? [y/N] ").strip().casefold() not in ("y", "yes"):
                raise UsageError(f"nothing is recorded: you did not agree to {scope}")
        given[scope] = {"version": _VERSION, "at": utc_now().isoformat(timespec="seconds")}
        if (fault := _write(file, given)) is not None:  # agreed all the same
            say(f"that you agreed could not be kept in {file} ({fault}), so the next recording asks again")


def _read(file: Path) -> dict[str, dict[str, Any]]:
    try:
        read = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return {k: v for k, v in read.items() if isinstance(v, dict)} if isinstance(read, dict) else {}


def _write(file: Path, given: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Keep it; why it could not be kept, None if it is."""
    part = file.with_name(file.name + ".part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(given, indent=2) + "\n", encoding="utf-8")
        part.replace(file)
    except OSError as error:
        return error.strerror or type(error).__name__
    return None
