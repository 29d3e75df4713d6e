"""The queue between looking and the disk: order, pressure, failures."""

from __future__ import annotations

import errno
import sqlite3
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from simulator.core.errors import ProactError
from simulator.core.operators import operators
from simulator.recorder import saving
from simulator.recorder.saving import DEPTH, Rows, Saver
from simulator.recorder.status import status
from simulator.screen.pixels import pixels_hash
from simulator.session import store
from simulator.session.check import check
from simulator.session.store import Writer, image_path
from tests.desks import until
from tests.recorders import FakeScreen, plain_frame, record


def picture(n: int) -> Image.Image:
    return Image.new("RGB", (8, 6), (n % 256, n // 256, 7))


def rows(tick: int, image: Image.Image, *, handed_in: bool = True) -> Rows:
    digest = pixels_hash(image)
    row = {"tick": tick, "captured_ns": tick * 10**9, "pixels_hash": digest, "file_path": image_path(digest),
           "width": 8, "height": 6}  # fmt: skip
    return Rows(tick, [(row, image if handed_in else None)])


def table(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    db = sqlite3.connect(folder / "session.db")
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


class Valve:
    """Holds up encoding until it is opened; notes the methods that were asked for."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.methods: list[int] = []

    def pack(self, image: Image.Image, method: int = store.DENSE) -> bytes:
        self.methods.append(method)
        assert self.open.wait(20)
        return real_pack(image, method)


real_pack = store.pack


@pytest.fixture
def valve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Valve]:
    made = Valve()
    monkeypatch.setattr(store, "pack", made.pack)
    yield made
    made.open.set()


def test_the_queue_is_bounded_and_quicker_methods_are_taken_the_fuller_it_is(tmp_path: Path, valve: Valve) -> None:
    saver = Saver(Writer(tmp_path / "s"))
    for n in range(DEPTH):
        assert saver.has_room(1)
        saver.rows(rows(n, picture(n)))
        until(lambda: len(valve.methods) == 1, "the first to be begun")
    assert not saver.has_room(1)
    assert saver.n_waiting == DEPTH
    valve.open.set()
    assert saver.close()
    assert valve.methods == [store.DENSE, store.QUICK, store.DENSE, store.DENSE]
    assert saver.counts.n_quick == 1
    assert [t for (t,) in table(tmp_path / "s", "SELECT tick FROM screenshots ORDER BY id")] == list(range(DEPTH))
    assert [f.kind for f in check(tmp_path / "s") if f.severity != "note"] == []


def test_more_monitors_than_the_queue_is_deep_still_fit_into_an_empty_one(tmp_path: Path) -> None:
    saver = Saver(Writer(tmp_path / "s"))
    assert saver.has_room(DEPTH + 3)
    saver.close()


def test_rows_without_a_new_picture_take_no_place(tmp_path: Path, valve: Valve) -> None:
    saver = Saver(Writer(tmp_path / "s"))
    saver.rows(rows(0, picture(0)))
    for n in range(1, 50):
        saver.rows(rows(n, picture(0), handed_in=False))
    assert saver.n_waiting == 1
    valve.open.set()
    assert saver.close()
    assert (saver.counts.n_rows, saver.counts.n_pictures) == (50, 1)


def test_a_row_whose_picture_was_lost_becomes_a_gap_of_the_same_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full, real = threading.Event(), store.replace_file
    full.set()

    def replace_file(target: Path, content: bytes) -> None:
        if full.is_set():
            raise OSError(errno.ENOSPC, "No space left on device")
        real(target, content)

    monkeypatch.setattr(store, "replace_file", replace_file)
    lost = threading.Event()
    saver = Saver(Writer(tmp_path / "s"), lost=lost.set)
    saver.rows(rows(0, picture(0)))
    assert lost.wait(20)
    saver.rows(rows(1, picture(0), handed_in=False))
    until(lambda: saver.counts.lost["disk_full"] == 2, "two lost ticks")
    assert saver.failing == "disk_full"
    full.clear()
    saver.rows(rows(2, picture(0)))
    assert saver.close()
    assert not saver.failing
    assert table(tmp_path / "s", "SELECT from_tick, to_tick, reason FROM gaps") == [(0, 1, "disk_full")]
    assert [t for (t,) in table(tmp_path / "s", "SELECT tick FROM screenshots")] == [2]


def test_a_fault_that_is_no_full_disk_is_named_without_its_text_and_told_by_the_facts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    operators.cache_clear()  # it holds the stderr of whoever asked first

    def replace_file(target: Path, content: bytes) -> None:
        raise OSError(errno.EIO, "a private word")

    monkeypatch.setattr(store, "replace_file", replace_file)
    saver = Saver(Writer(tmp_path / "s"))
    saver.rows(rows(0, picture(0)))
    saver.close()
    assert table(tmp_path / "s", "SELECT reason, detail FROM gaps") == [("missing", "OSError EIO")]
    assert saver.fault == "OSError EIO"
    operators.cache_clear()
    assert capsys.readouterr().err == ""


def test_gaps_that_touch_and_agree_are_one(tmp_path: Path) -> None:
    saver = Saver(Writer(tmp_path / "s"))
    for first, last, reason in [(0, 3, "locked"), (4, 4, "locked"), (5, 6, "paused"), (8, 9, "paused"), (10, 12, "x")]:
        saver.gap(first, last, reason, None)
    assert saver.close()
    assert table(tmp_path / "s", "SELECT from_tick, to_tick, reason FROM gaps ORDER BY id") == [
        (0, 4, "locked"), (5, 6, "paused"), (8, 9, "paused"), (10, 12, "x"),
    ]  # fmt: skip


def test_a_growing_gap_is_in_the_database_while_it_grows(tmp_path: Path) -> None:
    saver = Saver(Writer(tmp_path / "s"))
    for tick in range(5):
        saver.gap(tick, tick, "locked", None)
        until(
            lambda tick=tick: table(tmp_path / "s", "SELECT from_tick, to_tick FROM gaps") == [(0, tick)],  # type: ignore[misc]
            "the gap to grow",
        )
    saver.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_bug_that_ends_the_writing_ends_the_recording_and_leaves_the_session_to_be_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mask(self: Writer, **row: Any) -> None:
        raise TypeError("a bug")

    monkeypatch.setattr(Writer, "add", mask)
    with pytest.raises(ProactError, match="nothing can be written any more"):
        await record(tmp_path / "s", 50)
    monkeypatch.undo()
    assert status(tmp_path / "s")["state"] == "died"


def test_an_event_whose_tick_was_lost_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, failed = store.replace_file, threading.Event()

    def replace_file(target: Path, content: bytes) -> None:
        if not failed.is_set():
            failed.set()
            raise OSError(errno.ENOSPC, "No space left on device")
        real(target, content)

    monkeypatch.setattr(store, "replace_file", replace_file)
    saver = Saver(Writer(tmp_path / "s"))
    event = {"id": 1, "start_ns": 0, "end_ns": 5, "app_name": "xterm"}
    saver.rows(Rows(0, rows(0, picture(0)).rows, event=event))
    saver.rows(rows(1, picture(1)))
    assert saver.close()
    assert table(tmp_path / "s", "SELECT id, app_name FROM events") == [(1, "xterm")]


async def test_a_recorder_whose_encoder_is_stuck_makes_gaps_and_goes_on(tmp_path: Path, valve: Valve) -> None:
    def at(tick: int, recorder: Any) -> None:
        if tick == 8:
            valve.open.set()
            until(lambda: recorder.facts.queue == 0, "the queue to empty")

    screen = FakeScreen(lambda n: [plain_frame(n + 1)])
    from tests.recorders import FakeClock

    class Impatient(FakeClock):
        async def sleep(self, ns: int) -> None:
            self.until_quiet = lambda: True
            await super().sleep(ns)

    done = await record(tmp_path / "s", 12, screen=screen, at=at, clock=Impatient())
    assert done.summary.gaps == {"overload": 9 - DEPTH}
    assert table(tmp_path / "s", "SELECT from_tick, to_tick, detail FROM gaps") == [
        (DEPTH, 8, "pictures wait to be written")
    ]
    assert [s.tick for s in done.shots] == [0, 1, 2, 3, 9, 10, 11]
    assert [f.kind for f in check(tmp_path / "s") if f.severity != "note"] == []


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from(["row", "locked", "paused"]), st.integers(1, 3)), min_size=1, max_size=12))
def test_whatever_comes_every_tick_is_a_row_or_in_a_gap(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("s") / "s"
    saver, tick = Saver(Writer(folder)), 0
    for kind, n in steps:
        if kind == "row":
            for _ in range(n):
                saver.rows(rows(tick, picture(tick)))
                tick += 1
        else:
            saver.gap(tick, tick + n - 1, kind, None)
            tick += n
    assert saver.close()
    there = [t for (t,) in table(folder, "SELECT tick FROM screenshots")]
    for first, last, _ in (gaps := table(folder, "SELECT from_tick, to_tick, reason FROM gaps ORDER BY id")):
        there += range(first, last + 1)
    assert sorted(there) == list(range(tick))
    assert all((a[1] + 1, a[2]) != (b[0], b[2]) for a, b in pairwise(gaps))


def test_the_depth_is_what_the_docs_say() -> None:
    assert saving.DEPTH == 4
