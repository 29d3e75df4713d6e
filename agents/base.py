"""The door to agents: names to agents, and the little that several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from simulator.core.intentions import INTENTIONS, canonical
from simulator.core.protocols import Agent
from simulator.core.registry import Registry, Spec

__all__ = ["agents", "majority_intention", "make_agent", "spoken"]

agents: Registry[Any] = Registry(
    "agent",
    "proact.agents",
    (
        "agents.baselines",
        "agents.llm.cot",
        "agents.llm.naive",
        "agents.llm.pirf",
        "agents.llm.vote",
        "agents.llm.zero_shot",
        "agents.oracle",
        "agents.prior",
        "agents.scripted",
        "agents.remote",
        "agents.remote_stdio",
        "agents.human",
    ),
    "decide",
)


def make_agent(spec: str | Spec, **given: Any) -> Agent:
    """An agent from what the user wrote.

    Args:
        spec: ``prior``, ``random:rate=0.1``, ``scripted:offers.yaml``, ``path.py:Class``, …
        given: ``truth``, ``intentions``, …; passed to classes that take a parameter of that name.

    Raises:
        UsageError: unknown name or parameter, or a file that cannot be used.
    """
    return cast(Agent, agents.make(spec, **given))


def majority_intention(intentions: Sequence[str]) -> str:
    """The intention named when nothing better is known: Information Lookup (35 % of needs in ProAgentBench, Table 4)
    where it is in use, else the first in use.
    """
    return INTENTIONS[0] if not intentions or INTENTIONS[0] in intentions else intentions[0]


def spoken(intention: str, intentions: Sequence[str]) -> str:
    """An intention by the name in use in this run, where it is known under another one."""
    if intention in intentions:
        return intention
    known = canonical(intention)
    return known if known is not None and known in intentions else intention
