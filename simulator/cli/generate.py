"""``proact dataset generate``: made-up recordings out of a recipe."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, counted, facts
from simulator.core.errors import Exit, UsageError, quote

if TYPE_CHECKING:
    from simulator.workload.making import Generated, User

__all__ = ["generate"]


def generate(
    recipe: Annotated[Path, Parameter(help="A recipe, such as scenarios/recipes/office.yaml.")],
    out: Annotated[Path, Parameter(help="The folder that gets the data; empty or not there yet.")],
    /,
    *,
    users: Annotated[int, Parameter(help="How many people.")] = 3,
    days: Annotated[int, Parameter(help="How many days of each.")] = 28,
    seed: Annotated[int, Parameter(help="Of all draws: the same seed makes the same data.")] = 0,
    sessions: Annotated[
        int | None,
        Parameter(
            help="How many of the last days of work become sessions; the recipe's share of them; 0: history only."
        ),
    ] = None,
    images: Annotated[
        Literal["none", "few", "all"], Parameter(help="No pictures, one a window, or one a row.")
    ] = "none",
    size: Annotated[str, Parameter(help="Of the pictures, in pixels.")] = "1920x1080",
    json: AsJson = False,
) -> int:
    """Make up users with known habits: sessions, scenarios, histories.

    All of it is clearly labelled synthetic: nobody in it exists. It is for tests of size and of memories, and for
    nothing that is said of people.
    """
    from simulator.workload.making import generate as make

    voice = Voice(as_json=json)

    def progress(user: User) -> None:
        told = asdict(user)
        voice.record("generated", **told)
        if not json:
            said = f"{user.n_events} events, {counted(user.n_sessions, 'session')}, {user.n_history} events of history"
            voice.tell(f"{user.user}: {said}", "dim")

    made = make(recipe, out, users=users, days=days, seed=seed, sessions=sessions, images=images,
                size=_size(size), progress=progress)  # fmt: skip
    if not json:
        voice.say(_table(made, out))
    voice.record("done", out=str(out), synthetic=True, **_summary(made))
    return Exit.DONE


def _size(text: str) -> tuple[int, int]:
    width, cross, height = text.partition("x")
    if not cross or not (width.isdecimal() and height.isdecimal()) or len(text) > 11:
        raise UsageError(f"--size {quote(text)}: width and height in pixels, such as 1920x1080")
    return int(width), int(height)


def _summary(made: Generated) -> dict[str, Any]:
    names = ("n_events", "n_assistance", "n_needs", "n_history", "n_sessions", "n_rows")
    return {
        "users": len(made.users),
        **{name: made.total(name) for name in names},
        "calibration": asdict(made.calibration),
    }


def _table(made: Generated, out: Path) -> Any:
    n, calibration = max(made.total("n_events"), 1), made.calibration
    bounds = [user.ceilings for user in made.users]

    def mean(name: str) -> str:
        return f"{sum(getattr(b, name) for b in bounds) / len(bounds):.3f}"

    rows = {
        "users": str(len(made.users)),
        "events": f"{made.total('n_events')}, {made.total('n_assistance') / n:.1%} with an assistant",
        "history": f"{made.total('n_history')} events",
        "sessions": f"{made.total('n_sessions')}, {made.total('n_rows')} rows",
        "burstiness": f"{calibration.burstiness:.3f} expected of a user in four weeks (sd {calibration.spread:.3f})",
        "intention accuracy": f"{mean('intention_floor')} knowing nothing, {mean('intention_window')} knowing the "
        f"window, {mean('intention_all')} knowing all habits",
        "help F1": f"{mean('f1_floor')} saying yes always, {mean('f1')} knowing the window",
    }
    return facts(f"SYNTHETIC data in {out}: nobody in it exists", rows)
