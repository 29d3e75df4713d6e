"""Options from the environment: ``--memory-mode`` is also ``PROACT_MEMORY_MODE``; the command line wins.

(cyclopts' own reader takes positional arguments too, and ``PROACT_MEMORY_MODE`` for a part of ``--memory``.)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from cyclopts import Token

__all__ = ["PREFIX", "Environment", "variable"]

PREFIX = "PROACT_"


def variable(option: str) -> str:
    """The variable of an option.

    >>> variable("--memory-mode")
    'PROACT_MEMORY_MODE'
    """
    return PREFIX + option.removeprefix("--").replace("-", "_").upper()


class Environment:
    """A configuration source of cyclopts: fills in what was not said. An empty variable says nothing."""

    def __call__(self, app: Any, commands: tuple[str, ...], arguments: Iterable[Any]) -> None:
        """Give each option that has no value yet that of its variable."""
        known = []
        for argument in arguments:
            if not argument.name.startswith("--") or argument.children:
                continue
            name = variable(argument.name)
            known.append(name)
            value = os.environ.get(name, "")
            if value and not argument.tokens:
                for i, piece in enumerate(argument.env_var_split(value)):
                    argument.append(Token(keyword=name, value=piece, source="env", index=i))
        _warn_of_near_misses(known)


def _warn_of_near_misses(known: list[str]) -> None:
    """A misspelt variable would be ignored without a word; those of other commands and tools are left alone."""
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in known and (near := get_close_matches(name, known, 1, 0.9)):
            sys.stderr.write(f"proact: {name} is not read by this command; did you mean {near[0]}?\n")
