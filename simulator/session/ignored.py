"""Keeping recordings out of version control: who records inside of a clone does not mean to publish their screen."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

__all__ = ["IGNORED", "hide", "hide_file", "is_hidden", "is_ours", "is_within_hidden", "unhide"]

IGNORED = ".gitignore"
_ALL = b"# Written by proact: a recording is private until you decide otherwise. Remove this file to commit it.\n*\n"
_REPORT = "# Written by proact: a report of a private recording."


def hide(folder: Path) -> None:
    """Have git leave out all of a folder; a file of that name that is there already stays as it is.

    Where it cannot be written the recording goes on: whatever keeps it from being written is told by what comes next.
    """
    with suppress(OSError), (folder / IGNORED).open("xb") as stream:
        stream.write(_ALL)


def hide_file(file: Path) -> bool:
    """Have git leave out one file, in a folder that may hold others; whether it does now. One that this wrote before
    gets a further line. Of a ``.gitignore`` that somebody else wrote nothing is changed: it may name the file already.
    """
    if is_hidden(file.parent):
        return True
    line = f"/{file.name}"
    ignored = file.parent / IGNORED
    with suppress(OSError, UnicodeDecodeError):
        if not ignored.exists():
            ignored.write_text(f"{_REPORT}\n{line}\n", encoding="utf-8")
        there = ignored.read_text(encoding="utf-8").splitlines()
        if _is_of_reports(there) and line not in there:
            there.append(line)
            ignored.write_text("".join(f"{one}\n" for one in there), encoding="utf-8")
        return line in there
    return False


def _is_of_reports(lines: list[str]) -> bool:
    return lines[:1] == [_REPORT] and all(line.startswith("/") for line in lines[1:])


def is_ours(folder: Path) -> bool:
    """Whether ``hide`` or ``hide_file`` wrote the file that is there, as it is."""
    with suppress(OSError, UnicodeDecodeError):
        return is_hidden(folder) or _is_of_reports((folder / IGNORED).read_text(encoding="utf-8").splitlines())
    return False


def is_hidden(folder: Path) -> bool:
    """Whether ``hide`` wrote the file that is there, as it is."""
    with suppress(OSError):
        return (folder / IGNORED).read_bytes() == _ALL
    return False


def is_within_hidden(folder: Path) -> bool:
    """Whether ``hide`` hid a folder, or one that it lies in, as a live run lies in its recording's folder."""
    whole = folder.resolve()
    return any(is_hidden(one) for one in (whole, *whole.parents))


def unhide(folder: Path) -> None:
    """Take ``hide`` back; a file that somebody else wrote, or changed, stays."""
    if is_hidden(folder):
        (folder / IGNORED).unlink(missing_ok=True)
