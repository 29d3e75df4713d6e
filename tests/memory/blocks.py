"""Blocks so small that a handful of events is searched as years are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from memory import index as indexing
from memory import journal_vectors as cached
from memory import rag as ragging


@contextmanager
def small_blocks() -> Iterator[pytest.MonkeyPatch]:
    """Blocks of four rows, sealed and searched through lists from five rows on; vectors stored from the first write."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (indexing, cached):
            patch.setattr(module, "BLOCK", 4)
        patch.setattr(indexing.Index.__init__, "__defaults__", (4, 5))
        patch.setattr(ragging, "EXACT", 5)
        patch.setattr(cached, "_FEW", 0)
        yield patch
