"""OCR by name: what is known, what is absent, and what the real ones read where they are installed."""

from __future__ import annotations

import importlib.util
import shutil

import pytest
from PIL import Image, ImageDraw, ImageFont

from simulator.core.errors import UsageError
from simulator.screen.ocr import OcrAbsent, Word
from simulator.screen.readers import as_text, reader


def word(text: str, line: int, paragraph: int = 0) -> Word:
    return Word(text, 0, 0, 1, 1, line, paragraph, 90.0)


def test_words_become_lines_and_paragraphs() -> None:
    words = [word("a", 0), word("b", 0), word("c", 1), word("d", 2, 1), word("e", 2, 1)]
    assert as_text(words) == "a b\nc\n\nd e"
    assert as_text([]) == ""


def test_unknown_readers_and_languages_are_told() -> None:
    with pytest.raises(UsageError, match="did you mean 'tesserocr'"):
        reader("teserocr")
    for name in ("rapidocr:eng", "tesseract:"):
        with pytest.raises(UsageError, match="languages go with"):
            reader(name)


@pytest.mark.parametrize("name", ["tesserocr", "rapidocr"])
def test_an_extra_that_is_not_installed_is_told_with_how_to_get_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(module: str) -> None:
        raise ModuleNotFoundError(module)

    monkeypatch.setattr("simulator.screen.readers.importlib.import_module", absent)
    with pytest.raises(OcrAbsent, match=r"pip .*install .*\[ocr\]'"):
        reader(name)


def _needs(name: str) -> None:
    if name == "tesseract" and shutil.which("tesseract") is None:
        pytest.skip("tesseract is not installed")
    if name == "tesserocr" and importlib.util.find_spec("tesserocr") is None:
        pytest.skip("the package tesserocr is not installed (extra ocr)")
    if name == "rapidocr" and (
        importlib.util.find_spec("rapidocr") is None or importlib.util.find_spec("onnxruntime") is None
    ):
        pytest.skip("the packages rapidocr and onnxruntime are not installed (extra ocr)")


@pytest.mark.filterwarnings("ignore")  # of others' packages
@pytest.mark.parametrize("name", ["tesseract", "tesserocr", "rapidocr"])
def test_a_line_of_text_is_read_and_a_blank_picture_holds_none(name: str) -> None:
    _needs(name)
    read = reader(name)
    page = Image.new("RGB", (640, 160), "white")
    ImageDraw.Draw(page).text((20, 50), "Traceback most recent call last", "black", ImageFont.load_default(28))
    words = read.words(page)
    assert "recent call last" in as_text(words).replace("\n", " ")
    found = next(w for w in words if w.text == "recent")
    assert 100 < found.x < 400
    assert 30 < found.y < 90
    assert read.words(Image.new("RGB", (640, 160), "white")) == []
