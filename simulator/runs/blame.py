"""What foreign code raised: in words for the log, in full for whoever mends it. Its own ``__str__`` may raise too."""

from __future__ import annotations

import contextlib
import re
import sysconfig
import traceback
from pathlib import Path

from simulator.core.errors import LostError, ProactError, quote
from simulator.core.traits import MEMORYS, trait
from simulator.endpoint.types import EndpointError

__all__ = ["blotted", "said", "trace"]

_HOUSE = str(Path(__file__).resolve().parents[1])
_LIBRARY = sysconfig.get_paths()["stdlib"]
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+(?:[.,]\d+)*")
_PLACE = re.compile(r" \([^()]+:\d+\)$")
_SITE = sysconfig.get_paths()["purelib"]


def said(error: BaseException) -> tuple[str, str]:
    """A record's (kind, text): type, message, the file and line of the agent's that it came from, and before them the
    memory's call if it was one.
    """
    if isinstance(error, LostError):
        return "agent_lost", str(error)
    if isinstance(error, EndpointError):
        return f"model_{error.kind}", error.sentence
    text = ""
    with contextlib.suppress(BaseException):
        text = str(error)
    where = None if isinstance(error, ProactError) else _where(error)  # raised on purpose: its sentence is whole
    message = f": {quote(text, 200)[1:-1]}" if text else ""
    notes = trait(error, "__notes__", None)
    by = next((f"{n}: " for n in notes if str(n).startswith(MEMORYS)), "") if isinstance(notes, list) else ""
    return "agent_error", f"{by}{type(error).__name__}{message}" + (f" ({where})" if where else "")


def blotted(text: str) -> str:
    """An error's text without its numbers and addresses, by which errors of one kind are known; its place stays.

    >>> blotted("KeyError: 17 at 0x7f3a (mine.py:12)")
    'KeyError: # at # (mine.py:12)'
    """
    place = _PLACE.search(text)
    said, where = (text, "") if place is None else (text[: place.start()], place[0])
    return _NUMBER.sub("#", said) + where


def trace(error: BaseException) -> str:
    """The whole traceback, without the simulator's own frames at its top."""
    with contextlib.suppress(BaseException):
        shown = error.__traceback__
        while shown is not None and shown.tb_next is not None and _ours(shown.tb_frame.f_code.co_filename):
            shown = shown.tb_next
        return "".join(traceback.format_exception(type(error), error, shown))
    return f"{type(error).__name__} (its traceback cannot be shown)\n"


def _where(error: BaseException) -> str | None:
    """The innermost line that is neither ours nor Python's."""
    with contextlib.suppress(BaseException):
        frames = traceback.extract_tb(error.__traceback__)
        for frame in reversed(frames):
            if not _ours(frame.filename) and not _pythons(frame.filename):
                return f"{Path(frame.filename).name}:{frame.lineno}"
    return None


def _ours(file: str) -> bool:
    return file.startswith(_HOUSE)


def _pythons(file: str) -> bool:
    return file.startswith("<") or (file.startswith(_LIBRARY) and not file.startswith(_SITE))
