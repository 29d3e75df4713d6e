"""Companion runs: the same agent on the same sessions under other seeds, for figures that ask how much was luck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scorers.base import Unit
from simulator.core.errors import UsageError, quote
from simulator.runs.folder import read_units

__all__ = ["companions_of"]


def companions_of(run: Path, units: Sequence[Unit], paths: Sequence[Path]) -> dict[str, tuple[Unit, ...]]:
    """By unit key, the same unit in every companion run, in the order given.

    Raises:
        UsageError: not a run of protocol stream; a companion with other units, with one that was interrupted, or that
            differs in more than the seed; two runs of one seed.
        InputError: not a run folder, or a file of it is broken.
    """
    if (protocol := units[0].log.header.get("protocol")) != "stream":
        raise UsageError(f"companions are for pass^k, which protocol {quote(protocol)} does not have")
    found: dict[str, list[Unit]] = {unit.key: [] for unit in units}
    seeds = {_seeds(unit): run for unit in units[:1]}
    for path in paths:
        others = {key: Unit(key, log, truth) for key, log, truth in read_units(path)}
        if set(others) != set(found):
            of = ", ".join(map(quote, sorted(set(others) ^ set(found))[:3]))
            raise UsageError(f"companion {path}: it has other units than {run} ({of})")
        for unit in units:
            other = others[unit.key]
            if difference := _difference(unit.log.header, other.log.header):
                field, here, there = difference
                raise UsageError(
                    f"companion {path}: unit {quote(unit.key)}: {field} is {quote(there)} there and {quote(here)} in "
                    f"{run}; companions agree in everything but the seed"
                )
            if not other.log.complete:
                raise UsageError(f"companion {path}: unit {quote(unit.key)} was interrupted; play it to its end first")
            found[unit.key].append(other)
        seed = _seeds(others[units[0].key])
        if seed in seeds:
            raise UsageError(f"companion {path}: it has the seed of {seeds[seed]}; every companion has one of its own")
        seeds[seed] = path
    return {key: tuple(others) for key, others in found.items()}


def _difference(here: Mapping[str, Any], there: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    a, b = _seedless(here), _seedless(there)
    return next(((k, a.get(k), b.get(k)) for k in sorted(a.keys() | b.keys()) if a.get(k) != b.get(k)), None)


def _seedless(header: Mapping[str, Any]) -> dict[str, Any]:
    """A header without its seeds: the run's, and the one that is sent to a model."""
    return {k: _without_seed(v) for k, v in header.items() if k != "seed"}


def _without_seed(value: Any) -> Any:
    return {k: _without_seed(v) for k, v in value.items() if k != "seed"} if isinstance(value, Mapping) else value


def _seeds(unit: Unit) -> str:
    model = unit.log.header.get("model")
    sent = model.get("sent") if isinstance(model, Mapping) else None
    return f"{unit.log.header.get('seed')} {sent.get('seed') if isinstance(sent, Mapping) else None}"
