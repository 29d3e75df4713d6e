"""The words that strategies say: files of ``agents/prompts`` that people can copy and change, and their hash."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from simulator.core.errors import InputError, UsageError, nearest

__all__ = ["FOLDER", "Prompts"]

FOLDER = Path(__file__).resolve().parents[1] / "prompts"
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)
_NOT_OURS = ("README",)


class Prompts:
    """The parts that a strategy uses.

    Args:
        parts: their names, such as ``task_cot``.
        folder: a folder whose files come before ours; empty: ours alone.

    Attributes:
        digest: 12 hex digits of names and contents, for the run's header.

    Raises:
        UsageError: no such folder, or a file in it that is no part of any strategy.
        InputError: a file that is not UTF-8.
    """

    def __init__(self, parts: Sequence[str], folder: str = "") -> None:
        theirs = None if not folder else Path(folder)
        if theirs is not None:
            _check(theirs)
        self._texts = {name: _text(name, theirs) for name in sorted(set(parts))}
        seen = "".join(f"{name}\n{text}\n\f" for name, text in self._texts.items())
        self.digest = sha256(seen.encode()).hexdigest()[:12]

    def fill(self, part: str, values: Mapping[str, str]) -> str:
        """A part with its places filled in; what is filled in is not read again.

        Raises:
            InputError: a place for which there is no value.
        """

        def value(match: re.Match[str]) -> str:
            if match[1] not in values:
                raise InputError(f"prompt {part}.md", nearest(match[1], values), field="{{" + match[1] + "}}")
            return values[match[1]]

        return _PLACE.sub(value, self._texts[part])


def _check(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"prompts: there is no folder {folder}; copy {FOLDER} and change what you like")
    known = {file.stem for file in FOLDER.glob("*.md")}
    for file in sorted(folder.glob("*.md")):
        if file.stem not in known:
            raise UsageError(
                f"prompts: {file} is no part of any strategy; {nearest(file.stem, known - set(_NOT_OURS))}"
            )


def _text(name: str, theirs: Path | None) -> str:
    own = None if theirs is None else theirs / f"{name}.md"
    if own is None or not own.is_file():
        return _ours(name)
    try:
        return _plain(own.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(own, "a prompt is a text in UTF-8") from error


@lru_cache(maxsize=64)
def _ours(name: str) -> str:
    return _plain((FOLDER / f"{name}.md").read_text(encoding="utf-8"))


def _plain(text: str) -> str:
    """Without comments; line ends and blanks at the end are no difference."""
    return _COMMENT.sub("", text.replace("\r\n", "\n")).strip()
