"""Write the `--help` of each command and the files of `examples/` into the pages: `make docs`.

A block to fill stands between a marker, `<!-- help: dataset check -->` or `<!-- file: examples/stuck.py -->`, and the
end of the fence that follows it. Tests fail while a page is out of date.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console

from simulator.cli import app

__all__ = ["PAGE", "commands", "filled", "help_of", "with_files"]

DOCS = Path(__file__).parent
PAGE = DOCS / "cli.md"
_BLOCK = re.compile(r"(<!-- help:(?P<words>[^>]*)-->\n```text\n).*?(```\n)", re.DOTALL)
_FILE = re.compile(r"(<!-- file: (?P<name>\S+) -->\n```[a-z]+\n).*?(^```\n)", re.DOTALL | re.MULTILINE)


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
    words = command.split()
    app(words).help_print(words, console=Console(file=out, width=80, color_system=None, legacy_windows=False))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines()) + "\n"


def filled(page: str) -> str:
    """The page with every block as it is now."""
    return _BLOCK.sub(lambda block: block[1] + help_of(block["words"].strip()) + block[3], page)


def with_files(page: str) -> str:
    """The page with every file that it shows as that file is now."""
    return _FILE.sub(lambda block: block[1] + (DOCS / block["name"]).read_text(encoding="utf-8") + block[3], page)


if __name__ == "__main__":
    for path in sorted(DOCS.glob("*.md")):
        old = path.read_text(encoding="utf-8")
        new = with_files(filled(old) if path == PAGE else old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            sys.stdout.write(f"{path} written anew\n")
