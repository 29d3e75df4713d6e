"""Video and GIF files as recordings: the picture that a player would show, at a rate.

The frame shown at an instant is the last one whose presentation time is not after it; frames are never counted, for
recorders of screens write a frame when something changes. Instants count from the first frame. One picture at a time is
held, so that memory stays the same for hours of video.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import file_digest, sha256
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from simulator.core.errors import InputError
from simulator.core.names import plain
from simulator.core.types import SECOND
from simulator.screen.pixels import pixels_hash
from simulator.session.store import QUICK, pack
from simulator.sources.foreign import Foreign, Ledger, Shot
from simulator.sources.formats import Account, Wanted
from simulator.sources.video_frames import creation_ns, frames_of

__all__ = ["Sample", "frames", "looked_at", "recordings", "samples", "sniff"]

MOST = 1_000_000
"""Rows of one video: eleven days at one a second. More come of damaged times, or of a wrong rate."""
SUFFIXES = frozenset({".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".gif"})


class Sample(NamedTuple):
    """What is shown at an instant; ``image`` is RGB, None for the very picture of the sample before."""

    t_ns: int
    image: Image.Image | None


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
        InputError, UsageError: see ``frames_of``.
    """
    if period_ns <= 0:
        raise ValueError(f"period_ns must be positive, not {period_ns}")
    ledger = ledger if ledger is not None else Ledger()
    t, shown, drawn = start_ns, None, None
    most = start_ns + MOST * period_ns
    for frame in frames_of(file, start_ns, ledger):
        while shown is not None and t < frame.at_ns and (end_ns is None or t < end_ns):
            if t >= most:
                raise InputError(file, f"over {MOST} pictures at this rate; name a lower one (--rate)")
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
    if src.is_dir():
        n = sum(file.suffix.lower() in SUFFIXES for file in src.iterdir())
        raise InputError(src, f"a folder (videos and GIFs in it: {n}); each is imported by itself, so name the file")
    if not wanted.pictures:
        raise InputError(src, "a video is nothing but pictures: import it with --images copy")
    period = round(SECOND / (wanted.rate_hz or 1.0))
    began = None if src.suffix.lower() == ".gif" else creation_ns(src, ledger)
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


def looked_at(src: Path) -> Iterable[Path]:
    """Nothing: no folder is imported."""
    del src
    return ()


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
    with file.open("rb") as stream:
        return file_digest(stream, sha256).hexdigest()
