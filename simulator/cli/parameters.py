"""How options are declared: light, since every ``--help`` imports it.

Imported by name where options are, since the annotations of a command are evaluated among the names of its module.
"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

__all__ = ["AsJson", "JudgeTimeout", "ModelUrl", "option", "switch"]


def option(help_: str) -> Parameter:
    """An option with a value."""
    return Parameter(help=help_)


def switch(help_: str) -> Parameter:
    """An option that is there or not; there is no ``--no-…`` of it."""
    return Parameter(help=help_, negative="")


AsJson = Annotated[bool, switch("One JSON record a line on stdout, the last one 'done'.")]
"""Of every command that has something to tell."""
ModelUrl = Annotated[
    str | None, option("Its OpenAI-compatible server; default OPENAI_BASE_URL. The key: OPENAI_API_KEY.")
]
JudgeTimeout = Annotated[str, option("Of one of its answers, with all retries.")]
"""Of a model that judges, named by the option before them."""
