"""The screen through a command that writes a picture of it to its standard output, such as ``grim -t ppm -``.

The way onto Wayland compositors of the wlroots family (sway, river, hyprland …); 35 ms a grab at 1080p.
"""

from __future__ import annotations

import io
import json
import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from PIL import Image

from simulator.core.types import SECOND
from simulator.recorder.frames import Frame, Monitor, ScreenLost
from simulator.screen.pixels import MAX_PIXELS
from simulator.timing.clock import real_ns

__all__ = ["ScreenCommand", "picture", "sway_place"]

FORMATS = ("PPM", "PNG", "BMP")
TIMEOUT_NS = 5 * SECOND
MAX_BYTES = 4 * MAX_PIXELS + 4096  # a picture without compression, and a head
SAID = 200  # characters of what the command complains of


class ScreenCommand:
    """One monitor: whatever the command shows, as monitor 1.

    Args:
        argv: the program and its arguments; no shell reads them.
        place: where the picture lies on the desktop, asked when the list of monitors is read; None where nobody knows.
            Then windows cannot be found on it.
        env: the command's environment.
        timeout_ns: after which it is killed.
        max_bytes: of its output; more is refused.
    """

    name = "command"
    reread_ns = 10 * SECOND

    def __init__(
        self,
        argv: Sequence[str],
        *,
        place: Callable[[], Monitor] | None = None,
        env: Mapping[str, str] = os.environ,
        timeout_ns: int = TIMEOUT_NS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._argv, self._place, self._env = list(argv), place, dict(env)
        self._timeout_ns, self._max_bytes = timeout_ns, max_bytes
        self._seen: Monitor | None = None

    @property
    def fits_windows(self) -> bool:
        """See ``Screen``."""
        return self._place is not None

    def monitors(self) -> list[Monitor]:
        """See ``Screen``; without a place, the size of the last picture, for which the first call takes one."""
        if self._place is not None:
            return [self._place()]
        return [self._seen or self.grab(Monitor(1, 0, 0, 1, 1)).monitor]

    def grab(self, monitor: Monitor) -> Frame:
        """See ``Screen``; its ``monitor`` has the size of the picture, where no other is known."""
        shown = picture(run(self._argv, self._env, self._timeout_ns, self._max_bytes))
        if self._place is None:
            monitor = self._seen = Monitor(1, 0, 0, *shown.size)
        return Frame(monitor, bytearray(shown.tobytes("raw", "BGRX")), *shown.size)

    def close(self) -> None:
        """See ``Screen``: there is nothing to let go of."""


def picture(data: bytes) -> Image.Image:
    """A PPM, PNG or BMP as RGB.

    Raises:
        ScreenLost: it is none, is damaged or claims too many pixels.
    """
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as found:
            if found.width * found.height > MAX_PIXELS:
                raise ValueError(f"{found.width} x {found.height} pixels are too many")
            return found.convert("RGB")
    except Exception as error:  # Pillow raises anything on bad files
        detail = f"{len(data)} bytes that are no PPM, PNG or BMP ({type(error).__name__})"
        raise ScreenLost("display_lost", detail) from error


def run(argv: Sequence[str], env: Mapping[str, str], timeout_ns: int, max_bytes: int = MAX_BYTES) -> bytes:
    """What a command writes to its standard output, read till it ends.

    Raises:
        ScreenLost: it cannot be started, fails, takes too long or writes too much; it does not live on.
    """
    program = PurePath(argv[0]).name
    try:
        # A session of its own: Ctrl-C of the terminal is for the recorder, and its children can be ended with it.
        child = subprocess.Popen(
            list(argv),
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ScreenLost("display_lost", f"{program} cannot be started ({type(error).__name__})") from error
    with child:
        try:
            out, complained = _read(child, real_ns() + timeout_ns, max_bytes, program)
        except BaseException:
            _kill(child)
            raise
    if child.returncode != 0:
        words = complained[:SAID].decode(errors="replace")
        complaint = "".join(c if c.isprintable() else " " for c in words).strip()
        said = f"{program} ended with code {child.returncode}{f': {complaint}' if complaint else ''}"
        raise ScreenLost("display_lost", said)
    return out


def sway_place(argv: Sequence[str], env: Mapping[str, str]) -> Callable[[], Monitor] | None:
    """Where a picture of ``grim`` under sway lies in the layout of its outputs; None for any other command.

    With ``-o NAME`` that output's place, else the whole layout's. A region (``-g``) is not read.
    """
    words = list(argv)
    if PurePath(words[0]).name != "grim" or not env.get("SWAYSOCK") or any(w.startswith("-g") for w in words[1:]):
        return None
    if any(word.startswith("-o") and word != "-o" for word in words):  # -oNAME
        return None
    output = words[words.index("-o") + 1] if "-o" in words[:-1] else None
    return lambda: _layout(run(["swaymsg", "-r", "-t", "get_outputs"], env, 2 * SECOND), output)


def _layout(told: bytes, output: str | None) -> Monitor:
    """The rectangle of one output, or around all that are on, out of what sway tells."""
    try:
        outputs = [o for o in json.loads(told) if o.get("active") and output in (None, o["name"])]
        spans = [(o["rect"]["x"], o["rect"]["y"], o["rect"]["width"], o["rect"]["height"]) for o in outputs]
        scale = max((float(o.get("scale") or 1.0) for o in outputs), default=1.0)
        x, y = min(s[0] for s in spans), min(s[1] for s in spans)
        right, bottom = max(s[0] + s[2] for s in spans), max(s[1] + s[3] for s in spans)
        name = output or (outputs[0]["name"] if len(outputs) == 1 else None)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScreenLost("display_lost", "sway lists no such output") from error
    return Monitor(1, x, y, right - x, bottom - y, name, scale)


def _read(child: subprocess.Popen[bytes], end_ns: int, max_bytes: int, program: str) -> tuple[bytes, bytes]:
    """Standard output and the start of standard error, both till they end."""
    assert child.stdout is not None
    assert child.stderr is not None
    out, said = bytearray(), bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(child.stdout, selectors.EVENT_READ, out)
        ready.register(child.stderr, selectors.EVENT_READ, said)
        while ready.get_map():
            for key, _ in ready.select(max(0, end_ns - real_ns()) / SECOND):
                if part := os.read(key.fd, 1 << 20):
                    key.data.extend(part)
                else:
                    ready.unregister(key.fileobj)
            del said[SAID:]
            if len(out) > max_bytes:
                raise ScreenLost("display_lost", f"{program} writes over {max_bytes} bytes")
            if real_ns() >= end_ns:
                raise ScreenLost("display_lost", f"{program} takes too long")
    try:
        child.wait(max(0, end_ns - real_ns()) / SECOND)
    except subprocess.TimeoutExpired as error:
        raise ScreenLost("display_lost", f"{program} does not end") from error
    return bytes(out), bytes(said)


def _kill(child: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (AttributeError, ProcessLookupError):  # Windows has no groups of this kind
        child.kill()
