"""How a unit is played: clock, latency, policy, protocol; impossible combinations are refused with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simulator.core.errors import UsageError, nearest, quote
from simulator.core.traits import declares, trait
from simulator.core.types import SECOND
from simulator.timing.latency import LatencyModel, Replayed
from simulator.timing.mailbox import Policy

__all__ = ["CLOCKS", "MEMORY_MODES", "PROTOCOLS", "Settings", "check", "check_rules"]

CLOCKS = {
    "wall": "snapshots on an absolute schedule, decisions run for real beside them",
    "elastic": "as wall while something is in flight; otherwise jumps to the next event",
    "measured": "the world stands still while a decision runs; its measured time is charged (default)",
    "journal": "decisions and their charges are read from an earlier run",
    "modelled": "decisions are computed, their charge comes from a latency model",
}
PROTOCOLS = {
    "stream": "the snapshots run, the policy decides what the agent sees",
    "moments": "sampled moments, each asked alone with its history, nothing dropped",
    "trajectory": "each snapshot once in order, then the agent may finish (PIRA)",
}
MEMORY_MODES = {"online": "grows during the run", "frozen": "holds the history only"}
LATEST_ONLY = Policy("latest_only")


@dataclass(frozen=True, slots=True)
class Settings:
    """The rules of one unit.

    ``timeout_ns`` bounds a decision by its charge; ``max_gap_ns`` and ``speed`` shorten real waiting only.
    """

    clock: str = "measured"
    policy: Policy = LATEST_ONLY
    protocol: str = "stream"
    latency: LatencyModel | None = None
    seed: int = 0
    timeout_ns: int = 60 * SECOND
    memory_mode: str = "online"
    max_gap_ns: int | None = None
    speed: int | None = None

    @property
    def latency_source(self) -> str:
        """Where charges come from: tables and comparisons never mix sources silently."""
        if isinstance(self.latency, Replayed):
            return "cassette"
        return self.clock if self.clock in ("journal", "modelled") else "measured"

    @property
    def reproducible(self) -> bool:
        """Whether two runs give the same log to the byte."""
        return self.clock in ("journal", "modelled")


def check(settings: Settings, agent: Any) -> None:
    """Refuse what cannot be played honestly: these rules, or with this agent (None where a journal speaks).

    Raises:
        UsageError: with the reason and what can be done instead.
    """
    check_rules(settings)
    if agent is not None and not callable(trait(agent, "decide")):
        raise UsageError(f"the agent {type(agent).__name__} has no method decide(observation)")
    answers_in = trait(agent, "protocols")
    if isinstance(answers_in, tuple | list) and settings.protocol not in answers_in:
        only = " or ".join(map(str, answers_in))
        raise UsageError(f"the agent {type(agent).__name__} answers in protocol {only} only: add --protocol {only}")
    _check_pace(settings, agent)
    _check_concurrency(settings, agent)


def check_rules(settings: Settings) -> None:
    """As ``check``, as far as no agent needs to be there for it.

    Raises:
        UsageError: see ``check``.
    """
    s = settings
    for word, known, what in ((s.clock, CLOCKS, "clock"), (s.protocol, PROTOCOLS, "protocol"),
                              (s.memory_mode, MEMORY_MODES, "memory mode")):  # fmt: skip
        if word not in known:
            raise UsageError(f"{what} {quote(word)} is unknown; {nearest(word, known)}")
    if s.clock == "modelled" and s.latency is None:
        raise UsageError(
            "clock modelled needs a latency model: --latency fixed:350ms, profile:NAME, token:…, from:RUN or cassette"
        )
    if s.clock != "modelled" and s.latency is not None:
        raise UsageError(f"--latency goes with --clock modelled; clock {s.clock} takes its charges elsewhere")
    if s.protocol != "stream" and s.clock in ("wall", "elastic"):
        raise UsageError(
            f"protocol {s.protocol} asks out of the stream's time: use clock measured, journal or modelled"
        )
    if s.protocol != "stream" and s.policy != LATEST_ONLY:
        raise UsageError(f"protocol {s.protocol} drops nothing, so --policy {s.policy.text} has no meaning in it")
    if s.speed is not None and (s.clock != "elastic" or s.speed < 1):
        raise UsageError("--speed goes with --clock elastic, and is a whole number from 1")
    if s.max_gap_ns is not None and s.clock != "wall":
        raise UsageError("--max-gap goes with --clock wall: the others do not wait while nothing is in flight")


def _check_pace(s: Settings, agent: Any) -> None:
    if s.clock in ("measured", "modelled") and declares(agent, "paced"):
        raise UsageError(
            f"clock {s.clock} holds the world still during a decision, and this agent watches one that goes on: use "
            "--clock wall or elastic (a person can be asked in a still world all the same: human:still=true)"
        )


def _check_concurrency(s: Settings, agent: Any) -> None:
    """Several stateful calls run one after the other see other states than calls that overlap: measured serially, three
    overlapping calls saw 0, 1, 2 finished predecessors instead of 0, 0, 0.
    """
    why = None
    if declares(agent, "background"):
        why = "an agent with work in the background"
    elif s.policy.places > 1 or s.policy.cancels:
        why = f"policy {s.policy.text}"
    if why is None or s.clock in ("wall", "elastic", "journal"):
        return
    if s.clock == "modelled" and trait(agent, "concurrent") == "stateless" and "background" not in why:
        return
    wants = "wall, elastic, or the journal of such a run"
    stateless = "; modelled admits it for agents that declare concurrent = 'stateless'" if s.clock == "modelled" else ""
    raise UsageError(f"clock {s.clock} cannot play {why}: use clock {wants}{stateless}")
