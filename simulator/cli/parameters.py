"""How options are declared: light, since every ``--help`` imports it.

Imported by name where options are, since the annotations of a command are evaluated among the names of its module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter, Token

from simulator.core.errors import UsageError, quote

__all__ = ["AsJson", "JudgeTimeout", "ModelUrl", "option", "switch", "whole"]


def option(help_: str) -> Parameter:
    """An option with a value."""
    return Parameter(help=help_)


def switch(help_: str) -> Parameter:
    """An option that is there or not; there is no ``--no-…`` of it."""
    return Parameter(help=help_, negative="")


def _whole(_: object, tokens: Sequence[Token]) -> int:
    """A number as typed; 1.5 is none, and not 1."""
    said = tokens[0].value
    try:
        return int(said)
    except ValueError:
        raise UsageError(f"{tokens[0].keyword} {quote(said)}: a whole number is wanted") from None


def whole(help_: str) -> Parameter:
    """An option with a whole number."""
    return Parameter(help=help_, converter=_whole)


AsJson = Annotated[bool, switch("One JSON record a line on stdout, the last one 'done'.")]
"""Of every command that has something to tell."""
ModelUrl = Annotated[
    str | None, option("Its OpenAI-compatible server; default OPENAI_BASE_URL. The key: OPENAI_API_KEY.")
]
JudgeTimeout = Annotated[str, option("Of one of its answers, with all retries.")]
"""Of a model that judges, named by the option before them."""
