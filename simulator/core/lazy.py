"""Doors that open late: a package names its public things and imports a module when one of them is asked for.

An eager ``__init__`` would load every module of a room for the sake of one, and make ``import agents`` a
circular import. The pattern, in each ``__init__.py``::

    if TYPE_CHECKING:                       # type checkers see the names
        from memory.base import MEMORIES

    __all__ = ["MEMORIES"]                  # people and tests see them
    __getattr__ = door(__name__, {"memory.base": ["MEMORIES"]})
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["door"]


def door(package: str, rooms: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """A module ``__getattr__`` for the package.

    Args:
        package: the package's ``__name__``.
        rooms: for each module, by full name, the public names it holds.
    """
    where = {name: module for module, names in rooms.items() for name in names}

    def __getattr__(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(where[name]), name)

    return __getattr__
