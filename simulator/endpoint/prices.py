"""What calls cost, where somebody said: prices are the user's own file, since any table of ours would be wrong soon.

A YAML file, amounts for a million tokens in one currency::

    my-model: {in: 0.15, out: 0.60, cached: 0.075}

``cached`` is ``in`` where it is left out; reasoning is paid as output. A model that is not there costs an unknown
amount, and that is never 0: write zeros for a server of your own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.yaml_files import read_yaml
from simulator.endpoint.types import Usage

__all__ = ["Price", "cost_of", "read_prices"]


@dataclass(frozen=True, slots=True)
class Price:
    """Amounts for a million tokens."""

    tokens_in: float
    tokens_out: float
    cached: float


def read_prices(path: Path) -> dict[str, Price]:
    """Prices by model.

    Raises:
        InputError: the file cannot be read, or holds something else.
    """
    said = read_yaml(path)
    if not isinstance(said, Mapping):
        raise InputError(path, "models, each with its prices: my-model: {in: 0.15, out: 0.60}")
    return {str(model): _price(path, str(model), amounts) for model, amounts in said.items()}


def _price(path: Path, model: str, amounts: Any) -> Price:
    if not isinstance(amounts, Mapping) or not {"in", "out"} <= set(amounts) <= {"in", "out", "cached"}:
        raise InputError(path, "in and out (and cached), amounts for a million tokens", field=model)
    for name, amount in amounts.items():
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 <= amount < 1e9:
            raise InputError(path, "an amount from 0", field=f"{model}.{name}", value=amount)
    return Price(float(amounts["in"]), float(amounts["out"]), float(amounts.get("cached", amounts["in"])))


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """What a call cost; None where the price or the tokens are not known."""
    if price is None or usage.estimated:
        return None
    fresh = (usage.tokens_in - usage.cached) * price.tokens_in + usage.cached * price.cached
    return (fresh + (usage.tokens_out + usage.reasoning) * price.tokens_out) / 1e6
