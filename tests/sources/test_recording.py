"""A recorded session as a stream."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.errors import InputError
from simulator.core.protocols import SnapshotSource
from simulator.core.types import SECOND, Snapshot
from simulator.session.opportunities import Released
from simulator.session.schema import FILE_NAME
from simulator.session.store import Writer
from simulator.sources.recording import Recording

S = SECOND


def _write(
    folder: Path, times_s: Sequence[float], gaps: Sequence[tuple[int, int]] = (), end_s: float | None = None
) -> Path:
    with Writer(folder, user="ada") as writer:
        columns = ("tick", "captured_ns", "monitor", "app_name", "window_title", "text")
        rows = [(round(t), round(t * S), 0, "Code.exe", f"f{i}.py", f"text {i}") for i, t in enumerate(times_s)]
        writer.add_rows(columns, rows)
        for first, last in gaps:
            writer.gap(first, last, "suspend")
        if end_s is not None:
            writer.close(end_ns=round(end_s * S))
    return folder


def _play(source: SnapshotSource) -> list[Snapshot]:
    async def all_() -> list[Snapshot]:
        return [snapshot async for snapshot in source.snapshots()]

    return asyncio.run(all_())


def _stream(folder: Path, **options: int) -> list[tuple[float, float, bool]]:
    return [(s.captured_ns / S, s.content_ns / S, s.held) for s in _play(Recording(folder, **options))]  # type: ignore[arg-type]


def test_a_snapshot_carries_what_the_row_says_and_its_class(tmp_path: Path) -> None:
    source = Recording(_write(tmp_path / "s", [5, 6]))
    assert isinstance(source, SnapshotSource)
    assert (source.session, source.user, source.end_ns, source.period_ns) == ("s", "ada", 2 * S, S)
    assert _play(source) == [
        Snapshot(0, 0, 0, "Code.exe", "f0.py", "ide", None, "text 0"),
        Snapshot(1, S, S, "Code.exe", "f1.py", "ide", None, "text 1"),
    ]
    assert _play(source) == _play(source), "every call is a fresh pass"


def test_a_still_screen_is_held_at_the_streams_rate(tmp_path: Path) -> None:
    folder = _write(tmp_path / "s", [0, 1, 4.2, 5.4])
    assert _stream(folder) == [
        (0, 0, False),
        (1, 1, False),
        (2, 1, True),
        (3, 1, True),  # 4.2 is more than half a period after 3 + 1? no: 0.2, so 4 is not held
        (4.2, 4.2, False),
        (5.4, 5.4, False),
    ]


def test_half_a_period_is_enough_to_hold_one_more(tmp_path: Path) -> None:
    assert _stream(_write(tmp_path / "s", [0, 1.5])) == [(0, 0, False), (1, 0, True), (1.5, 1.5, False)]


def test_nothing_is_held_in_a_gap_nor_behind_it_until_something_was_seen(tmp_path: Path) -> None:
    folder = _write(tmp_path / "s", [0, 8, 9], gaps=[(3, 4)])
    assert _stream(folder) == [(0, 0, False), (1, 0, True), (2, 0, True), (8, 8, False), (9, 9, False)]
    assert Recording(folder).gaps == ((3 * S, 5 * S, "suspend"),)


def test_the_last_snapshot_is_held_until_a_stated_end(tmp_path: Path) -> None:
    folder = _write(tmp_path / "s", [0, 1], end_s=4)
    assert _stream(folder) == [(0, 0, False), (1, 1, False), (2, 1, True), (3, 1, True)]
    assert Recording(folder).end_ns == 4 * S


def test_a_slower_stream_leaves_rows_out_and_a_faster_one_holds_more(tmp_path: Path) -> None:
    folder = _write(tmp_path / "s", [0, 1, 2, 3, 4])
    assert _stream(folder, period_ns=2 * S) == [(0, 0, False), (2, 2, False), (4, 4, False)]
    half = _stream(folder, period_ns=S // 2)
    assert [t for t, _, _ in half] == [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5]


def test_of_several_monitors_the_one_with_most_rows_is_played(tmp_path: Path) -> None:
    with Writer(tmp_path / "s") as writer:
        rows = [(t, t * S, m, f"m{m}") for t in range(4) for m in (1, 2) if t or m == 2]
        writer.add_rows(("tick", "captured_ns", "monitor", "app_name"), rows)
    assert {s.app for s in _play(Recording(tmp_path / "s"))} == {"m2"}
    assert {s.app for s in _play(Recording(tmp_path / "s", monitor=1))} == {"m1"}
    assert Recording(tmp_path / "s", monitor=1).end_ns == 3 * S, "time 0 is the first snapshot of that monitor"
    with pytest.raises(InputError, match=r"monitor: '7': no row has it; there are \[1, 2\]"):
        Recording(tmp_path / "s", monitor=7)


def test_a_recorder_that_follows_the_active_screen_is_played_whole(tmp_path: Path) -> None:
    with Writer(tmp_path / "s") as writer:
        writer.add_rows(("tick", "captured_ns", "monitor"), [(t, t * S, t % 2) for t in range(6)])
    assert len(_play(Recording(tmp_path / "s"))) == 6


def test_equal_pictures_share_one_reference_and_none_is_opened(tmp_path: Path) -> None:
    with Writer(tmp_path / "s") as writer:
        rows = [(t, t * S, "screenshots/aa/a.webp", "aa", 8, 6) for t in range(3)]
        writer.add_rows(("tick", "captured_ns", "file_path", "pixels_hash", "width", "height"), rows)
    one, two, three = (s.image for s in _play(Recording(tmp_path / "s")))
    assert one is two is three
    assert one is not None
    assert (one.path, one.pixels_hash, one.width) == (tmp_path / "s/screenshots/aa/a.webp", "aa", 8)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "captured_ns: '0': time runs backwards here, after 2000000000"),
        (1.5, "captured_ns: '1.5': must be an integer of nanoseconds"),
        (float("inf"), "captured_ns: 'inf': must be an integer of nanoseconds"),
        ("soon", "captured_ns: 'soon': must be an integer of nanoseconds"),
    ],
)
def test_time_that_runs_backwards_or_is_no_time_stops_with_a_sentence(tmp_path: Path, value: object, said: str) -> None:
    folder = _write(tmp_path / "s", [1, 2, 3, 4])
    with sqlite3.connect(folder / FILE_NAME) as db:
        db.execute("UPDATE screenshots SET captured_ns = ? WHERE id = 3", (value,))
    db.close()
    with pytest.raises(InputError, match=f"row 3, {said}"):
        _play(Recording(folder))


def test_not_a_number_cannot_even_be_stored(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.IntegrityError), Writer(tmp_path / "s") as writer:
        writer.add(tick=0, captured_ns=float("nan"))


def test_a_pass_that_is_broken_off_closes_its_file(tmp_path: Path) -> None:
    source = Recording(_write(tmp_path / "s", list(range(5))))

    async def first() -> int:
        stream = source.snapshots()
        one = await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        return one.index

    assert asyncio.run(first()) == 0


_TIMES = st.lists(st.integers(0, 120), min_size=1, max_size=15, unique=True).map(sorted)
_GAPS = st.lists(st.tuples(st.integers(0, 14), st.integers(0, 3)), max_size=3)


@given(_TIMES, _GAPS, st.integers(0, 110), st.integers(1, 30), st.sampled_from([S // 2, S]))
def test_the_instants_of_release_are_known_without_playing(
    tmp_path_factory: pytest.TempPathFactory,
    tenths: list[int],
    gaps: list[tuple[int, int]],
    start: int,
    length: int,
    period: int,
) -> None:
    folder = tmp_path_factory.mktemp("s")
    _write(folder, [t / 10 for t in tenths], [(a, a + n) for a, n in gaps])
    source = Recording(folder, period_ns=period)
    played = [s.captured_ns for s in _play(source)]
    assert played == sorted(set(played)), "each instant once, in order"
    zero = source.header.zero_ns
    times = np.array([round(t / 10 * S) - zero for t in tenths], dtype=np.int64)
    released = Released(times, source.header.gaps, period, source.header.end_ns)
    window = (start * S // 10, (start + length) * S // 10)
    assert released.any_in(*window) == any(window[0] <= t < window[1] for t in played)


@given(_TIMES, _GAPS)
def test_every_row_is_played_and_held_ones_repeat_the_row_before(
    tmp_path_factory: pytest.TempPathFactory, tenths: list[int], gaps: list[tuple[int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("s")
    _write(folder, [t / 10 for t in tenths], [(a, a + n) for a, n in gaps])
    source = Recording(folder)
    played = _play(source)
    assert [s.index for s in played] == list(range(len(played)))
    assert len([s for s in played if not s.held]) == len(tenths)
    last = None
    for s in played:
        if s.held:
            assert last is not None
            assert (s.content_ns, s.app, s.title, s.text) == (last.content_ns, last.app, last.title, last.text)
            assert not any(a <= s.captured_ns < b for a, b, _ in source.gaps)
        else:
            assert s.content_ns == s.captured_ns
        last = s
