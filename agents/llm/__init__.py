"""Agents that ask language and vision models: what is asked, in which form, and how the answers are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from agents.llm.cot import Cot
    from agents.llm.naive import Naive
    from agents.llm.parse import read_answer
    from agents.llm.pirf import Pirf
    from agents.llm.vote import SelfConsistency
    from agents.llm.zero_shot import ZeroShot

__all__ = ["Cot", "Naive", "Pirf", "SelfConsistency", "ZeroShot", "read_answer"]

__getattr__ = door(
    __name__,
    {
        "agents.llm.cot": ["Cot"],
        "agents.llm.naive": ["Naive"],
        "agents.llm.parse": ["read_answer"],
        "agents.llm.pirf": ["Pirf"],
        "agents.llm.vote": ["SelfConsistency"],
        "agents.llm.zero_shot": ["ZeroShot"],
    },
)
