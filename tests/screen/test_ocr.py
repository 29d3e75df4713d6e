"""Words of a picture by tesseract: its table is read, its absence told."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from simulator.core.errors import Exit
from simulator.screen.ocr import OcrAbsent, OcrFailed, Tesseract, parse_tsv

HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
needs_tesseract = pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")


def test_words_come_with_their_places_at_the_pictures_own_size() -> None:
    table = "\n".join(
        [
            HEAD,
            "1\t1\t0\t0\t0\t0\t0\t0\t400\t200\t-1\t",
            "5\t1\t1\t1\t1\t1\t21\t40\t61\t20\t96.5\tHello",
            "5\t1\t1\t1\t2\t1\t20\t80\t60\t20\t91\tworld",
            "5\t1\t2\t1\t1\t1\t200\t80\t60\t20\t40\t\u4e16\u754c\r",
            "5\t1\t2\t1\t1\t2\t300\t80\t60\t20\t95\t ",
            "torn",
        ]
    )
    first, second, third = parse_tsv(table, 2)
    assert (first.text, first.x, first.y, first.width, first.height) == ("Hello", 10, 20, 31, 10)
    assert second.line != first.line
    assert second.paragraph == first.paragraph
    assert (third.text, third.paragraph != first.paragraph) == ("\u4e16\u754c", True)


@given(st.text(max_size=200))
def test_any_text_that_is_no_table_holds_no_words(text: str) -> None:
    assert parse_tsv(text) == []


def test_a_program_that_is_not_there_is_told_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(OcrAbsent, match="apt install tesseract-ocr") as caught:
        Tesseract()
    assert caught.value.exit_code is Exit.USAGE


def _program(folder: Path, body: str) -> str:
    file = folder / "reader"
    says = "if '--list-langs' in sys.argv:\n    print('List')\n    print('eng')\n    sys.exit()"
    file.write_text(f"#!{sys.executable}\nimport sys\n{says}\n{body}\n")
    file.chmod(0o755)
    return str(file)


@pytest.mark.skipif(os.name == "nt", reason="needs a script as a program")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit(3)", "exit code 3"),
        ("import time\ntime.sleep(30)", "over 0.3 s"),
        ("sys.stdin.close()\nsys.exit(1)", "exit code 1"),
    ],
)
def test_a_program_that_fails_or_hangs_costs_one_picture(tmp_path: Path, body: str, said: str) -> None:
    ocr = Tesseract(command=_program(tmp_path, body), timeout_s=0.3)
    with pytest.raises(OcrFailed, match=said):
        ocr.words(Image.new("RGB", (40, 20)))


@needs_tesseract
def test_a_language_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(OcrAbsent, match=r"no language 'xyz'; it has .*eng.*tesseract-ocr-xyz"):
        Tesseract("eng+xyz")


@needs_tesseract
@pytest.mark.parametrize(("mode", "scale"), [(3, 2), (11, 1)])
def test_a_written_word_is_read_where_it_stands(mode: int, scale: int) -> None:
    image = Image.new("RGB", (500, 200), (255, 255, 255))
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(24)
    draw.text((60, 40), "Reading matters", fill=(0, 0, 0), font=font)
    words = Tesseract(mode=mode, scale=scale).words(image)
    assert [w.text for w in words] == ["Reading", "matters"]
    left, top, right, bottom = draw.textbbox((60, 40), "Reading", font=font)
    first = words[0]
    assert abs(first.x - left) <= 4
    assert abs(first.y - top) <= 4
    assert abs(first.x + first.width - right) <= 6
    assert abs(first.y + first.height - bottom) <= 6


@needs_tesseract
@pytest.mark.parametrize(
    "image", [Image.new("RGB", (1, 1)), Image.new("RGB", (300, 200), (7, 7, 7)), Image.new("1", (64, 1))]
)
def test_empty_and_tiny_pictures_hold_no_words_or_fail_alone(image: Image.Image) -> None:
    with suppress(OcrFailed):
        assert Tesseract().words(image) == []
