"""The live page in a real window on a real display: it is left out of what it shows, and pauses what it shows."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from PIL import Image

from simulator.core.types import SECOND
from simulator.runs.folder import read_units
from simulator.session.check import check
from simulator.session.reader import Reader
from simulator.timing.clock import rest
from tests.desks import Desk, needs, until

ROOT = Path(__file__).resolve().parents[2]
BROWSER = ["chromium", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
           "--disable-background-networking", "--disable-component-update"]  # fmt: skip
CHANGES = '''
from simulator import SILENT, Decision, Offer


class Changes:
    """Speaks whenever the screen is another one than before."""

    last = None

    async def decide(self, observation):
        now = observation.snapshot.image.pixels_hash
        if now == self.last:
            return SILENT
        self.last = now
        return Decision((Offer("Coding/Programming", f"changed in snapshot {observation.snapshot.index}"),))
'''

pytestmark = pytest.mark.e2e


def asked(url: str, where: str, data: bytes | None = None) -> Request:
    base, _, token = url.partition("/live?token=")
    head = {"X-Proact": "1", "Content-Type": "application/json", "X-Proact-Token": token}
    return Request(f"{base}{where}", data, head)


def state(url: str) -> dict[str, Any]:
    with urlopen(asked(url, "/api/live"), timeout=5) as answer:
        told: dict[str, Any] = json.load(answer)
    return told


def pause(url: str, paused: bool) -> None:
    with urlopen(asked(url, "/api/live/pause", json.dumps({"paused": paused}).encode())):
        pass


def record(url: str) -> dict[str, Any]:
    told: dict[str, Any] = state(url)["status"].get("recording") or {}
    return told


def test_its_window_is_covered_in_every_picture_and_its_pause_stops_the_recorder(tmp_path: Path) -> None:
    needs("chromium", "xdotool")
    (tmp_path / "changes.py").write_text(CHANGES, encoding="utf-8")
    out = tmp_path / "out"
    with Desk(1024, 640, manager=True) as desk:
        desk.window("notes - Editor", wm_class=("mousepad", "Mousepad"), x=760, y=40, width=200, height=200)
        words = ["live", tmp_path / "demo", "--agent", f"{tmp_path / 'changes.py'}:Changes", "--memory", "none",
                 "--gate", "off", "--linger", "0s", "--yes", "--json"]  # fmt: skip
        command = [sys.executable, "-m", "simulator.cli", *map(str, words)]
        with out.open("w") as stream:
            live = desk.start(command, cwd=ROOT, stdout=stream)
        until(lambda: '"page"' in out.read_text(), "the page's address")
        url = json.loads(out.read_text().splitlines()[0])["url"]
        window = [f"--user-data-dir={desk.home}/profile", "--window-position=20,20", "--window-size=640,560", url]
        desk.start([*BROWSER, *window])
        with pytest.raises(HTTPError, match="401"):  # who lacks the word sees nothing of this screen
            urlopen(url.partition("?")[0].replace("/live", "/api/live"), timeout=5)
        until(lambda: state(url)["status"].get("viewers") == 1, "the page to be open")
        until(lambda: record(url).get("page_missing") is False, "the page's window to be found")
        rest(SECOND)
        shown = state(url)["snapshot"]["index"]
        until(lambda: state(url)["snapshot"]["index"] >= shown + 4, "more snapshots")
        pause(url, True)
        until(lambda: record(url).get("paused") is True, "the pause")
        before = record(url)["rows"]
        rest(2 * SECOND)
        assert record(url)["rows"] == before, "nothing is looked at while paused"
        pause(url, False)
        until(lambda: record(url)["rows"] > before, "the recording to go on")
        renamed = state(url)["snapshot"]["index"]
        desk.start(["xdotool", "search", "--name", "proact live", "set_window", "--name", "my own name"]).wait(10)
        until(lambda: record(url).get("page_missing") is True, "a renamed window to be missed")
        live.send_signal(signal.SIGINT)
        assert live.wait(30) == 0
    assert not [f for f in check(tmp_path / "demo" / "session") if f.severity == "damage"]
    ((_, log, _),) = read_units(tmp_path / "demo" / "run")
    first, last = log.captured_ns[shown], log.captured_ns[renamed]
    late = [o.text for o in log.offers() if first < o.captured_ns <= last]
    assert late == [], "what the page shows, a stopwatch and a picture a second, is no change of the screen"
    with Reader(tmp_path / "demo" / "session") as reader:
        assert "paused" in {gap.reason for gap in reader.header.gaps}
        rows = reader.fetch(
            "SELECT s.file_path, m.x, m.y, m.w, m.h FROM screenshots s JOIN masks m ON m.tick = s.tick"
            " WHERE m.reason = 'own' ORDER BY s.tick"
        )
        assert not [
            title for (title,) in reader.fetch("SELECT window_title FROM screenshots") if "proact" in str(title)
        ]
    assert len(rows) >= 5
    for file, x, y, w, h in dict.fromkeys(rows):
        with Image.open(tmp_path / "demo" / "session" / file) as picture:
            covered = picture.convert("RGB").crop((x, y, x + w, y + h))
        assert w > 600
        assert covered.getextrema() == ((covered.getpixel((0, 0))[0],) * 2,) * 3  # type: ignore[index]
