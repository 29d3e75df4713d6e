"""How well and how fast a reader reads our own screens: ``python -m bench.ocr READER [N]`` (default 12 pictures).

Nobody has written down what stands on each of them, but much is known: the words of the title of the window in front,
and what the script typed into it since it came to the front. Read is a word that the reader gives as it is, whatever
its capitals.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from simulator.core.types import SECOND
from simulator.screen.pixels import decode
from simulator.screen.readers import as_text, reader
from simulator.session.reader import Reader
from simulator.timing.clock import real_ns

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
_WORD = re.compile(r"[^\W\d_]{4,}|[\u4e00-\u9fff]+")


def pictures(folder: Path) -> Iterator[tuple[Path, set[str], set[str]]]:
    """The last picture of each event of a recording, with the words of its title and those typed into its window."""
    actions = [json.loads(line) for line in (folder / "actions.jsonl").read_text(encoding="utf-8").splitlines()]
    with Reader(folder / "session") as opened:
        rows = [r for r in opened.rows(("captured_ns", "app_name", "window_title", "file_path")) if r[3]]
    for (_, title), group in groupby(rows, key=lambda row: row[1:3]):
        some = list(group)
        start, end = ((row[0] - rows[0][0]) / SECOND for row in (some[0], some[-1]))
        typed = " ".join(str(a.get("text", "")) for a in actions if a.get("do") == "type" and start <= a["t_s"] < end)
        yield folder / "session" / some[-1][3], _words(title or ""), _words(typed)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def main(name: str, n: int) -> None:
    """Print what was found of what is known, and what it took."""
    folders = sorted(file.parent for file in SCENARIOS.rglob("actions.jsonl") if (file.parent / "session").is_dir())
    found = [one for folder in folders for one in pictures(folder) if one[1] | one[2]]
    chosen = found[:: max(1, len(found) // n)][:n]
    read, begun = reader(name), real_ns()
    read.words(decode(chosen[0][0]))
    print(
        f"{name}: {len(chosen)} of {len(found)} pictures; the first, with its models, {(real_ns() - begun) / 1e9:.1f} s"
    )
    took, titles, typed = [], [0, 0], [0, 0]
    for file, of_title, of_typing in chosen:
        image, begun = decode(file), real_ns()
        text = as_text(read.words(image)).casefold()
        took.append((real_ns() - begun) / 1e9)
        there = _words(text)
        for known, count in ((of_title, titles), (of_typing, typed)):
            count[0] += sum(word in there or (not word.isascii() and word in text) for word in known)
            count[1] += len(known)
    took.sort()
    print(f"a picture: median {took[len(took) // 2]:.2f} s, worst {took[-1]:.2f} s")
    for what, (k, of) in (("titles", titles), ("typed", typed)):
        print(f"words of {what}: {k} of {of}" + (f", {k / of:.0%}" if of else ""))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 12)
