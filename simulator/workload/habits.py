"""A made-up user's habits: in which windows help is needed, and with what. This is all that a memory could learn.

A *cell* is a topic in an application. How the shares of the recipe are kept whatever the habits: lay the cells side by
side on a circle of length 1, each as long as needs arise in it, and the intentions on another, each as long as its
share. Where the two overlap is how often a need of the cell has that intention. A cell mostly has one intention, a few
have two; all together have the shares. The order in which cells lie is the user's own. In the afternoon one circle is
turned. Needs that follow from the window before are laid out likewise, by application; the rest follow from nothing.

Help: an ``asking_share`` of the time is spent in cells in which the user tends to ask. There help is needed more often,
elsewhere less, so that it is needed at the calibrated rate over all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.core.intentions import canonical
from simulator.core.rng import block_unit
from simulator.workload import words
from simulator.workload.exact import Floats, Ints, overlaps
from simulator.workload.recipe import Recipe

__all__ = ["Cell", "Habits", "habits"]

_SHIFT = 3  # topic n of an application comes up in proportion to 1 / (n + shift)
_TURN = 0.1  # of the circle: with the published shares it gives nearly every cell another intention


@dataclass(frozen=True, slots=True)
class Cell:
    """A topic in an application."""

    app: str
    topic: str


@dataclass(frozen=True, slots=True)
class Habits:
    """The tables of one user.

    Attributes:
        cells: what may be in front.
        app_of: the application's number of each cell, shape (cells,).
        apps: shares of the applications, shape (apps,).
        need: chance of each cell among events in which a need arises, shape (cells,).
        calm: the same among the others.
        intentions: names, in the order of the columns.
        share: of each intention, shape (intentions,).
        by_cell: chance of each intention where it follows from window and half of the day, shape (2, cells,
            intentions).
        by_previous: where it follows from the application before, shape (apps, intentions).
        window, previous_app: how often it follows from these.
    """

    cells: tuple[Cell, ...]
    app_of: Ints
    apps: Floats
    need: Floats
    calm: Floats
    intentions: tuple[str, ...]
    share: Floats
    by_cell: Floats
    by_previous: Floats
    window: float
    previous_app: float

    def intention(self, half: int, cell: int, previous: int) -> Floats:
        """Chance of each intention of a need in a cell, in half a day, after an application."""
        rest = 1.0 - self.window - self.previous_app
        own: Floats = self.window * self.by_cell[half, cell] + self.previous_app * self.by_previous[previous]
        return own + rest * self.share


def habits(recipe: Recipe, need_rate: float, seed: int, user: str) -> Habits:
    """The tables of a user, by name: no other user's depend on them."""
    apps = np.array(list(recipe.apps.values()))
    n, each = len(apps), recipe.topics_per_app
    things = words.topics(n * each, recipe.chinese, seed, user, "topics")
    cells = tuple(Cell(app, things[i * each + j]) for i, app in enumerate(recipe.apps) for j in range(each))
    falling = 1.0 / (np.arange(1, each + 1) + _SHIFT)
    weights = (apps[:, None] / apps.sum() * (falling / falling.sum())[None, :]).ravel()
    weights = weights / np.cumsum(weights)[-1]
    helps = _helps(recipe, weights, need_rate, seed, user)
    need = weights * helps / need_rate
    calm = weights * (1.0 - helps) / (1.0 - need_rate) if need_rate < 1.0 else weights
    share = np.array(list(recipe.intentions.values()))
    share = share / np.cumsum(share)[-1]
    order = np.argsort(block_unit(len(cells), seed, user, "order of cells"), kind="stable")
    previous = np.argsort(block_unit(n, seed, user, "order of apps"), kind="stable")
    turns = (0.0, recipe.habits.afternoon * _TURN)
    return Habits(
        cells=cells,
        app_of=np.repeat(np.arange(n, dtype=np.int64), each),
        apps=apps,
        need=need,
        calm=calm,
        intentions=tuple(str(canonical(name)) for name in recipe.intentions),
        share=share,
        by_cell=np.stack([_laid_out(need, share, order, turn) for turn in turns]),
        by_previous=_laid_out(apps / apps.sum(), share, previous, 0.0),
        window=recipe.habits.window,
        previous_app=recipe.habits.previous_app,
    )


def _helps(recipe: Recipe, weights: Floats, need_rate: float, seed: int, user: str) -> Floats:
    """How often help is needed in each cell; over all it is `need_rate`."""
    asking, strength = recipe.habits.asking_share, recipe.habits.help
    order = np.argsort(block_unit(len(weights), seed, user, "asking"), kind="stable")
    share = np.zeros(len(weights))
    share[order] = overlaps(weights[order], np.array([asking, 1.0 - asking]))[:, 0] / weights[order]
    low = need_rate * (1.0 - strength)
    high = need_rate + strength * need_rate * (1.0 - asking) / asking
    if high > 1.0:  # more than always is not to be had: the rest of the needs arises elsewhere
        high, low = 1.0, (need_rate - asking) / (1.0 - asking)
    return np.asarray(low + (high - low) * share)


def _laid_out(parts: Floats, share: Floats, order: Ints, turn: float) -> Floats:
    """Chance of each intention in each part; over the parts these come to the shares."""
    out = np.empty((len(parts), len(share)))
    laid = parts[order] / np.cumsum(parts[order])[-1]
    out[order] = overlaps(laid, share, turn)
    sums = np.cumsum(out, axis=1)[:, -1:]
    return np.where(sums > 0, out / np.where(sums > 0, sums, 1.0), share[None, :])
