"""Makes ``session/`` and ``actions.jsonl`` from the raw recording, which is not shipped.

    .venv/bin/python scenarios/desktop/build.py RECORDING

RECORDING is a folder with ``snapshots.jsonl``, ``actions.jsonl`` and ``images/`` as the recording script of this
project wrote them. Nobody needs to run this to play the scenario; it is here so that every byte can be accounted for.

What is done, and nothing else:

* every distinct screen becomes one WebP file: lossless (for screens also the smallest), unless a lossy one takes less
  than half, which is true of the one screen with a photo on it. Its pixels hash is that of the pixels as stored;
* instants are shifted so that 0 is the first snapshot; app, title, geometry, lateness are kept as recorded;
* the log of what the person did gets the same clock (``t_s``), so that truth can be held against it.

Encoders differ by version: a rebuilt file may differ in bytes while its pixels (but for the lossy one) are the same.
"""

from __future__ import annotations

import json
import shutil
import sys
from datetime import datetime
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from simulator.session.store import Writer, image_path, pixels_hash

HERE = Path(__file__).resolve().parent
LOSSY_QUALITY = 90
LOSSY_BELOW = 0.5


def encode(picture: Image.Image) -> tuple[bytes, bool]:
    """The WebP file of a picture, and whether it is lossless."""
    exact, lossy = BytesIO(), BytesIO()
    picture.save(exact, "WEBP", lossless=True, quality=100, method=6)
    picture.save(lossy, "WEBP", quality=LOSSY_QUALITY, method=6)
    if len(lossy.getvalue()) < LOSSY_BELOW * len(exact.getvalue()):
        return lossy.getvalue(), False
    return exact.getvalue(), True


def keep(writer: Writer, source: Path) -> dict[str, Any]:
    """Store one recorded picture; the row's columns about it."""
    content, lossless = encode(Image.open(source).convert("RGB"))
    stored = Image.open(BytesIO(content)).convert("RGB")
    digest = pixels_hash(stored)
    relative = image_path(digest)
    writer.put(relative, content)
    print(f"{source.name}: {len(content):,} bytes{'' if lossless else ', lossy'}")
    return {"file_path": relative, "file_hash": sha256(content).hexdigest(), "pixels_hash": digest,
            "file_size": len(content), "width": stored.width, "height": stored.height}  # fmt: skip


def row_of(said: dict[str, Any], zero_s: float, focus_changed: bool) -> dict[str, Any]:
    """The columns of one recorded snapshot, but for its picture."""
    x, y, width, height = said["geom"]
    return {
        "tick": said["seq"],
        "captured_ns": round((said["t_mono"] - zero_s) * 1e6) * 1000,
        "wall_utc_ms": round(datetime.fromisoformat(said["t_wall"]).timestamp() * 1000),
        "tz_offset_min": 0,
        "late_ms": said["late_ms"],
        "app_name": said["app"],
        "window_title": said["title"],
        "window_class": said["wm_class"][1],
        "window_x": x,
        "window_y": y,
        "window_w": width,
        "window_h": height,
        "focus_changed": int(focus_changed),
    }


def build(recording: Path, out: Path) -> None:
    """Write the session anew, then put it in place of an older one."""
    said = [json.loads(line) for line in (recording / "snapshots.jsonl").read_text(encoding="utf-8").splitlines()]
    anchor = datetime.fromisoformat(said[0]["t_wall"])
    fresh = out.with_name(out.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    kept: dict[str, dict[str, Any]] = {}
    meta = {
        "codec": f"webp lossless, or lossy quality {LOSSY_QUALITY} where that takes less than half",
        "recorded": "a real X display and real applications, driven by a script; all data in it invented",
    }
    with Writer(
        fresh, session="desktop", user="sam", utc_anchor_ns=round(anchor.timestamp() * 1000) * 1_000_000, meta=meta
    ) as writer:
        before = None
        for one in said:
            if one["file"] not in kept:
                kept[one["file"]] = keep(writer, recording / one["file"])
            window = one["wm_class"][1]
            writer.add(**row_of(one, said[0]["t_mono"], window != before and before is not None), **kept[one["file"]])
            before = window
    shutil.rmtree(out, ignore_errors=True)
    fresh.rename(out)
    write_actions(recording, out.with_name("actions.jsonl"), anchor.timestamp())
    print(f"{len(said)} snapshots, {len(kept)} screens, {sum(k['file_size'] for k in kept.values()):,} bytes")


def write_actions(recording: Path, out: Path, zero: float) -> None:
    """The log of what was done, on the session's clock."""
    with out.open("w", encoding="utf-8") as stream:
        for line in (recording / "actions.jsonl").read_text(encoding="utf-8").splitlines():
            action = json.loads(line)
            wall = action.pop("wall")
            del action["t"]
            stream.write(json.dumps({"t_s": round(wall - zero, 3), **action}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(f"usage: {sys.argv[0]} RECORDING")
    build(Path(sys.argv[1]), HERE / "session")
