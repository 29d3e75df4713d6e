"""The timeline of an hour, 3,600 snapshots and three runs, in a headless Chromium: opening and scrubbing.

``python -m bench web``. Pictures are 1080p, a new one every six seconds. Opening is from asking a server that has read
nothing yet to the page being drawn (and again, once it has); scrubbing moves the cursor once a frame, through all
lanes, and counts the frames that the browser brings about. Redrawing all lanes is timed over a hundred zooms.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

import numpy as np
import yaml
from PIL import Image

from bench.make_session import rows
from simulator.core.rng import block
from simulator.core.types import MS, SECOND
from simulator.play import run
from simulator.session.store import Writer
from simulator.timing.clock import real_ns
from simulator.web.place import Place, id_of
from simulator.web.server import Web

SNAPSHOTS = 3600
CHOICES = (("always", "none"), ("prior", "graph"), ("silent", "none"))
EVERY = 6
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
SCRUB = """async (seconds) => {
  const wait = () => new Promise((next) => requestAnimationFrame(next));
  const gaps = [], begun = performance.now();
  let before = begun, t = 0;
  while (performance.now() - begun < seconds * 1000) {
    timeline.seek(t = (t + 7) % 3600);
    const now = await wait();
    gaps.push(now - before);
    before = now;
  }
  gaps.sort((a, b) => a - b);
  return { n: gaps.length, seconds: (performance.now() - begun) / 1000, p99: gaps[Math.floor(gaps.length * 0.99)] };
}"""

ZOOMED = """() => {
  const { drawing } = timeline;
  for (let i = 1; i <= 100; i++) { drawing.view(i, 3600 - i * 12); drawing.draw(); }
  return drawing.took;
}"""


def measure() -> dict[str, float]:
    """Seconds to open, frames a second, the longest frames."""
    with tempfile.TemporaryDirectory() as folder:
        runs = _made(Path(folder))
        return _watched(Path(folder), runs)


def _made(folder: Path) -> list[Path]:
    scenario = folder / "hour"
    with Writer(scenario / "session", session="hour", user="sam", utc_anchor_ns=1_760_000_000 * SECOND) as writer:
        for tick, captured_ns, _, app, title in rows(SNAPSHOTS):
            writer.add(image=_picture(tick // EVERY), tick=tick, captured_ns=captured_ns, app_name=app,
                       window_title=title)  # fmt: skip
    needs = [
        {"id": f"n{i}", "opens_s": 60 + 100 * i, "closes_s": 75 + 100 * i, "intention": "Translation", "query": "what"}
        for i in range(34)
    ]
    told = {"session": "session", "name": "hour", "user": "sam", "truth": {"opportunities": needs}}
    (scenario / "scenario.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    return [
        run(scenario, agent, memory, out=folder / "runs" / agent, clock="modelled", latency="profile:1s").folder
        for agent, memory in CHOICES
    ]


def _picture(i: int) -> Image.Image:
    """Something like a window with text: flat areas and rows of noise."""
    pixels = np.full((1080, 1920, 3), 245, np.uint8)
    letters = block(30 * 400, i, "web").astype(np.uint8).reshape(30, 400)
    pixels[100:1000:30, 100:1700] = np.repeat(letters, 4, axis=1)[:, :, None]
    return Image.fromarray(pixels)


def _watched(folder: Path, runs: list[Path]) -> dict[str, float]:
    from playwright.sync_api import sync_playwright

    ids = [id_of(one) for one in runs]
    figures: dict[str, float] = {}
    with (
        Web(Place([folder])).in_thread() as url,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS) as browser,
    ):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{url}about")  # the browser itself is warm
        for name in ("open", "open again"):
            begun = real_ns()
            page.goto(f"{url}run/{ids[0]}/hour#t=0&runs={','.join(ids)}", wait_until="commit")
            page.wait_for_selector("#whole:not([hidden])", timeout=60_000)
            page.evaluate("() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))")
            figures[f"{name}_s"] = round((real_ns() - begun) / SECOND, 3)
            assert page.evaluate("timeline.session.runs.length") == len(runs)
            page.goto(f"{url}about")
        page.goto(f"{url}run/{ids[0]}/hour#t=0&runs={','.join(ids)}")
        page.wait_for_selector("#whole:not([hidden])")
        for name in ("scrub, sheets on their way", "scrub"):
            told = page.evaluate(SCRUB, 4)
            figures[f"{name} frames_s"] = round(told["n"] / told["seconds"], 1)
            figures[f"{name} frame_p99_ms"] = round(told["p99"], 1)
        first, *redrawn = page.evaluate(ZOOMED)
        figures["first_draw_ms"] = round(first, 2)
        figures["redraw_p50_ms"] = round(statistics.median(redrawn), 2)
        figures["redraw_max_ms"] = round(max(redrawn), 2)
        begun = real_ns()
        page.evaluate("() => fetch('/sheet/' + timeline.session.recording.sheets[0]).then((a) => a.arrayBuffer())")
        figures["sheet_ms"] = round((real_ns() - begun) / MS, 1)
    return figures


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:40} {value}")
