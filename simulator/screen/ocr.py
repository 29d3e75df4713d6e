"""Words on a picture, and where: a protocol, and the ``tesseract`` command behind it.

OCR is never perfect: what one reading misses another finds, so whoever looks for something private takes the union of
several (``simulator.privacy.scan``). On a 1920x1080 screen tesseract 5.3 took 0.5 s at its own size and 0.9 s at twice
the size with one thread, and 3 to 5 s with its own threads on two busy cores: hence one thread each.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from io import BytesIO
from typing import Protocol

from PIL import Image

from simulator.core.errors import ProactError, UsageError

__all__ = ["Ocr", "OcrAbsent", "OcrFailed", "Tesseract", "Word", "parse_tsv"]

_LONGEST_SIDE = 32_000  # tesseract reads no picture with a side of 32,768 pixels


class OcrAbsent(UsageError):
    """The program, or a language of it, is not installed."""


class OcrFailed(ProactError):
    """One picture could not be read; others may be."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word as read.

    Attributes:
        text: without blanks at its ends, never empty.
        x, y, width, height: pixels of the picture that was given.
        line, paragraph: numbers within the picture; words of one line come in reading order.
        confidence: 0 to 100, of the reader's own making.
    """

    text: str
    x: int
    y: int
    width: int
    height: int
    line: int
    paragraph: int
    confidence: float


class Ocr(Protocol):
    """Something that reads words; blocking, and safe to call from several threads."""

    @property
    def name(self) -> str:
        """What it is and how it is set, the same for equal readings."""
        ...

    def words(self, image: Image.Image) -> list[Word]:
        """All words of a picture, line by line.

        Raises:
            OcrFailed: this picture could not be read.
        """
        ...


class Tesseract:
    """The ``tesseract`` command.

    Args:
        language: of tesseract's models, several joined by ``+``: ``eng``, ``eng+deu``.
        mode: its page segmentation: 3 finds blocks and paragraphs, 11 takes every bit of text for itself.
        scale: how much a picture is enlarged first; screens have letters of 10 pixels, the models want 20 and more.
        command: the program.
        timeout_s: of one picture.

    Raises:
        OcrAbsent: no such program, or not this language.
    """

    def __init__(
        self,
        language: str = "eng",
        *,
        mode: int = 3,
        scale: int = 2,
        command: str = "tesseract",
        timeout_s: float = 120.0,
    ) -> None:
        found = shutil.which(command)
        if found is None:
            raise OcrAbsent(
                f"the program {command} is not installed, and without it no text on a picture is found; "
                "on Debian: apt install tesseract-ocr (and tesseract-ocr-deu, … for other languages)"
            )
        self.language, self.mode, self.scale = language, mode, scale
        self._program, self._timeout_s = found, timeout_s
        if missing := [one for one in language.split("+") if one not in _languages(found)]:
            raise OcrAbsent(
                f"tesseract has no language '{missing[0]}'; it has {', '.join(_languages(found))}; "
                f"on Debian: apt install tesseract-ocr-{missing[0].replace('_', '-')}"
            )

    @property
    def name(self) -> str:
        """See ``Ocr``."""
        return f"tesseract {self.language} mode {self.mode} x{self.scale}"

    def words(self, image: Image.Image) -> list[Word]:
        """See ``Ocr``."""
        scale = self.scale if max(image.size) * self.scale <= _LONGEST_SIDE else 1
        grey = image.convert("L")
        if scale > 1:
            grey = grey.resize((image.width * scale, image.height * scale), Image.Resampling.LANCZOS)
        packed = BytesIO()
        grey.save(packed, "PPM")  # a PGM, that is: nothing to compress and nothing to undo
        return parse_tsv(self._read(packed.getvalue()), scale)

    def _read(self, picture: bytes) -> str:
        dots = str(96 * self.scale)
        words = [self._program, "stdin", "stdout", "-l", self.language, "--psm", str(self.mode), "--dpi", dots, "tsv"]
        try:
            done = subprocess.run(
                words,
                input=picture,
                capture_output=True,
                timeout=self._timeout_s,
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise OcrFailed(f"tesseract took over {self._timeout_s:g} s for a picture") from None
        except OSError as error:
            raise OcrFailed(f"tesseract cannot be started ({error.strerror})") from None
        if done.returncode:
            raise OcrFailed(f"tesseract could not read a picture (exit code {done.returncode})")
        return done.stdout.decode("utf-8", "replace")


def parse_tsv(text: str, scale: int = 1) -> list[Word]:
    """The words of tesseract's table (12 columns with tabs between; level 5 is a word), at the picture's own size."""
    found: list[Word] = []
    lines: dict[tuple[str, ...], int] = {}
    paragraphs: dict[tuple[str, ...], int] = {}
    for row in text.split("\n"):
        fields = row.rstrip("\r").split("\t", 11)
        if len(fields) < 12 or fields[0] != "5" or not fields[11].strip():
            continue
        x, y, width, height = (int(v) for v in fields[6:10])
        left, top = x // scale, y // scale
        found.append(
            Word(
                fields[11].strip(),
                left,
                top,
                max(1, -(-(x + width) // scale) - left),
                max(1, -(-(y + height) // scale) - top),
                lines.setdefault(tuple(fields[1:5]), len(lines)),
                paragraphs.setdefault(tuple(fields[1:4]), len(paragraphs)),
                float(fields[10]),
            )
        )
    return found


def _languages(program: str) -> list[str]:
    try:
        done = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return sorted(line.strip() for line in (done.stdout or done.stderr).splitlines()[1:] if line.strip())
