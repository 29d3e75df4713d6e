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
from simulator.play.whereabouts import fits, plays_of
from simulator.privacy.states import State
from simulator.screen.pixels import decode
from simulator.session.ignored import is_hidden, is_within_hidden
from simulator.session.play import Play
from simulator.session.reader import connect
from simulator.session.scenario import plays
from simulator.session.schema import FILE_NAME
from simulator.sources.recording import Recording

__all__ = ["Frame", "Recordings"]

WIDTH, QUALITY = 640, 68
_CHANGED = "the recording was changed since the run; this is what it holds now"
_LOOKED_FOR = 20  # units of a run whose recordings are looked for elsewhere than where its scenarios were


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture as a data address, or ``None`` with the reason why there is none."""

    data: str | None
    note: str = ""
    width: int = 0
    height: int = 0


class Recordings:
    """The recordings that a run was played over, where they still are: found as the timeline finds them.

    Args:
        run: the run folder.
        told: as ``run.json`` of the run holds it.
    """

    def __init__(self, run: Path, told: Mapping[str, Any]) -> None:
        self._run, self._told = run, told
        self._headers: Mapping[str, Mapping[str, Any]] = told["resolved"]
        self._plays: dict[str, Play | None] = {}
        for scenario in told.get("given", {}).get("scenarios", []):  # each is read once, whatever it holds
            try:
                found = plays([Path(scenario)])
            except InputError:  # moved, forgotten or damaged: its sessions have no pictures
                continue
            for play in found:
                header = self._headers.get(play.key)
                if header is not None and play.source.session == header.get("session") and fits(play, header):
                    self._plays[play.key] = play

    def hidden(self) -> bool:
        """Whether the run, or a recording of it, is kept out of version control, as those of a real screen are. So is a
        live run whose recording is gone: nobody decided that it may be seen.
        """
        if is_within_hidden(self._run):  # the run's own mark stays where the recording was moved or forgotten
            return True
        if len(self._headers) <= _LOOKED_FOR:
            for key in self._headers:
                self._play(key)
        folders = [folder for play in self._plays.values() if play is not None and (folder := _folder(play))]
        if self._told.get("given", {}).get("live") and not folders:
            return True
        return any(is_hidden(folder) or is_hidden(folder.absolute().parent) for folder in folders)

    def frames(self, key: str, instants: Sequence[int]) -> dict[int, Frame]:
        """What was on the screen of a unit at these instants (ns of the session)."""
        play = self._play(key)
        if play is None:
            return dict.fromkeys(instants, Frame(None, "the recording is not where the run had it"))
        try:
            found = anyio.run(_images, play, sorted(instants))
        except InputError:
            return dict.fromkeys(instants, Frame(None, "the recording cannot be read"))
        header = self._headers[key]
        changed = play.dataset_hash != header.get("dataset") and header.get("recording") != play.recording
        redacted, held_back = _redacted(play)
        return {t: _frame(image, held_back, _CHANGED if changed or _is(image, redacted) else "")
                for t, image in found.items()}  # fmt: skip

    def _play(self, key: str) -> Play | None:
        """Of a unit; one that is not where its run's scenarios say is looked for, once."""
        if key not in self._plays:
            header = self._headers[key]
            found = (play for play in plays_of(self._run, self._told, key) if fits(play, header))
            self._plays[key] = next(found, None)
        return self._plays[key]


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
    if _is(image, held_back):
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


def _is(image: ImageRef | None, paths: frozenset[Path]) -> bool:
    return image is not None and image.path.resolve() in paths


def _redacted(play: Play) -> tuple[frozenset[Path], frozenset[Path]]:
    """Pictures that were redacted, and those that a review lets go, whether or not that is carried out."""
    folder = _folder(play)
    if folder is None:
        return frozenset(), frozenset()
    with closing(connect(folder / FILE_NAME)) as db:

        def of(state: State) -> list[str]:
            return [p for (p,) in db.execute("SELECT file_path FROM screenshots WHERE privacy_action = ?", (state,))]

        redacted, gone = of(State.REDACTED), of(State.DELETED)
        with suppress(sqlite3.Error):  # where nobody has reviewed it there is no such table
            gone += [p for (p,) in db.execute("SELECT file_path FROM privacy_decisions WHERE decision != 'retain'")]
    redacted_at, gone_at = (frozenset((folder / p).resolve() for p in found if p) for found in (redacted, gone))
    return redacted_at, gone_at
