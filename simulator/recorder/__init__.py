"""Recording a real desktop at one snapshot a second: pixels, the window in front, what is left out, the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    pass

__all__: list[str] = []

__getattr__ = door(__name__, {})
