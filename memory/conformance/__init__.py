"""What every memory must keep to, as checks that need no test runner: ``proact doctor memory`` and the pytest class of
``tests/conformance/memory_conformance.py`` run the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from memory.conformance.checking import CHECKS, Check, Checked, check, examine
    from memory.conformance.subject import Fault, NotAsked, Subject, past, query, said

__all__ = ["CHECKS", "Check", "Checked", "Fault", "NotAsked", "Subject", "check", "examine", "past", "query", "said"]
__getattr__ = door(
    __name__,
    {
        "memory.conformance.checking": ["CHECKS", "Check", "Checked", "check", "examine"],
        "memory.conformance.subject": ["Fault", "NotAsked", "Subject", "past", "query", "said"],
    },
)
