"""The pixels of a PipeWire stream, as PNG pictures out of a GStreamer pipeline.

PNG, since such a picture says its own size: a stream changes its size at any instant. 60 ms of one core each at 1080p.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import IO

from simulator.core.types import SECOND
from simulator.recorder.frames import ScreenLost
from simulator.recorder.screen_command import MAX_BYTES
from simulator.timing.clock import real_ns

__all__ = ["GST", "Stream", "pipeline"]

GST = "gst-launch-1.0"
FIRST_NS = 10 * SECOND  # till the first picture
STILL_NS = 10 * SECOND  # the pipeline repeats the last picture; without one for so long, it is stuck
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def pipeline(fd: int, node: int) -> list[str]:
    """The command that writes a stream to its standard output: at most two pictures a second, and one if all is still.

    A compositor sends a picture when something changes. Thinning these out could drop the last one, after which all is
    still; the repetition (``keepalive-time``, ms) brings it.
    """
    source = ["pipewiresrc", f"fd={fd}", f"path={node}", "do-timestamp=true", "keepalive-time=500"]
    thinned = ["videorate", "drop-only=true", "max-rate=2"]
    parts = [source, thinned, ["videoconvert"], ["pngenc", "compression-level=1"], ["fdsink", "fd=1"]]
    return [GST, "-q", *parts[0], *(word for part in parts[1:] for word in ("!", *part))]


class Stream:
    """A pipeline that runs, and the last picture that came out of it.

    Args:
        argv: the command; see ``pipeline``.
        fd: that it inherits.
        env: its environment.

    Raises:
        ScreenLost: it cannot be started.
    """

    def __init__(self, argv: Sequence[str], fd: int, env: dict[str, str]) -> None:
        self._last: tuple[bytes, int] | None = None
        self._told = threading.Condition()
        self._ended = False
        try:
            self._child = subprocess.Popen(
                list(argv),
                env=env,
                pass_fds=[fd],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise ScreenLost("display_lost", f"{GST} cannot be started ({type(error).__name__})") from error
        self._reader = threading.Thread(target=self._read, name="portal-stream", daemon=True)
        self._reader.start()

    def latest(self) -> bytes:
        """The newest picture, a PNG; waits for the first.

        Raises:
            ScreenLost: the stream ended, never began, or is stuck.
        """
        with self._told:
            self._told.wait_for(lambda: self._last is not None or self._ended, FIRST_NS / SECOND)
            if self._ended:
                raise ScreenLost("display_lost", "the shared screen's stream ended")
            if self._last is None:
                raise ScreenLost("display_lost", "the shared screen's stream brings no picture")
            data, came_ns = self._last
        if real_ns() - came_ns > STILL_NS:
            raise ScreenLost("display_lost", "the shared screen's stream is stuck")
        return data

    def close(self) -> None:
        """End the pipeline."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        self._reader.join()
        if self._child.stdout is not None:
            self._child.stdout.close()

    def _read(self) -> None:
        assert self._child.stdout is not None
        while (data := read_png(self._child.stdout)) is not None:
            with self._told:
                self._last = (data, real_ns())
                self._told.notify_all()
        with self._told:
            self._ended = True
            self._told.notify_all()


def read_png(stream: IO[bytes]) -> bytes | None:
    """The next PNG of several in a row, by the lengths of its chunks; None at the end or when it is none."""
    parts = [stream.read(8)]
    if parts[0] != SIGNATURE:
        return None
    size = 8
    while True:
        head = stream.read(8)
        if len(head) < 8:
            return None
        length = int.from_bytes(head[:4], "big") + 4  # and its checksum
        size += 8 + length
        if size > MAX_BYTES:
            return None
        body = stream.read(length)
        if len(body) < length:
            return None
        parts += [head, body]
        if head[4:] == b"IEND":
            return b"".join(parts)
