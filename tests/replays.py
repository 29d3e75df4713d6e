"""A small recorded session with runs of it, for tests of the pages that show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from simulator import SILENT, Decision, Observation, Offer
from simulator.core.types import SECOND
from simulator.play import run
from simulator.session.store import Writer

__all__ = ["HOSTILE", "NEEDS", "SAID", "Scripted", "play", "record"]

NEEDS: Sequence[Mapping[str, Any]] = (
    {"id": "first", "opens_s": 10, "closes_s": 20, "acted_s": 20, "intention": "Error Correction", "query": "why"},
    {"id": "second", "opens_s": 30, "closes_s": 36, "intention": "Translation", "query": "what does it say"},
    {"id": "third", "opens_s": 50, "closes_s": 56, "intention": "Information Lookup", "query": "where"},
)
SAID = {
    12: ("Error Correction", "Shall I look into the error?"),
    26: ("Coding/Programming", "Shall I write it?"),
    34: ("Translation", "Shall I translate?"),
    52: ("Translation", "And this?"),
}
"""With 2 s each: on time for the first need, a false alarm, stale for the second (it arrives as that closes), and wrong
content in the third.
"""
HOSTILE = (
    "<img src=x onerror=alert(1)><script>document.title='owned'</script>",
    "\x1b[31mred\x1b[0m \x07 bell \x00 nul",
    "\u202egnp.exe \u2066isolated\u2069 \u200bzero",
    "long " + "x" * 10_000,
    "javascript:alert(1) & &amp; \"quoted\" 'single' ${x} {{y}}",
)


class Scripted:
    """Says at given snapshots (by second) given things, and is silent otherwise.

    Args:
        said: by second, intention and text.
    """

    def __init__(self, said: Mapping[int, tuple[str, str]]) -> None:
        self._said = said

    async def decide(self, observation: Observation) -> Decision:
        found = self._said.get(observation.snapshot.captured_ns // SECOND)
        return SILENT if found is None else Decision((Offer(found[0], found[1], confidence=0.5),))


def record(
    folder: Path,
    seconds: int = 60,
    *,
    titles: Sequence[str] = ("main.py — project", "asyncio docs", "Inbox"),
    needs: Sequence[Mapping[str, Any]] = NEEDS,
    gap: tuple[int, int] | None = (40, 44),
    name: str = "day",
    **scenario: Any,
) -> Path:
    """A scenario with a session of so many seconds: a window each ten seconds, a picture each two, one gap.

    Returns:
        The scenario's folder.
    """
    with Writer(folder / "session", session=name, user="sam", utc_anchor_ns=1_700_000_000 * SECOND) as writer:
        for k in range(seconds):
            if gap and gap[0] <= k < gap[1]:
                continue
            image = Image.new("RGB", (96, 54), ((k // 2 * 7) % 256, 80, (k // 2 * 31) % 256))
            window = k // 10
            text = f"words on the screen {k}" if k % 15 == 0 else None
            writer.add(image=image, tick=k, captured_ns=k * SECOND, app_name=("code", "chromium", "mail")[window % 3],
                       window_title=titles[window % len(titles)], text=text)  # fmt: skip
        if gap:
            writer.gap(gap[0], gap[1] - 1, "locked")
    told = {"session": "session", "name": name, "user": "sam", **scenario}
    if needs:
        told["truth"] = {"opportunities": [dict(need) for need in needs]}
    (folder / "scenario.yaml").write_text(yaml.safe_dump(told, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return folder


def play(scenario: Path, out: Path, said: Mapping[int, tuple[str, str]] | str, **how: Any) -> Path:
    """A run of a scenario by an agent's name or by what a scripted one says; gives the run folder."""
    agent: Any = said if isinstance(said, str) else lambda: Scripted(said)
    settings = {"clock": "modelled", "latency": "fixed:2s", **how}
    with ThreadPoolExecutor(1) as pool:  # where a browser is open, its loop holds this thread
        return pool.submit(lambda: run(scenario, agent, "none", out=out, **settings)).result().folder
