"""Simulated time and its charges: kernel, mailbox, latency models, meter, and the only clock that is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.timing.kernel import Kernel, Priority
    from simulator.timing.latency import LatencyModel, parse_latency
    from simulator.timing.mailbox import Mailbox, Policy, parse_policy
    from simulator.timing.meter import CallMeter

__all__ = ["CallMeter", "Kernel", "LatencyModel", "Mailbox", "Policy", "Priority", "parse_latency", "parse_policy"]

__getattr__ = door(
    __name__,
    {
        "simulator.timing.kernel": ["Kernel", "Priority"],
        "simulator.timing.latency": ["LatencyModel", "parse_latency"],
        "simulator.timing.mailbox": ["Mailbox", "Policy", "parse_policy"],
        "simulator.timing.meter": ["CallMeter"],
    },
)
