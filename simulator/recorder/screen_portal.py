"""The screen through the desktop's portal: Wayland on GNOME and KDE, where the desktop itself asks its user.

One dialog: the session is kept while screens on it are closed and opened again, and the portal gives a token with which
the next recording begins without a dialog. Whether the token brought the monitors of the last time is verified; if not,
the user is asked again. A refusal is kept, and so is the end that the user makes of the sharing on the desktop: nobody
is asked every half minute, and nothing goes on by its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from simulator.core.errors import UsageError
from simulator.core.extras import install_extra
from simulator.core.types import SECOND
from simulator.recorder.frames import Frame, Monitor, ScreenLost
from simulator.recorder.portal_bus import Bus, PortalBus, Refused
from simulator.recorder.portal_stream import GST, Stream, pipeline
from simulator.recorder.screen_command import picture

__all__ = ["Portal", "ScreenPortal", "Shared", "choose_portal"]

DIALOG_NS = 120 * SECOND
PLAIN_NS = 10 * SECOND
WORD_NS = SECOND // 5  # the stream may end before the word comes that the session is over
MONITOR, HIDDEN_CURSOR, UNTIL_REVOKED = 1, 1, 2  # words of the portal's vocabulary
RESTORES = 4  # the portal's version from which on it gives tokens
LONGEST_STATE = 65536  # bytes


class Shared(NamedTuple):
    """One stream of a session: its PipeWire node, and where its monitor lies."""

    node: int
    x: int
    y: int
    width: int
    height: int

    @property
    def place(self) -> list[int]:
        """What of it is the same the next time."""
        return [self.x, self.y, self.width, self.height]


class Portal:
    """A session of the ScreenCast portal, begun when it is needed.

    Args:
        connect: opens the bus.
        state: the file with the token and the monitors of the last time.
    """

    def __init__(self, connect: Callable[[], Bus], state: Path) -> None:
        self._connect, self._state = connect, state
        self._bus: Bus | None = None
        self._session: str | None = None
        self._shared: list[Shared] = []
        self._refused: Refused | None = None
        self._count = 0

    def shared(self) -> list[Shared]:
        """The streams, from left to right; asks the user if there is no session yet.

        Raises:
            Refused: the user said no, now or before.
            ScreenLost: it cannot be had.
        """
        if self._refused is not None:
            raise Refused(self._refused.detail)
        if self._session is None:
            try:
                self._begin()
            except Refused as error:
                self._refused = error
                raise
            finally:
                if self._session is None:
                    self.close()
        return self._shared

    def open_remote(self) -> int:
        """A file descriptor for one pipeline, the caller's to close.

        Raises:
            ScreenLost: the session is over.
        """
        if self._bus is None or self._session is None:
            raise ScreenLost("display_lost", "sharing the screen has ended")
        return self._bus.open_remote(self._session)

    def check(self, wait_ns: int = 0) -> None:
        """Look whether the user has ended the sharing; a stream may flow on.

        Args:
            wait_ns: how long to wait for the word of it.

        Raises:
            Refused: so it is.
        """
        if self._bus is not None and self._session is not None and self._bus.ended(self._session, wait_ns):
            self._refused = Refused("sharing the screen was ended on the desktop; start anew to share it again")
            self.close()
            raise self._refused

    def failed(self) -> None:
        """The session does not deliver. Forget it; the next call of ``shared`` begins another.

        Raises:
            Refused: the user has ended it.
        """
        self.check(WORD_NS)
        self.close()

    def close(self) -> None:
        """Stop sharing; the next call of ``shared`` begins anew."""
        bus, self._bus, self._session = self._bus, None, None
        if bus is not None:
            with suppress(Exception):
                bus.close()

    def _begin(self) -> None:
        self._bus = self._connect()
        version = self._bus.version()
        token, places = self._last() if version >= RESTORES else (None, None)
        session, shared, new = self._negotiate(self._bus, token, version)
        if token is not None and [one.place for one in shared] != places:
            self._bus.end_session(session)  # other monitors than those once agreed to
            session, shared, new = self._negotiate(self._bus, None, version)
        if not shared:
            raise ScreenLost("display_lost", "the portal shares no monitor")
        self._keep(new, shared)
        self._session, self._shared = session, shared

    def _negotiate(self, bus: Bus, token: str | None, version: int) -> tuple[str, list[Shared], str | None]:
        """A new session: its path, its streams, and the token for the next time."""
        self._count += 1
        name: dict[str, tuple[str, Any]] = {"session_handle_token": ("s", f"proact{self._count}")}
        session = str(bus.ask("CreateSession", "", (), name, PLAIN_NS)["session_handle"])
        options: dict[str, tuple[str, Any]] = {
            "types": ("u", MONITOR),
            "multiple": ("b", True),
            "cursor_mode": ("u", HIDDEN_CURSOR),
        }
        if version >= RESTORES:
            options["persist_mode"] = ("u", UNTIL_REVOKED)
        if token is not None:
            options["restore_token"] = ("s", token)
        bus.ask("SelectSources", "o", (session,), options, PLAIN_NS)
        results = bus.ask("Start", "os", (session, ""), {}, DIALOG_NS)
        shared = sorted((_stream(*told) for told in results.get("streams", [])), key=lambda one: one[1:])
        return session, shared, results.get("restore_token")

    def _last(self) -> tuple[str | None, list[list[int]] | None]:
        """Token and places of the last time; what cannot be read never was."""
        try:
            with self._state.open("rb") as stream:
                kept = json.loads(stream.read(LONGEST_STATE))
            return str(kept["token"]), kept["places"]
        except (OSError, ValueError, TypeError, KeyError):
            return None, None

    def _keep(self, token: str | None, shared: list[Shared]) -> None:
        """A token serves once. It opens the screen, so nobody else may read it."""
        with suppress(OSError):  # the next time there will be a dialog
            if token is None:
                self._state.unlink(missing_ok=True)
                return
            self._state.parent.mkdir(parents=True, exist_ok=True)
            part = self._state.with_suffix(".part")
            part.unlink(missing_ok=True)
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
                json.dump({"token": token, "places": [one.place for one in shared]}, stream)
            part.replace(self._state)


class ScreenPortal:
    """The streams of a portal's session, each with a pipeline of its own.

    Args:
        portal: whose session.
        env: of the pipelines.
        command: the pipeline of a file descriptor and a node; tests have others.

    Attributes:
        portal: the same; its ``close`` stops the sharing, which the end of the process does too.

    Raises:
        ScreenLost: the session cannot be had; after a person's no with the reason ``permission``.
    """

    name = "portal"
    fits_windows = False  # no window of another program has a place that Wayland would tell
    reread_ns = SECOND

    def __init__(
        self, portal: Portal, env: Mapping[str, str], command: Callable[[int, int], list[str]] = pipeline
    ) -> None:
        self.portal = portal
        self._streams: list[Stream] = []
        self._decoded: dict[int, tuple[bytes, Frame]] = {}
        self._shared = portal.shared()
        try:
            for shared in self._shared:
                fd = portal.open_remote()
                try:
                    self._streams.append(Stream(command(fd, shared.node), fd, dict(env)))
                finally:
                    os.close(fd)
        except Exception:
            self._fail()
            raise

    def monitors(self) -> list[Monitor]:
        """See ``Screen``: those of the session, from left to right; their names are ours."""
        places = enumerate(self._shared, 1)
        return [Monitor(n, one.x, one.y, one.width, one.height, f"shared-{n}") for n, one in places]

    def grab(self, monitor: Monitor) -> Frame:
        """See ``Screen``: the newest picture of the stream, up to half a second old (1 s after a burst of changes)."""
        index = next((i for i, one in enumerate(self.monitors()) if one.name == monitor.name), None)
        if index is None:
            raise ScreenLost("display_lost", "no such monitor is shared")
        try:
            self.portal.check()
            data = self._streams[index].latest()
            before = self._decoded.get(index)
            if before is None or before[0] != data:
                shown = picture(data)
                frame = Frame(monitor, bytearray(shown.tobytes("raw", "BGRX")), *shown.size)
                before = self._decoded[index] = (data, frame)
        except Refused:
            self.close()
            raise
        except ScreenLost:
            self._fail()
            raise
        kept = before[1]
        return Frame(monitor, bytearray(kept.raw), kept.width, kept.height)  # a copy: it may be masked

    def close(self) -> None:
        """See ``Screen``: ends the pipelines; the session stays for the next screen."""
        for stream in self._streams:
            stream.close()
        self._streams.clear()

    def _fail(self) -> None:
        self.close()
        self.portal.failed()


def choose_portal(env: Mapping[str, str]) -> Callable[[], ScreenPortal]:
    """A screen behind the sharing dialog, which comes when it is first opened.

    Raises:
        UsageError: something that this needs is not here. The sentence says what.
    """
    if importlib.util.find_spec("jeepney") is None:
        raise UsageError(f"--portal needs the package jeepney, which is not installed: {install_extra('portal')}")
    if shutil.which(GST, path=env.get("PATH")) is None:
        raise UsageError(
            f"--portal needs {GST} with the elements pipewiresrc and pngenc "
            "(Debian: gstreamer1.0-tools gstreamer1.0-pipewire gstreamer1.0-plugins-base gstreamer1.0-plugins-good)"
        )
    address = env.get("DBUS_SESSION_BUS_ADDRESS")
    if not address and env.get("XDG_RUNTIME_DIR"):
        address = f"unix:path={env['XDG_RUNTIME_DIR']}/bus"
    if not address:
        raise UsageError("--portal needs a desktop session: DBUS_SESSION_BUS_ADDRESS is not set")
    try:
        bus = PortalBus(address)
        try:
            bus.version()
        finally:
            bus.close()
    except ScreenLost as error:
        raise UsageError(f"this desktop has no portal to share the screen with ({error.detail})") from error
    found = address
    portal = Portal(lambda: PortalBus(found), _state_file(env))
    return lambda: ScreenPortal(portal, env)


def _state_file(env: Mapping[str, str]) -> Path:
    base = env.get("XDG_STATE_HOME") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".local", "state")
    return Path(base) / "proact" / "portal.json"


def _stream(node: Any, about: Mapping[str, tuple[str, Any]]) -> Shared:
    """One entry of the portal's answer: its node, and properties with their signatures."""
    x, y = about["position"][1] if "position" in about else (0, 0)
    width, height = about["size"][1] if "size" in about else (0, 0)
    return Shared(int(node), int(x), int(y), int(width), int(height))
