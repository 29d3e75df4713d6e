"""Studies: one file describes many runs, one command plays, resumes and summarises them.

>>> from simulator.sweep import sweep
>>> sweep("study.yaml")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.sweep.sweeping import Asked, Swept, Watcher, sweep
    from simulator.sweep.types import Cell, Done, Engine, Needs, Stop, Task

__all__ = ["Asked", "Cell", "Done", "Engine", "Needs", "Stop", "Swept", "Task", "Watcher", "sweep"]

__getattr__ = door(
    __name__,
    {
        "simulator.sweep.sweeping": ["Asked", "Swept", "Watcher", "sweep"],
        "simulator.sweep.types": ["Cell", "Done", "Engine", "Needs", "Stop", "Task"],
    },
)
