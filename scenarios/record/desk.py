"""A desk to record: an X display of its own with a window manager, a panel, and real applications.

Nothing of the person who runs it is on it: the home folder is made for the occasion under ``HOMES``, the pages come
from ``web.py``, and every process that was started is ended with the desk.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

from scenarios.record.hands import DeskError, Hands
from scenarios.record.web import Web
from simulator.core.types import SECOND
from simulator.timing.clock import rest

__all__ = ["HOMES", "PROGRAMS", "Desk"]

HOMES = Path("/tmp/desk")  # short and always the same: it is seen in titles and prompts
PROGRAMS = (
    "Xvfb", "openbox", "tint2", "xdotool", "xsetroot", "dbus-launch", "chromium", "xterm", "mousepad", "gnumeric",
    "pcmanfm", "feh",
)  # fmt: skip
SIZE = (1280, 800)

_CHROMIUM = (
    "chromium", "--no-sandbox", "--test-type", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--password-store=basic", "--disable-features=Translate,MediaRouter",
    "--disable-smooth-scrolling", "--disable-lcd-text", "--start-maximized", "--lang=en-GB",
)  # fmt: skip
_BASHRC = "PS1='{person}@desk:\\w$ '\nunset HISTFILE PROMPT_COMMAND\nalias ls='ls --color=never'\n"
_XRESOURCES = """XTerm*faceName: DejaVu Sans Mono
XTerm*faceSize: 11
XTerm*background: #fbfaf5
XTerm*foreground: #202020
XTerm*allowTitleOps: false
"""
_GSETTINGS = """[org/xfce/mousepad/preferences/window]
path-in-title=false
remember-size=false
remember-position=false
[org/xfce/mousepad/preferences/view]
font-name='DejaVu Sans Mono 11'
use-default-monospace-font=false
word-wrap=true
"""
_OPENBOX = """<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<theme><name>Clearlooks</name></theme>
<desktops><number>1</number><popupTime>0</popupTime></desktops>
<mouse><context name="Client"><mousebind button="Left" action="Press">
<action name="Focus"/><action name="Raise"/></mousebind></context></mouse>
<applications>
<application class="Chromium"><maximized>yes</maximized></application>
<application class="Gnumeric" type="normal"><maximized>yes</maximized></application>
<application class="Mousepad" type="normal"><position force="yes"><x>230</x><y>60</y></position>
<size><width>820</width><height>600</height></size></application>
<application class="Pcmanfm" type="normal"><position force="yes"><x>330</x><y>110</y></position>
<size><width>720</width><height>480</height></size></application>
</applications>
</openbox_config>
"""
_TINT2 = """rounded = 0
border_width = 0
background_color = #d9dde3 100
rounded = 0
border_width = 0
background_color = #f7f9fb 100
panel_items = TC
panel_size = 100% 26
panel_position = bottom center horizontal
panel_background_id = 1
strut_policy = follow_size
task_text = 1
task_icon = 0
task_maximum_size = 200 24
task_background_id = 1
task_active_background_id = 2
task_font = DejaVu Sans 8
task_font_color = #303030 100
task_active_font_color = #000000 100
time1_format = %H:%M
time1_font = DejaVu Sans 9
clock_font_color = #202020 100
clock_padding = 8 0
"""


class Desk(Hands):
    """The desk; a context manager that ends everything it started.

    Args:
        person: first name of who sits there; their home folder is ``HOMES/<person>``.
        seed: fixes the pauses of the hands.

    Raises:
        DeskError: a program is missing, or the display does not start.
    """

    def __init__(self, person: str, seed: int) -> None:
        missing = [name for name in PROGRAMS if shutil.which(name) is None]
        if missing:
            raise DeskError(f"not installed: {', '.join(missing)}")
        self.person, self.home = person, HOMES / person
        self._web = Web()
        self._children: list[subprocess.Popen[bytes]] = []
        self._open = ExitStack()
        super().__init__({}, seed, lambda: self._web.places)

    @property
    def env(self) -> dict[str, str]:
        """The environment of the display, for the recorder."""
        return dict(self._env)

    def __enter__(self) -> Desk:
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        self._open.callback(shutil.rmtree, self.home, ignore_errors=True)
        self._open.callback(self._end)
        self._open.enter_context(self._web)
        try:
            self._start()
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    # what stands on it

    def file(self, name: str, content: str | bytes) -> Path:
        """A file in the person's home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def run(self, command: str, folder: str = ".") -> None:
        """A shell command that nobody sees, to set things up."""
        subprocess.run(command, shell=True, cwd=self.home / folder, env=self._env, check=True, capture_output=True)

    def browser(self, *pages: str) -> None:
        """The browser, with a tab for each page such as ``news.example/today``; it fills the screen."""
        self._app(*_CHROMIUM, f"--user-data-dir={self.home}/.chromium",
                  f"--host-resolver-rules=MAP *.example 127.0.0.1:{self._web.port}",
                  *(f"http://{page}" for page in pages))  # fmt: skip
        self.wait_for("Chromium", within_s=60)

    def terminal(self, title: str, folder: str = ".", geometry: str = "92x30+180+70") -> None:
        """A terminal with a shell, named ``title``."""
        self._app("xterm", "-T", title, "-geometry", geometry, "-e", "bash", "--rcfile", f"{self.home}/.bashrc", "-i",
                  cwd=self.home / folder)  # fmt: skip
        self.wait_for(title)

    def editor(self, file: str) -> None:
        """The text editor with a file."""
        self._app("mousepad", "--disable-server", str(self.home / file))
        self.wait_for("Mousepad")

    def sheet(self, file: str) -> None:
        """The spreadsheet with a file."""
        self._app("gnumeric", "--no-splash", str(self.home / file))
        self.wait_for("Gnumeric", within_s=30)

    def files(self, folder: str = "") -> None:
        """The file manager in a folder."""
        self._app("pcmanfm", str(self.home / folder))
        rest(SECOND)

    def picture(self, file: str) -> None:
        """The image viewer with a picture."""
        self._app("feh", "--scale-down", "--image-bg", "black", "--geometry", "900x600+150+60", str(self.home / file))
        self.wait_for("feh")

    def message(self, text: str) -> None:
        """Somebody writes on the chat page."""
        self._note(shown=text)
        self._web.messages.append(text)

    # what keeps it up

    def _start(self) -> None:
        for name, content in (
            (".bashrc", _BASHRC.format(person=self.person)),
            (".config/glib-2.0/settings/keyfile", _GSETTINGS),
            (".config/openbox/rc.xml", _OPENBOX),
            (".config/tint2/tint2rc", _TINT2),
            (".config/gtk-3.0/settings.ini", "[Settings]\ngtk-cursor-blink=0\ngtk-theme-name=Adwaita\n"),
            (".Xresources", _XRESOURCES),
            (".chromium/Default/Preferences", '{"translate": {"enabled": false}}'),
            (".gitconfig", f"[user]\n\tname = {self.person.title()}\n\temail = {self.person}@desk.example\n"),
        ):
            self.file(name, content)
        self._env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "DISPLAY": self._display(),
            "HOME": str(self.home),
            "USER": self.person,
            "XDG_CONFIG_HOME": f"{self.home}/.config",
            "XDG_CACHE_HOME": f"{self.home}/.cache",
            "XDG_DATA_HOME": f"{self.home}/.local/share",
            "XENVIRONMENT": f"{self.home}/.Xresources",
            "XDG_SESSION_TYPE": "x11",
            "GSETTINGS_BACKEND": "keyfile",
            "NO_AT_BRIDGE": "1",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }
        self._env |= self._bus()
        self._app("openbox")
        rest(SECOND // 2)
        self._app("tint2")
        subprocess.run(["xsetroot", "-solid", "#5b7a94"], env=self._env, check=False)
        rest(SECOND // 2)

    def _display(self) -> str:
        """Start an X server on a display that it finds free itself."""
        reads, writes = os.pipe()
        size = f"{SIZE[0]}x{SIZE[1]}x24"
        words = ["Xvfb", "-displayfd", str(writes), "-screen", "0", size, "-nolisten", "tcp", "-noreset"]
        self._spawn(words, pass_fds=(writes,))
        os.close(writes)
        with os.fdopen(reads) as stream:
            number = stream.readline().strip()
        if not number:
            raise DeskError("the X server did not start")
        return f":{number}"

    def _bus(self) -> dict[str, str]:
        said = subprocess.run(["dbus-launch"], env=self._env, capture_output=True, text=True, check=True).stdout
        given = dict(line.partition("=")[::2] for line in said.splitlines())
        pid = int(given["DBUS_SESSION_BUS_PID"])
        self._open.callback(_kill, pid)
        return {"DBUS_SESSION_BUS_ADDRESS": given["DBUS_SESSION_BUS_ADDRESS"]}

    def _app(self, *words: str, cwd: Path | None = None) -> None:
        self._spawn([*_as_nobody_special(), *words], env=self._env, cwd=cwd or self.home)

    def _spawn(self, words: Sequence[str], **how: Any) -> None:
        """A process in a group of its own, so that it can be ended with all that it starts."""
        none = subprocess.DEVNULL
        child = subprocess.Popen(words, stdin=none, stdout=none, stderr=none, start_new_session=True, **how)
        self._children.append(child)

    def _end(self) -> None:
        for child in reversed(self._children):
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
        for child in reversed(self._children):
            try:
                child.wait(timeout=3)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


@lru_cache(maxsize=1)
def _as_nobody_special() -> Sequence[str]:
    """What hides root from the applications (some put a warning over the screen), where the system lets us."""
    words = ("unshare", "--user", "--map-user=4711")
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return ()
    return words if subprocess.run([*words, "true"], check=False, capture_output=True).returncode == 0 else ()
