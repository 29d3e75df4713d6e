"""The frames of video and GIF files, one after the other, each with the instants at which a player shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from simulator.core.calendar import to_utc_ns
from simulator.core.errors import InputError, UsageError
from simulator.core.extras import install_extra
from simulator.core.types import MS, SECOND
from simulator.screen.pixels import MAX_PIXELS, TooLarge
from simulator.sources.foreign import Ledger

__all__ = ["Frame", "creation_ns", "frames_of"]

_FIRST_YEAR = 1990  # a camera without a clock says 1904 or 1970
_GIF_FRAME_MS = 100  # what browsers make of a frame of 0 or 10 ms
_SEEK_NS = 10 * SECOND  # nearer than this, decoding from the start is as quick
_LEAP_NS = 6 * 3600 * SECOND  # no screen stands still for longer; one damaged time would make a million rows
_BROKEN = "stretches of the video that cannot be decoded (the picture before stands still)"


@dataclass(slots=True)
class Frame:
    """One frame: shown from ``at_ns`` on, the last one until ``until_ns``; drawn only if somebody looks."""

    at_ns: int
    until_ns: int
    draw: Callable[[], Image.Image]


def frames_of(file: Path, start_ns: int, ledger: Ledger) -> Iterator[Frame]:
    """The frames of a file in order of presentation, from the one that is shown at ``start_ns`` or before it.

    Args:
        file: a GIF, or a video.
        start_ns: since the first frame.
        ledger: counts what was broken.

    Raises:
        InputError: not a video, one without a picture that can be read, one of too many pixels.
        UsageError: the extra ``video`` is not installed.
    """
    return (_gif if file.suffix.lower() == ".gif" else _video)(file, start_ns, ledger)


def _gif(file: Path, start_ns: int, ledger: Ledger) -> Iterator[Frame]:
    """The frames of a GIF; one that breaks off gives what came before."""
    at, number = 0, 0
    try:
        with Image.open(file, formats=("GIF",)) as image:
            if image.width * image.height > MAX_PIXELS:
                raise TooLarge(file, f"it claims {image.width} x {image.height} pixels a frame")
            while True:
                picture = image.convert("RGB")  # composed: what earlier frames left is in it
                duration = image.info.get("duration") or 0
                if duration <= 10:
                    ledger.add("noted", f"frames without a duration (shown {_GIF_FRAME_MS} ms, as browsers do)")
                    duration = _GIF_FRAME_MS
                until = at + round(duration * MS)
                yield Frame(at, until, lambda picture=picture: picture)  # type: ignore[misc]
                at, number = until, number + 1
                try:
                    image.seek(number)
                except EOFError:
                    return
    except Image.DecompressionBombError:
        raise TooLarge(file, "it claims far more pixels a frame than any screen has") from None
    except (UnidentifiedImageError, FileNotFoundError) as error:
        raise InputError(file, "not a GIF that can be read (empty, damaged or another kind of file)") from error
    except (OSError, SyntaxError, ValueError, EOFError, IndexError) as error:
        if number == 0:
            raise InputError(file, f"no frame of it can be read ({error})") from error
        ledger.add("noted", "the file breaks off: what came before is kept", f"after {at / SECOND:g} s")


def _library() -> Any:
    """PyAV, which only this format needs."""
    try:
        import av
    except ImportError as error:
        raise UsageError(f"videos are read with PyAV, which is not installed: {install_extra('video')}") from error
    av.logging.set_level(None)
    return av


def _opened(file: Path) -> tuple[Any, Any]:
    """The container and its first video stream.

    Raises:
        InputError: see ``frames_of``.
    """
    library = _library()
    if not file.is_file():
        raise InputError(file, "there is no such video")
    try:
        container = library.open(str(file))
    except (library.FFmpegError, OSError, ValueError) as error:
        raise InputError(
            file, "not a video that can be read (empty, cut off before its index, damaged or another kind of file)"
        ) from error
    if not container.streams.video:
        container.close()
        raise InputError(file, "there is no picture in it, only sound")
    stream = container.streams.video[0]
    if (stream.width or 0) * (stream.height or 0) > MAX_PIXELS:
        container.close()
        raise TooLarge(file, f"it claims {stream.width} x {stream.height} pixels a frame")
    return container, stream


def _video(file: Path, start_ns: int, ledger: Ledger) -> Iterator[Frame]:
    """The frames of a video."""
    container, stream = _opened(file)
    try:
        base, first, last = Fraction(stream.time_base), None, -1
        usual = _ceil_ns(1 / stream.average_rate) if stream.average_rate else SECOND
        for frame in _decoded(container, stream, Ledger()):
            first = _pts(frame, 0)
            break
        if first is None:
            raise InputError(file, "no picture in it could be read")
        container.close()
        container, stream = _opened(file)
        if start_ns > _SEEK_NS and not _seek(container, stream, first + int(Fraction(start_ns, SECOND) / base)):
            container.close()
            container, stream = _opened(file)  # its index leads nowhere: from the start
        until = 0
        for frame in _decoded(container, stream, ledger):
            length = _ceil_ns(frame.duration * base) if frame.duration else usual
            at = _ceil_ns((frame.pts - first) * base) if frame.pts is not None else last + length
            if at <= last:
                ledger.add("left out", "frames out of order")
                continue
            if at - last > _LEAP_NS or length > _LEAP_NS:
                ledger.add("left out", "frames whose time leaps ahead by over 6 hours", f"at {at / SECOND:.0f} s")
                continue
            if frame.is_corrupt:
                ledger.add("noted", "frames decoded with damage (shown as they came out)", f"at {at / SECOND:.1f} s")
            last, until = at, at + max(1, length)
            yield Frame(at, until, lambda frame=frame: _upright(frame))  # type: ignore[misc]
        stated = None if stream.duration is None else _ceil_ns(stream.duration * base)
        stated = stated if stated is not None else (container.duration or 0) * 1000
        if stated - until > SECOND:
            said = f"{until / SECOND:.1f} s of {stated / SECOND:.1f} s"
            ledger.add("noted", "the file breaks off: what came before is kept", said)
    finally:
        container.close()


def _pts(frame: Any, default: int) -> int:
    return default if frame.pts is None else int(frame.pts)


def _seek(container: Any, stream: Any, pts: int) -> bool:
    """Go to the key frame at or before a time; False where the file's index does not lead there."""
    library = _library()
    try:
        container.seek(pts, stream=stream, backward=True)
        for frame in _decoded(container, stream, Ledger()):
            if frame.pts is None or frame.pts > pts:
                return False
            container.seek(pts, stream=stream, backward=True)
            return True
    except library.FFmpegError:
        return False
    return False


