"""From somebody else's recording to scores, by the commands that the messages name."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]
LIFETRACE = ROOT / "../shared/data/lifetrace/v1_2025-09-02_recorded_63shots_21events_ocr-masked.db"


def _bytes(folder: Path) -> dict[Path, str]:
    return {p: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_folder_of_images_is_imported_checked_described_and_played(proact: Any, tmp_path: Path) -> None:
    images = tmp_path / "images"
    images.mkdir()
    for i in range(6):
        Image.new("RGB", (16, 12), (40 * i, 0, 0)).save(images / f"shot{i}.png")
    refused = proact("run", "images")
    assert refused.code == 2
    assert "proact dataset import --format folder" in refused.err
    words = ("dataset", "import", "images", "out", "--format", "folder", "--timezone", "UTC", "--user", "kim")
    first = proact(*words)
    assert first.code == 0, first.err
    assert "kim" in first.out
    before = _bytes(tmp_path / "out")
    again = proact(*words, "--json")
    assert again.records[-1]["event"] == "done"
    assert again.records[-1]["unchanged"] is True
    assert {r["event"] for r in again.records[:-1]} == {"account"}
    assert _bytes(tmp_path / "out") == before
    checked = proact("dataset", "check", "out", "--json")
    assert (checked.code, checked.records[-1]) == (0, {"event": "done", "checked": 2, "damaged": 0})
    described = proact("dataset", "describe", "out", "--json").records
    assert (described[0]["rows"], described[0]["user"], described[-1]["described"]) == (6, "kim", 1)
    played = proact("run", "out", "--agent", "silent", "--memory", "none", "--out", "o", "--json")
    assert played.records[1]["tally"]["released"] == 6


@pytest.mark.skipif(not LIFETRACE.exists(), reason="the recorded LifeTrace database is not on this machine")
def test_a_lifetrace_database_becomes_a_scenario_with_a_history(proact: Any, tmp_path: Path) -> None:
    assert "--format lifetrace" in proact("run", LIFETRACE).err
    done = proact("dataset", "import", LIFETRACE, "out", "--timezone", "Asia/Shanghai", "--user", "p1", "--json")
    assert done.code == 0
    account = {(r["outcome"], r["reason"]): r["count"] for r in done.records[:-1]}
    assert (account["kept", "screenshots"], account["kept", "events"]) == (63, 21)
    last = done.records[-1]
    assert len(last["scenarios"]) == 1
    assert (tmp_path / "out" / "p1" / "history.jsonl").exists()
    played = proact("run", Path("out") / last["scenarios"][0], "--memory", "rag", "--out", "o", "--json")
    assert played.code == 0
    assert json.loads((tmp_path / "o" / "run.json").read_text())["status"] == "done"
