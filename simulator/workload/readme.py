"""The README that lies beside made-up data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.workload.recipe import Recipe

if TYPE_CHECKING:
    from simulator.workload.making import Generated

__all__ = ["readme"]

_TEXT = """# SYNTHETIC data: nobody's screens

Made by `proact dataset generate` from the recipe `{name}`, seed {seed}, {days} days. No person, file, place or firm in
it exists. Users are called `synthetic-…`, every session says `synthetic` in its meta and its profile, and every picture
says so on its face.

**For**: tests of memories, runs and scorers; tests of size; studies of what a method can learn when it is known what
there is to learn.
**Not for**: claims about people. A score on this data says nothing of a score on real screens, and is not to be
reported beside ones on real data without the word synthetic. Not for training a model that meets people.

| | wanted | came out |
|---|---|---|
| events; with an assistant | {share:.1%} | {n_events:,}; {n_assistance:,} ({measured:.1%}) |
| needs (questions that are no follow-ups) | | {n_needs:,} |
| burstiness of questions, a user, four weeks | {b:.3f} | {calibrated:.3f} expected, sd {spread:.3f} between users |
| power law of the times between | {alpha:g} | {law} |
| history; sessions; rows | | {n_history:,} events; {n_sessions:,}; {n_rows:,} |

What could be known at best (mean over users; `generated.json` and each `habits.json` have all of it):

| | knowing nothing | knowing the window | knowing all habits |
|---|---|---|---|
| accuracy of the intention of a need | {i_floor:.3f} | {i_window:.3f} | {i_all:.3f} |
| F1 of whether help is needed, over events | {f_floor:.3f} | {f1:.3f} | |
| accuracy of the same, half of the moments with a need | 0.500 | {balanced:.3f} | |
"""


def readme(recipe: Recipe, made: Generated, days: int, seed: int) -> str:
    """The text."""
    users = made.users
    n_events = made.total("n_events")

    def mean(name: str) -> float:
        return sum(float(getattr(user.ceilings, name)) for user in users) / len(users)

    found = made.calibration
    expected = "" if found.measured_exponent is None else f"{found.measured_exponent:.2f} expected; "
    shortest = recipe.rhythm.shortest_s
    law = f"{expected}in time at work {found.exponent:g} from {shortest:g} s, cut at {found.cut_s:,} s"
    return _TEXT.format(
        name=recipe.name,
        seed=seed,
        days=days,
        share=recipe.rhythm.assistance_share,
        n_events=n_events,
        n_assistance=made.total("n_assistance"),
        measured=made.total("n_assistance") / max(n_events, 1),
        n_needs=made.total("n_needs"),
        b=recipe.rhythm.burstiness,
        calibrated=made.calibration.burstiness,
        spread=made.calibration.spread,
        alpha=recipe.rhythm.exponent,
        law=law,
        n_history=made.total("n_history"),
        n_sessions=made.total("n_sessions"),
        n_rows=made.total("n_rows"),
        i_floor=mean("intention_floor"),
        i_window=mean("intention_window"),
        i_all=mean("intention_all"),
        f_floor=mean("f1_floor"),
        f1=mean("f1"),
        balanced=mean("balanced_accuracy"),
    )
