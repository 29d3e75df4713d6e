"""Made-up users who know each other's pasts: what ``scope=global`` and ``scope=backoff`` of ``graph`` read.

``python -m bench.shared_past FROM TO`` takes users that ``proact dataset generate`` made and writes scenarios of the
same sessions, in which the memory is told the user's own past and, under their own names, those of some others.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from simulator.core.calendar import parse_utc_ns

OTHERS = 3


def share(given: Path, out: Path, others: int = OTHERS) -> None:
    """Write a scenario for each user.

    Args:
        given: users with a history and one session each; read where they lie.
        out: a folder a user, with ``scenario.yaml`` and ``others.jsonl``; made, and left alone where it is there.
        others: so many, those whose folders come next, round the circle.
    """
    if out.exists():
        return
    homes = sorted(path.parent for path in given.glob("*/history.jsonl"))
    if others >= len(homes):
        sys.exit(f"{given} holds {len(homes)} users, too few for the pasts of {others} others")
    for i, home in enumerate(homes):
        (told,) = home.glob("*/scenario.yaml")
        spec = yaml.safe_load(told.read_text("utf-8"))
        until_ns = max(parse_utc_ns(row["end"]) for row in _rows(home))
        lines = [
            json.dumps({**row, "user": friend.name}, ensure_ascii=False)
            for friend in (homes[(i + step) % len(homes)] for step in range(1, others + 1))
            for row in _rows(friend)
            if parse_utc_ns(row["end"]) <= until_ns  # their last days may be later than the user's
        ]
        folder = out / home.name
        folder.mkdir(parents=True)
        (folder / "others.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        near = [os.path.relpath(path, folder) for path in (told.parent, home / "history.jsonl")]
        spec |= {"session": near[0], "history": [near[1], "others.jsonl"]}
        (folder / "scenario.yaml").write_text(yaml.safe_dump(spec, allow_unicode=True), encoding="utf-8")


def _rows(home: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (home / "history.jsonl").read_text("utf-8").splitlines()]


def main(words: Sequence[str]) -> None:
    if len(words) != 2:
        sys.exit("python -m bench.shared_past FROM TO")
    share(Path(words[0]), Path(words[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
