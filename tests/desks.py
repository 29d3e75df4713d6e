"""A desktop to test on: a real X server (Xvfb) of its own, windows with exact titles, places and pixels on it.

::

    with Desk(1280, 720, manager=True) as desk:
        window = desk.window("proj: bash", wm_class=("xterm", "XTerm"), x=40, y=30, width=300, height=200)
        desk.start(["xterm"])           # a program; it ends with the desk
        window.front(); window.retitle("other"); window.close()
        desk.kill()                     # the X server dies as by kill -9
        desk.restart(800, 600)          # and is back, at the same display and another size

Whatever is missing on this machine (Xvfb, openbox, python-xlib) skips the test with the reason.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from PIL import Image

from simulator.core.types import MS, SECOND
from simulator.timing.clock import real_ns, rest

__all__ = ["Desk", "DeskWindow", "needs", "until"]

FIRST_DISPLAY = 100  # those below are people's
DISPLAYS = 1000
START_NS = 20 * SECOND  # an X server starts in 0.1 s; two busy cores may take long


def needs(*programs: str) -> None:
    """Skip the test that asks where one of the programs is not installed."""
    if missing := [program for program in programs if shutil.which(program) is None]:
        pytest.skip(f"not installed here: {', '.join(missing)}")


def until(done: Callable[[], bool], what: str, limit_ns: int = START_NS) -> None:
    """Wait in steps of 5 ms till ``done()`` is true; fail with ``what`` past the limit."""
    end = real_ns() + limit_ns
    while not done():
        if real_ns() > end:
            pytest.fail(f"waited {limit_ns / SECOND:g} s in vain for: {what}")
        rest(5 * MS)


class Desk:
    """One Xvfb server of 24 bit depth with its children; a context manager.

    Args:
        width: pixels.
        height: pixels.
        manager: start openbox on it (EWMH properties, decorations, minimising).
        arguments: more arguments of the X server.

    Attributes:
        display: its name, such as ``:117``.
        env: what programs on it need: DISPLAY, a home folder of its own, nothing of Wayland.
        home: that folder.
        server: the X server's process, or None after ``kill``.
    """

    def __init__(
        self, width: int = 1280, height: int = 720, *, manager: bool = False, arguments: Sequence[str] = ()
    ) -> None:
        self.width, self.height, self.manager, self.arguments = width, height, manager, list(arguments)
        self.display = ""
        self.env: dict[str, str] = {}
        self.home = Path()
        self.server: subprocess.Popen[bytes] | None = None
        self._children: list[subprocess.Popen[bytes]] = []
        self._connection: Any = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        needs("Xvfb", *(["openbox"] if self.manager else []))
        if importlib.util.find_spec("Xlib") is None:
            pytest.skip("python-xlib is not installed here")
        self._folder = tempfile.TemporaryDirectory(prefix="desk-", ignore_cleanup_errors=True)
        self.home = Path(self._folder.name)
        try:
            self._find_display()
            self._settle()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def start(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[bytes]:
        """A program on this desk, silent unless told otherwise; ended with the desk, its children too.

        Args:
            argv: the program and its arguments.
            env: more environment.
            options: of ``subprocess.Popen``.
        """
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        child: subprocess.Popen[bytes] = subprocess.Popen(
            list(argv), env={**self.env, **(env or {})}, start_new_session=True, **{**quiet, **options}
        )
        self._children.append(child)
        return child

    def kill(self) -> None:
        """The X server dies at once, as by kill -9; programs and windows on it lose their connection."""
        self._hang_up()
        if self.server is not None:
            self.server.kill()
            self.server.wait()
            self.server = None

    def restart(self, width: int | None = None, height: int | None = None) -> None:
        """The X server (killed if it still runs) is back at the same display, empty, at the new size if given."""
        self.kill()
        self.width, self.height = width or self.width, height or self.height
        if not self._serve(int(self.display[1:])):
            pytest.fail(f"Xvfb did not start again at {self.display}")
        self._settle()

    @property
    def connection(self) -> Any:
        """A python-xlib ``Display`` on the desk for whatever has no method here; closed with the desk."""
        if self._connection is None:
            from Xlib import display

            self._connection = display.Display(self.display)
        return self._connection

    @property
    def root(self) -> Any:
        """The root window, of python-xlib."""
        return self.connection.screen().root

    def background(self, colour: int = 0x203040) -> None:
        """Paint the bare desktop in one colour (0xRRGGBB); black is what a new X server shows."""
        self.root.change_attributes(background_pixel=colour)
        self.root.clear_area(0, 0, 0, 0)
        self.connection.sync()

    def window(
        self,
        title: str | bytes | None = "a window",
        *,
        wm_class: tuple[str, str] | None = ("desk", "Desk"),
        x: int = 0,
        y: int = 0,
        width: int = 200,
        height: int = 120,
        colour: int = 0x808080,
        pid: int | None = None,
        popup: bool = False,
        show: bool = True,
    ) -> DeskWindow:
        """A plain window on a connection of the desk, drawn by the server itself, so exact without a program.

        Args:
            title: a str is set as ``_NET_WM_NAME`` (UTF-8) and as ``WM_NAME``; bytes go raw into ``WM_NAME`` alone.
            wm_class: instance and class.
            x: left edge on the desktop; of the content where nothing decorates it.
            y: top edge.
            width: of the content, pixels.
            height: of the content.
            colour: 0xRRGGBB, all over it.
            pid: for ``_NET_WM_PID``.
            popup: override-redirect, as menus and tooltips are: no decoration, no entry in any list.
            show: map it, and wait till the server calls it viewable.
        """
        return DeskWindow(self, title, wm_class, (x, y, width, height), colour, pid, popup, show)

    def _find_display(self) -> None:
        first = os.getpid() % DISPLAYS  # two test processes do not begin at one place
        for step in range(50):
            if self._serve(FIRST_DISPLAY + (first + step) % DISPLAYS):
                return
        pytest.fail("Xvfb starts at none of 50 displays")

    def _serve(self, number: int) -> bool:
        """Start the X server there; False when it is taken."""
        if _answers(number):  # the X server would take over the socket of one without a lock file
            return False
        told, tell = os.pipe()
        size = f"{self.width}x{self.height}x24"
        argv = ["Xvfb", f":{number}", "-screen", "0", size, "-noreset", "-nolisten", "tcp", "-displayfd", str(tell)]
        server = subprocess.Popen(
            argv + self.arguments,
            pass_fds=[tell],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(tell)
        with open(told, "rb") as stream:
            ready = bool(select.select([stream], [], [], START_NS / SECOND)[0]) and bool(stream.readline().strip())
        if not ready:
            server.kill()
            server.wait()
            return False
        self.server, self.display = server, f":{number}"
        self.env = {
            name: value for name, value in os.environ.items() if not name.startswith(("WAYLAND", "XDG_", "DBUS_"))
        }
        self.env |= {"DISPLAY": self.display, "HOME": str(self.home), "XDG_SESSION_TYPE": "x11"}
        return True

    def _settle(self) -> None:
        if not self.manager:
            return
        self.start(["openbox", "--sm-disable"])
        # Openbox announces itself before it heeds windows, and forgets one that is mapped in between: ask till it does.
        until(lambda: self._clients() is not None, "openbox to start")
        probe = self.window(width=1, height=1, show=False)

        def managed() -> bool:
            probe.x.map()
            return probe.id in (self._clients() or [])

        until(managed, "openbox to manage windows")
        probe.close()
        until(lambda: self._clients() == [], "openbox to forget a window")

    def _clients(self) -> list[int] | None:
        from Xlib import X

        found = self.root.get_full_property(self.connection.get_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
        return None if found is None else list(found.value)

    def _hang_up(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(Exception):  # the server may be dead already
                self._connection.close()
            self._connection.display.socket.close()
            self._connection = None

    def _end(self) -> None:
        for child in reversed(self._children):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            for stream in (child.stdin, child.stdout, child.stderr):
                if stream is not None:
                    stream.close()
        self._children.clear()
        self._hang_up()
        if self.server is not None:
            self.server.terminate()  # it removes its socket and lock
            try:
                self.server.wait(5)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()
            self.server = None
        elif self.display:  # killed: nobody removed them
            for left in (f"/tmp/.X11-unix/X{self.display[1:]}", f"/tmp/.X{self.display[1:]}-lock"):
                Path(left).unlink(missing_ok=True)
        if self._folder is not None:
            self._folder.cleanup()


class DeskWindow:
    """A window as ``Desk.window`` makes it; ``.x`` is python-xlib's, ``.id`` its number."""

    def __init__(
        self,
        desk: Desk,
        title: str | bytes | None,
        wm_class: tuple[str, str] | None,
        place: tuple[int, int, int, int],
        colour: int,
        pid: int | None,
        popup: bool,
        show: bool,
    ) -> None:
        from Xlib import X, Xatom, Xutil

        self.desk = desk
        x, y, self.width, self.height = place
        root, screen = desk.root, desk.connection.screen()
        # A pixmap as background: the server itself redraws it whenever the window is uncovered.
        self._pixels = root.create_pixmap(self.width, self.height, screen.root_depth)
        self._pen = self._pixels.create_gc(foreground=colour)
        self._pixels.fill_rectangle(self._pen, 0, 0, self.width, self.height)
        self.x = root.create_window(
            x, y, self.width, self.height, 0, screen.root_depth, X.InputOutput, X.CopyFromParent,
            background_pixmap=self._pixels, override_redirect=int(popup),
        )  # fmt: skip
        self.id: int = self.x.id
        self.retitle(title)
        if wm_class is not None:
            self.x.set_wm_class(*wm_class)
        if pid is not None:
            self.x.change_property(desk.connection.get_atom("_NET_WM_PID"), Xatom.CARDINAL, 32, [pid])
        self.x.set_wm_normal_hints(flags=Xutil.USPosition | Xutil.USSize)
        if show:
            self.show()
        desk.connection.sync()

    def show(self) -> None:
        """Map it, and wait till it can be seen."""
        from Xlib import X

        self.x.map()
        until(lambda: self.x.get_attributes().map_state == X.IsViewable, "a window to be shown")

    def retitle(self, title: str | bytes | None) -> None:
        """Another title (see ``Desk.window``); None takes it away."""
        from Xlib import Xatom

        name, utf8 = (self.desk.connection.get_atom(atom) for atom in ("_NET_WM_NAME", "UTF8_STRING"))
        self.x.delete_property(name)
        self.x.delete_property(Xatom.WM_NAME)
        if isinstance(title, str):
            self.x.change_property(name, utf8, 8, title.encode())
            self.x.change_property(Xatom.WM_NAME, Xatom.STRING, 8, title.encode("latin-1", "replace"))
        elif title is not None:
            self.x.change_property(Xatom.WM_NAME, Xatom.STRING, 8, title)
        self.desk.connection.sync()

    def front(self) -> None:
        """Raise and focus it: by the window manager where there is one, else by hand."""
        from Xlib import X
        from Xlib.protocol import event

        if self.desk.manager:
            active = self.desk.connection.get_atom("_NET_ACTIVE_WINDOW")
            ask = event.ClientMessage(window=self.x, client_type=active, data=(32, [2, X.CurrentTime, 0, 0, 0]))
            self.desk.root.send_event(ask, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
            until(lambda: self._is_active(active), "a window to come to the front")
        else:
            self.x.configure(stack_mode=X.Above)
            self.x.set_input_focus(X.RevertToParent, X.CurrentTime)
        self.desk.connection.sync()

    def iconify(self) -> None:
        """Minimise it (needs the window manager)."""
        from Xlib import X
        from Xlib.protocol import event

        change = self.desk.connection.get_atom("WM_CHANGE_STATE")
        ask = event.ClientMessage(window=self.x, client_type=change, data=(32, [3, 0, 0, 0, 0]))  # 3: IconicState
        self.desk.root.send_event(ask, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        until(lambda: self.x.get_attributes().map_state != X.IsViewable, "a window to be minimised")

    def move(self, x: int, y: int) -> None:
        """Put its top left corner there."""
        self.x.configure(x=x, y=y)
        self.desk.connection.sync()

    def paint(self, colour: int, x: int = 0, y: int = 0, width: int = 0, height: int = 0) -> None:
        """Fill a rectangle of it (0: all the way to the edge) with 0xRRGGBB."""
        self._pen.change(foreground=colour)
        self._pixels.fill_rectangle(self._pen, x, y, width or self.width - x, height or self.height - y)
        self._redraw()

    def picture(self, image: Image.Image, x: int = 0, y: int = 0) -> None:
        """Show a picture in it, pixel by pixel."""
        from Xlib import X

        rgb = image.convert("RGB")
        raw, row = rgb.tobytes("raw", "BGRX"), rgb.width * 4
        rows = max(1, 200_000 // row)  # a request holds 256 KB
        for top in range(0, rgb.height, rows):
            part = raw[top * row : (top + rows) * row]
            self._pixels.put_image(self._pen, x, y + top, rgb.width, len(part) // row, X.ZPixmap, 24, 0, part)
        self._redraw()

    def close(self) -> None:
        """Destroy it."""
        self.x.destroy()
        self.desk.connection.sync()

    def _redraw(self) -> None:
        self.x.change_attributes(background_pixmap=self._pixels)  # servers may copy it when it is set
        self.x.clear_area(0, 0, 0, 0)
        self.desk.connection.sync()

    def _is_active(self, active: int) -> bool:
        from Xlib import X

        found = self.desk.root.get_full_property(active, X.AnyPropertyType)
        return found is not None and self.id in list(found.value)


def _answers(number: int) -> bool:
    """Whether an X server listens at that display."""
    import socket

    for address in (f"/tmp/.X11-unix/X{number}", f"\0/tmp/.X11-unix/X{number}"):
        with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
            probe.connect(address)
            return True
    return False
