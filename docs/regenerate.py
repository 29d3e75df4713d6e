"""Write the `--help` of each command into `cli.md`: `make docs`. A test fails while the page is out of date.

A block to fill stands between the marker `<!-- help: dataset check -->` and the end of the fence that follows it.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console

from simulator.cli import app

__all__ = ["PAGE", "commands", "filled", "help_of"]

PAGE = Path(__file__).with_name("cli.md")
_BLOCK = re.compile(r"(<!-- help:(?P<words>[^>]*)-->\n```text\n).*?(```\n)", re.DOTALL)


def commands() -> list[str]:
    """Every command in full, as `dataset check`; the empty string is `proact` itself."""
    tree = app()
    found = [""]
    for name in tree:
        if not name.startswith("-"):
            found.append(name)
            found += [f"{name} {inner}" for inner in tree[name] if not inner.startswith("-")]
    return found


def help_of(command: str) -> str:
    """What `proact COMMAND --help` prints on 80 columns, without trailing spaces."""
    out = io.StringIO()
    app().help_print(command.split(), console=Console(file=out, width=80, color_system=None, legacy_windows=False))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines()) + "\n"


def filled(page: str) -> str:
    """The page with every block as it is now."""
    return _BLOCK.sub(lambda block: block[1] + help_of(block["words"].strip()) + block[3], page)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{PAGE} is up to date\n")
