"""Saying of recorded events whether an assistant was used in them, and for what: by a model, by rules, by people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.annotate.ask import Annotator
    from simulator.annotate.audit import Agreement, draw, wilson
    from simulator.annotate.rules import RuleBook
    from simulator.annotate.sample import Sample, Target, targets
    from simulator.annotate.store import Annotation, Store

__all__ = [
    "Agreement",
    "Annotation",
    "Annotator",
    "RuleBook",
    "Sample",
    "Store",
    "Target",
    "draw",
    "targets",
    "wilson",
]

__getattr__ = door(
    __name__,
    {
        "simulator.annotate.ask": ["Annotator"],
        "simulator.annotate.audit": ["Agreement", "draw", "wilson"],
        "simulator.annotate.rules": ["RuleBook"],
        "simulator.annotate.sample": ["Sample", "Target", "targets"],
        "simulator.annotate.store": ["Annotation", "Store"],
    },
)
