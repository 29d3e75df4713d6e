"""The scores of other benchmarks, from their published definitions, over the same stored runs.

None is in a standard set: ``proact score RUN --scorer nab``. Those of timing are given twice: at arrival, and with the
ending ``@seen`` for the same surfaced offers judged at capture, as if nothing had been charged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from scorers.compat.pauc import area
    from scorers.compat.proactivebench import Counts

__all__ = ["Counts", "area"]

__getattr__ = door(__name__, {"scorers.compat.pauc": ["area"], "scorers.compat.proactivebench": ["Counts"]})
