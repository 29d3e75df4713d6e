"""What people may do with a recording of themselves afterwards: look through it, redact it, forget it, pass it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.privacy.rules import Rules, load_rules

__all__ = ["Rules", "load_rules"]

__getattr__ = door(__name__, {"simulator.privacy.rules": ["Rules", "load_rules"]})