def _decoded(container: Any, stream: Any, ledger: Ledger) -> Iterator[Any]:
    """Frames as they are shown one after another; what cannot be decoded is counted and passed over."""
    library = _library()
    packets, at = container.demux(stream), 0.0
    while True:
        try:
            packet, skipped = _next(packets, container.format.name)
        except library.FFmpegError as error:
            ledger.add("noted", "the file breaks off: what came before is kept", str(error.strerror))
            packet, skipped = None, False
        if skipped:
            ledger.add("noted", _BROKEN, f"after {at:.1f} s")
        if packet is not None and packet.pts is not None:
            at = float(packet.pts * packet.time_base)
        try:
            yield from stream.codec_context.decode(packet)  # None: what the decoder still holds back
        except library.FFmpegError:
            if packet is not None:
                ledger.add("noted", _BROKEN, f"after {at:.1f} s")
        if packet is None:
            return


def _next(packets: Iterator[Any], container: str) -> tuple[Any, bool]:
    """The next packet, and whether the container had to skip bytes to find it, of which it tells in its log alone."""
    log = _library().logging
    log.set_level(log.ERROR)
    try:
        with log.Capture() as said:
            packet = next(packets, None)
    finally:
        log.set_level(None)
    return packet, any(who == container for _, who, _ in said)


def _upright(frame: Any) -> Image.Image:
    """The picture as it is to be shown: a phone that was held upright says so beside the pixels."""
    image: Image.Image = frame.to_image()
    turn = round(frame.rotation / 90) % 4
    turns = (None, Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_270)
    turned = turns[turn]
    return image if turned is None else image.transpose(turned)


def _ceil_ns(seconds: Fraction) -> int:
    """The first nanosecond that is not before a time, so that no frame is taken too early."""
    return -(-seconds.numerator * SECOND // seconds.denominator)


def creation_ns(file: Path, ledger: Ledger) -> int | None:
    """When a video says that it was made; UTC, as FFmpeg writes it, unless it names a zone."""
    container, stream = _opened(file)
    try:
        said = {**stream.metadata, **container.metadata}
    finally:
        container.close()
    text = said.get("com.apple.quicktime.creationdate") or said.get("creation_time")
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        ledger.add("noted", "a creation time that cannot be read (no calendar then)", text[:40])
        return None
    if moment.year < _FIRST_YEAR:
        ledger.add("noted", "a creation time of a clock that was not set (no calendar then)", text[:40])
        return None
    return to_utc_ns(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))
