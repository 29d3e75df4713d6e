"""Small sessions to annotate, and models that answer as a test wants."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from simulator.core.types import SECOND
from simulator.session.store import Writer

Row = tuple[str, str, int]  # app, title, seconds
DAY: tuple[Row, ...] = (
    ("chrome", "Inbox - Webmail - Google Chrome", 8),
    ("chrome", "ChatGPT - Google Chrome", 40),
    ("code", "parser.py - Visual Studio Code", 12),
    ("chrome", "Claude - Google Chrome", 10),
)


def session(folder: Path, day: Sequence[Row] = DAY, *, events: bool = True, pictures: bool = True, text: bool = True,
            changing: bool = True, columns: dict[int, dict[str, Any]] | None = None) -> Path:  # fmt: skip
    """A closed session of one row a second; event n (from 1) gets ``columns[n]`` besides."""
    tick = 0
    with Writer(folder, session="s", user="u", utc_anchor_ns=1_700_000_000 * SECOND) as writer:
        for number, (app, title, seconds) in enumerate(day, 1):
            first = tick
            for n in range(seconds):
                shade = (number, n if changing else 0, 0)
                writer.add(
                    image=Image.new("RGB", (32, 16), shade) if pictures else None,
                    tick=tick,
                    captured_ns=tick * SECOND,
                    app_name=app,
                    window_title=title,
                    event_id=number if events else None,
                    text=f"{title} second {n if changing else 0} " + "x" * 600 if text else None,
                )
                tick += 1
            if events:
                span = {"start_ns": first * SECOND, "end_ns": tick * SECOND, "start_tick": first, "end_tick": tick - 1}
                writer.event(id=number, app_name=app, window_title=title, **span, **(columns or {}).get(number, {}))
    return folder


def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(folder / "session.db") as db:
        found = db.execute(sql).fetchall()
    db.close()
    return found


def without_annotations(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every table but the one that annotation writes."""
    tables = [n for (n,) in rows(folder, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return {name: rows(folder, f"SELECT * FROM {name}") for name in tables if name != "annotations"}


def said_event(assistance: bool, **more: Any) -> str:
    base = {"assistance": assistance, "platform": None, "type": None, "summary": "Reads mail.", "conversation": None}
    return json.dumps({**base, **more})


def said_intent(intention: str | None = "Error Correction", **more: Any) -> str:
    base = {"query": "Why does it fail?", "intention": intention, "confidence": 0.8, "rationale": "An error is shown."}
    return json.dumps({**base, **more})


CHAT = said_event(
    True,
    platform="ChatGPT",
    type="chat",
    summary="Asks why a test fails.",
    conversation={"user_queries": ["Why does it fail?"], "llm_responses": ["An index is off by one."]},
)


def honest(question: str) -> str:
    """Says of a window what its title says."""
    if "Choose the intention" in question:
        return said_intent()
    return CHAT if "Title: ChatGPT" in question else said_event(False)
