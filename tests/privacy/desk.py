"""A small recorded session with private things on its screens, and a reader that knows what is written where."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from simulator.core.types import SECOND
from simulator.screen.ocr import Word
from simulator.session.store import Writer

__all__ = ["CARD", "CLEAN", "EMAIL", "IBAN", "NOTE", "SECRETS", "Exact", "readings", "record", "screen"]

SIZE = (960, 480)
FONT = ImageFont.load_default(16)
IBAN, EMAIL, CARD = "DE89 3704 0044 0532 0130 00", "jane.roe@example.com", "4111 1111 1111 1111"
_PLACE = ("window_x", "window_y", "window_w", "window_h")
NOTE, CLEAN = "nothing to see here", "score async noise monday"
HALF = "DE89 37"
SECRETS = (IBAN, EMAIL, CARD)
_PLACES = {IBAN: (40, 60), HALF: (40, 60), EMAIL: (40, 120), CARD: (40, 120), NOTE: (40, 180), CLEAN: (40, 180)}


def screen(*texts: str) -> Image.Image:
    image = Image.new("RGB", SIZE, (250, 250, 250))
    draw = ImageDraw.Draw(image)
    for text in texts:
        draw.text(_PLACES[text], text, fill=(10, 10, 10), font=FONT)
    return image


def _rect(text: str) -> tuple[int, int, int, int]:
    left, top, right, bottom = ImageDraw.Draw(Image.new("RGB", SIZE)).textbbox(_PLACES[text], text, font=FONT)
    return int(left), int(top), round(right), round(bottom)


@dataclass
class Exact:
    """Reads a text where, to the pixel, it is written whole; half a number it does not read at all.

    Attributes:
        blind: texts that this reader overlooks.
        asked: how many pictures it was given.
    """

    label: str = "exact"
    blind: tuple[str, ...] = ()
    asked: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.label

    def words(self, image: Image.Image) -> list[Word]:
        self.asked.append(1)
        found: list[Word] = []
        for line, text in enumerate([IBAN, EMAIL, CARD, NOTE, CLEAN]):
            rect = _rect(text)
            if text not in self.blind and image.crop(rect).tobytes() == screen(text).crop(rect).tobytes():
                left, top, right, bottom = rect
                each = (right - left) // len(text.split())
                found += [
                    Word(word, left + i * each, top, each, bottom - top, line, line, 90.0)
                    for i, word in enumerate(text.split())
                ]
        return found


def readings(**blind: tuple[str, ...]) -> list[Exact]:
    return [Exact("first", blind.get("first", ())), Exact("second", blind.get("second", ()))]


def record(
    folder: Path,
    *,
    titles: dict[int, str] | None = None,
    ticks: Container[int] = range(10),
    place: tuple[int, int, int, int] | None = (0, 0, *SIZE),
    monitor: int = 1,
) -> Path:
    """Ten ticks of a window in that place.

    A note, half a number, the number (twice), number and mail, mail, card, and nothing private.
    """
    screens = [
        screen(NOTE),
        screen(HALF, NOTE),
        screen(IBAN, NOTE),
        screen(IBAN, NOTE),
        screen(IBAN, EMAIL, NOTE),
        screen(EMAIL),
        screen(CARD),
        screen(CLEAN),
        screen(CLEAN),
        screen(NOTE),
    ]
    with Writer(folder, session="desk", user="sam") as writer:
        for tick, image in enumerate(screens):
            if tick not in ticks:
                continue
            title = (titles or {}).get(tick, f"Inbox of {EMAIL}" if tick == 5 else "form - browser")
            text = f"read: {IBAN}" if tick in (2, 3, 4) else None
            writer.add(
                image=image, tick=tick, captured_ns=tick * SECOND, app_name="chromium", window_title=title, text=text,
                monitor=monitor, **(dict(zip(_PLACE, place, strict=True)) if place else {}),
            )  # fmt: skip
        writer.event(
            id=1, start_ns=0, end_ns=9 * SECOND, app_name="chromium", window_title=f"Inbox of {EMAIL}",
            event_summary=f"paid with {CARD}", is_llm_event=1,
            conversation=f'{{"user_queries": ["is {IBAN} right"], "full_conversation": []}}',
        )  # fmt: skip
        writer.opportunity(
            id="a", opens_ns=2 * SECOND, closes_ns=5 * SECOND, intention="Translation", query=f"tell {EMAIL}"
        )
    return folder
