"""What the cells of a plan are called, each by a name of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["cell_names"]


def cell_names(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of cells as ``sweep.json`` holds them, with ids behind those that several have: of a folder's name
    ``a/b``, ``a b`` and ``a-b`` are one.

    >>> cell_names([{"id": "1f", "name": "a-b"}, {"id": "2e", "name": "a-b"}, {"id": "3d", "name": "c"}])
    ['a-b-1f', 'a-b-2e', 'c']
    """
    named = Counter(str(cell["name"]) for cell in cells)
    return [f"{cell['name']}-{cell['id']}" if named[str(cell["name"])] > 1 else str(cell["name"]) for cell in cells]
