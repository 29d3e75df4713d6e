"""Pictures by content: the files themselves, and sheets of a hundred thumbnails for quick scrubbing.

A page hands in the files of a session and gets ids; a browser can ask for ids only. What an id shows never changes, so
browsers may keep it. Sheets are made in threads and held in memory, never on the disk: what was redacted or forgotten
(``proact dataset privacy``, ``proact forget``) must not live on in a cache that nobody thinks of.
"""

from __future__ import annotations

import asyncio
import io
import os
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from aiohttp import web
from PIL import Image, ImageDraw

from simulator.core.errors import InputError
from simulator.core.files import open_plain
from simulator.screen import pixels

__all__ = ["A_SHEET", "THUMB", "Pictures", "read"]

THUMB = (160, 90)
A_SHEET = 100
ACROSS = 10
KNOWN = 500_000  # pictures: 139 hours of one a second
SHEETS_BYTES = 64_000_000
HELD_BYTES = 32_000_000
LARGEST = 50_000_000  # bytes of a file that is sent
FILE_THREADS = 2
SHEET_THREADS = max(1, min(4, (os.cpu_count() or 1) - 1))
"""A sheet of a hundred 1080p screens takes 2.5 s (25 ms each): who only wants one picture does not wait behind it."""
DECODED_PIXELS = 34_000_000
"""Of a picture that is decoded for a page, for a thumbnail or since browsers cannot show its kind: an 8K screen. One of
148 kB that claims a hundred million takes 3.6 s and 960 MB on its way to WebP.
"""
SHEET_PIXELS = 1_700_000_000
"""That are decoded for one sheet, a hundred 5K screens, 20 s: whoever made a recording could keep a thread busy."""
KEEP = "private, max-age=86400, immutable"
"""A day: long enough for a day's work, and short enough that a browser does not keep what was forgotten."""

UNKNOWN = "application/octet-stream"
_HEADS = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png", b"GIF8": "image/gif"}


class _Known(NamedTuple):
    path: Path
    within: Path
    hash: str | None = None


