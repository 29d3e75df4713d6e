"""A plain folder of images as a recording.

Times come from the file names (``screen_1_20250902_101112_123.png``), from EXIF, from the files' own dates, or, when
there is nothing of that kind, from a rate; which one it was is stated in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from simulator.core.calendar import from_utc_ns
from simulator.core.errors import InputError
from simulator.core.names import plain
from simulator.core.types import MS, SECOND
from simulator.screen.pixels import opened
from simulator.sources.foreign import (
    IMAGE_SUFFIXES,
    Foreign,
    Ledger,
    Local,
    NameTime,
    Shot,
    Times,
    name_time,
    natural,
)
from simulator.sources.formats import Account, Wanted

__all__ = ["Times", "looked_at", "read", "recordings", "sniff"]

_EXIF_TIME, _EXIF_PART = 36867, 37521  # DateTimeOriginal, SubsecTimeOriginal
_EXIF_FOLDER = 0x8769
Told = NameTime | None


def sniff(src: Path) -> bool:
    """Any folder may be one of images; whether there are any is told on reading."""
    return src.is_dir()


def recordings(wanted: Wanted, account: Account) -> Iterator[Foreign]:
    """The one recording of a folder, as a format of ``proact dataset import``."""
    name = wanted.user or plain(wanted.src.absolute().name)
    yield read(wanted.src, name, wanted.zone, times=wanted.times, rate_hz=wanted.rate_hz or 1.0)


def looked_at(src: Path) -> Iterable[Path]:
    """The pictures, and what is named like one."""
    return _images(src)


def _images(folder: Path) -> list[Path]:
    """The pictures of a folder and those below it but hidden ones, such as the thumbnails that programs keep."""
    found = (p for p in folder.rglob("*") if p.suffix.lower() in IMAGE_SUFFIXES and p.is_file())
    return natural(p for p in found if not any(part.startswith(".") for part in p.relative_to(folder).parts))


def read(folder: Path, user: str, zone: str, *, times: Times = "auto", rate_hz: float = 1.0) -> Foreign:
    """The images of a folder and its subfolders, in order of time; of equal or no times in natural order of names.

    Args:
        folder: where the images lie.
        user: whose they are.
        zone: IANA zone of times in names, EXIF and nowhere else.
        times: where times come from. ``auto``: names if at least half have one, else EXIF likewise, else the rate;
            the files' own dates are only taken when asked for, since copying changes them.
        rate_hz: images a second, for ``rate``.

    Raises:
        InputError: no folder, no image in it, no image with a time of the kind asked for.
    """
    if not folder.is_dir():
        raise InputError(folder, "there is no such folder")
    if not rate_hz > 0:
        raise InputError("rate", "images a second, above 0", value=rate_hz)
    ledger = Ledger()
    found = _images(folder)
    files = [file for file in found if not _moves(file)]
    if not files:
        n = f" but animated ones ({len(found)}); each is imported by itself, so name the file" if found else ""
        raise InputError(folder, f"there is no image in this folder{n}")
    for file in sorted(set(found) - set(files)):
        ledger.add("left out", "animated pictures (import each by itself, with --format video)", file.name)
    kind, told = _told(folder, files, times)
    local = Local(zone, ledger)
    shots: list[Shot] = []
    period = round(SECOND / rate_hz)
    for i, file in enumerate(files):
        if kind == "rate":
            shots.append(Shot(i * period, file=file))
        elif (moment := told[i]) is not None:
            at = local.utc_ns(moment.moment)
            shots.append(Shot(at, moment.screen, file=file, precision_ns=moment.precision_ns))
        else:
            ledger.add("left out", f"images without a time ({kind})", file.name)
    shots.sort(key=lambda s: s.utc_ns)
    ledger.add("kept", "screenshots", n=len(shots))
    return Foreign(
        user=user,
        source=folder,
        shots=shots,
        events=[],
        ledger=ledger,
        digest=_digest(folder, files),
        period_ns=period if kind == "rate" else None,
        anchored=kind != "rate",
        notes={"times": kind if kind != "rate" else f"rate of {rate_hz:g} images a second"},
    )


def _moves(file: Path) -> bool:
    """Whether it is a film of several pictures, of which a session would show one."""
    try:
        with opened(file) as image:
            return bool(getattr(image, "is_animated", False))
    except InputError:
        return False  # what is wrong with it is counted where it is taken


_READERS: dict[str, Callable[[Path], Told]] = {}


def _told(folder: Path, files: Sequence[Path], times: Times) -> tuple[str, list[Told]]:
    tried = ("name", "exif") if times == "auto" else (times,)
    for kind in tried:
        if kind == "rate":
            break
        told = [_READERS[kind](file) for file in files]
        n = sum(t is not None for t in told)
        if n and (times != "auto" or n * 2 >= len(files)):
            return kind, told
        if times != "auto":
            raise InputError(
                folder, "no image has a time of that kind; there are name, exif, mtime, rate", field="times", value=kind
            )
    return "rate", []


def _from_name(file: Path) -> Told:
    return name_time(file.name)


def _from_exif(file: Path) -> Told:
    try:
        with opened(file) as image:
            exif = image.getexif()
            told = exif.get_ifd(_EXIF_FOLDER) or exif
            text, part = told.get(_EXIF_TIME), str(told.get(_EXIF_PART) or "")
    except InputError:
        return None
    try:
        moment = datetime.strptime(str(text), "%Y:%m:%d %H:%M:%S")  # noqa: DTZ007 - EXIF has no zone
    except ValueError:
        return None
    micro = int(part.strip().ljust(6, "0")[:6]) if part.strip().isdigit() else 0
    return NameTime(moment + timedelta(microseconds=micro), 0, SECOND if not part.strip() else MS)


def _from_mtime(file: Path) -> Told:
    return NameTime(from_utc_ns(file.stat().st_mtime_ns), 0, 1000)


_READERS.update(name=_from_name, exif=_from_exif, mtime=_from_mtime)


def _digest(folder: Path, files: Sequence[Path]) -> str:
    """Over names, sizes and bytes, so that importing again can be told from importing something else."""
    whole = sha256()
    for file in files:
        whole.update(f"{file.relative_to(folder).as_posix()}\n{file.stat().st_size}\n".encode())
        whole.update(sha256(file.read_bytes()).digest())
    return whole.hexdigest()
