"""Make a large session without pictures: ``python -m bench.make_session FOLDER ROWS``.

The window changes about every 60 s, as on a real desk; applications and titles are invented.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from simulator.core.rng import below
from simulator.core.types import SECOND
from simulator.session.store import Writer

APPS = (
    ("msedge.exe", "asyncio — Python documentation - Microsoft Edge"),
    ("Code.exe", "● kernel.py - proact - Visual Studio Code"),
    ("WindowsTerminal.exe", "pytest"),
    ("WINWORD.EXE", "季度报告.docx - Word"),
    ("EXCEL.EXE", "budget.xlsx - Excel"),
    ("explorer.exe", "Downloads"),
    ("WeChat.exe", "微信"),
    ("OUTLOOK.EXE", "Inbox - Outlook"),
)

Row = tuple[int, int, int, str, str]


def rows(n: int, seed: int = 0, *, period_ns: int = SECOND) -> Iterator[Row]:
    """``(tick, captured_ns, monitor, app, title)`` of n ticks."""
    app, title, left, changes = "", "", 0, 0
    for tick in range(n):
        if not left:
            changes += 1
            left = 20 + below(80, seed, "length", changes)
            app, name = APPS[below(len(APPS), seed, "app", changes)]
            title = f"{name} {below(50, seed, 'title', changes)}"
        left -= 1
        yield tick, tick * period_ns, 0, app, title


def make(folder: Path, n: int, seed: int = 0, *, user: str = "user") -> Path:
    """Write a closed session of n rows; its folder."""
    with Writer(folder, user=user, utc_anchor_ns=1_760_000_000 * SECOND) as writer:
        writer.add_rows(("tick", "captured_ns", "monitor", "app_name", "window_title"), rows(n, seed))
    return folder


if __name__ == "__main__":
    print(make(Path(sys.argv[1]), int(sys.argv[2])))
