"""A D-Bus of its own with a desktop's portal on it that answers as it is told, or with the real one on a desktop's side
that does.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from tests.desks import needs, until

__all__ = ["Backend", "PortalDesk", "Stream"]

CONFIG = """<busconfig><type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy></busconfig>"""
NAME, PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"

LIBEXEC = Path("/usr/libexec")
BACKEND = "org.freedesktop.impl.portal.desktop.desk"

Stream = tuple[int, dict[str, tuple[str, Any]]]


class PortalDesk:
    """A context manager; without jeepney or dbus-daemon the test is skipped.

    Args:
        portal: whether there is one on the bus.

    Attributes:
        env: DBUS_SESSION_BUS_ADDRESS and the folders of a user.
        version: of the portal, as told.
        answers: of dialogs, in turn: a code and results; the last one again and again. No entry: no answer ever.
        calls: what was called, with the arguments.
        remote: the path of a socket whose connection is handed out as PipeWire's remote; None: /dev/null.
    """

    def __init__(self, *, portal: bool = True) -> None:
        self._portal = portal
        self.env: dict[str, str] = {}
        self.version = 4
        self.answers: list[tuple[int, dict[str, tuple[str, Any]]]] = []
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.remote: Path | None = None
        self.home = Path()
        self._backend: Backend | None = None
        self._children: list[subprocess.Popen[bytes]] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._line: Any = None
        self._session = ""
        self._stop = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.dbus = pytest.importorskip("jeepney", reason="the extra portal is not installed here")
        needs("dbus-daemon")
        self._folder = tempfile.TemporaryDirectory(prefix="portal-", ignore_cleanup_errors=True)
        self.home = Path(self._folder.name)
        bus = self.home / "bus"
        config = self.home / "dbus.conf"
        config.write_text(CONFIG.format(path=bus))
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.home),
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={bus}",
        }
        try:
            self.start(["dbus-daemon", "--nofork", "--nopidfile", f"--config-file={config}"])
            until(lambda: _listens(bus), "a session bus")
            self._line = _line(self.env["DBUS_SESSION_BUS_ADDRESS"])
            if self._portal:
                self._line.bus_proxy.RequestName(NAME)
                self._thread = threading.Thread(target=self._serve, daemon=True)
                self._thread.start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def start(self, argv: Sequence[str]) -> subprocess.Popen[bytes]:
        """A silent program with this environment; ended with the desk."""
        quiet = subprocess.DEVNULL
        child = subprocess.Popen(argv, env=self.env, start_new_session=True, stdin=quiet, stdout=quiet, stderr=quiet)
        self._children.append(child)
        return child

    def start_real_portal(self) -> Backend:
        """xdg-desktop-portal itself, behind which a desktop agrees to everything; skipped where it is missing."""
        for name in ("xdg-desktop-portal", "xdg-permission-store"):
            if not (LIBEXEC / name).exists():
                pytest.skip(f"not installed here: {name}")
        about = f"[portal]\nDBusName={BACKEND}\nInterfaces=org.freedesktop.impl.portal.ScreenCast;\nUseIn=desk;\n"
        (self.home / "desk.portal").write_text(about)
        self.env |= {"XDG_CURRENT_DESKTOP": "desk", "XDG_DESKTOP_PORTAL_DIR": str(self.home)}
        self._backend = Backend(self.env["DBUS_SESSION_BUS_ADDRESS"])
        self.start([str(LIBEXEC / "xdg-permission-store")])
        self.start([str(LIBEXEC / "xdg-desktop-portal")])
        until(lambda: bool(self._line.bus_proxy.NameHasOwner(NAME)[0]), "xdg-desktop-portal")
        return self._backend

    def stop_sharing(self) -> None:
        """What the button of the desktop does: the session is closed, and told so."""
        session = self.dbus.DBusAddress(self._session, NAME, "org.freedesktop.portal.Session")
        self._line.send(self.dbus.new_signal(session, "Closed", "a{sv}", ({},)))

    def count(self, member: str) -> int:
        """How often a method was called."""
        return sum(called == member for called, _ in self.calls)

    def options(self, member: str) -> list[dict[str, Any]]:
        """The options of each call of a method, without signatures."""
        return [
            {name: value for name, (_, value) in args[-1].items()} for called, args in self.calls if called == member
        ]

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while not self._stop:
                try:
                    message = self._line.receive(timeout=0.02)
                except TimeoutError:
                    continue
                if message.header.message_type is self.dbus.MessageType.method_call:
                    self._answer(message)

    def _answer(self, message: Any) -> None:
        fields = self.dbus.HeaderFields
        member, sender = message.header.fields[fields.member], message.header.fields[fields.sender]
        self.calls.append((member, message.body))
        if member == "Get":
            self._reply(message, "v", (("u", self.version),))
        elif member == "Close":
            self._reply(message, None, ())
        elif member == "OpenPipeWireRemote":
            self._hand_out(message)
        else:
            token = message.body[-1]["handle_token"][1]
            handle = f"{PATH}/request/{sender[1:].replace('.', '_')}/{token}"
            code, results = 0, {}
            if member == "CreateSession":
                self._session = f"{PATH}/session/x/{message.body[-1]['session_handle_token'][1]}"
                results = {"session_handle": ("s", self._session)}
            elif member == "Start":
                if not self.answers:
                    self._reply(message, "o", (handle,))
                    return
                code, results = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            request = self.dbus.DBusAddress(handle, NAME, "org.freedesktop.portal.Request")
            self._line.send(self.dbus.new_signal(request, "Response", "ua{sv}", (code, results)))  # before the reply
            self._reply(message, "o", (handle,))

    def _hand_out(self, message: Any) -> None:
        if self.remote is None:
            with open(os.devnull, "rb") as nothing:
                self._reply(message, "h", (nothing,))
        else:
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(str(self.remote))
                self._reply(message, "h", (line,))

    def _reply(self, message: Any, signature: str | None, body: tuple[Any, ...]) -> None:
        self._line.send(self.dbus.new_method_return(message, signature, body))

    def _end(self) -> None:
        self._stop = True
        if self._thread is not None:
            self._thread.join()
        if self._backend is not None:
            self._backend.close()
        if self._line is not None:
            self._line.close()
        for child in reversed(self._children):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        self._children.clear()
        if self._folder is not None:
            self._folder.cleanup()


class Backend:
    """The desktop's side of xdg-desktop-portal (``org.freedesktop.impl.portal.ScreenCast``): agrees, without a dialog.

    Attributes:
        stream: what it shares.
        options: of each choice of sources.
    """

    def __init__(self, address: str) -> None:
        self.dbus = importlib.import_module("jeepney")  # has no types, and is an extra
        self.stream: Stream = (0, {})
        self.options: list[dict[str, Any]] = []
        self._session = ""
        self._stop = False
        self._line = _line(address)
        self._line.bus_proxy.RequestName(BACKEND)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def end_session(self) -> None:
        """As when the user presses stop."""
        session = self.dbus.DBusAddress(self._session, interface="org.freedesktop.impl.portal.Session")
        self._line.send(self.dbus.new_signal(session, "Closed"))

    def close(self) -> None:
        self._stop = True
        self._thread.join()
        self._line.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while not self._stop:
                try:
                    message = self._line.receive(timeout=0.02)
                except TimeoutError:
                    continue
                if message.header.message_type is self.dbus.MessageType.method_call:
                    reply = self._answer(message.header.fields[self.dbus.HeaderFields.member], message.body)
                    self._line.send(self.dbus.new_method_return(message, *reply))

    def _answer(self, member: str, body: tuple[Any, ...]) -> tuple[str | None, tuple[Any, ...]]:
        if member == "GetAll":
            known = {"AvailableSourceTypes": ("u", 1), "AvailableCursorModes": ("u", 3), "version": ("u", 4)}
            return "a{sv}", (known,)
        if member == "CreateSession":
            self._session = body[1]
            return "ua{sv}", (0, {})
        if member == "SelectSources":
            self.options.append(body[-1])
            return "ua{sv}", (0, {})
        if member == "Start":
            kept = {"persist_mode": ("u", 2), "restore_data": ("(suv)", ("desk", 1, ("s", "kept")))}
            return "ua{sv}", (0, {"streams": ("a(ua{sv})", [self.stream]), **kept})
        return None, ()


def _line(address: str) -> Any:
    return importlib.import_module("jeepney.io.blocking").open_dbus_connection(address, enable_fds=True)


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
        probe.connect(str(path))
        return True
    return False
