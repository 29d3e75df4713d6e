"""Pictures for the file manager and the image viewer: a hut, a boat, a whiteboard, drawn in flat colours."""

from __future__ import annotations

from io import BytesIO

from PIL import Image, ImageDraw

__all__ = ["boat", "hut", "whiteboard"]

SIZE = (840, 540)


def _png(picture: Image.Image) -> bytes:
    out = BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def hut(sky: str = "#b9d4e8") -> bytes:
    """A hut under hills."""
    picture = Image.new("RGB", SIZE, sky)
    pen = ImageDraw.Draw(picture)
    pen.polygon([(0, 380), (220, 180), (430, 360), (620, 220), (840, 400), (840, 540), (0, 540)], fill="#7f9a72")
    pen.rectangle((330, 330, 520, 460), fill="#8a5a3c")
    pen.polygon([(310, 335), (425, 250), (540, 335)], fill="#5c3a2a")
    pen.rectangle((405, 385, 445, 460), fill="#3a2a20")
    pen.rectangle((470, 262, 492, 310), fill="#6b6b6b")
    return _png(picture)


def boat(sea: str = "#3d6f8f") -> bytes:
    """A small boat."""
    picture = Image.new("RGB", SIZE, "#dfe9ef")
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 330, 840, 540), fill=sea)
    pen.polygon([(260, 320), (580, 320), (530, 390), (310, 390)], fill="#a33b2b")
    pen.rectangle((415, 150, 423, 320), fill="#553322")
    pen.polygon([(428, 160), (428, 305), (540, 305)], fill="#f4f1e6")
    return _png(picture)


def whiteboard() -> bytes:
    """A whiteboard with boxes and arrows."""
    picture = Image.new("RGB", SIZE, "#f2f2ee")
    pen = ImageDraw.Draw(picture)
    for n in range(3):
        pen.rectangle((90 + 240 * n, 200, 260 + 240 * n, 300), outline="#27408b", width=4)
    for n in range(2):
        pen.line((262 + 240 * n, 250, 328 + 240 * n, 250), fill="#b22222", width=4)
    return _png(picture)
