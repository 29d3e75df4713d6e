"""Records scenarios anew: ``python -m scenarios.record NAME … | all`` (``--words``: only files and README, no take)."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from scenarios.record.hands import DeskError
from scenarios.record.needs import Script
from scenarios.record.table import table_text
from scenarios.record.take import SCENARIOS, take, write
from simulator.core.errors import InputError

NAMES = (
    "coding_error", "tab_search", "document", "translation", "spreadsheet", "shopping", "nothing", "two_readers",
    "noise_twins", "resumed",
)  # fmt: skip


def scripts(name: str) -> tuple[Script, ...]:
    """The recordings that a module makes."""
    made: tuple[Script, ...] = import_module(f"scenarios.record.{name}").SCRIPTS
    return made


def made() -> list[tuple[str, Script]]:
    """All recordings that are there, with the names of their modules."""
    found = [(name, script) for name in NAMES for script in scripts(name)]
    return [(name, script) for name, script in found if (SCENARIOS / script.folder / "actions.jsonl").is_file()]


def main(words: list[str]) -> int:
    """Record what the words name; the exit code."""
    only_words = "--words" in words
    names = [w for w in words if w != "--words"]
    names = list(NAMES) if names == ["all"] else names
    unknown = [n for n in names if n not in NAMES]
    if not names or unknown:
        print(f"usage: python -m scenarios.record [--words] NAME … | all\nnames: {' '.join(NAMES)}", file=sys.stderr)
        return 2
    for name in names:
        for script in scripts(name):
            try:
                for file in (write if only_words else take)(script, name):
                    print(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)
            except (DeskError, InputError) as error:
                print(f"{script.folder}: {error}", file=sys.stderr)
                return 1
    (SCENARIOS / "README.md").write_text(table_text(made()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
