"""StreamingBench's proactive-output questions as scenarios."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from simulator.core.errors import InputError, UsageError
from simulator.core.types import SECOND
from simulator.session.check import check
from simulator.session.importing import Report, import_
from simulator.session.scenario import plays
from simulator.sources import streamingbench
from simulator.sources.formats import chosen
from simulator.sources.streamingbench import NO_PICTURES, clock_s

REAL = Path(__file__).parents[2] / "../shared/data/streamingbench"


def _question(ask: Any = "00:10:18", true: Any = "0:10:25", **changed: Any) -> dict[str, Any]:
    said = {"question": 'When it shows "AD", output "Break point".', "time_stamp": ask, "ground_truth_time_stamp": true,
            "ground_truth_output": "Break point"}  # fmt: skip
    return said | changed


def _entry(*questions: Any, video: Any = "./videos/sample_1.mp4", time: str = "[0:10:00 - 0:10:30]") -> dict[str, Any]:
    return {"time": time, "questions": list(questions), "video_path": video}


def _file(folder: Path, *entries: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "questions.json").write_text(json.dumps(list(entries)), encoding="utf-8")
    return folder


def _count(report: Report, outcome: str, words: str) -> int:
    return sum(w.count for w in report.lines if w.outcome == outcome and words in w.reason)


def test_a_question_opens_its_window_at_the_true_time_and_closes_it_at_the_last_poll(tmp_path: Path) -> None:
    report = import_(_file(tmp_path / "src", _entry(_question())), tmp_path / "out")
    (play,) = plays([tmp_path / "out"])
    (need,) = play.truth.opportunities
    assert (need.opens_ns, need.closes_ns, need.query) == (7 * SECOND, 11 * SECOND, "Break point")
    assert play.truth.end_ns == 12 * SECOND, "the snapshot of the last poll is part of it"
    assert play.profile == {"standing request": 'When it shows "AD", output "Break point".'}
    assert "closes 4 s later, at the last published poll" in play.truth.rule
    assert report.scenarios == [Path("sample_1/scenario.yaml")]


def test_without_videos_the_session_is_marked_and_holds_still_to_its_end(tmp_path: Path) -> None:
    import_(_file(tmp_path / "src", _entry(_question())), tmp_path / "out")
    (play,) = plays([tmp_path / "out"])

    async def all_() -> list[Any]:
        return [s async for s in play.source.snapshots()]

    seen = asyncio.run(all_())
    assert [s.captured_ns // SECOND for s in seen] == list(range(12))
    assert {(s.title, s.image, s.text) for s in seen} == {(NO_PICTURES, None, None)}
    assert "no pictures" in (tmp_path / "out/sample_1/scenario.yaml").read_text(encoding="utf-8")
    assert not [f for f in check(tmp_path / "out/sample_1") if f.severity == "damage"]


def _a_reader_of_videos(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    asked: list[tuple[int, int, int]] = []

    def frames(file: Path, into: Path, *, start_ns: int, end_ns: int, period_ns: int) -> list[tuple[int, Path]]:
        asked.append((start_ns, end_ns, period_ns))
        if file.read_bytes() == b"torn":
            raise InputError(file, "no video")
        out = []
        for t in range(start_ns, end_ns, period_ns):
            picture = into / f"{t}.png"
            Image.new("RGB", (4, 4), (t // SECOND % 256, 0, 0)).save(picture)
            out.append((t, picture))
        return out

    monkeypatch.setattr(streamingbench, "frames", frames)
    return asked


def test_with_videos_the_pictures_come_from_the_stretch_between_question_and_last_poll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _a_reader_of_videos(monkeypatch)
    videos = tmp_path / "videos/deep"
    videos.mkdir(parents=True)
    (videos / "sample_1.mkv").write_bytes(b"video")
    (videos / "sample_2.mp4").write_bytes(b"torn")
    src = _file(tmp_path / "src", _entry(_question()), _entry(_question(), video="sample_2.mp4"),
                _entry(_question(), video="sample_3.mp4"))  # fmt: skip
    report = import_(src, tmp_path / "out", videos=tmp_path / "videos")
    assert asked[0] == (618 * SECOND, 630 * SECOND, SECOND)
    assert len(list((tmp_path / "out/sample_1/screenshots").rglob("*.png"))) == 12
    assert _count(report, "noted", "video cannot be read") == 1
    assert _count(report, "noted", "video is not in the folder") == 1
    assert not list((tmp_path / "out").glob(".import-*")), "what was made on the way is gone"
    again = import_(src, tmp_path / "out", videos=tmp_path / "videos")
    assert again.unchanged
    (videos / "sample_3.mp4").write_bytes(b"another")
    with pytest.raises(InputError, match="another source"):
        import_(src, tmp_path / "out", videos=tmp_path / "videos")
    with pytest.raises(UsageError, match="copy or none"):
        import_(src, tmp_path / "out2", videos=tmp_path / "videos", images="reference")


def test_a_path_in_the_file_leads_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _a_reader_of_videos(monkeypatch)
    (tmp_path / "videos").mkdir()
    (tmp_path / "secret.mp4").write_bytes(b"video")
    (tmp_path / "videos/link.mp4").symlink_to(tmp_path / "secret.mp4")
    paths = ("../secret.mp4", "..\\secret.mp4", str(tmp_path / "secret.mp4"), "link.mp4", "..", "/")
    src = _file(tmp_path / "src", *(_entry(_question(), video=path) for path in paths))
    report = import_(src, tmp_path / "out", videos=tmp_path / "videos")
    assert _count(report, "noted", "video is not in the folder") == len(paths)
    assert all((tmp_path / "out" / s).resolve().is_relative_to(tmp_path / "out") for s in report.sessions)
    assert len(set(report.sessions)) == len(paths)


def test_what_cannot_be_is_counted(tmp_path: Path) -> None:
    odd = [_question(true="0:10:18"), _question(true="0:10:01"), _question(ask="noon"), _question(ask=5),
           _question(question=None), _question(ground_truth_output=""), "x"]  # fmt: skip
    odd.append(_question(ask="0:00:00", true="9:00:00"))
    src = _file(tmp_path / "src", _entry(_question(), *odd), 5, {"questions": []}, _entry(_question(), video=7))
    report = import_(src, tmp_path / "out")
    assert _count(report, "left out", "asked at or after the true time") == 2
    assert _count(report, "left out", "without a time of asking") == 2
    assert _count(report, "left out", "without a text") == 3
    assert _count(report, "left out", "over an hour") == 1
    assert _count(report, "left out", "entries without a video") == 3
    assert _count(report, "kept", "questions") == 1


def test_what_is_odd_is_noted_and_taken(tmp_path: Path) -> None:
    other = _question("0:11:00", "0:11:10", ground_truth_output="40")
    report = import_(_file(tmp_path / "src", _entry(_question(), other)), tmp_path / "out")
    assert [p.as_posix() for p in report.sessions] == ["sample_1-1", "sample_1-2"]
    assert _count(report, "noted", "does not name") == 1
    assert _count(report, "noted", "asked outside the stated stretch") == 1
    assert _count(report, "noted", "true times outside") == 1


def test_nothing_to_import_is_one_sentence(tmp_path: Path) -> None:
    src = _file(tmp_path / "src", _entry(_question(true="0:00:01")))
    with pytest.raises(InputError, match="nothing in it could be imported: questions asked at or after the true time"):
        import_(src, tmp_path / "out")
    with pytest.raises(InputError, match="no such folder of videos"):
        import_(src, tmp_path / "out", videos=tmp_path / "none")
    with pytest.raises(UsageError, match="--videos is not for format folder; it is for streamingbench"):
        import_(src, tmp_path / "out", format="folder", zone="UTC", videos=tmp_path)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("0:10:18", 618.0), ("00:10:18", 618.0), ("10:18", 618.0), ("1:00:00.5", 3600.5), (" 0:00:04 ", 4.0),
     ("0:61:00", None), ("0:00:60", None), ("18", None), ("", None), (None, None), ("0:1:1:1", None), ("-0:10", None)],
)  # fmt: skip
def test_a_clock_is_read(said: Any, seconds: float | None) -> None:
    assert clock_s(said) == seconds


@pytest.mark.skipif(not REAL.exists(), reason="no ../shared/data/streamingbench")
def test_the_published_questions_are_51_of_50_videos(tmp_path: Path) -> None:
    assert chosen("auto", REAL).name == "streamingbench"
    report = import_(REAL, tmp_path / "out")
    found = plays([tmp_path / "out"])
    assert len(found) == len(report.scenarios) == 51
    assert _count(report, "noted", "does not name") == 3
    assert _count(report, "noted", "true times outside") == 18
    waits = sorted(p.truth.opportunities[0].opens_ns // SECOND for p in found)
    assert (waits[0], waits[len(waits) // 2], waits[-1]) == (4, 8, 24)


def test_frames_of_a_moving_picture_reach_the_agent(tmp_path: Path) -> None:
    """A GIF is a video too, and needs no library beside Pillow: the whole way without a stand-in."""
    (tmp_path / "videos").mkdir()
    shades = [Image.new("RGB", (16, 16), (20 * n, 0, 0)) for n in range(12)]
    shades[0].save(tmp_path / "videos/sample_1.gif", save_all=True, append_images=shades[1:], duration=1000)
    src = _file(tmp_path / "src", _entry(_question("0:00:02", "0:00:05")))
    import_(src, tmp_path / "out", videos=tmp_path / "videos")
    (play,) = plays([tmp_path / "out"])

    async def all_() -> list[Any]:
        return [s async for s in play.source.snapshots()]

    seen = asyncio.run(all_())
    assert len(seen) == 8, "asked at 2 s, true at 5 s, polled until 9 s"
    reds = [int(np.asarray(Image.open(s.image.path).convert("RGB"))[8, 8, 0]) for s in seen]
    assert reds == [20 * n for n in range(2, 10)]
    assert {s.title for s in seen} == {"sample_1.mp4"}
