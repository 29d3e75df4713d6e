"""Whether the screen is locked: programs that are known to do that, and what logind says of the session."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from simulator.core.types import SECOND
from simulator.timing.clock import boot_ns

__all__ = ["LockHint", "a_locker_runs", "is_locker"]

_LOCKERS = frozenset(
    [
        *["i3lock", "slock", "xtrlock", "xsecurelock", "xlock", "xlockmore", "alock", "sflock"],
        *["xscreensaver", "xscreensaver-auth", "gnome-screensaver", "mate-screensaver", "cinnamon-screensaver"],
        *[
            "xfce4-screensaver",
            "kscreenlocker_greet",
            "ksldapp",
            "swaylock",
            "waylock",
            "hyprlock",
            "gtklock",
            "hyprlock",
        ],
    ]
)
# Of these, a process runs only while the screen is locked; the others wait in the background.
_ONLY_WHILE_LOCKED = frozenset(["swaylock", "waylock", "hyprlock", "gtklock", "i3lock", "slock", "xsecurelock"])
_EVERY_NS = 5 * SECOND
_SELDOM_NS = 60 * SECOND  # where logind has no answer
_COMMAND = ("loginctl", "show-session", "--property=LockedHint", "--value")


def is_locker(app: str | None) -> bool:
    """Whether windows of this application are a lock screen."""
    return app is not None and app.casefold() in _LOCKERS


def a_locker_runs(proc: Path = Path("/proc")) -> bool:
    """Whether a process of this user's runs that exists only while the screen is locked (about 3 ms)."""
    me = os.getuid()
    with contextlib.suppress(OSError), os.scandir(proc) as entries:
        return any(entry.name.isdigit() and _locks(entry, me) for entry in entries)
    return False


def _locks(entry: os.DirEntry[str], user: int) -> bool:
    try:
        if entry.stat().st_uid != user:
            return False
        return (Path(entry.path) / "comm").read_text(errors="replace").strip() in _ONLY_WHILE_LOCKED
    except OSError:
        return False  # it has ended


class LockHint:
    """What logind says of this session, asked at most every 5 s (60 s while it has no answer) and never waited for.

    The command takes 10 ms and more, which a tick cannot spare: it is started by one call of ``locked`` and its
    answer read by a later one.

    Args:
        now: nanoseconds.
        session: of logind; None for the environment's, or the user's display session.
        command: another program to ask, which gets the session's name as last argument.
    """

    def __init__(
        self,
        *,
        now: Callable[[], int] = boot_ns,
        session: str | None = None,
        command: Sequence[str] = _COMMAND,
    ) -> None:
        self._now, self._command = now, list(command)
        self._session = session or os.environ.get("XDG_SESSION_ID") or "auto"
        self._asked: subprocess.Popen[str] | None = None
        self._asked_ns: int | None = None
        self._known: bool | None = None

    def locked(self) -> bool | None:
        """The newest answer that has come: yes, no, or None for none."""
        self._read()
        now, every = self._now(), _SELDOM_NS if self._known is None else _EVERY_NS
        if self._asked_ns is None or now - self._asked_ns >= every:
            self.close()  # one that hangs is ended
            self._asked_ns = now
            self._ask()
        return self._known

    def close(self) -> None:
        """End what is still asked."""
        if self._asked is not None:
            self._asked.kill()
            self._asked.communicate()
            self._asked, self._known = None, None

    def _ask(self) -> None:
        program = shutil.which(self._command[0])
        if program is None:
            return
        with contextlib.suppress(OSError):
            self._asked = subprocess.Popen(
                [program, *self._command[1:], self._session],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )

    def _read(self) -> None:
        if self._asked is None or self._asked.poll() is None:
            return
        said = self._asked.communicate()[0].strip()
        self._asked = None
        self._known = {"yes": True, "no": False}.get(said)
