"""Pictures for a report: what was on the screen at some instants, as the recording holds it now.

What was redacted, deleted or forgotten since a run was played is not there any more, and what is decided and not
carried out yet is left out too: nothing here keeps a picture of its own.
"""

from __future__ import annotations

import base64
import io
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from PIL import Image

from simulator.core.errors import InputError
from simulator.core.types import ImageRef
from simulator.privacy.states import State
from simulator.screen.pixels import decode
from simulator.session.ignored import is_hidden
from simulator.session.play import Play
from simulator.session.reader import connect
from simulator.session.scenario import plays
from simulator.session.schema import FILE_NAME
from simulator.sources.recording import Recording

__all__ = ["Frame", "Recordings"]

WIDTH, QUALITY = 640, 68


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture as a data address, or ``None`` with the reason why there is none."""

    data: str | None
    note: str = ""
    width: int = 0
    height: int = 0


class Recordings:
    """The recordings that a run was played over, where its scenarios still are.

    Args:
        told: as ``run.json`` of the run holds it.
    """

    def __init__(self, told: Mapping[str, Any]) -> None:
        self._headers: Mapping[str, Mapping[str, Any]] = told["resolved"]
        self._plays: dict[str, Play] = {}
        for scenario in told.get("given", {}).get("scenarios", []):
            try:
                found = plays([Path(scenario)])
            except InputError:  # moved, forgotten or damaged: its sessions have no pictures
                continue
            for play in found:
                header = self._headers.get(play.key)
                same = header is not None and (play.source.session, play.source.end_ns) == (
                    header["session"], header["end_ns"],
                )  # fmt: skip
                if same:
                    self._plays[play.key] = play

    def hidden(self) -> bool:
        """Whether one of them is kept out of version control, as recordings of a real screen are."""
        folders = [folder for play in self._plays.values() if (folder := _folder(play)) is not None]
        return any(is_hidden(folder) or is_hidden(folder.absolute().parent) for folder in folders)

    def frames(self, key: str, instants: Sequence[int]) -> dict[int, Frame]:
        """What was on the screen of a unit at these instants (ns of the session)."""
        play = self._plays.get(key)
        if play is None:
            return dict.fromkeys(instants, Frame(None, "the recording is not where the run had it"))
        try:
            found = anyio.run(_images, play, sorted(instants))
        except InputError:
            return dict.fromkeys(instants, Frame(None, "the recording cannot be read"))
        changed = play.dataset_hash != self._headers[key]["dataset"]
        note = "the recording was changed since the run; this is what it holds now" if changed else ""
        held_back = _held_back(play)
        return {t: _frame(image, held_back, note) for t, image in found.items()}


async def _images(play: Play, instants: Sequence[int]) -> dict[int, ImageRef | None]:
    """By instant, the picture of the newest snapshot that was there; of an instant between two snapshots the next, if
    it comes within half a period: needs open where something has just appeared.
    """
    found: dict[int, ImageRef | None] = {}
    waiting, last = list(instants), None
    async for snapshot in play.source.snapshots():
        while waiting and snapshot.captured_ns > waiting[0] + play.period_ns // 2:
            found[waiting.pop(0)] = last
        if not waiting:
            break
        last = snapshot.image
    return found | dict.fromkeys(waiting, last)


def _frame(image: ImageRef | None, held_back: frozenset[Path], note: str) -> Frame:
    if image is None:
        return Frame(None, "there is no picture of this moment: none was taken, or it was deleted")
    if image.path.resolve() in held_back:
        return Frame(None, "a person decided that this picture is not shown")
    try:
        picture = decode(image.path)
    except InputError:
        return Frame(None, "the picture is not there any more")
    picture.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "WEBP", quality=QUALITY, method=4)
    data = "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
    return Frame(data, note, *picture.size)


def _folder(play: Play) -> Path | None:
    return play.source.header.folder if isinstance(play.source, Recording) else None


def _held_back(play: Play) -> frozenset[Path]:
    """Pictures of which a review says that they go, whether or not that is carried out."""
    folder = _folder(play)
    if folder is None:
        return frozenset()
    with closing(connect(folder / FILE_NAME)) as db:
        found = [
            p for (p,) in db.execute("SELECT file_path FROM screenshots WHERE privacy_action = ?", (State.DELETED,))
        ]
        with suppress(sqlite3.Error):  # where nobody has reviewed it there is no such table
            found += [p for (p,) in db.execute("SELECT file_path FROM privacy_decisions WHERE decision != 'retain'")]
    return frozenset((folder / p).resolve() for p in found if p)
