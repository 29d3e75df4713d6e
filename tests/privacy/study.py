"""A small research folder of two users, with texts planted wherever proact keeps any."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from simulator.core.types import SECOND
from simulator.session.store import Writer

START = 1_793_000_000 * SECOND  # UTC of captured_ns 0
WORD = "zanzibar"  # in every text of sam's


@dataclass
class Home:
    """Where things lie."""

    root: Path

    @property
    def session(self) -> Path:
        return self.root / "data" / "sam" / "monday"

    @property
    def other(self) -> Path:
        return self.root / "data" / "kim" / "tuesday"

    def files_with(self, text: str, *, alone: bool = False) -> list[str]:
        """Files that hold a text, in whatever letters, or are named by it; ``alone``: not as a part of a word."""
        wanted = re.compile((rf"(?<![a-z]){text}(?![a-z])" if alone else text).encode(), re.IGNORECASE)
        return [
            path.relative_to(self.root).as_posix()
            for path in sorted(self.root.rglob("*"))
            if wanted.search(path.name.encode()) or (path.is_file() and wanted.search(path.read_bytes()))
        ]


_made = TemporaryDirectory()


def record(folder: Path, user: str, **how: Any) -> None:
    """See ``_record``; an equal one is made once and copied, since each picture waits for the disk."""
    name = sha256(repr((folder.name, user, sorted(how.items()))).encode()).hexdigest()
    template = Path(_made.name) / name / folder.name
    if not template.exists():
        _record(template, user, **how)
    shutil.copytree(template, folder)


def _record(
    folder: Path, user: str, *, n: int = 20, start_ns: int | None = START, word: str = WORD, **meta: str
) -> None:
    """A session of n seconds: a new picture every 5 s, three events, two needs, labels."""
    with Writer(folder, session=folder.name, user=user, utc_anchor_ns=start_ns, meta=meta) as writer:
        for i in range(n):
            part = i // 5
            writer.add(
                image=Image.new("RGB", (32, 20), (part * 40, len(user) * 20, 90)), tick=i, captured_ns=i * SECOND,
                app_name="xterm", window_title=f"{word} title of {part}", text=f"{word} ocr of {part}", monitor=1,
                event_id=1 + part // 2, scene_description=f"{word} scene of {part}", pid=7, window_class="XTerm",
                wall_utc_ms=None if start_ns is None else (start_ns + i * SECOND) // 10**6,
            )  # fmt: skip
        for k, (a, b) in enumerate(((0, 10), (10, 16), (16, n))):
            writer.event(
                id=k + 1, start_ns=a * SECOND, end_ns=b * SECOND, start_tick=a, end_tick=b - 1, app_name="xterm",
                window_title=f"{word} title of {a // 5}", event_summary=f"{word} summary of {k}",
                is_llm_event=int(k == 1), user_intention="Translation" if k == 1 else None,
                conversation=json.dumps({"user_queries": [f"{word} question"]}) if k == 1 else None,
            )  # fmt: skip
        writer.opportunity(
            id="early", opens_ns=2 * SECOND, closes_ns=6 * SECOND, intention="Translation", query=f"{word} query early",
            event_id=1,
        )  # fmt: skip
        writer.opportunity(
            id="late", opens_ns=12 * SECOND, closes_ns=18 * SECOND, intention="Translation",
            query=f"{word} query late", event_id=2,
        )  # fmt: skip
        writer.label(event_id=1, at_ns=4 * SECOND, rater=user, help=1, note=f"{word} note early")
        writer.label(event_id=3, at_ns=19 * SECOND, rater=user, help=0, note=f"{word} note late")
        writer.set_profile({"occupation": f"{word} dealer"})


def make(root: Path) -> Home:
    """Sam's data with the word in it, Kim's without."""
    home = Home(root)
    for folder, user, word in ((home.session, "sam", WORD), (home.other, "kim", "harmless")):
        record(folder, user, word=word)
        rows = [
            {"start": -60.0, "end": -30.0, "app": "xterm", "title": f"{word} past title", "help": True,
             "intention": "Translation", "query": f"{word} past query"},
            {"start": -20.0, "end": -10.0, "app": "xterm", "title": f"{word} later title", "help": False},
        ]  # fmt: skip
        (folder.parent / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        (folder.parent / "import.json").write_text(
            json.dumps([{"user": user, "outcome": "kept", "reason": "rows", "count": 1, "examples": [f"{word} shot"]}]),
            encoding="utf-8",
        )
        (folder / "scenario.yaml").write_text(
            f"session: .\nhistory: [../history.jsonl]\nprofile: {{job: {word} profile}}\n# {word} in a comment\n"
            f"truth:\n  opportunities:\n    - {{opens_s: 3, closes_s: 8, intention: Translation, query: {word} said}}\n"
            f"    - {{opens_s: 11, closes_s: 19, intention: Error Correction, query: {word} said later}}\n",
            encoding="utf-8",
        )
    return home
