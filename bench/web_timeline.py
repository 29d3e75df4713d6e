"""The replay timeline of an hour at 1 Hz with three runs, in a real Chromium: opening, scrubbing, redrawing.

``python -m bench.web_timeline`` makes session and runs in a temporary folder (about 30 s) and prints one JSON object of
figures. Needs Chromium and playwright.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from PIL import Image, ImageDraw

from simulator.core.types import SECOND
from simulator.play import run
from simulator.session.store import Writer
from simulator.web.place import Place, id_of
from simulator.web.server import Web

SECONDS = 3600
AGENTS = ("prior", "always", "oracle")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
OPENED = "performance.getEntriesByName('timeline-open')[0].startTime"
SCRUB = """async () => {
  const gaps = [], n = 240;
  let last = performance.now();
  for (let i = 0; i < n; i++) {
    timeline.seek((i * 37.3) % 3590);
    await new Promise(requestAnimationFrame);
    gaps.push(performance.now() - last);
    last = performance.now();
  }
  gaps.sort((a, b) => a - b);
  return [1000 * n / gaps.reduce((a, b) => a + b, 0), gaps[Math.floor(n * 0.95)]];
}"""
REDRAW = """async () => {
  const took = [];
  for (let i = 0; i < 120; i++) {
    const began = performance.now();
    timeline.drawing.draw();
    took.push(performance.now() - began);
    await new Promise(requestAnimationFrame);
  }
  took.sort((a, b) => a - b);
  return [took[60], took[114]];
}"""


def measure() -> dict[str, float]:
    """Milliseconds until the page is there (first and later), frames a second while scrubbing, ms of a redraw."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        runs = _made(Path(folder))
        with sync_playwright() as playwright, Web(Place([runs])).in_thread() as url:
            program = shutil.which("chromium") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=program, headless=True, args=FLAGS)
            ids = [id_of(runs / agent) for agent in AGENTS]
            address = f"{url}run/{ids[0]}/hour#t=824&runs={','.join(ids)}"
            figures: dict[str, float] = {}
            for name in ("first", "second"):
                page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
                page.goto(address)
                page.wait_for_selector("#whole:not([hidden])")
                figures[f"{name} open_ms"] = round(page.evaluate(OPENED))
            page.wait_for_timeout(500)
            figures |= _moved(page, "whole")
            for _ in range(5):
                page.keyboard.press("w")
            figures |= _moved(page, "zoomed")
            browser.close()
    return figures


def _moved(page: Any, view: str) -> dict[str, float]:
    redraw, slow_redraw = page.evaluate(REDRAW)
    a_second, slow = page.evaluate(SCRUB)
    return {
        f"{view} redraw_p50_ms": round(redraw, 2),
        f"{view} redraw_p95_ms": round(slow_redraw, 2),
        f"{view} scrub_fps": round(a_second, 1),
        f"{view} scrub_p95_ms": round(slow, 1),
    }


def _made(folder: Path) -> Path:
    """The folder of three runs of an hour in which every snapshot is another picture."""
    scenario, runs = folder / "hour", folder / "runs"
    with Writer(scenario / "session", session="hour", user="sam", utc_anchor_ns=1_700_000_000 * SECOND) as writer:
        columns = ("tick", "captured_ns", "file_path", "pixels_hash", "width", "height", "app_name", "window_title")
        writer.add_rows(columns, [_row(scenario / "session", k) for k in range(SECONDS)])
    intentions = ("Error Correction", "Information Lookup", "Translation", "Comparison/Evaluation")
    needs = [
        {"opens_s": 100 + i * 140, "closes_s": 130 + i * 140, "intention": intentions[i % 4], "query": f"question {i}"}
        for i in range(24)
    ]
    told = {"session": "session", "name": "hour", "truth": {"opportunities": needs}}
    (scenario / "scenario.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    for agent in AGENTS:
        run(scenario, agent, "none", out=runs / agent, clock="modelled", latency="profile:1s")
    return runs


def _row(session: Path, k: int) -> tuple[Any, ...]:
    window = (k // 97 + k // 401) % 6
    image = Image.new("RGB", (1280, 720), (window * 40, 60 + window * 25, 90))
    draw = ImageDraw.Draw(image)
    for i in range(24):
        draw.rectangle((60, 60 + i * 26, 60 + (i * 137 + k * 7) % 1100, 70 + i * 26), fill=(200, 210, 220))
    packed = io.BytesIO()
    image.save(packed, "JPEG", quality=80)
    digest = sha256(packed.getvalue()).hexdigest()
    file = session / "screenshots" / digest[:2] / f"{digest}.jpg"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(packed.getvalue())
    path = file.relative_to(session).as_posix()
    return k, k * SECOND, path, digest, 1280, 720, f"app {window}", f"window {window}"


if __name__ == "__main__":
    print(json.dumps(measure()))
