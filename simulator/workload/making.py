"""``proact dataset generate``: sessions, scenarios and histories of people who do not exist, out of a recipe.

::

    OUT/README.md                       what this is, and what it must not be used for
    OUT/generated.json                  the recipe, the calibration, what came out, what could be learnt at best
    OUT/<user>/history.jsonl            the events before the split with their labels
    OUT/<user>/habits.json              the user's tables: the truth about what a memory could learn
    OUT/<user>/profile.json             says that the user is made up
    OUT/<user>/<day>/session.db, scenario.yaml

A user's files depend on the recipe, the seed, the days and the user's name, and on no other user. All of OUT is there
at the end or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError, UsageError, quote
from simulator.core.faults import told
from simulator.core.folders import is_vacant, whole_folder
from simulator.workload import words
from simulator.workload.calibration import Calibration, calibrate
from simulator.workload.ceilings import Ceilings, ceilings
from simulator.workload.history_file import HistoryFile
from simulator.workload.hours import DAY_S, Hours
from simulator.workload.named import Named, Namer
from simulator.workload.person import Person
from simulator.workload.readme import readme
from simulator.workload.recipe import Recipe, load
from simulator.workload.session_files import Days, Images

__all__ = ["MOST_DAYS", "MOST_USERS", "Generated", "User", "generate"]

MOST_USERS, MOST_DAYS = 10_000, 36_525
LEAST_SIDE, MOST_SIDE = 64, 8192
VERSION = 1  # of the generator: another one may make other events of the same recipe and seed


@dataclass(frozen=True, slots=True)
class User:
    """What came out for one user."""

    user: str
    n_events: int
    n_assistance: int
    n_needs: int
    n_history: int
    n_sessions: int
    n_rows: int
    intentions: dict[str, int]  # of the needs
    ceilings: Ceilings


@dataclass(slots=True)
class Generated:
    """What came out."""

    calibration: Calibration
    users: list[User] = field(default_factory=list)

    def total(self, what: str) -> int:
        """The sum of a count over the users."""
        return sum(int(getattr(user, what)) for user in self.users)


def generate(
    recipe: Path,
    out: Path,
    *,
    users: int,
    days: int,
    seed: int,
    sessions: int | None = None,
    images: Images = "none",
    size: tuple[int, int] = (1920, 1080),
    progress: Callable[[User], None] | None = None,
) -> Generated:
    """Make a data set.

    Args:
        recipe: the file.
        out: the folder; made, and must not hold anything yet.
        users: how many.
        days: how many days of each, from the recipe's first day on.
        seed: of all draws.
        sessions: how many of the last days of work become sessions; None: the recipe's share of them; 0: history only.
        images: none, few (one picture a window) or all (one a row).
        size: of pictures, width and height in pixels.
        progress: told of each user when done.

    Raises:
        UsageError: a number out of range.
        InputError: a fault of the recipe; an ``out`` that holds something.
    """
    _check(users, days, seed, sessions, images, size)
    made = load(recipe)
    calibration = calibrate(made, recipe)
    with told(out):
        if not is_vacant(out):
            raise InputError(out, "the folder holds something already; name one that is empty or not there yet")
        with whole_folder(out) as part:
            result = Generated(calibration)
            for number in range(1, users + 1):
                person = Person(made, calibration, seed, f"synthetic-{number:03}", days)
                result.users.append(_user(part, person, sessions, images, size))
                if progress is not None:
                    progress(result.users[-1])
            _account(part, made, result, days, seed, images)
    return result


def _check(users: int, days: int, seed: int, sessions: int | None, images: str, size: tuple[int, int]) -> None:
    if not 1 <= users <= MOST_USERS:
        raise UsageError(f"users {quote(users)}: from 1 to {MOST_USERS}")
    if not 1 <= days <= MOST_DAYS:
        raise UsageError(f"days {quote(days)}: from 1 to {MOST_DAYS}, which is 100 years")
    if not 0 <= seed < 2**63:
        raise UsageError(f"seed {quote(seed)}: from 0 to below 2**63")
    if sessions is not None and not 0 <= sessions <= days:
        raise UsageError(f"sessions {quote(sessions)}: days of work that become sessions, from 0 to {days} (days)")
    if images not in ("none", "few", "all"):
        raise UsageError(f"images {quote(images)}: none, few or all")
    if not all(LEAST_SIDE <= side <= MOST_SIDE for side in size):
        raise UsageError(f"size {quote(f'{size[0]}x{size[1]}')}: from {LEAST_SIDE} to {MOST_SIDE} pixels each way")


def _user(out: Path, person: Person, sessions: int | None, images: Images, size: tuple[int, int]) -> User:
    home = out / person.user
    home.mkdir()
    namer = Namer(person)
    _write_json(home / "profile.json", _profile(person))
    split = _split(person, sessions) * DAY_S
    days = Days(home, person, namer, images, size)
    waiting: list[Named] = []
    with (home / "history.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        history = HistoryFile(file, namer, person.user, person.recipe.first_day)
        for event in namer.events():
            if event.start_s < split:
                history.write(event)
                continue
            if waiting and waiting[0].start_s // DAY_S != event.start_s // DAY_S:
                days.write(waiting[0].start_s // DAY_S, waiting)
                waiting = []
            waiting.append(event)
    if waiting:
        days.write(waiting[0].start_s // DAY_S, waiting)
    counts = person.counts
    bounds = ceilings(person.habits, counts.need_rate, counts.afternoon)
    _write_json(home / "habits.json", _tables(person, bounds))
    return User(
        user=person.user,
        n_events=counts.n_events,
        n_assistance=counts.n_assistance,
        n_needs=counts.n_needs,
        n_history=history.n_events,
        n_sessions=days.wrote.n_sessions,
        n_rows=days.wrote.n_rows,
        intentions=dict(zip(person.habits.intentions, counts.intentions, strict=True)),
        ceilings=bounds,
    )


def _split(person: Person, sessions: int | None) -> int:
    """The first day that becomes a session: so many days of work lie from it to the end."""
    hours = Hours(person.recipe.week, person.seed, person.user)
    worked = [day for day in range(person.n_days) if hours.works(day)]
    n = max(1, round(len(worked) * person.recipe.evaluated)) if sessions is None else sessions
    if n == 0 or not worked:
        return person.n_days
    return worked[-min(n, len(worked))]


def _profile(person: Person) -> dict[str, str]:
    return {
        "synthetic": f"yes: made up by proact from the recipe {person.recipe.name}, seed {person.seed}; nobody",
        "occupation": words.occupation(person.seed, person.user),
        "languages": "English and Chinese" if person.recipe.chinese > 0 else "English",
    }


def _tables(person: Person, bounds: Ceilings) -> dict[str, Any]:
    """A user's habits as they are, for whoever studies what was learnt of them."""
    habits = person.habits
    rate = person.counts.need_rate

    def named(row: Any) -> dict[str, float]:
        return {name: round(float(p), 6) for name, p in zip(habits.intentions, row, strict=True) if p > 5e-7}

    cells = []
    for i, cell in enumerate(habits.cells):
        need, calm = float(habits.need[i]) * rate, float(habits.calm[i]) * (1 - rate)
        cells.append(
            {
                "app": cell.app,
                "topic": cell.topic,
                "share_of_events": round(need + calm, 6),
                "help": round(need / (need + calm), 6) if need + calm > 0 else None,
                "intentions_before_noon": named(habits.by_cell[0, i]),
                "intentions_after_noon": named(habits.by_cell[1, i]),
            }
        )
    return {
        "synthetic": True,
        "user": person.user,
        "ceilings": asdict(bounds),
        "window_decides": habits.window,
        "previous_app_decides": habits.previous_app,
        "windows": cells,
        "after_app": {app: named(habits.by_previous[i]) for i, app in enumerate(person.recipe.apps)},
    }


def _account(out: Path, recipe: Recipe, made: Generated, days: int, seed: int, images: Images) -> None:
    told = {
        "synthetic": True,
        "generator": VERSION,
        "seed": seed,
        "days": days,
        "images": images,
        "recipe": recipe.model_dump(mode="json"),
        "calibration": asdict(made.calibration),
        "users": [asdict(user) for user in made.users],
    }
    _write_json(out / "generated.json", told)
    (out / "README.md").write_text(readme(recipe, made, days, seed), encoding="utf-8", newline="\n")


def _write_json(file: Path, value: Any) -> None:
    file.write_text(json.dumps(_rounded(value), ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")


def _rounded(value: Any) -> Any:
    """With numbers to nine places: the last bits of a sum are a machine's own."""
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value
