"""A plain folder of images as a recording."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PIL import Image

from simulator.core.errors import InputError
from simulator.core.types import SECOND
from simulator.sources.folder import read

S = SECOND


def _image(folder: Path, name: str, exif_time: str | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    image = Image.new("RGB", (4, 3), (len(name), 0, 0))
    exif = Image.Exif()
    if exif_time:
        exif[36867] = exif_time
    image.save(folder / name, exif=exif)
    return folder / name


def test_times_in_names_are_local_and_put_in_order(tmp_path: Path) -> None:
    for name in ("screen_1_20250902_101113_000.png", "screen_1_20250902_101112_500.png", "notes.png"):
        _image(tmp_path / "i", name)
    foreign = read(tmp_path / "i", "ada", "Asia/Shanghai")
    assert [s.utc_ns for s in foreign.shots] == [1_756_779_072_500_000_000, 1_756_779_073_000_000_000]
    assert foreign.notes["times"] == "name"
    assert foreign.ledger.of("left out") == {"images without a time (name)": 1}


def test_exif_is_next_and_a_rate_the_last_resort(tmp_path: Path) -> None:
    _image(tmp_path / "e", "b.jpg", "2025:09:02 10:11:12")
    _image(tmp_path / "e", "a.jpg", "2025:09:02 10:11:14")
    exif = read(tmp_path / "e", "ada", "UTC")
    assert ([s.file.name for s in exif.shots if s.file], exif.notes["times"]) == (["b.jpg", "a.jpg"], "exif")
    for n in (10, 9, 1):
        _image(tmp_path / "r", f"f{n}.png")
    rate = read(tmp_path / "r", "ada", "UTC", rate_hz=2)
    assert [(s.file.name, s.utc_ns) for s in rate.shots if s.file] == [
        ("f1.png", 0),
        ("f9.png", S // 2),
        ("f10.png", S),
    ]
    assert (rate.notes["times"], rate.anchored, rate.period_ns) == ("rate of 2 images a second", False, S // 2)


def test_the_files_own_dates_are_taken_when_asked_for(tmp_path: Path) -> None:
    os.utime(_image(tmp_path / "m", "b.png"), (1_760_000_000, 1_760_000_000))
    os.utime(_image(tmp_path / "m", "a.png"), (1_760_000_005, 1_760_000_005))
    shots = read(tmp_path / "m", "ada", "UTC", times="mtime").shots
    assert [s.utc_ns // S for s in shots] == [1_760_000_000, 1_760_000_005]


def test_what_cannot_be_read_is_told_in_a_sentence(tmp_path: Path) -> None:
    _image(tmp_path / "i", "a.png")
    (tmp_path / "none").mkdir()
    for folder, options, said in (
        ("gone", {}, "no such folder"),
        ("none", {}, "no image"),
        ("i", {"times": "name"}, "no image has a time of that kind"),
        ("i", {"rate_hz": 0.0}, "above 0"),
    ):
        with pytest.raises(InputError, match=said):
            read(tmp_path / folder, "ada", "UTC", **options)
