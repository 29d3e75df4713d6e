"""A Wayland desktop to test on: sway without a screen (headless), with Xwayland, run by somebody who is not root.

::

    with Sway(800, 600) as sway:
        sway.run(["grim", "-t", "ppm", "-"])     # as the desktop's user; the process, with its output
        sway.start(["foot", "-T", "a title"])    # a program; it ends with the desk
        sway.message("-t", "get_tree")           # what swaymsg says, as JSON
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from tests.desks import needs, until

__all__ = ["Sway"]

CONFIG = """
xwayland force
default_border none
output * bg #204060 solid_color
output HEADLESS-1 resolution {width}x{height} position {x} {y} scale {scale}
seat * hide_cursor 1
exec sh -c 'xhost +local: ; env > $XDG_RUNTIME_DIR/told; mv $XDG_RUNTIME_DIR/told $XDG_RUNTIME_DIR/env'
"""


class Sway:
    """One sway with one output, HEADLESS-1; a context manager.

    Attributes:
        env: what programs on it need: WAYLAND_DISPLAY, SWAYSOCK, XDG_RUNTIME_DIR, DISPLAY of its Xwayland
            (open to root's programs where ``xhost`` is installed).
        user: of ``subprocess.Popen``, who runs it: sway refuses root, and who has root's group.
    """

    def __init__(self, width: int = 800, height: int = 600, *, x: int = 0, y: int = 0, scale: float = 1) -> None:
        self._config = CONFIG.format(width=width, height=height, x=x, y=y, scale=scale)
        self.env: dict[str, str] = {}
        self.user: dict[str, Any] = {}  # whoever runs the tests
        self._children: list[subprocess.Popen[bytes]] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        needs("sway", "swaymsg", "Xwayland")
        self._folder = tempfile.TemporaryDirectory(prefix="sway-", ignore_cleanup_errors=True)
        home = Path(self._folder.name)
        config = home / "config"
        config.write_text(self._config)
        if os.getuid() == 0:
            try:
                nobody = pwd.getpwnam("nobody")
            except KeyError:
                pytest.skip("sway refuses root, and there is no user nobody")
            self.user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(home, nobody.pw_uid, nobody.pw_gid)
        path = os.environ.get("PATH", "/usr/bin:/bin")
        self.env = {
            "PATH": path,
            "LANG": "C.UTF-8",
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home),
            "XDG_SESSION_TYPE": "wayland",
        }
        try:
            headless = {"WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"}
            self.start(["sway", "--config", str(config)], headless)
            told = home / "env"
            until(lambda: told.exists(), "sway to start")
            known = dict(line.split("=", 1) for line in told.read_text().splitlines() if "=" in line)
            self.env |= {name: known[name] for name in ("WAYLAND_DISPLAY", "SWAYSOCK", "DISPLAY") if name in known}
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def start(self, argv: Sequence[str], env: dict[str, str] | None = None, **options: Any) -> subprocess.Popen[bytes]:
        """A program of the desktop's user, silent unless told otherwise; ended with the desk, its children too."""
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        child: subprocess.Popen[bytes] = subprocess.Popen(
            list(argv),
            env={**self.env, **(env or {})},
            start_new_session=True,
            cwd=self.env["HOME"],
            **{**quiet, **self.user, **options},
        )
        self._children.append(child)
        return child

    def run(self, argv: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        """A program of the desktop's user, till it ends."""
        return subprocess.run(argv, env=self.env, **self.user, capture_output=True, timeout=20, check=True)

    def message(self, *words: str) -> Any:
        """What ``swaymsg`` answers."""
        return json.loads(self.run(["swaymsg", "-r", *words]).stdout)

    def _end(self) -> None:
        for child in reversed(self._children):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)  # sway ends its Xwayland, which removes its lock
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(2)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            for stream in (child.stdin, child.stdout, child.stderr):
                if stream is not None:
                    stream.close()
        self._children.clear()
        if self._folder is not None:
            self._folder.cleanup()
            shutil.rmtree(self._folder.name, ignore_errors=True)
