"""Talk with xdg-desktop-portal over D-Bus: calls, and requests that are answered later because a person decides.

The portal's way with those: the call returns at once, and its results come as a signal ``Response`` of an object whose
path is known beforehand (https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.Request.html).
"""

from __future__ import annotations

import importlib
import os
from collections import deque
from collections.abc import Mapping
from itertools import count
from typing import Any, Protocol

from simulator.core.types import SECOND
from simulator.recorder.frames import ScreenLost

__all__ = ["Bus", "PortalBus", "Refused"]

NAME = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
SCREENCAST = "org.freedesktop.portal.ScreenCast"
SESSION = "org.freedesktop.portal.Session"
CALL_S = 10.0  # what no person is asked for

Options = Mapping[str, tuple[str, Any]]
"""A vardict, as jeepney has it: each value with its D-Bus signature."""


class Refused(ScreenLost):
    """A person said no, in the dialog or later."""

    def __init__(self, detail: str = "sharing the screen was declined in the dialog") -> None:
        super().__init__("permission", detail)


class Bus(Protocol):
    """What of D-Bus the screen needs; see ``PortalBus``."""

    def version(self) -> int:
        """Of the ScreenCast portal."""
        ...

    def ask(self, member: str, signature: str, body: tuple[Any, ...], options: Options, wait_ns: int) -> dict[str, Any]:
        """A request with its results."""
        ...

    def open_remote(self, session: str) -> int:
        """A file descriptor of PipeWire's remote, the caller's to close."""
        ...

    def end_session(self, session: str) -> None:
        """Stop sharing."""
        ...

    def ended(self, session: str, wait_ns: int = 0) -> bool:
        """Whether the desktop has ended it: its user pressed stop."""
        ...

    def close(self) -> None:
        """Hang up; the portal ends what the connection began."""
        ...


class PortalBus:
    """The portal on the session's bus, by ``jeepney``. Blocking, for one thread.

    Args:
        address: of the bus.

    Raises:
        ScreenLost: no bus there.
    """

    def __init__(self, address: str) -> None:
        self._dbus = importlib.import_module("jeepney")  # an extra; without types
        self._tokens = count(1)
        try:
            blocking = importlib.import_module("jeepney.io.blocking")
            self._line = blocking.open_dbus_connection(address, enable_fds=True)
            self._ends: deque[Any] = deque()
            rule = self._dbus.MatchRule(type="signal", interface=SESSION, member="Closed")
            self._line.filter(rule, queue=self._ends)
            self._line.bus_proxy.AddMatch(rule)
        except Exception as error:
            raise ScreenLost("display_lost", f"no session bus ({type(error).__name__})") from error

    def version(self) -> int:
        """Of the ScreenCast portal.

        Raises:
            ScreenLost: there is none on this desktop.
        """
        properties = self._dbus.DBusAddress(PATH, NAME, "org.freedesktop.DBus.Properties")
        ((_, version),) = self._call(properties, "Get", "ss", (SCREENCAST, "version"))
        return int(version)

    def ask(self, member: str, signature: str, body: tuple[Any, ...], options: Options, wait_ns: int) -> dict[str, Any]:
        """Make a request of the ScreenCast portal and wait for its results.

        Args:
            member: the method.
            signature: of its arguments before the options.
            body: these arguments.
            options: the last argument; the token of the request is added.
            wait_ns: a person may have to decide.

        Returns:
            The results, without their signatures.

        Raises:
            Refused: a person said no, or nothing.
            ScreenLost: anything else than results.
        """
        token = f"proact{next(self._tokens)}"
        sender = self._line.unique_name[1:].replace(".", "_")
        rule = self._dbus.MatchRule(
            type="signal",
            interface="org.freedesktop.portal.Request",
            member="Response",
            path=f"{PATH}/request/{sender}/{token}",
        )
        portal = self._dbus.DBusAddress(PATH, NAME, SCREENCAST)
        with self._line.filter(rule) as answers:  # before the call: the answer may come first
            self._call(self._dbus.message_bus, "AddMatch", "s", (rule.serialise(),))
            self._call(portal, member, f"{signature}a{{sv}}", (*body, {"handle_token": ("s", token), **options}))
            try:
                code, results = self._line.recv_until_filtered(answers, timeout=wait_ns / SECOND).body
            except TimeoutError as error:
                raise Refused("nobody answered the dialog that asks to share the screen") from error
            except OSError as error:
                raise ScreenLost("display_lost", "the session bus hung up") from error
        if code == 1:
            raise Refused
        if code != 0:
            raise ScreenLost("display_lost", f"the portal ended {member} with code {code}")
        return {name: value for name, (_, value) in results.items()}

    def open_remote(self, session: str) -> int:
        """A file descriptor of the PipeWire remote that has the session's streams.

        Raises:
            ScreenLost: the session is over.
        """
        portal = self._dbus.DBusAddress(PATH, NAME, SCREENCAST)
        (handle,) = self._call(portal, "OpenPipeWireRemote", "oa{sv}", (session, {}))
        fd: int = handle.to_raw_fd()
        os.set_inheritable(fd, False)
        return fd

    def end_session(self, session: str) -> None:
        """Stop sharing.

        Raises:
            ScreenLost: the session is over.
        """
        self._call(self._dbus.DBusAddress(session, NAME, SESSION), "Close", "", ())

    def ended(self, session: str, wait_ns: int = 0) -> bool:
        """Whether the desktop has ended the session.

        Args:
            session: its path.
            wait_ns: for the word of it to come.
        """
        path = self._dbus.HeaderFields.path
        try:
            while True:
                word = self._line.recv_until_filtered(self._ends, timeout=wait_ns / SECOND)
                if word.header.fields.get(path) == session:
                    return True
        except (OSError, ValueError):  # no word in time; a bus that is gone; a connection that is closed
            return False

    def close(self) -> None:
        """Hang up; the portal ends the sessions of this connection."""
        self._line.close()

    def _call(self, address: Any, member: str, signature: str, body: tuple[Any, ...]) -> Any:
        """A method call and what it returns."""
        message = self._dbus.new_method_call(address, member, signature or None, body)
        try:
            reply = self._line.send_and_get_reply(message, timeout=CALL_S)
        except OSError as error:  # a timeout too
            raise ScreenLost("display_lost", f"the session bus does not answer {member}") from error
        if reply.header.message_type is self._dbus.MessageType.error:
            name = reply.header.fields.get(self._dbus.HeaderFields.error_name, "an error")
            raise ScreenLost("display_lost", f"the portal answers {member} with {name}")
        return reply.body
