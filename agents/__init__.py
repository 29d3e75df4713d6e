"""The agents of the house: programs that see an observation and say when help is wanted, and which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from agents.base import agents, make_agent

__all__ = ["agents", "make_agent"]
__getattr__ = door(__name__, {"agents.base": ["agents", "make_agent"]})
