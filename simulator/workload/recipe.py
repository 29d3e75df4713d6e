"""What may stand in a recipe, and the sentences for what may not.

A recipe says how made-up people work and when they ask an assistant: hours, applications, lengths of events, rhythm,
intentions, habits. ``docs/generating.md`` tells the form; ``scenarios/recipes`` has examples.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simulator.core.errors import InputError, nearest
from simulator.core.intentions import INTENTIONS, canonical
from simulator.core.yaml_files import read_yaml

__all__ = ["LEAST_S", "Events", "Habits", "Recipe", "Rhythm", "Week", "load", "parse"]

LEAST_S = 3
"""Events are no shorter: ProAgentBench leaves out what is under 3 s."""
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_EARLIEST_S, _LATEST_S = 2 * 3600, 22 * 3600  # with what may lie around the spans, a day's events stay in the day
_SHARES_OFF = 1e-6

Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Chance = Annotated[float, Field(strict=True, gt=0, lt=1)]
Text = Annotated[str, Field(min_length=1, max_length=80)]
Length = Annotated[float, Field(strict=True, ge=LEAST_S, le=3600)]
Pairs = list[tuple[Annotated[float, Field(strict=True, ge=0, le=1)], Length]]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Week(_Strict):
    """When people work: the chance of each weekday, spans of the day as ``"09:00-12:30"``, UTC."""

    chance: dict[str, Share] = Field(description="of work on mon, tue, wed, thu, fri, sat, sun; one left out is 0")
    spans: list[Text] = Field(min_length=1, max_length=6, description="of a day, in order, such as 09:00-12:30")
    spread_min: Annotated[float, Field(strict=True, ge=0, le=59)] = Field(
        20.0, description="each end of a span moves by up to so many minutes, anew each day"
    )

    @property
    def days(self) -> tuple[float, ...]:
        """The chances from Monday to Sunday."""
        return tuple(self.chance.get(day, 0.0) for day in WEEKDAYS)

    @property
    def spread_s(self) -> int:
        """The spread in seconds."""
        return round(60 * self.spread_min)

    @property
    def spans_s(self) -> tuple[tuple[int, int], ...]:
        """The spans in seconds since midnight."""
        return tuple((_clock(start), _clock(end)) for start, end in (s.split("-") for s in self.spans))


class Rhythm(_Strict):
    """When an assistant is asked: power-law times between, in time at work, cut where the burstiness comes out."""

    exponent: Annotated[float, Field(strict=True, ge=1.1, le=3)] = Field(1.5, description="α of the times between")
    burstiness: Annotated[float, Field(strict=True, gt=0, lt=1)] = Field(
        0.787, description="B of a user's times between on the wall, over four weeks"
    )
    shortest_s: Annotated[float, Field(strict=True, ge=2 * LEAST_S, le=600)] = Field(
        10.0, description="the shortest time between: where the power law begins"
    )
    assistance_share: Chance = Field(0.253, description="of all events, how many are work with an assistant")


class Events(_Strict):
    """How long events are, as ``[share, seconds]`` pairs of their distribution, straight in between."""

    seconds: Pairs = Field(min_length=2, max_length=50, description="events without an assistant")
    assistance_seconds: Pairs = Field(min_length=2, max_length=50, description="events with an assistant")
    rows_every_s: Annotated[int, Field(strict=True, ge=1, le=60)] = Field(
        30, description="a session has a row at each change, and one so often while nothing changes"
    )


class Habits(_Strict):
    """How much of what people need follows from where they are: 0 nothing, 1 all."""

    help: Share = Field(description="how far the window decides whether help is needed")
    asking_share: Chance = Field(0.2, description="share of the time in windows in which one tends to ask")
    window: Share = Field(description="share of needs whose intention follows from window and half of the day")
    previous_app: Share = Field(0.0, description="share of needs whose intention follows from the window before")
    afternoon: Share = Field(0.0, description="how far the habits of a window move between morning and afternoon")


class Recipe(_Strict):
    """All of it."""

    name: Text
    description: str | None = None
    first_day: date = Field(description="a Monday, on which everybody's first day is")
    week: Week
    rhythm: Rhythm
    events: Events
    apps: dict[Text, Chance | Annotated[float, Field(strict=True, ge=1, le=1)]] = Field(
        min_length=1, max_length=40, description="share of each application among the events without an assistant"
    )
    topics_per_app: Annotated[int, Field(strict=True, ge=1, le=50)] = Field(
        6, description="things that a user works on in each application"
    )
    chinese: Share = Field(0.0, description="share of the topics that are Chinese")
    intentions: dict[Text, Share] = Field(min_length=1, description="shares of what is asked for")
    habits: Habits
    evaluated: Chance = Field(0.3, description="share of the days of work that become sessions; before is history")


def load(path: Path) -> Recipe:
    """Read a recipe.

    Raises:
        InputError: unreadable, no YAML, an unknown key, a value that does not fit; in one sentence.
    """
    if not path.exists():
        raise InputError(path, "there is no such recipe")
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise InputError(path, "a recipe must hold a mapping of keys to values")
    return parse(raw, path)


def parse(raw: dict[Any, Any], where: Path | str) -> Recipe:
    """Check what was read.

    Raises:
        InputError: as `load`.
    """
    try:
        recipe = Recipe.model_validate(raw)
    except ValidationError as error:
        raise _sentence(error, where) from None
    _check_week(recipe, where)
    _check_shares(recipe, where)
    for field in ("seconds", "assistance_seconds"):
        _check_pairs(getattr(recipe.events, field), f"events.{field}", where)
    habits = recipe.habits
    if habits.window + habits.previous_app > 1:
        want = f"window and previous_app together at most 1, not {habits.window + habits.previous_app:g}"
        raise InputError(where, want, field="habits.previous_app", value=habits.previous_app)
    return recipe


def _check_week(recipe: Recipe, where: Path | str) -> None:
    week = recipe.week
    if recipe.first_day.weekday() != 0 or not 1970 <= recipe.first_day.year <= 2100:
        raise InputError(where, "a Monday from 1970 to 2100, such as 2026-01-05", field="first_day",
                         value=recipe.first_day.isoformat())  # fmt: skip
    for day in week.chance:
        if day not in WEEKDAYS:
            raise InputError(where, f"no weekday; {nearest(day, WEEKDAYS)}", field="week.chance", value=day)
    if max(week.days) < 0.1:
        raise InputError(where, "at least one weekday with a chance of work of 0.1 or more", field="week.chance")
    before = _EARLIEST_S + week.spread_s
    for i, span in enumerate(week.spans):
        field = f"week.spans[{i}]"
        start, dash, end = span.partition("-")
        if not dash or (opens := _clock(start)) < 0 or (closes := _clock(end)) < 0:
            raise InputError(where, "two times of day, such as 09:00-12:30", field=field, value=span)
        if opens < before:
            want = "spans in order, from 02:00 on, further apart than each end moves (spread_min)"
            raise InputError(where, want, field=field, value=span)
        if closes < opens + 2 * week.spread_s + 600 or closes + week.spread_s > _LATEST_S:
            want = "10 minutes or more however its ends move (spread_min), and over by 22:00"
            raise InputError(where, want, field=field, value=span)
        before = closes + 2 * week.spread_s


def _check_shares(recipe: Recipe, where: Path | str) -> None:
    for field, shares in (("apps", recipe.apps), ("intentions", recipe.intentions)):
        if abs(sum(shares.values()) - 1.0) > _SHARES_OFF:
            raise InputError(where, f"shares that add up to 1, not {sum(shares.values()):.6g}", field=field)
    seen: set[str] = set()
    for name in recipe.intentions:
        known = canonical(name)
        if known is None:
            raise InputError(where, f"unknown intention; {nearest(name, INTENTIONS)}", field="intentions", value=name)
        if known in seen:
            raise InputError(where, f"each intention once, and this is {known}", field="intentions", value=name)
        seen.add(known)


def _check_pairs(pairs: list[tuple[float, float]], field: str, where: Path | str) -> None:
    for i, (share, seconds) in enumerate(pairs):
        if i and (share <= pairs[i - 1][0] or seconds < pairs[i - 1][1]):
            raise InputError(where, "shares that rise, and seconds that do not fall", field=f"{field}[{i}]")
    if pairs[0][0] != 0 or pairs[-1][0] != 1:
        raise InputError(where, "pairs from share 0 to share 1", field=field)


def _clock(text: str) -> int:
    """Seconds since midnight of ``09:30``; -1 for what is no time of day."""
    hours, colon, minutes = text.strip().partition(":")
    if not colon or not (hours.isdecimal() and minutes.isdecimal()) or len(minutes) != 2 or len(hours) > 2:
        return -1
    return int(hours) * 3600 + int(minutes) * 60 if int(hours) < 24 and int(minutes) < 60 else -1


_UNION = frozenset({"float", "constrained-float", "int"})


def _sentence(error: ValidationError, where: Path | str) -> InputError:
    faults = error.errors(include_url=False)
    unknown = [f for f in faults if f["type"] == "extra_forbidden"]
    fault = unknown[0] if unknown else faults[0]
    places = [p for p in fault["loc"] if p not in _UNION]
    field = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in places).lstrip(".") or None
    if fault["type"] == "extra_forbidden":
        models: dict[str, type[BaseModel]] = {"week": Week, "rhythm": Rhythm, "events": Events, "habits": Habits}
        model = models[str(places[0])] if len(places) > 1 else Recipe
        return InputError(where, f"unknown key; {nearest(str(places[-1]), model.model_fields)}", field=field)
    if fault["type"] == "missing":
        return InputError(where, "this key is missing", field=field)
    value = fault.get("input")
    said = None if isinstance(value, dict | list) else value
    return InputError(where, str(fault["msg"]).removeprefix("Input "), field=field, value=said)
