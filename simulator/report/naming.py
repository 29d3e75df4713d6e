"""Names in place of paths: a report is given to others, whom it does not concern where its maker keeps things."""

from __future__ import annotations

import re
from pathlib import Path

from simulator.core.errors import InputError

__all__ = ["name_of", "told_by_name", "without_folders"]

_BEFORE = r"(?<![\w./~\\-])"
_NAME = r"[^\s'\"`,;:|<>()/\\]+"
_NO_TAG = r"(?!(?<=<)/[\w:-]+\s*>)"
_FOLDERS = re.compile(rf"{_BEFORE}{_NO_TAG}(?:~\w*|\.{{1,2}}|[A-Za-z]:|\\)?[/\\](?=[^\s/\\])(?:{_NAME}[/\\])*")
_OF_FILES = re.compile(rf"{_BEFORE}(?:{_NAME}/)+(?={_NAME}\.(?:py|jsonl?|csv|npz|onnx|gguf|db)\b)")


def name_of(path: Path | str) -> str:
    """The last name of a path; of a scenario's file its folder's too, since all are called the same.

    >>> name_of("/home/anna/study/desk"), name_of("../desk/scenario.yaml"), name_of(".")
    ('desk', 'desk/scenario.yaml', '.')
    """
    parts = [part for part in re.split(r"[/\\]+", str(path)) if part] or ["."]
    return "/".join(parts[-2:] if parts[-1].startswith("scenario.") else parts[-1:])


def without_folders(text: str) -> str:
    """A text without the folders of paths in it that lead from the root, from home, from here or to a file of ours;
    addresses of servers, names of models and the ends of tags stay.

    >>> without_folders("profile:/home/anna/slow.csv; mine/agent.py:Mine; org/model at http://host:80/v1; 1 / h")
    'profile:slow.csv; agent.py:Mine; org/model at http://host:80/v1; 1 / h'
    """
    return _OF_FILES.sub("", _FOLDERS.sub("", text))


def told_by_name(error: Exception) -> str:
    """What went wrong, with the file in question by its name."""
    said = str(error)
    if isinstance(error, InputError):
        said = said.replace(error.where, name_of(error.where))
    return without_folders(said)
