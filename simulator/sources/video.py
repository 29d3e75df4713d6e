"""Video and GIF files as recordings: the picture that a player would show, at a rate.

The frame shown at an instant is the last one whose presentation time is not after it; frames are never counted, for
recorders of screens write a frame when something changes. Instants count from the first frame. One picture at a time is
held, so that memory stays the same for hours of video.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, UnidentifiedImageError

from simulator.core.calendar import to_utc_ns
from simulator.core.errors import InputError, UsageError
from simulator.core.names import plain
from simulator.core.types import MS, SECOND
from simulator.screen.pixels import MAX_PIXELS, TooLarge, pixels_hash
from simulator.session.store import QUICK, pack
from simulator.sources.foreign import Foreign, Ledger, Shot
from simulator.sources.formats import Account, Wanted

__all__ = ["Sample", "frames", "recordings", "samples", "sniff"]

SUFFIXES = frozenset({".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".gif"})
_FIRST_YEAR = 1990  # a camera without a clock says 1904 or 1970
_GIF_FRAME_MS = 100  # what browsers make of a frame of 0 or 10 ms
_SEEK_NS = 10 * SECOND  # nearer than this, decoding from the start is as quick
_BROKEN = "stretches of the video that cannot be decoded (the picture before stands still)"


class Sample(NamedTuple):
    """What is shown at an instant; ``image`` is RGB, None for the very picture of the sample before."""

    t_ns: int
    image: Image.Image | None


@dataclass(slots=True)
class _Frame:
    """One frame: shown from ``at_ns`` on, the last one until ``until_ns``; drawn only if somebody looks."""

    at_ns: int
    until_ns: int
    draw: Callable[[], Image.Image]


def sniff(src: Path) -> bool:
    """Whether it is a file named like a video or a GIF."""
    return src.is_file() and src.suffix.lower() in SUFFIXES


def samples(
    file: Path, *, period_ns: int, start_ns: int = 0, end_ns: int | None = None, ledger: Ledger | None = None
) -> Iterator[Sample]:
    """The pictures of ``[start_ns, end_ns)``, one a period from ``start_ns`` on.

    Args:
        file: a video, or a GIF.
        period_ns: distance of the samples.
        start_ns: first sample, since the first frame; an instant before that has no picture and gives no sample.
        end_ns: None for the end of the file.
        ledger: counts what was broken.

    Raises:
        InputError: not a video, one without a picture that can be read, one of too many pixels.
        UsageError: the extra ``video`` is not installed.
    """
    if period_ns <= 0:
        raise ValueError(f"period_ns must be positive, not {period_ns}")
    ledger = ledger if ledger is not None else Ledger()
    t, shown, drawn = start_ns, None, None
    for frame in (_gif if file.suffix.lower() == ".gif" else _video)(file, start_ns, ledger):
        while shown is not None and t < frame.at_ns and (end_ns is None or t < end_ns):
            yield Sample(t, None if drawn is shown else shown.draw())
            t, drawn = t + period_ns, shown
        while shown is None and t < frame.at_ns:
            t += period_ns
        shown = frame
        if end_ns is not None and frame.at_ns >= end_ns:
            return
    while shown is not None and t < shown.until_ns and (end_ns is None or t < end_ns):
        yield Sample(t, None if drawn is shown else shown.draw())
        t, drawn = t + period_ns, shown


def frames(file: Path, into: Path, *, start_ns: int, end_ns: int, period_ns: int) -> list[tuple[int, Path]]:
    """Write the pictures of a stretch of a video below a folder, equal ones once.

    Args:
        file: see ``samples``, like the others.
        into: gets lossless WebP files, named by their pixels.
        start_ns: of the stretch.
        end_ns: of the stretch, not in it.
        period_ns: distance of the pictures.

    Returns:
        Times in the video, each with the file of the picture shown then.

    Raises:
        InputError: see ``samples``.
    """
    return list(_written(samples(file, start_ns=start_ns, end_ns=end_ns, period_ns=period_ns), into))


def recordings(wanted: Wanted, account: Account) -> Iterator[Foreign]:
    """The video as one recording: its times from ``creation_time`` where the file says one, else without a calendar.

    Raises:
        InputError: see ``samples``; pictures are not wanted, and there is nothing else.
    """
    src, ledger = wanted.src, Ledger()
    if not wanted.pictures:
        raise InputError(src, "a video is nothing but pictures: import it with --images copy")
    period = round(SECOND / (wanted.rate_hz or 1.0))
    began = None if src.suffix.lower() == ".gif" else _creation_ns(src, ledger)
    shots = [
        Shot((began or 0) + t, file=file)
        for t, file in _written(samples(src, period_ns=period, ledger=ledger), wanted.scratch())
    ]
    if not shots:
        raise InputError(src, "no picture in it could be read")
    ledger.add("kept", "screenshots", n=len(shots))
    ledger.add("kept", "distinct pictures", n=len({shot.file for shot in shots}))
    notes = {"rate": f"{SECOND / period:g} pictures a second, by presentation time"}
    notes["times"] = "creation_time of the file" if began is not None else "since the first frame, no calendar"
    yield Foreign(
        user=wanted.user or plain(src.stem),
        source=src,
        shots=shots,
        events=[],
        ledger=ledger,
        digest=_digest(src),
        period_ns=period,
        anchored=began is not None,
        notes=notes,
    )


def _written(found: Iterator[Sample], into: Path) -> Iterator[tuple[int, Path]]:
    """Each sample with the file of its picture; a picture that was there before, at whatever time, is not written."""
    file = into
    for t, image in found:
        if image is not None:
            file = into / f"{pixels_hash(image)}.webp"
            if not file.exists():
                file.write_bytes(pack(image, QUICK))
        yield t, file


def _digest(file: Path) -> str:
    whole = sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            whole.update(chunk)
    return whole.hexdigest()


# GIF


def _gif(file: Path, start_ns: int, ledger: Ledger) -> Iterator[_Frame]:
    """The frames of a GIF; one that breaks off gives what came before."""
    at, number = 0, 0
    try:
        with Image.open(file) as image:
            if image.width * image.height > MAX_PIXELS:
                raise TooLarge(file, f"it claims {image.width} x {image.height} pixels a frame")
            while True:
                picture = image.convert("RGB")  # composed: what earlier frames left is in it
                duration = image.info.get("duration") or 0
                if duration <= 10:
                    ledger.add("noted", f"frames without a duration (shown {_GIF_FRAME_MS} ms, as browsers do)")
                    duration = _GIF_FRAME_MS
                until = at + round(duration * MS)
                yield _Frame(at, until, lambda picture=picture: picture)  # type: ignore[misc]
                at, number = until, number + 1
                try:
                    image.seek(number)
                except EOFError:
                    return
    except (UnidentifiedImageError, FileNotFoundError) as error:
        raise InputError(file, "not a GIF that can be read (empty, damaged or another kind of file)") from error
    except (OSError, SyntaxError, ValueError, EOFError, IndexError) as error:
        if number == 0:
            raise InputError(file, f"no frame of it can be read ({error})") from error
        ledger.add("noted", "the file breaks off: what came before is kept", f"after {at / SECOND:g} s")


# videos


def _library() -> Any:
    """PyAV, which only this format needs."""
    try:
        import av
    except ImportError as error:
        raise UsageError("videos are read with PyAV: install it with `pip install 'proact[video]'`") from error
    av.logging.set_level(None)
    return av


def _opened(file: Path) -> tuple[Any, Any]:
    """The container and its first video stream.

    Raises:
        InputError: see ``samples``.
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


def _video(file: Path, start_ns: int, ledger: Ledger) -> Iterator[_Frame]:
    """The frames of a video in order of presentation, from the one that is shown at ``start_ns`` or before it."""
    container, stream = _opened(file)
    try:
        base, first, last = Fraction(stream.time_base), None, -1
        usual = _ceil_ns(1 / stream.average_rate) if stream.average_rate else SECOND
        for frame in _decoded(container, stream, ledger):
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
            last, until = at, at + max(1, length)
            yield _Frame(at, until, lambda frame=frame: _upright(frame))  # type: ignore[misc]
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
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets, None)
        except library.FFmpegError as error:
            ledger.add("noted", "the file breaks off: what came before is kept", str(error.strerror))
            packet = None
        try:
            yield from stream.codec_context.decode(packet)  # None: what the decoder still holds back
        except library.FFmpegError:
            if packet is not None:
                ledger.add("noted", _BROKEN)
        if packet is None:
            return


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


def _creation_ns(file: Path, ledger: Ledger) -> int | None:
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
