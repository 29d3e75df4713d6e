"""Recording a real X desktop: what is excluded leaves no pixel and no word, and a server that dies costs a gap."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from simulator.core.types import MS
from simulator.recorder import screens, windows
from simulator.recorder.exclusions import Exclusions
from simulator.recorder.frames import MASK_COLOUR
from simulator.recorder.recorder import Recorder
from simulator.recorder.shots import Budget, Shot, Summary
from simulator.screen import pixels
from simulator.session.check import check
from simulator.session.schema import FILE_NAME
from simulator.sources.recording import Recording
from simulator.timing.clock import pause
from tests.desks import Desk, until

ROOT = Path(__file__).resolve().parents[2]
SECRET = 0xC0FFEE
PERIOD_NS = 100 * MS


def table(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    db = sqlite3.connect(folder / FILE_NAME)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


async def record(
    desk: Desk,
    folder: Path,
    n_ticks: int,
    at: Callable[[int], None] = lambda tick: None,
    rules: Exclusions | None = None,
) -> tuple[Summary, list[Shot]]:
    """Record so many ticks of the desk; ``at`` is called, in a thread, after each that was dealt with."""
    shots: list[Shot] = []
    recorder = Recorder(
        folder,
        screens.KeptScreen(screens.choose(env=desk.env)),
        windows.choose(desk.env),
        period_ns=PERIOD_NS,
        rules=rules,
        budget=Budget(free_floor=0),
        on_shot=shots.append,
    )
    summary: list[Summary] = []

    async def run() -> None:
        summary.append(await recorder.run(n_ticks * PERIOD_NS))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        told = -1
        while not summary:
            reached = recorder.now_ns() // PERIOD_NS
            if reached > told and recorder.facts.last_tick_age_s is not None:
                told = reached
                await anyio.to_thread.run_sync(at, told)
            await pause(10 * MS)
    return summary[0], shots


def whole(folder: Path, n_ticks: int) -> None:
    ticks = [t for (t,) in table(folder, "SELECT tick FROM screenshots")]
    for first, last in table(folder, "SELECT from_tick, to_tick FROM gaps"):
        ticks += range(first, last + 1)
    assert sorted(ticks) == list(range(n_ticks)), "every tick is a row or lies in a gap, once"
    assert [f.kind for f in check(folder) if f.severity != "note"] == []


def shows(folder: Path, colour: int) -> int:
    """How many pixels of the stored pictures have that colour."""
    wanted = np.array([colour >> 16, colour >> 8 & 255, colour & 255], dtype=np.uint8)
    files = sorted((folder / "screenshots").rglob("*.webp"))
    assert files
    return sum(int((np.asarray(pixels.decode(f)) == wanted).all(axis=2).sum()) for f in files)


async def test_replayed_pixels_are_the_captured_ones(tmp_path: Path) -> None:
    with Desk(640, 400) as desk:
        window = desk.window("k.py — naïve 🙂", wm_class=("editor", "Editor"), x=20, y=30, width=300, height=200)
        window.front()
        colours = iter(range(0x102030, 0x905040, 0x081018))
        _, shots = await record(desk, tmp_path / "s", 12, lambda tick: window.paint(next(colours), 10, 10, 50, 50))
    captured = {}
    last = None
    for shot in shots:
        last = shot.image or last
        assert last is not None
        captured[shot.captured_ns - shots[0].captured_ns] = last.tobytes()
    assert len(set(captured.values())) > 5
    n = 0
    async for snapshot in Recording(tmp_path / "s").snapshots():
        assert (snapshot.app, snapshot.title) == ("Editor", "k.py — naïve 🙂")
        if not snapshot.held:
            assert snapshot.image is not None
            assert (await pixels.read(snapshot.image)).tobytes() == captured[snapshot.captured_ns]
            n += 1
    assert n == len(captured)
    whole(tmp_path / "s", 12)


async def test_of_an_excluded_window_that_is_not_in_front_no_pixel_and_no_word_is_kept(tmp_path: Path) -> None:
    rules = Exclusions.load()
    title = "Zanzibar vault - Bitwarden"
    with Desk(640, 400, manager=True) as desk:
        front = desk.window("proj: bash", wm_class=("xterm", "XTerm"), x=10, y=20, width=200, height=200)
        secrets: list[Any] = []

        def at(tick: int) -> None:
            if tick == 3:
                secrets.append(
                    desk.window(title, wm_class=("bitwarden", "Bitwarden"), x=300, y=100, width=200, height=150,
                                colour=SECRET)
                )  # fmt: skip
                front.front()
            if tick == 8:
                secrets[0].move(250, 130)
            if tick == 12:
                secrets[0].front()
            if tick == 16:
                secrets[0].close()

        summary, _ = await record(desk, tmp_path / "s", 22, at, rules)
    masked = {tick for (tick,) in table(tmp_path / "s", "SELECT DISTINCT tick FROM masks")}
    assert masked, "it was there, and was covered"
    assert summary.n_rows > 15
    assert shows(tmp_path / "s", SECRET) == 0
    red, green, blue = MASK_COLOUR
    assert shows(tmp_path / "s", red << 16 | green << 8 | blue) > 1000
    for file in (tmp_path / "s").rglob("*"):
        if file.is_file():
            assert not re.search(rb"zanzibar|bitwarden|vault", file.read_bytes().lower()), file.name
    whole(tmp_path / "s", 22)


async def test_a_server_that_dies_and_comes_back_smaller_costs_a_gap(tmp_path: Path) -> None:
    with Desk(640, 400) as desk:
        desk.background(0x203040)

        def at(tick: int) -> None:
            if tick == 5:
                desk.kill()
            if tick == 8:
                desk.restart(320, 240)

        _, shots = await record(desk, tmp_path / "s", 40, at)
    reasons = {r for (r,) in table(tmp_path / "s", "SELECT reason FROM gaps")}
    assert "display_lost" in reasons
    assert reasons <= {"display_lost", "overload"}
    sizes = [(s.width, s.height) for s in shots]
    assert sizes[0] == (640, 400)
    assert sizes[-1] == (320, 240)
    notes = table(tmp_path / "s", "SELECT kind, detail FROM notes WHERE kind = 'monitors'")
    assert notes == [("monitors", "1: 320x240")]
    assert table(tmp_path / "s", "SELECT COUNT(*) FROM notes WHERE kind = 'blank'")[0][0] > 0, "a new server is black"
    whole(tmp_path / "s", 40)


@pytest.mark.e2e
def test_the_command_survives_a_stop_of_five_seconds_and_closes_at_ctrl_c(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    with Desk(320, 240, manager=True) as desk:
        desk.background()
        argv = [sys.executable, "-m", "simulator.cli", "record", str(folder), "--yes", "--user", "sam"]
        process = desk.start(argv, cwd=ROOT, stderr=subprocess.PIPE)

        def rows() -> int:
            return table(folder, "SELECT COUNT(*) FROM screenshots")[0][0] if (folder / FILE_NAME).exists() else 0

        until(lambda: rows() >= 2, "two rows")
        os.kill(process.pid, signal.SIGSTOP)
        before = rows()
        clock = os.times().elapsed
        until(lambda: os.times().elapsed - clock >= 5, "five seconds")
        os.kill(process.pid, signal.SIGCONT)
        until(lambda: rows() >= before + 2, "two more rows")
        (folder / "pause").touch()
        until(lambda: bool(table(folder, "SELECT 1 FROM gaps WHERE reason = 'paused'")), "a pause")
        os.kill(process.pid, signal.SIGINT)
        os.kill(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=20)
    assert process.returncode == 0, told
    assert b"rows" in told
    gaps = dict(table(folder, "SELECT reason, SUM(to_tick - from_tick + 1) FROM gaps GROUP BY 1"))
    assert 4 <= gaps["overload"] <= 6
    whole(folder, max(t for (t,) in table(folder, "SELECT to_tick FROM gaps")) + 1)
    assert dict(table(folder, "SELECT key, value FROM meta"))["state"] == "closed"
    assert not (folder / "pause").exists()
