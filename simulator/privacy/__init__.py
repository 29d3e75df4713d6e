"""What people may do with a recording of themselves afterwards: look through it, redact it, forget it, pass it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.privacy.forget import plan
    from simulator.privacy.release import release
    from simulator.privacy.rules import Rules, load_rules
    from simulator.privacy.scan import scan

__all__ = ["Rules", "load_rules", "plan", "release", "scan"]

__getattr__ = door(
    __name__,
    {
        "simulator.privacy.forget": ["plan"],
        "simulator.privacy.release": ["release"],
        "simulator.privacy.rules": ["Rules", "load_rules"],
        "simulator.privacy.scan": ["scan"],
    },
)
