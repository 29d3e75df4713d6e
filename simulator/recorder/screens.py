"""Which screen is captured, whether it looks well, and one that is kept open through faults.

::

    make = choose(command=None, portal=False)   # refuses what would record black frames, and says what to do
    screen = make()
    for sentence in self_test(screen): ...
    kept = KeptScreen(make, monitors=[1])
    frames = kept.look()                         # raises ScreenLost: a gap
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from simulator.core.errors import UsageError, quote
from simulator.core.types import SECOND
from simulator.recorder.frames import Frame, Monitor, Screen, ScreenLost
from simulator.recorder.screen_command import ScreenCommand, sway_place
from simulator.recorder.screen_mss import ScreenMss, Xwayland
from simulator.timing.clock import boot_ns

__all__ = ["KeptScreen", "choose", "self_test", "uncaptured"]

FIRST_WAIT_NS = SECOND // 2
LONGEST_WAIT_NS = 30 * SECOND
SLOW_NS = SECOND // 2  # a fault that took this long is not tried again within the same look

WAYS_OUT = (
    'on sway, river, hyprland and the like --screen-command "grim -t ppm -", on GNOME and KDE --portal, '
    "or log into an X11 session"
)


class KeptScreen:
    """A screen kept open: opened again after a fault, its monitors asked for anew now and then.

    The first fault after good times is tried again at once, with everything opened anew: another resolution costs no
    tick. From the second on there is a wait before each try (0.5 s, 1 s, 2 s … 30 s), in which ``look`` raises at once.

    A monitor keeps its number while its name stays the same, also when another one before it is unplugged.

    Args:
        make: opens a screen.
        monitors: numbers of those to look at; None for all. One that is not there is passed over.
        now: nanoseconds, monotonic; ``boot_ns`` counts sleep too.

    Attributes:
        changed: whether the monitors were others at the last look than at the one before.
        screen: the one that is open now, None before the first look and during a fault.
    """

    def __init__(
        self, make: Callable[[], Screen], *, monitors: Sequence[int] | None = None, now: Callable[[], int] = boot_ns
    ) -> None:
        self.changed = False
        self.screen: Screen | None = None
        self._make, self._wanted, self._now = make, None if monitors is None else frozenset(monitors), now
        self._monitors: list[Monitor] = []
        self._numbers: dict[tuple[str | None, int], int] = {}
        self._seen: tuple[Monitor, ...] | None = None
        self._read_ns = 0
        self._faults = 0
        self._again_ns: int | None = None
        self._lost = ScreenLost("display_lost")

    @property
    def fits_windows(self) -> bool:
        """Of the open screen (see ``Screen``); False while there is none."""
        return self.screen is not None and self.screen.fits_windows

    def look(self) -> list[Frame]:
        """One frame a monitor, in order of their numbers; at least one. Blocks as long as the system does.

        Raises:
            ScreenLost: there is nothing to be had now; call again at the next tick.
        """
        if self._again_ns is not None and self._now() < self._again_ns:
            raise ScreenLost(self._lost.reason, self._lost.detail)
        started_ns = self._now()
        try:
            frames = self._grab()
        except Exception as error:  # backends raise what their libraries raise, AssertionError included
            self.close()
            if self._faults or self._now() - started_ns >= SLOW_NS:
                raise self._fault(error) from error
            try:
                frames = self._grab()
            except Exception as second:
                self.close()
                raise self._fault(second) from second
        self._faults, self._again_ns = 0, None
        seen = tuple(frame.monitor for frame in frames)
        self.changed, self._seen = self._seen not in (None, seen), seen
        return frames

    def close(self) -> None:
        """Let go of the screen; the next look opens it again. Never raises."""
        screen, self.screen = self.screen, None
        if screen is not None:
            try:
                screen.close()
            except Exception:  # noqa: BLE001 - of a server that is gone; there is nothing left to close
                return

    def _grab(self) -> list[Frame]:
        if self.screen is None:
            self.screen = self._make()
            self._read()
        elif self._now() - self._read_ns >= self.screen.reread_ns:
            self._read()
        if not self._monitors:
            raise ScreenLost("display_lost", "none of the monitors to record is there")
        return [self.screen.grab(monitor) for monitor in self._monitors]

    def _read(self) -> None:
        assert self.screen is not None
        found = self._numbered(self.screen.monitors())
        wanted = [one for one in found if self._wanted is None or one.number in self._wanted]
        self._monitors = sorted(wanted, key=lambda monitor: monitor.number)
        self._read_ns = self._now()

    def _numbered(self, monitors: Sequence[Monitor]) -> list[Monitor]:
        """With the numbers that their names had before; a new name gets its own, or else the next free one."""
        names: Counter[str | None] = Counter()
        numbered = []
        for monitor in monitors:
            key = (monitor.name, names[monitor.name])
            names[monitor.name] += 1
            if key not in self._numbers:
                number = monitor.number
                while number in self._numbers.values():
                    number += 1
                self._numbers[key] = number
            numbered.append(replace(monitor, number=self._numbers[key]))
        return numbered

    def _fault(self, error: Exception) -> ScreenLost:
        """What a fault means, and from when on the next try is worth it."""
        wait_ns = min(LONGEST_WAIT_NS, FIRST_WAIT_NS << min(self._faults, 10))
        self._faults += 1
        self._again_ns = self._now() + wait_ns
        self._lost = error if isinstance(error, ScreenLost) else ScreenLost("display_lost", type(error).__name__)
        return self._lost


def choose(
    *,
    command: str | None = None,
    portal: bool = False,
    env: Mapping[str, str] = os.environ,
    platform: str = sys.platform,
) -> Callable[[], Screen]:
    """How the screen is to be opened here; it was opened once when this returns, unless by command or portal.

    Args:
        command: words of a command that writes a picture to its standard output.
        portal: through the desktop's own sharing dialog (Wayland).
        env: the environment.
        platform: as ``sys.platform``.

    Raises:
        UsageError: nothing can be captured that way. The sentence names the ways out.
    """
    if command is not None and portal:
        raise UsageError("--screen-command and --portal are two ways to the same screen: give one")
    if command is not None:
        return _by_command(command, env, platform)
    if portal:
        from simulator.recorder.screen_portal import choose_portal

        return choose_portal(env)
    if platform in ("win32", "darwin"):
        return ScreenMss
    return _by_x11(env)


def self_test(
    screen: Screen, *, platform: str = sys.platform, granted: Callable[[], bool | None] | None = None
) -> list[str]:
    """Look once, and say what looks wrong, a sentence each; nothing to say is well.

    Args:
        screen: an open one; it stays open.
        platform: as ``sys.platform``.
        granted: whether macOS lets this program record the screen, None if that cannot be told; by default it is asked.

    Raises:
        UsageError: nothing can be captured, so a recording would be one long gap.
    """
    said = []
    if platform == "darwin" and (granted or _granted_by_macos)() is False:
        said.append(
            "macOS has not granted this program the recording of the screen, and then shows it no window, only the "
            "wallpaper: allow it under System Settings, Privacy & Security, Screen Recording, and start it again"
        )
    try:
        frames = [screen.grab(monitor) for monitor in screen.monitors()]
    except Exception as error:  # a library's own errors too
        raise UsageError("; ".join([uncaptured(error), *said])) from error
    blank = [frame.monitor.number for frame in frames if frame.constant()]
    return said + [f"monitor {n} shows one single colour: it is off or locked, or may not be captured" for n in blank]


def uncaptured(error: Exception) -> str:
    """What a fault at the first look is to a person: the screen cannot be captured, and why."""
    why = error.detail or error.reason if isinstance(error, ScreenLost) else type(error).__name__
    return f"the screen cannot be captured: {why}"


def _by_command(command: str, env: Mapping[str, str], platform: str) -> Callable[[], Screen]:
    if platform == "win32":
        raise UsageError("--screen-command is for Linux and macOS; on Windows the screen is captured without it")
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--screen-command cannot be read: {str(error).lower()}") from error
    if not argv:
        raise UsageError('--screen-command is empty: give a program with its arguments, such as "grim -t ppm -"')
    if shutil.which(argv[0], path=env.get("PATH")) is None:
        raise UsageError(f"--screen-command: there is no program {quote(argv[0])} here")
    return partial(ScreenCommand, argv, place=sway_place(argv, env), env=env)


def _by_x11(env: Mapping[str, str]) -> Callable[[], Screen]:
    """Past all signs of Wayland: what they lead to is a recording of black frames, without an error."""
    if env.get("WAYLAND_DISPLAY") or env.get("XDG_SESSION_TYPE") == "wayland":
        raise UsageError(
            f"this is a Wayland desktop, on which other programs' windows cannot be captured through X11: {WAYS_OUT} "
            "(to record another X server from here, unset WAYLAND_DISPLAY and XDG_SESSION_TYPE)"
        )
    display = env.get("DISPLAY")
    if not display:
        raise UsageError(
            "there is no screen to record: DISPLAY is not set; start this within a desktop session, "
            "or name one (DISPLAY=:0)"
        )
    try:
        opened = ScreenMss(display)
    except Xwayland as error:
        raise UsageError(
            f"the X server {quote(display)} is Xwayland, which shows black frames only: {WAYS_OUT}"
        ) from error
    except ScreenLost as error:
        raise UsageError(
            f"the X server {quote(display)} does not let itself be recorded ({error.detail}): is the desktop running, "
            "and is it yours?"
        ) from error
    whole = not opened.lists_monitors
    opened.close()
    return partial(ScreenMss, display, whole=whole)


def _granted_by_macos() -> bool | None:
    """The system's own word, without asking the user; None before macOS 10.15 and where it cannot be asked."""
    try:
        graphics = ctypes.CDLL("/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics")
        ask = graphics.CGPreflightScreenCaptureAccess
    except (OSError, AttributeError):
        return None
    ask.restype = ctypes.c_bool
    return bool(ask())
