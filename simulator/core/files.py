"""Text files that people and other programs wrote: each fault is one sentence that names the file and the line."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError

__all__ = ["csv_rows", "json_lines", "open_plain", "read_text"]

_LONGEST_FIELD = 2**31 - 1  # Python's own limit of 131,072 characters is less than what people paste into a question


def read_text(path: Path) -> str:
    """A text in UTF-8, without its byte order mark and with the ends of lines as they are.

    Raises:
        InputError: it cannot be read, is a device (``/dev/zero`` has no end), or is not UTF-8.
    """
    if path.is_char_device() or path.is_block_device():
        raise InputError(path, "a device, where a text file belongs")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(path, "must be a text file in UTF-8") from error


def open_plain(path: Path) -> io.BufferedReader:
    """Open a file for reading that must be one: a pipe would never answer, and ``/dev/zero`` never end.

    Raises:
        InputError: it is a pipe or a device.
        OSError: it cannot be opened.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if stat.S_ISDIR(mode := os.fstat(handle).st_mode):
            raise IsADirectoryError(21, "Is a directory", str(path))
        if not stat.S_ISREG(mode):
            raise InputError(path, "a pipe or a device, where a file belongs")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def json_lines(path: Path, *, keys_once: bool = False) -> Iterator[tuple[int, Any]]:
    """What JSON lines hold, with the numbers of the lines; blank ones are passed over.

    Args:
        path: the file.
        keys_once: refuse an object with a key given twice, of which the second would silently win.

    Raises:
        InputError: see ``read_text``; a line that is not JSON.
    """
    # Not splitlines: JSON may hold U+2028, U+2029 and U+0085 as they are, and they end no line of it.
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            value = json.loads(line, parse_constant=_refuse, object_pairs_hook=_once if keys_once else None)
            if "\\u" in line:
                json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise InputError(where, "a text holds half a character (a lone surrogate)") from None
        except json.JSONDecodeError as error:
            raise InputError(where, f"not JSON ({error}); a torn last line?") from error
        except RecursionError:
            raise InputError(where, "it is nested too deeply") from None
        except ValueError as error:
            said = "a number of thousands of digits" if "digits" in str(error) else str(error)
            raise InputError(where, f"not JSON ({said})") from error
        yield number, value


def csv_rows(path: Path, needed: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with a head, with the numbers of the lines on which they end; empty fields are left out.

    Args:
        path: the file.
        needed: columns that the head must name.

    Raises:
        InputError: see ``read_text``; a column that is needed and not there, a row with more fields than the head
            names, or that is no CSV.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        for name, n in Counter(reader.fieldnames or ()).items():
            if n > 1:
                raise InputError(path, "each column once", field=name)
        for name in needed:
            if name not in (reader.fieldnames or ()):
                raise InputError(path, f"a table with the columns {', '.join(needed)} is wanted; it has no {name}")
        for row in reader:
            if None in row:
                raise InputError(f"{path}, line {reader.line_num}", "more fields than the head names")
            yield reader.line_num, {k: v for k, v in row.items() if v}
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}", f"not CSV ({error})") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is given twice")
    return made


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a number")
