"""How options are declared: light, since every ``--help`` imports it.

Imported by name where options are, since the annotations of a command are evaluated among the names of its module.
"""

from __future__ import annotations

from cyclopts import Parameter

__all__ = ["option", "switch"]


def option(help_: str) -> Parameter:
    """An option with a value."""
    return Parameter(help=help_)


def switch(help_: str) -> Parameter:
    """An option that is there or not; there is no ``--no-…`` of it."""
    return Parameter(help=help_, negative="")
