"""Videos and GIFs as recordings: the picture a player would show, also where frames come at odd times."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from simulator.core.errors import InputError, UsageError
from simulator.core.types import MS, SECOND
from simulator.session.check import check
from simulator.session.importing import import_
from simulator.session.reader import Reader
from simulator.sources import video, video_frames
from simulator.sources.foreign import Ledger

av = pytest.importorskip("av")
S = SECOND
GIF = Path(__file__).resolve().parents[2] / "../shared/data/minecontext/Screen-Settings.gif"


def _grey(number: int) -> int:
    return 20 + 7 * number % 220


def _film(
    file: Path, times_ms: Sequence[int], *, size: tuple[int, int] = (64, 48), codec: str = "ffv1",
    shades: Sequence[int] | None = None, meta: dict[str, str] | None = None, gop: int = 12,
    picture: Image.Image | None = None,
) -> Path:  # fmt: skip
    """A video whose n-th frame is of one grey and is shown from the n-th time on."""
    with av.open(str(file), "w") as container:
        container.metadata.update(meta or {})
        stream = container.add_stream(codec, rate=Fraction(1000, 1))
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        stream.codec_context.gop_size = gop
        for n, ms in enumerate(times_ms):
            shade = _grey(n) if shades is None else shades[n]
            frame = av.VideoFrame.from_image(picture or Image.new("RGB", size, (shade, shade, shade)))
            frame.pts, frame.time_base = ms, Fraction(1, 1000)
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode(None):
            container.mux(packet)
    return file


def _shown(file: Path, **how: Any) -> list[tuple[int, int]]:
    """(milliseconds, grey) of each sample."""
    out: list[tuple[int, int]] = []
    for t, image in video.samples(file, **how):
        out.append((t // MS, out[-1][1] if image is None else image.getpixel((5, 5))[0]))  # type: ignore[index]
    return out


def _near(got: Sequence[tuple[int, int]], want: Sequence[tuple[int, int]]) -> bool:
    return [t for t, _ in got] == [t for t, _ in want] and all(
        abs(a - b) <= 3 for (_, a), (_, b) in zip(got, want, strict=True)
    )


def _wanted(times_ms: Sequence[int], period_ms: int, end_ms: int) -> list[tuple[int, int]]:
    """By the definition: the last frame that is not after the instant; times count from the first frame."""
    first = times_ms[0]
    return [(t, _grey(max(n for n, at in enumerate(times_ms) if at - first <= t))) for t in range(0, end_ms, period_ms)]


def test_frames_are_taken_by_their_times_not_by_their_number(tmp_path: Path) -> None:
    times = [0, 40, 80, 999, 1000, 2001, 2500, 2999, 7000, 7040]
    got = _shown(_film(tmp_path / "odd.mkv", times), period_ns=S)
    assert _near(got, _wanted(times, 1000, 7041)), got
    shown = [
        0,
        4,
        4,
        7,
        7,
        7,
        7,
        8,
    ]  # written down by hand: at 1 s the fifth frame has just come, at 2 s it still stands
    assert all(abs(shade - _grey(n)) <= 3 for (_, shade), n in zip(got, shown, strict=True))


@settings(max_examples=15, deadline=None)
@given(
    gaps=st.lists(st.integers(1, 2500), min_size=1, max_size=12),
    period=st.sampled_from([200, 333, 1000]),
    start=st.integers(0, 3000),
)
def test_any_frame_times_give_what_a_player_shows(
    tmp_path_factory: pytest.TempPathFactory, gaps: list[int], period: int, start: int
) -> None:
    times = [0]
    for gap in gaps:
        times.append(times[-1] + gap)
    file = _film(tmp_path_factory.mktemp("v") / "v.mkv", times)
    end = times[-1]
    got = _shown(file, period_ns=period * MS, end_ns=end * MS)
    assert _near(got, _wanted(times, period, end))
    later = _shown(file, period_ns=period * MS, start_ns=start * MS, end_ns=end * MS)
    want = [(t, _grey(max(n for n, at in enumerate(times) if at <= t))) for t in range(start, end, period)]
    assert _near(later, want)


def test_a_stretch_deep_in_a_video_is_found_by_seeking(tmp_path: Path) -> None:
    times = list(range(0, 60_000, 500))
    file = _film(tmp_path / "long.mp4", times, codec="mpeg4", gop=20)
    found = video.frames(file, tmp_path, start_ns=41_250 * MS, end_ns=44_250 * MS, period_ns=S)
    assert [t // MS for t, _ in found] == [41_250, 42_250, 43_250]
    for t, picture in found:
        with Image.open(picture) as image:
            assert abs(image.convert("RGB").getpixel((5, 5))[0] - _grey(t // MS // 500)) <= 6  # type: ignore[index]


def test_a_still_screen_is_one_picture_that_many_rows_share(tmp_path: Path) -> None:
    film = _film(tmp_path / "still.mkv", [0, 1000, 30_000, 31_000], shades=[50, 90, 50, 90])
    report = import_(film, tmp_path / "out", format="video", rate_hz=1)
    (session,) = report.sessions
    folder = tmp_path / "out" / session
    assert len(list((folder / "screenshots").rglob("*.webp"))) == 2
    with Reader(folder) as reader:
        rows = list(reader.rows(("captured_ns", "file_path", "app_name", "window_title")))
    assert [r[0] for r in rows] == [n * S for n in range(32)]
    assert len({r[1] for r in rows}) == 2
    assert {r[2:] for r in rows} == {(None, None)}
    assert not [f for f in check(folder) if f.severity != "note"]
    assert import_(film, tmp_path / "out", format="video", rate_hz=1).unchanged


def test_the_file_says_when_it_was_made(tmp_path: Path) -> None:
    film = _film(tmp_path / "dated.mp4", [0, 1000], codec="mpeg4", meta={"creation_time": "2026-03-09T08:07:06Z"})
    (session,) = import_(film, tmp_path / "out", split=0).sessions
    with Reader(tmp_path / "out" / session) as reader:
        assert reader.header.utc_anchor_ns == 1_773_043_626 * S
    undated = _film(tmp_path / "undated.mkv", [0, 1000])
    (session,) = import_(undated, tmp_path / "out").sessions
    with Reader(tmp_path / "out" / session) as reader:
        assert reader.header.utc_anchor_ns is None
    old = _film(tmp_path / "old.mp4", [0, 1000], codec="mpeg4", meta={"creation_time": "1980-01-01T00:00:00Z"})
    (foreign,) = _recordings(old, tmp_path)
    assert not foreign.anchored
    assert any("clock that was not set" in reason for reason in foreign.ledger.of("noted"))


def _recordings(file: Path, scratch: Path, **how: Any) -> list[Any]:
    from simulator.sources.formats import Wanted

    return list(video.recordings(Wanted(file, "UTC", lambda: scratch, **how), lambda *_: None))


def test_a_video_taken_upright_is_turned(tmp_path: Path) -> None:
    picture = Image.new("RGB", (64, 48), (20, 20, 20))
    picture.paste((220, 220, 220), (32, 0, 64, 48))  # dark at the left, bright at the right
    film = _film(tmp_path / "turned.mp4", [0, 1000], codec="mpeg4", picture=picture)
    data = bytearray(film.read_bytes())
    at = data.index(b"tkhd") + 4 + 40  # the matrix of the track's head: a quarter turn clockwise, as phones write it
    one = (1 << 16).to_bytes(4, "big")
    minus = (-(1 << 16) & 0xFFFFFFFF).to_bytes(4, "big")
    zero = bytes(4)
    data[at : at + 36] = zero + one + zero + minus + zero + zero + zero + zero + (1 << 30).to_bytes(4, "big")
    film.write_bytes(data)
    (first, *_) = video.samples(film, period_ns=S)
    assert first.image is not None
    assert first.image.size == (48, 64)
    top, bottom = (first.image.getpixel((24, y)) for y in (8, 56))
    assert isinstance(top, tuple)
    assert isinstance(bottom, tuple)
    assert top[0] < 60 < 180 < bottom[0], "turned clockwise, the left is at the top"


def test_a_quarter_turn_goes_the_right_way_round() -> None:
    class Frame:
        rotation = -90  # degrees against the clock: the picture is to be shown turned clockwise

        def to_image(self) -> Image.Image:
            image = Image.new("RGB", (4, 2))
            image.putpixel((0, 0), (255, 0, 0))
            return image

    upright = video_frames._upright(Frame())
    assert upright.size == (2, 4)
    assert upright.getpixel((1, 0)) == (255, 0, 0)  # what was at the top left is at the top right


def test_a_file_that_breaks_off_gives_what_came_before(tmp_path: Path) -> None:
    film = _film(tmp_path / "whole.mkv", list(range(0, 20_000, 250)), size=(160, 120))
    whole = len(list(video.samples(film, period_ns=S)))
    (tmp_path / "cut.mkv").write_bytes(film.read_bytes()[: film.stat().st_size // 2])
    ledger = Ledger()
    some = list(video.samples(tmp_path / "cut.mkv", period_ns=S, ledger=ledger))
    assert 0 < len(some) < whole == 20
    assert any("breaks off" in reason for reason in ledger.of("noted")), ledger.counts


def test_bytes_that_cannot_be_decoded_are_counted_and_the_rest_is_kept(tmp_path: Path) -> None:
    film = _film(tmp_path / "hole.mkv", list(range(0, 20_000, 250)), size=(160, 120), gop=1)
    data = bytearray(film.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 300] = bytes(300)
    film.write_bytes(data)
    ledger = Ledger()
    found = list(video.samples(film, period_ns=S, ledger=ledger))
    assert found[-1].t_ns >= 10 * S
    assert found == sorted(found, key=lambda s: s.t_ns)


@pytest.mark.parametrize("codec", ["mpeg4", "ffv1"])
def test_a_container_that_skips_what_is_damaged_is_heard(tmp_path: Path, codec: str) -> None:
    noise = Image.effect_noise((320, 240), 90).convert("RGB")
    film = _film(tmp_path / "hole.mkv", list(range(0, 20_000, 100)), size=(320, 240), codec=codec, picture=noise)
    ledger = Ledger()
    list(video.samples(film, period_ns=S, ledger=ledger))
    assert not ledger.counts, "the whole film says nothing"
    data = bytearray(film.read_bytes())
    low, high = len(data) * 4 // 10, len(data) * 6 // 10
    data[low:high] = b"U" * (high - low)
    film.write_bytes(data)
    assert len(list(video.samples(film, period_ns=S, ledger=ledger))) == 20
    broken = next(reason for reason in ledger.of("noted") if "cannot be decoded" in reason)
    assert ledger.examples["noted", broken][0].startswith("after ")


def test_a_frame_whose_time_is_damaged_makes_no_million_rows(tmp_path: Path) -> None:
    film = _film(tmp_path / "wild.mkv", [0, 1000, 2000, 864_000_000])
    ledger = Ledger()
    assert [t // S for t, _ in video.samples(film, period_ns=S, ledger=ledger)][:3] == [0, 1, 2]
    assert len(list(video.samples(film, period_ns=S, ledger=ledger))) < 10
    assert ledger.of("left out") == {"frames whose time leaps ahead by over 6 hours": 2}
    several = _film(tmp_path / "far.mkv", [20_000_000 * n for n in range(6)])
    with pytest.raises(InputError, match=r"over 1000000 pictures at this rate; name a lower one \(--rate\)"):
        sum(1 for _ in video.samples(several, period_ns=20 * MS))


def test_a_gif_that_claims_more_than_any_screen_is_refused(tmp_path: Path) -> None:
    data = bytearray(_gif(tmp_path / "huge.gif", [10, 20], [500, 500]).read_bytes())
    data[6:10] = b"\xff\xff\xff\xff"
    (tmp_path / "huge.gif").write_bytes(data)
    with pytest.raises(InputError, match="pixels"):
        list(video.samples(tmp_path / "huge.gif", period_ns=S))


def test_a_folder_is_no_video(tmp_path: Path) -> None:
    (tmp_path / "a.gif").write_bytes(b"GIF89a")
    with pytest.raises(InputError, match=r"a folder \(videos and GIFs in it: 1\)"):
        import_(tmp_path, tmp_path.parent / "out", format="video")


@pytest.mark.parametrize("name", ["empty.mp4", "text.mkv", "head.mp4"])
def test_what_is_no_video_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    film = _film(tmp_path / "whole.mp4", list(range(0, 4000, 100)), codec="mpeg4")
    file.write_bytes({"empty.mp4": b"", "text.mkv": b"hello there" * 50, "head.mp4": film.read_bytes()[:400]}[name])
    with pytest.raises(InputError, match="not a video that can be read"):
        list(video.samples(file, period_ns=S))
    with pytest.raises(InputError, match="nothing but pictures"):
        _recordings(film, tmp_path, pictures=False)


def test_sound_alone_is_told(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "sound.mkv"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000)
        frame = av.AudioFrame(format="s16", layout="mono", samples=800)
        frame.rate = 8000
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    with pytest.raises(InputError, match="only sound"):
        list(video.samples(tmp_path / "sound.mkv", period_ns=S))


def test_without_pyav_one_sentence_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    film = _film(tmp_path / "v.mkv", [0, 1000])
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(UsageError, match=r"pip .*install .*\[video\]'"):
        list(video.samples(film, period_ns=S))


def _gif(file: Path, shades: Sequence[int], durations: Sequence[int]) -> Path:
    pictures = [Image.new("L", (40, 30), shade) for shade in shades]
    pictures[0].save(file, save_all=True, append_images=pictures[1:], duration=list(durations), loop=0)
    return file


def test_a_gif_is_sampled_by_the_durations_of_its_frames(tmp_path: Path) -> None:
    file = _gif(tmp_path / "a.gif", [10, 80, 160, 240], [500, 1600, 400, 1500])
    assert _shown(file, period_ns=S) == [(0, 10), (1000, 80), (2000, 80), (3000, 240)]
    assert _shown(file, period_ns=S, start_ns=2100 * MS) == [(2100, 160), (3100, 240)]


def test_a_gif_that_breaks_off_gives_what_came_before(tmp_path: Path) -> None:
    pictures = [Image.effect_noise((80, 60), 40 + n).convert("L") for n in range(8)]
    pictures[0].save(tmp_path / "b.gif", save_all=True, append_images=pictures[1:], duration=1000)
    (tmp_path / "cut.gif").write_bytes((tmp_path / "b.gif").read_bytes()[: (tmp_path / "b.gif").stat().st_size // 2])
    ledger = Ledger()
    found = list(video.samples(tmp_path / "cut.gif", period_ns=S, ledger=ledger))
    assert 1 <= len(found) < 8
    (tmp_path / "none.gif").write_bytes(b"GIF89a")
    with pytest.raises(InputError):
        list(video.samples(tmp_path / "none.gif", period_ns=S))


@pytest.mark.skipif(not GIF.is_file(), reason="the shared GIF is not on this machine")
def test_a_real_gif_of_a_screen_becomes_a_session(tmp_path: Path) -> None:
    (session,) = import_(GIF, tmp_path / "out").sessions
    folder = tmp_path / "out" / session
    with Image.open(GIF) as image:
        n, length = image.n_frames, 0  # type: ignore[attr-defined]
        for i in range(n):
            image.seek(i)
            length += image.info["duration"] if image.info["duration"] > 10 else 100
    with Reader(folder) as reader:
        rows = list(reader.rows(("captured_ns", "width", "height", "file_path")))
    assert len(rows) == -(-length // 1000)
    assert {r[1:3] for r in rows} == {(1786, 1160)}
    assert len({r[3] for r in rows}) <= n
    assert not [f for f in check(folder) if f.severity == "damage"]
