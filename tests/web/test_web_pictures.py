"""Pictures and sheets of thumbnails: what is shown, kept, refused and marked as broken."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from PIL import Image

from simulator.web import pictures as shown
from simulator.web.pictures import A_SHEET, THUMB, Pictures
from simulator.web.place import Place
from simulator.web.server import Web

Ask = Callable[..., aiohttp.client._RequestContextManager]


@asynccontextmanager
async def asking(place: Place) -> AsyncIterator[Ask]:
    pages = Web(place)
    url = await pages.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield lambda path, **headers: session.get(f"{url}{path}", headers=headers)
    finally:
        await pages.stop()
        place.close()


def picture(path: Path, colour: tuple[int, int, int] = (200, 30, 30), size: tuple[int, int] = (320, 180)) -> Path:
    Image.new("RGB", size, colour).save(path)
    return path


async def test_a_picture_is_sent_as_it_lies_there_and_kept(tmp_path: Path) -> None:
    place, file = Place([tmp_path]), picture(tmp_path / "a.png")
    (id_,) = place.pictures.add([(file, None)], tmp_path)
    async with asking(place) as ask:
        async with ask(f"picture/{id_}") as answer:
            assert (answer.status, answer.content_type) == (200, "image/png")
            assert await answer.read() == file.read_bytes()
            assert "immutable" in answer.headers["Cache-Control"]
            tag = answer.headers["ETag"]
        async with ask(f"picture/{id_}", **{"If-None-Match": tag}) as answer:
            assert (answer.status, await answer.read()) == (304, b"")


@pytest.mark.parametrize(("suffix", "type_"), [("jpg", "image/jpeg"), ("webp", "image/webp"), ("gif", "image/gif"),
                                              ("ppm", "image/webp"), ("bmp", "image/webp")])  # fmt: skip
async def test_kinds_that_browsers_do_not_know_are_made_into_one_they_do(
    tmp_path: Path, suffix: str, type_: str
) -> None:
    place, file = Place([tmp_path]), picture(tmp_path / f"a.{suffix}")
    (id_,) = place.pictures.add([(file, None)], tmp_path)
    async with asking(place) as ask, ask(f"picture/{id_}") as answer:
        assert answer.content_type == type_
        assert Image.open(io.BytesIO(await answer.read())).size == (320, 180)


def test_another_content_is_another_picture(tmp_path: Path) -> None:
    pictures, file = Pictures(), picture(tmp_path / "a.png")
    before = pictures.add([(file, "h")], tmp_path)
    assert pictures.add([(file, "h")], tmp_path) == before
    picture(file, (1, 2, 3), (64, 64))
    assert pictures.add([(file, "h")], tmp_path) != before
    assert pictures.add([(file, "another hash")], tmp_path) != pictures.add([(file, "h")], tmp_path)
    pictures.close()


def _link(folder: Path) -> Path:
    outside = picture(folder.parent / "outside.png")
    (folder / "link.png").symlink_to(outside)
    return folder / "link.png"


def _bomb(folder: Path) -> Path:
    """A PNG of 57 bytes that claims 60,000 x 60,000 pixels."""
    import struct
    import zlib

    head = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    end = b"IEND"
    (folder / "bomb.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
        + struct.pack(">I", 0) + end + struct.pack(">I", zlib.crc32(end)))  # fmt: skip
    return folder / "bomb.png"


def _claims_much(folder: Path) -> Path:
    """A kind that browsers cannot show, of 36 million pixels: within what is read, not within what is made another."""
    Image.new("1", (6000, 6000)).save(folder / "large.tif", compression="tiff_adobe_deflate")
    return folder / "large.tif"


def _endless(folder: Path) -> Path:
    with (folder / "endless.webp").open("wb") as file:
        file.write(b"RIFF\xf0\xff\xff\xffWEBPVP8 ")
        file.truncate(6_000_000_000)  # no block of the disk is used
    return folder / "endless.webp"


def _cut(folder: Path) -> Path:
    whole = picture(folder / "cut.ppm").read_bytes()
    (folder / "cut.ppm").write_bytes(whole[:500])
    return folder / "cut.ppm"


def _script(folder: Path) -> Path:
    (folder / "a.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    return folder / "a.svg"


BROKEN: dict[str, Callable[[Path], Path]] = {
    "a link out of the session": _link,
    "a way out of the session": lambda folder: folder / ".." / "outside.png",
    "missing": lambda folder: folder / "missing.png",
    "a folder": lambda folder: folder,
    "too large": _bomb,
    "too large for its kind": _claims_much,
    "a file without end": _endless,
    "cut short": _cut,
    "another kind of file": _script,
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
async def test_a_picture_that_cannot_be_shown_is_a_sentence_and_a_cross(
    tmp_path: Path, broken: Callable[[Path], Path]
) -> None:
    session = tmp_path / "session"
    session.mkdir()
    picture(tmp_path / "outside.png")
    place = Place([tmp_path])
    ids = place.pictures.add([(broken(session), "h"), (picture(session / "good.png"), None)], session)
    (sheet,) = place.pictures.sheets(ids)
    async with asking(place) as ask:
        async with ask(f"picture/{ids[0]}") as answer:
            assert answer.status == 422
            said = (await answer.json())["error"]
            assert str(tmp_path.parent) not in said
        async with ask(f"sheet/{sheet}") as answer:
            assert answer.status == 200
            made = Image.open(io.BytesIO(await answer.read())).convert("RGB")
    assert made.getpixel((5, 45)) == pytest.approx((96, 96, 96), abs=12)
    assert made.getpixel((THUMB[0] + 80, 45)) == pytest.approx((200, 30, 30), abs=12)


@pytest.mark.parametrize(("progressive", "made"), [(False, 4), (True, 2)])
def test_a_sheet_decodes_no_more_pixels_than_its_bound_whatever_a_jpeg_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, progressive: bool, made: int
) -> None:
    monkeypatch.setattr(shown, "SHEET_PIXELS", 2 * 2000 * 1000)
    place = Place([tmp_path])
    Image.new("RGB", (2000, 1000), (200, 30, 30)).save(tmp_path / "a.jpg", progressive=progressive)
    ids = place.pictures.add([(tmp_path / "a.jpg", str(i)) for i in range(4)], tmp_path)
    sheet = Image.open(io.BytesIO(place.pictures._make("x", ids))).convert("RGB")
    assert sum(sheet.getpixel((i * 160 + 30, 45))[0] > 150 for i in range(4)) == made  # type: ignore[index]
    monkeypatch.setattr(shown, "DECODED_PIXELS", 2000 * 1000 - 1)
    sheet = Image.open(io.BytesIO(place.pictures._make("x", ids))).convert("RGB")
    assert not any(sheet.getpixel((i * 160 + 30, 45))[0] > 150 for i in range(4))  # type: ignore[index]
    place.close()


async def test_a_sheet_holds_a_hundred_in_rows_of_ten(tmp_path: Path) -> None:
    place = Place([tmp_path])
    files = [(picture(tmp_path / f"{i}.png", (i * 2, 255 - i * 2, 0), (32, 18)), None) for i in range(A_SHEET + 5)]
    ids = place.pictures.add(files, tmp_path)
    sheets = place.pictures.sheets(ids)
    assert len(sheets) == 2
    assert place.pictures.sheets(ids) == sheets
    async with asking(place) as ask:
        async with ask(f"sheet/{sheets[0]}") as answer:
            assert answer.content_type == "image/jpeg"
            assert "immutable" in answer.headers["Cache-Control"]
            made = Image.open(io.BytesIO(await answer.read()))
        async with ask(f"sheet/{sheets[1]}") as answer:
            last = Image.open(io.BytesIO(await answer.read()))
    assert made.size == (1600, 900)
    assert last.size == (800, 90)
    assert made.getpixel((7 * 160 + 80, 3 * 90 + 45)) == pytest.approx((74, 181, 0), abs=14)


async def test_a_sheet_that_many_ask_for_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, made, whole = Place([tmp_path]), list[str](), Pictures._make

    def make(self: Pictures, id_: str, order: Sequence[str]) -> bytes:
        made.append(id_)
        return whole(self, id_, order)

    monkeypatch.setattr(Pictures, "_make", make)
    (sheet,) = place.pictures.sheets(place.pictures.add([(picture(tmp_path / "a.png"), None)], tmp_path))
    async with asking(place) as ask:

        async def once() -> None:
            async with ask(f"sheet/{sheet}") as answer:
                assert answer.status == 200

        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(once())
    assert made == [sheet]


@pytest.mark.parametrize(
    "path",
    ["picture/" + "0" * 64, "sheet/" + "0" * 64, "picture/../../etc/passwd", "picture/a.png", "picture/%2e%2e%2f",
     "sheet/", "picture/" + "A" * 64],
)  # fmt: skip
async def test_what_no_page_handed_in_is_not_shown(tmp_path: Path, path: str) -> None:
    picture(tmp_path / "a.png")
    async with asking(Place([tmp_path])) as ask, ask(path) as answer:
        assert answer.status == 404


async def test_pictures_in_no_file_are_held_and_bounded(tmp_path: Path) -> None:
    place = Place([tmp_path])
    held = [place.pictures.hold(os.urandom(1_000_000)) for _ in range(40)]
    assert place.pictures._held._bytes <= shown.HELD_BYTES
    newest = place.pictures.hold(picture(tmp_path / "a.png").read_bytes())
    async with asking(place) as ask:
        async with ask(f"picture/{newest}") as answer:
            assert answer.content_type == "image/png"
        async with ask(f"picture/{held[0]}") as answer:
            assert answer.status == 404


def test_what_is_known_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "KNOWN", 200)
    pictures = Pictures()
    for start in range(0, 1000, 50):
        pictures.sheets(pictures.add([(tmp_path / f"{start + i}.png", None) for i in range(50)], tmp_path))
    assert (len(pictures._known), len(pictures._orders)) == (200, 2)
    pictures.close()


async def test_what_was_forgotten_is_in_no_sheet_any_more(tmp_path: Path) -> None:
    """``proact forget`` runs in another process: nobody tells this one."""
    place, file = Place([tmp_path]), picture(tmp_path / "a.png", (250, 0, 0))
    ids = place.pictures.add([(file, None)], tmp_path)
    (sheet,) = place.pictures.sheets(ids)
    async with asking(place) as ask:
        async with ask(f"sheet/{sheet}") as answer:
            before, tag = await answer.read(), answer.headers["ETag"]
        async with ask(f"sheet/{sheet}", **{"If-None-Match": tag}) as answer:
            assert answer.status == 304
        file.unlink()
        async with ask(f"sheet/{sheet}", **{"If-None-Match": tag}) as answer:
            assert answer.status == 200
            assert await answer.read() != before
        for id_ in (ids[0], "0" * 64):
            async with ask(f"picture/{id_}", **{"If-None-Match": f'"{id_}"'}) as answer:
                assert answer.status in (404, 422)


async def test_a_sheet_decodes_so_much_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "SHEET_PIXELS", 2 * 320 * 180)
    monkeypatch.setattr(shown, "DECODED_PIXELS", 320 * 180)
    place = Place([tmp_path])
    files = [picture(tmp_path / "big.png", size=(640, 360)), *(picture(tmp_path / f"{i}.png") for i in range(4))]
    (sheet,) = place.pictures.sheets(place.pictures.add([(file, None) for file in files], tmp_path))
    async with asking(place) as ask, ask(f"sheet/{sheet}") as answer:
        made = Image.open(io.BytesIO(await answer.read())).convert("RGB")
    reds = [made.getpixel((THUMB[0] * i + 30, 45))[0] > 150 for i in range(5)]  # type: ignore[index]
    assert reds == [False, True, True, False, False]
