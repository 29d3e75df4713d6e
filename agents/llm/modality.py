"""What a model gets of the screen: its text, pictures of it, or both.

A text that the recording carries is taken as it is and costs nothing. Else the picture is read by OCR, in a thread,
timed as stage ``ocr``; a picture with the same pixels is read once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from simulator.core.errors import InputError, UsageError, nearest, quote
from simulator.core.protocols import Meter
from simulator.core.types import ImageRef, Observation, Snapshot
from simulator.screen.ocr import Ocr, OcrFailed
from simulator.screen.pixels import decode, pixels_hash
from simulator.screen.readers import as_text, reader

__all__ = ["MODALITIES", "Eyes", "Seen"]

MODALITIES = ("text", "image", "both")
_LOOK_BACK = 600


@dataclass(frozen=True, slots=True)
class Seen:
    """The screen: its text (None: not shown as text, or there is none) and pictures with their ages in ns, oldest
    first; the last one is now's, if there is one.
    """

    text: str | None
    pictures: tuple[tuple[int, ImageRef], ...]


class Eyes:
    """Looks at snapshots for one unit.

    Args:
        modality: ``text``, ``image`` or ``both``.
        frames: how many earlier pictures go along, each unlike the one before it.
        ocr: what reads pictures that carry no text, see ``simulator.screen.readers``; ``none``: nothing does.

    Raises:
        UsageError: an unknown word, or ``frames`` where no pictures are shown.
    """

    def __init__(self, modality: str, frames: int, ocr: str) -> None:
        if modality not in MODALITIES:
            raise UsageError(f"modality {quote(modality)} is unknown; {nearest(modality, MODALITIES)}")
        if frames < 0:
            raise UsageError("frames: a whole number from 0 is wanted")
        if frames and modality == "text":
            raise UsageError("frames are pictures: they go with modality image or both")
        self.reads, self.shows = modality != "image", modality != "text"
        self._frames, self._ocr_name = frames, ocr
        self._ocr: Ocr | None = None
        self._known: dict[str, str] = {}

    async def look(self, observation: Observation) -> Seen:
        """The screen now, and earlier pictures of it.

        Raises:
            OcrAbsent: a picture has to be read, and what reads is not installed.
        """
        snapshot, meter = observation.snapshot, observation.meter
        text = await self.text(snapshot, meter) if self.reads else None
        if not self.shows:
            return Seen(text, ())
        if snapshot.image is None:
            meter.note("no_picture")
            return Seen(text, ())
        shown = [*self._earlier(observation), snapshot]
        return Seen(text, tuple((snapshot.captured_ns - s.captured_ns, s.image) for s in shown if s.image is not None))

    def _earlier(self, observation: Observation) -> list[Snapshot]:
        if not self._frames:
            return []
        before = [s for s in observation.history.snapshots(_LOOK_BACK) if s.index < observation.snapshot.index]
        return distinct([*before, observation.snapshot])[:-1][-self._frames :]

    async def text(self, snapshot: Snapshot, meter: Meter) -> str | None:
        """A snapshot's text: what it carries, else what is read off its picture; None where neither is to be had.

        Raises:
            OcrAbsent: see ``look``.
        """
        if snapshot.text is not None or snapshot.image is None:
            return snapshot.text
        if self._ocr_name == "none":
            meter.note("not_read")
            return None
        name = snapshot.image.pixels_hash
        if name is not None and name in self._known:
            return self._known[name]
        with meter.stage("ocr"):
            try:
                return await asyncio.to_thread(self._read, snapshot.image)
            except (InputError, OcrFailed):
                meter.note("ocr_failed")
                return None

    def _read(self, ref: ImageRef) -> str:
        if self._ocr is None:
            self._ocr = reader(self._ocr_name)
        picture = decode(ref.path)
        name = ref.pixels_hash or pixels_hash(picture)
        if name not in self._known:
            self._known[name] = as_text(self._ocr.words(picture))
        return self._known[name]


def distinct(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """Those whose picture differs from the one before; of equal ones the last, so that now's stays."""
    kept: list[Snapshot] = []
    for snapshot in snapshots:
        if snapshot.image is None:
            continue
        if kept and _same(kept[-1], snapshot):
            kept[-1] = snapshot
        else:
            kept.append(snapshot)
    return kept


def _same(one: Snapshot, other: Snapshot) -> bool:
    a, b = one.image, other.image
    if a is None or b is None:
        return False
    return a.path == b.path or (a.pixels_hash is not None and a.pixels_hash == b.pixels_hash)
