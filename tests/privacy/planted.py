"""Pictures of screens with invented private data on them, and where each piece of it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from simulator.core.rng import below, unit
from simulator.privacy.layout import Box
from simulator.privacy.validators import luhn

__all__ = ["LOOKS", "Look", "Sheet", "check_97", "covered", "sheet", "values"]

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
_FONTS = Path("/usr/share/fonts/truetype/dejavu")


@dataclass(frozen=True)
class Look:
    name: str
    paper: tuple[int, int, int]
    ink: tuple[int, int, int]
    size: int
    mono: bool = False

    def font(self) -> Font:
        file = _FONTS / ("DejaVuSansMono.ttf" if self.mono else "DejaVuSans.ttf")
        return ImageFont.truetype(str(file), self.size) if file.is_file() else ImageFont.load_default(self.size)


LOOKS = (
    Look("page", (255, 255, 255), (20, 20, 20), 15),
    Look("small page", (250, 250, 250), (60, 60, 60), 12),
    Look("terminal", (16, 16, 16), (210, 210, 210), 14, mono=True),
    Look("dark page", (32, 33, 36), (189, 193, 198), 15),
    Look("coloured", (38, 70, 98), (255, 255, 255), 18),
)


@dataclass
class Sheet:
    """A picture, and for each planted value its kind and the rectangle of its letters."""

    image: Image.Image
    planted: list[tuple[str, str, tuple[int, int, int, int]]] = field(default_factory=list)

    def write(self, look: Look, x: int, y: int, pieces: Sequence[str | tuple[str, str]]) -> int:
        """Write pieces of text in a line; a pair is a kind and a value. The end of the line."""
        draw, font = ImageDraw.Draw(self.image), look.font()
        for piece in pieces:
            text = piece if isinstance(piece, str) else piece[1]
            draw.text((x, y), text, fill=look.ink, font=font)
            left, top, right, bottom = (round(v) for v in draw.textbbox((x, y), text, font=font))
            if not isinstance(piece, str):
                self.planted.append((piece[0], text, (left, top, right, bottom)))
            x += round(draw.textlength(text, font=font))
        return x


def covered(rect: tuple[int, int, int, int], boxes: Sequence[Box]) -> bool:
    """Whether boxes cover a rectangle but for a pixel at its rim."""
    left, top, right, bottom = rect
    canvas = Image.new("L", (right - left, bottom - top))
    draw = ImageDraw.Draw(canvas)
    for b in boxes:
        if b.width > 0 and b.height > 0:
            draw.rectangle((b.x - left, b.y - top, b.x + b.width - left - 1, b.y + b.height - top - 1), fill=255)
    middle = canvas.crop((1, 1, canvas.width - 1, canvas.height - 1))
    return middle.getextrema() == (255, 255)


def check_97(country: str, account: str) -> str:
    """The IBAN of an account, its check digits computed."""
    number = int("".join(str(int(c, 36)) for c in account + country + "00"))
    return f"{country}{98 - number % 97:02d}{account}"


def values(seed: int) -> list[tuple[str, str]]:
    """One value of each kind, made by chance; nobody's."""

    def digits(n: int, name: str) -> str:
        return "".join(str(below(10, seed, name, i)) for i in range(n))

    def letters(n: int, name: str, from_: str = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789") -> str:
        return "".join(from_[below(len(from_), seed, name, i)] for i in range(n))

    iban = check_97("DE", digits(18, "iban"))
    card = next(c for d in range(10) if luhn(c := "4" + digits(14, "card") + str(d)))
    user = letters(5, "user", "abcdefghijkmnoprstuvw")
    month, day = 1 + below(12, seed, "month"), 1 + below(28, seed, "day")
    head = f"110105{1950 + below(50, seed, 'year')}{month:02d}{day:02d}{digits(3, 'cn')}"
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    cn = head + "10X98765432"[sum(int(a) * b for a, b in zip(head, weights, strict=True)) % 11]
    grouped = unit(seed, "grouped") < 0.7
    return [
        ("email", f"{user}.{letters(6, 'name', 'abcdefghijkmnoprstuvw')}@example.com"),
        ("phone", f"+1 202 555 01{digits(2, 'phone')}"),
        ("iban", " ".join(iban[i : i + 4] for i in range(0, 22, 4)) if grouped else iban),
        ("card", " ".join(card[i : i + 4] for i in range(0, 16, 4)) if grouped else card),
        ("us_ssn", f"{100 + below(500, seed, 'ssn')}-{10 + below(80, seed, 's2')}-{1000 + below(9000, seed, 's3')}"),
        ("cn_id", cn),
        ("key", "AKIA" + letters(16, "aws", "ABCDEFGHJKLMNPQRSTUVWXYZ234567")),
        ("key", "ghp_" + letters(36, "github")),
        ("key", "sk-proj-" + letters(40, "openai")),
        ("password", letters(10, "password") + "!7"),
    ]


_BEFORE = {
    "email": "write to ", "phone": "call ", "iban": "IBAN ", "card": "paid with ", "us_ssn": "SSN on file ",
    "cn_id": "ID ", "key": "export X=", "password": "password: ",
}  # fmt: skip
_NOISE = (
    "Score async noise monday draft operator train review the event report agent queue buffer",
    "2026-11-30 12:00:01.123 INFO kernel released snapshot 1796 in 0.35 ms (p99 1.2)",
    "def mean(values): return sum(values) / len(values)  # see ticket 4711",
    "Free space: 54.1 GiB (Total: 252.0 GiB), 12 items selected",
)


def sheet(look: Look, seed: int, size: tuple[int, int] = (1000, 800), every: int = 1) -> Sheet:
    """A page of noise with a value of each kind on it, or of every so many."""
    made = Sheet(Image.new("RGB", size, look.paper))
    y = 24
    for n, (kind, value) in enumerate(values(seed)[::every]):
        made.write(look, 30, y, [_NOISE[n % len(_NOISE)]])
        made.write(look, 30, y + 2 * look.size, [_BEFORE[kind], (kind, value), " for now"])
        y += 4 * look.size
    return made