class Pictures:
    """Pictures that may be shown, by id.

    Args:
        kept: whether browsers may keep them.
    """

    def __init__(self, *, kept: bool = True) -> None:
        self._caching = KEEP if kept else "no-store"
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._orders: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._sheets = _Bounded(SHEETS_BYTES)
        self._held = _Bounded(HELD_BYTES)
        self._making: dict[str, asyncio.Future[bytes]] = {}
        self._lock = Lock()
        self._file_threads = ThreadPoolExecutor(FILE_THREADS, "proact-pictures")
        self._sheet_threads = ThreadPoolExecutor(SHEET_THREADS, "proact-sheets")

    def close(self) -> None:
        """End the threads."""
        for threads in (self._file_threads, self._sheet_threads):
            threads.shutdown(wait=False, cancel_futures=True)

    def forget(self) -> None:
        """Let go of everything that was made of files: some of them were redacted."""
        with self._lock:
            self._sheets = _Bounded(SHEETS_BYTES)

    def add(self, files: Sequence[tuple[Path, str | None]], within: Path) -> list[str]:
        """Have pictures shown; looks at each file's size and date, so call it in a thread.

        Args:
            files: where they lie, and a hash of what they show as recorded, None if unknown.
            within: the folder that they must lie in; one that is elsewhere is shown as broken.

        Returns:
            An id each: another one as soon as the file is another one.
        """
        ids = [_named(path, hash_) for path, hash_ in files]
        with self._lock:
            for id_, (path, hash_) in zip(ids, files, strict=True):
                self._known[id_] = _Known(path, within, hash_)
                self._known.move_to_end(id_)
            while len(self._known) > KNOWN:
                self._known.popitem(last=False)
        return ids

    def hold(self, data: bytes) -> str:
        """Have an encoded picture shown that lies in no file, such as the newest of a live run; gives its id.

        The newest 32 MB are held.
        """
        id_ = sha256(data).hexdigest()
        with self._lock:
            self._held.put(id_, data)
        return id_

    def sheets(self, ids: Sequence[str]) -> list[str]:
        """Ids of sheets, a hundred pictures each: picture i is number ``i % 100`` of sheet ``i // 100``, row by row."""
        made = []
        with self._lock:
            for start in range(0, len(ids), A_SHEET):
                part = tuple(ids[start : start + A_SHEET])
                made.append(id_ := sha256("".join(part).encode()).hexdigest())
                self._orders[id_] = part
                self._orders.move_to_end(id_)
            while len(self._orders) > KNOWN // A_SHEET:
                self._orders.popitem(last=False)
        return made

    def routes(self) -> list[web.AbstractRouteDef]:
        """``/picture/ID`` and ``/sheet/ID``."""
        return [web.get("/picture/{id:[0-9a-f]{64}}", self._picture), web.get("/sheet/{id:[0-9a-f]{64}}", self._sheet)]

    async def _picture(self, request: web.Request) -> web.StreamResponse:
        id_ = request.match_info["id"]
        with self._lock:
            data, known = self._held.get(id_), self._known.get(id_)
        if data is None and known is None:
            raise web.HTTPNotFound(text="this picture is not known here (any more); load the page again")
        run = asyncio.get_running_loop().run_in_executor
        if request.headers.get("If-None-Match") == f'"{id_}"' and (
            known is None or await run(self._file_threads, _named, known.path, known.hash) == id_
        ):
            return web.Response(status=304, headers={"ETag": f'"{id_}"', "Cache-Control": self._caching})
        if data is None:
            assert known is not None
            data = await run(self._file_threads, _file, known)
        return _answer(id_, data, self._caching)

    async def _sheet(self, request: web.Request) -> web.StreamResponse:
        id_ = request.match_info["id"]
        with self._lock:
            order = self._orders.get(id_)
        if order is None:
            raise web.HTTPNotFound(text="this sheet is not known here (any more); load the page again")
        now = await asyncio.get_running_loop().run_in_executor(self._file_threads, self._as_they_are, order)
        if request.headers.get("If-None-Match") == f'"{now}"':
            return web.Response(status=304, headers={"ETag": f'"{now}"', "Cache-Control": self._caching})
        with self._lock:
            data = self._sheets.get(now)
        return _answer(now, data if data is not None else await self._once(now, id_, order), self._caching)

    def _as_they_are(self, order: Sequence[str]) -> str:
        """A digest of the files of a sheet as they lie there now: another one once one is redacted or forgotten."""
        with self._lock:
            known = [self._known.get(id_) for id_ in order]
        now = ["gone" if one is None else _named(one.path, one.hash) for one in known]
        return sha256(" ".join((*order, *now)).encode()).hexdigest()

    async def _once(self, now: str, id_: str, order: Sequence[str]) -> bytes:
        """Make a sheet once, however many ask for it at the same time."""
        if (making := self._making.get(now)) is None:
            making = asyncio.get_running_loop().run_in_executor(self._sheet_threads, self._kept, now, id_, order)
            self._making[now] = making
            making.add_done_callback(lambda _: self._making.pop(now, None))
        return await asyncio.shield(making)

    def _kept(self, now: str, id_: str, order: Sequence[str]) -> bytes:
        made = self._make(id_, order)
        with self._lock:
            self._sheets.put(now, made)
        return made

    def _make(self, id_: str, order: Sequence[str]) -> bytes:
        width, height = THUMB
        rows = -(-len(order) // ACROSS)
        sheet = Image.new("RGB", (width * min(ACROSS, len(order)), height * rows))
        left = SHEET_PIXELS
        for i, picture in enumerate(order):
            with self._lock:
                known = self._known.get(picture)
            small, n = _thumb(known, left)
            left -= n
            sheet.paste(small, ((i % ACROSS) * width, (i // ACROSS) * height))
        out = io.BytesIO()
        sheet.save(out, "JPEG", quality=65)
        return out.getvalue()


class _Bounded:
    """The newest used, up to so many bytes."""

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._data: OrderedDict[str, bytes] = OrderedDict()

    def get(self, id_: str) -> bytes | None:
        if id_ in self._data:
            self._data.move_to_end(id_)
        return self._data.get(id_)

    def put(self, id_: str, data: bytes) -> None:
        self._bytes += len(data) - len(self._data.pop(id_, b""))
        self._data[id_] = data
        while self._bytes > self._most and len(self._data) > 1:
            self._bytes -= len(self._data.popitem(last=False)[1])


def _named(path: Path, hash_: str | None) -> str:
    """A recorded hash alone would not do: it says what the file should show, and two recordings may claim the same."""
    try:
        facts = path.stat()
        said = f"{facts.st_size} {facts.st_mtime_ns}"
    except OSError:
        said = "missing"
    return sha256(os.fsencode(path) + f"\0{said} {hash_}".encode(errors="replace")).hexdigest()


def _answer(id_: str, data: bytes, caching: str) -> web.Response:
    return web.Response(body=data, content_type=_type(data), headers={"ETag": f'"{id_}"', "Cache-Control": caching})


def read(path: Path, within: Path) -> tuple[bytes, str]:
    """A picture as browsers can show it, and its media type; blocks, so call it in a thread.

    Raises:
        InputError: it lies outside of the folder, is not there, damaged or enormous.
    """
    data = _file(_Known(path, within))
    return data, _type(data)


def _type(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((type_ for head, type_ in _HEADS.items() if data.startswith(head)), UNKNOWN)


def _inside(known: _Known) -> Path:
    real = known.path.resolve()
    if not real.is_relative_to(known.within.resolve()):
        raise InputError(known.path.name, "this picture lies outside of its session's folder and is not shown")
    return real


def _file(known: _Known) -> bytes:
    """The file as it is where browsers can show it, else as WebP."""
    path = _inside(known)
    if not path.is_file():
        raise InputError(path.name, "there is no such picture")
    try:
        width, height = pixels.size(path)  # refuses what claims to be enormous
        with open_plain(path) as stream:
            data = stream.read(LARGEST + 1)
        data = data if len(data) <= LARGEST else b""
        if _type(data) != UNKNOWN:
            return data
        if width * height > DECODED_PIXELS:
            want = "a browser cannot show this kind of picture, and it is too large to be made one that it can"
            raise InputError(path.name, want)
        out = io.BytesIO()
        pixels.decode(path).save(out, "WEBP", lossless=True, method=0)
        return out.getvalue()
    except InputError as error:  # by its name only: a page may be on a projector
        raise InputError(path.name, error.want) from None


def _thumb(known: _Known | None, most: int) -> tuple[Image.Image, int]:
    """A small picture, and how many pixels were decoded for it; a cross where that would be more than ``most``."""
    n = 0
    if known is not None:
        try:
            with pixels.opened(_inside(known)) as image:
                whole = image.width * image.height
                image.draft("RGB", (THUMB[0] * 2, THUMB[1] * 2))  # a JPEG is smaller from here on
                taken = whole if image.info.get("progressive") else image.width * image.height  # in steps: all of it
                if whole <= DECODED_PIXELS and taken <= most:
                    n = taken
                    small = image.convert("RGB")
                    small.thumbnail(THUMB, Image.Resampling.BILINEAR, reducing_gap=1.5)
                    return _centred(small), n
        except Exception:  # noqa: BLE001  # Pillow raises nearly everything on damaged files
            pass
    return _broken(), n


def _centred(small: Image.Image) -> Image.Image:
    made = Image.new("RGB", THUMB)
    made.paste(small, ((THUMB[0] - small.width) // 2, (THUMB[1] - small.height) // 2))
    return made


def _broken() -> Image.Image:
    """A cross: there was a picture, and it cannot be shown."""
    made = Image.new("RGB", THUMB, (96, 96, 96))
    draw = ImageDraw.Draw(made)
    draw.line((0, 0, *THUMB), fill=(230, 230, 230), width=2)
    draw.line((0, THUMB[1], THUMB[0], 0), fill=(230, 230, 230), width=2)
    return made
