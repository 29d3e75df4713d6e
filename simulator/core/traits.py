"""What others' classes declare or leave out: read once, so that code behind an attribute cannot end a run later."""

from __future__ import annotations

from typing import Any

from simulator.core.errors import UsageError, quote

__all__ = ["MEMORYS", "declares", "trait"]

MEMORYS = "the memory's "
"""With what a note on an error begins that came of a call to the memory, so that it is not told as the agent's own."""


def trait(whom: Any, name: str, default: Any = None) -> Any:
    """An optional attribute or method of somebody else's object; ``default`` where it has none.

    Raises:
        UsageError: reading it failed, as a property may with any exception.
    """
    try:
        return getattr(whom, name, default)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the border to foreign code
        raise _unreadable(whom, name, error) from error


def declares(whom: Any, name: str) -> bool:
    """Whether it has a trait such as ``inline`` that holds.

    Raises:
        UsageError: see ``trait``; also where the value cannot be true or false.
    """
    value = trait(whom, name, False)
    try:
        return bool(value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the border to foreign code
        raise _unreadable(whom, name, error) from error


def _unreadable(whom: Any, name: str, error: BaseException) -> UsageError:
    owner = whom.__name__ if isinstance(whom, type) else type(whom).__name__
    return UsageError(f"{quote(owner)}: its {quote(name)} cannot be read: it raises {type(error).__name__}")
