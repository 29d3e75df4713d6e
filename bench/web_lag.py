"""How late a run's loop wakes while its pages are watched: no server, one in its loop, in a thread (also while a
page computes without end), in a process.

``python -m bench.web_lag [SECONDS]`` prints one row a way; on a machine that does other things too, with ``chrt -r 5``
before it. What a live run tells is played here: a picture of 1080p a
second, which the viewer fetches at once, ten events a second, and a sheet of thumbnails every five seconds.
"""

from __future__ import annotations

import asyncio
import io
import json
import multiprocessing
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread

import aiohttp
import numpy as np
from PIL import Image

from simulator.core.rng import block
from simulator.core.types import MS, SECOND
from simulator.screen.pixels import decode
from simulator.timing.audit import percentile
from simulator.timing.clock import pause, real_ns
from simulator.web.place import Place
from simulator.web.server import Web

LOOK_NS = 5 * MS
WAYS = ("none", "same loop", "thread", "thread, working", "process")
CPUS_NS = 2 * MS  # what an agent and a run do of their own, in Python, every look

Tell = Callable[[str, dict[str, object]], object]


def measure(seconds: float = 20.0) -> dict[str, float]:
    """Median, p99 and longest lag in ms of each way."""
    with tempfile.TemporaryDirectory() as folder:
        files = [_picture(Path(folder) / f"{i}.webp", i) for i in range(20)]
        figures = {}
        for way in WAYS:
            lags = asyncio.run(_run(way, Path(folder), files, seconds))
            for name, q in (("p50", 50), ("p99", 99), ("max", 100)):
                figures[f"{way} {name}_ms"] = round(percentile(lags, q) / MS, 2)
    return figures


def _picture(file: Path, i: int) -> Path:
    """Something like a window full of text: flat areas and noise."""
    pixels = np.full((1080, 1920, 3), 240, np.uint8)
    pixels[200:600, 100:1500] = (block(400 * 1400, i, "web").astype(np.uint8)[:, None] // 3).reshape(400, 1400, 1)
    Image.fromarray(pixels).save(file, "WEBP", lossless=True, method=0)
    return file


async def _run(way: str, folder: Path, files: list[Path], seconds: float) -> list[int]:
    """The run: its own work, and a probe that wants to wake every 5 ms."""
    async with _served(way, folder, files) as (tell, hold):
        lags: list[int] = []
        encoder = ThreadPoolExecutor(1)
        end, n, second = real_ns() + int(seconds * SECOND), 0, 0
        while (now := real_ns()) < end:
            await pause(LOOK_NS)
            lags.append(max(0, real_ns() - now - LOOK_NS))
            busy = real_ns() + CPUS_NS
            while real_ns() < busy:
                pass
            if tell is not None and n % 14 == 0:  # ten times a second
                tell("decision", {"n": n, "text": "words of an offer " * 20})
            if tell is not None and now // SECOND != second:
                second = now // SECOND
                encoder.submit(hold, files[second % len(files)])
            n += 1
        encoder.shutdown(cancel_futures=True)
    return lags[20:]


Held = Callable[[Path], None]


@asynccontextmanager
async def _served(way: str, folder: Path, files: list[Path]) -> AsyncIterator[tuple[Tell | None, Held]]:
    if way == "none":
        yield None, lambda file: None
        return
    if way == "process":
        ours, theirs = multiprocessing.get_context("spawn").Pipe()
        child = multiprocessing.get_context("spawn").Process(target=_child, args=(theirs, folder, files), daemon=True)
        child.start()
        url, sheets = await asyncio.to_thread(ours.recv)
        with _viewing(url, sheets):
            yield lambda event, data: ours.send((event, data)), lambda file: ours.send(("hold", file))
        ours.send(None)
        await asyncio.to_thread(child.join)
        return
    place = Place([folder])
    sheets = place.pictures.sheets(place.pictures.add([(file, None) for file in files], folder))
    served = Web(place)
    hold = _holder(place)
    if way.startswith("thread"):
        working = Event()
        with served.in_thread() as url, _viewing(url, sheets):
            if way.endswith("working"):
                working.set()
                Thread(target=_work, args=(working,), daemon=True).start()
            yield place.hub.publish, hold
        working.clear()
        return
    url = await served.start()
    with _viewing(url, sheets):
        yield place.hub.publish, hold
    await served.stop()
    place.close()


def _work(working: Event) -> None:
    """A page that computes all the time, such as a comparison, in Python and as JSON."""
    while working.is_set():
        json.dumps([{"n": n, "text": "words"} for n in range(3600)])


def _holder(place: Place) -> Held:
    def hold(file: Path) -> None:
        out = io.BytesIO()
        decode(file).save(out, "JPEG", quality=80)
        place.hub.publish("picture", {"id": place.pictures.hold(out.getvalue())})
        with place.pictures._lock:  # the sheet is to be made anew
            place.pictures._sheets = type(place.pictures._sheets)(64_000_000)

    return hold


def _child(pipe: Connection, folder: Path, files: list[Path]) -> None:
    place = Place([folder])
    sheets = place.pictures.sheets(place.pictures.add([(file, None) for file in files], folder))
    hold = _holder(place)
    with Web(place).in_thread() as url:
        pipe.send((url, sheets))
        while (told := pipe.recv()) is not None:
            if told[0] == "hold":
                hold(told[1])
            else:
                place.hub.publish(*told)


@contextmanager
def _viewing(url: str, sheets: list[str]):  # type: ignore[no-untyped-def]
    """A viewer in a process of its own."""
    child = multiprocessing.get_context("spawn").Process(target=_view, args=(url, sheets), daemon=True)
    child.start()
    try:
        yield
    finally:
        child.kill()
        child.join()


def _view(url: str, sheets: list[str]) -> None:
    asyncio.run(_look(url, sheets))


async def _look(url: str, sheets: list[str]) -> None:
    n = 0
    endless = aiohttp.ClientTimeout(None)
    async with aiohttp.ClientSession(timeout=endless) as session, session.get(f"{url}api/events") as events:
        async for line in events.content:
            if line.startswith(b'data: {"id":"'):
                id_ = line.decode().split('"')[3]
                async with session.get(f"{url}picture/{id_}") as answer:
                    await answer.read()
                n += 1
                if n % 5 == 0:
                    async with session.get(f"{url}sheet/{sheets[0]}") as answer:
                        await answer.read()


if __name__ == "__main__":
    for name, value in measure(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0).items():
        print(f"{name:24} {value}")
