"""Pictures of made-up screens: an application's bar, the title, lines of text.

Drawn with the small bitmap font that Pillow carries, scaled up, so that the pixels are the same on every machine. It
knows Latin letters only; what it does not know is drawn as an empty box. The text in the session is whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from simulator.core.rng import draw_u64

__all__ = ["draw"]

_SCALE = 2
_BARS = ("#2b579a", "#217346", "#b7472a", "#4a4a4a", "#0b6e75", "#6b3fa0", "#37547a", "#7a5c1e")


def draw(app: str, lines: Sequence[str], clock: str, size: tuple[int, int]) -> Image.Image:
    """A picture of `size` (width, height) pixels: bar with `app` and `clock`, then the lines."""
    width, height = max(size[0] // _SCALE, 1), max(size[1] // _SCALE, 1)
    picture = Image.new("RGB", (width, height), "#f7f7f4")
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, width, 22), fill=_BARS[draw_u64(0, "bar", app) % len(_BARS)])
    font = ImageFont.load_default_imagefont()
    pen.text((8, 5), _latin(app), fill="white", font=font)
    pen.text((max(width - 60, 8), 5), clock, fill="white", font=font)
    pen.text((8, height - 16), "SYNTHETIC: made up by proact, of nobody", fill="#999999", font=font)
    for i, line in enumerate(lines):
        pen.text((24, 40 + 22 * i), _latin(line), fill="#202020", font=font)
        if i:
            length = 80 + draw_u64(0, "line", line) % max(width // 2, 1)
            pen.line((24, 54 + 22 * i, min(24 + length, width - 8), 54 + 22 * i), fill="#c8c8c0")
    return picture.resize(size, Image.Resampling.NEAREST)


def _latin(text: str) -> str:
    return "".join(c if c.isprintable() and ord(c) < 256 else "[]" for c in text)
