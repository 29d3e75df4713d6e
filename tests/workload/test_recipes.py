"""Recipes: those that come with proact are sound; what is wrong in one is said in one sentence."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.core.errors import InputError
from simulator.workload import calibrate, load
from simulator.workload.ceilings import Ceilings
from simulator.workload.recipe import Events, Habits, Recipe, Rhythm, parse

RECIPES = Path(__file__).parents[2] / "scenarios" / "recipes"
DAY: dict[str, Any] = yaml.safe_load((RECIPES / "day.yaml").read_text(encoding="utf-8"))
TABLE_4 = {
    "Information Lookup": 2535, "Knowledge Q&A": 1475, "Data Analysis": 662, "Coding/Programming": 630,
    "Content Generation": 501, "Advice/Consultation": 378, "Summarization": 342, "Document Editing": 237,
    "Comparison/Evaluation": 157, "Translation": 92, "Creative Design": 84, "Format Conversion": 57,
    "Mathematical Calculation": 29, "Uncategorized": 40, "Functional Testing": 2, "Error Correction": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", ["office", "habits-strong", "habits-none"])
def test_recipes_have_the_published_marginals(name: str) -> None:
    recipe = load(RECIPES / f"{name}.yaml")
    assert sum(TABLE_4.values()) == 7222
    assert recipe.intentions == pytest.approx({k: n / 7222 for k, n in TABLE_4.items()}, abs=1.2e-4)
    assert (recipe.rhythm.exponent, recipe.rhythm.burstiness) == (1.5, 0.787)
    assert recipe.rhythm.assistance_share == pytest.approx(7222 / 28528, abs=2e-4)


def test_the_two_controls_differ_in_nothing_but_habits_and_topics() -> None:
    strong, none, office = (load(RECIPES / f"{n}.yaml") for n in ("habits-strong", "habits-none", "office"))
    own = {"name", "description", "habits", "topics_per_app"}
    assert strong.model_dump(exclude=own) == none.model_dump(exclude=own) == office.model_dump(exclude=own)
    assert (none.habits.help, none.habits.window, none.habits.previous_app) == (0, 0, 0)


def _set(*path: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(raw: dict[str, Any]) -> None:
        place: Any = raw
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def _drop(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda raw: raw.pop(key)


HOSTILE: list[tuple[Callable[[dict[str, Any]], None], tuple[str, ...]]] = [
    (_set("wek", value=1), ("wek", "unknown key", "week")),
    (_set("rhythm", "exponnt", value=1), ("rhythm.exponnt", "unknown key", "exponent")),
    (_drop("week"), ("week", "missing")),
    (_set("first_day", value="2026-01-06"), ("first_day", "2026-01-06", "a Monday")),
    (_set("first_day", value="soon"), ("first_day", "soon")),
    (_set("week", "chance", value={"monday": 1}), ("week.chance", "monday", "mon")),
    (_set("week", "chance", value={"mon": 0}), ("week.chance", "at least one weekday")),
    (_set("week", "chance", "mon", value=1.5), ("week.chance.mon", "1.5", "less than or equal to 1")),
    (_set("week", "spans", value=["9 to 5"]), ("week.spans[0]", "9 to 5", "09:00-12:30")),
    (_set("week", "spans", value=["09:00-25:00"]), ("week.spans[0]", "09:00-25:00")),
    (_set("week", "spans", value=["12:00-09:00"]), ("week.spans[0]", "12:00-09:00", "10 minutes")),
    (_set("week", "spans", value=["09:00-12:00", "12:05-15:00"]), ("week.spans[1]", "further apart")),
    (_set("week", "spans", value=["18:00-23:30"]), ("week.spans[0]", "22:00")),
    (_set("week", "spans", value=[]), ("week.spans",)),
    (_set("rhythm", "exponent", value=0.9), ("rhythm.exponent", "0.9", "1.1")),
    (_set("rhythm", "exponent", value=float("nan")), ("rhythm.exponent", "nan")),
    (_set("rhythm", "exponent", value="1.5"), ("rhythm.exponent", "1.5", "number")),
    (_set("rhythm", "assistance_share", value=1), ("rhythm.assistance_share", "less than 1")),
    (_set("rhythm", "shortest_s", value=1), ("rhythm.shortest_s", "6")),
    (_set("events", "seconds", value=[[0, 3]]), ("events.seconds",)),
    (_set("events", "seconds", value=[[0, 1], [1, 9]]), ("events.seconds[0]", "1")),
    (_set("events", "seconds", value=[[0, 9], [1, 4]]), ("events.seconds[1]", "do not fall")),
    (_set("events", "assistance_seconds", value=[[0.1, 3], [1, 9]]), ("events.assistance_seconds", "share 0 to")),
    (_set("apps", value={"a": 0.5, "b": 0.4}), ("apps", "add up to 1", "0.9")),
    (_set("apps", value={}), ("apps",)),
    (_set("intentions", value={"Lookup of information": 1}), ("intentions", "Lookup of information", "unknown")),
    (_set("intentions", value={"Coding": 0.5, "Coding/Programming": 0.5}), ("intentions", "once")),
    (_set("habits", "window", value=-0.1), ("habits.window", "-0.1")),
    (_set("habits", "previous_app", value=0.9), ("habits.previous_app", "0.9", "together at most 1")),
    (_set("topics_per_app", value=0), ("topics_per_app", "0")),
    (_set("habits", value=3), ("habits",)),
    (_set("name", value=""), ("name",)),
]


@pytest.mark.parametrize(("change", "told"), HOSTILE, ids=[" ".join(t[:2]) for _, t in HOSTILE])
def test_a_wrong_recipe_is_refused_with_file_field_value_and_what_is_right(
    change: Callable[[dict[str, Any]], None], told: tuple[str, ...]
) -> None:
    raw = copy.deepcopy(DAY)
    change(raw)
    with pytest.raises(InputError) as caught:
        parse(raw, Path("mine.yaml"))
    said = str(caught.value)
    assert "mine.yaml" in said
    assert "\n" not in said
    for word in told:
        assert word in said, said


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "name: [", "a: 1\na: 2\n"])
def test_a_file_that_is_no_recipe_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=r"r\.yaml"):
        load(file)
    with pytest.raises(InputError, match="no such recipe"):
        load(tmp_path / "none.yaml")


def test_a_burstiness_that_these_hours_cannot_have_is_refused_with_those_that_they_can() -> None:
    raw = copy.deepcopy(DAY)
    raw["rhythm"]["burstiness"] = 0.1
    with pytest.raises(InputError, match=r"burstiness from 0\.\d+ to 0\.\d+") as caught:
        calibrate(parse(raw, "mine.yaml"), "mine.yaml")
    assert "rhythm.burstiness" in str(caught.value)


def test_a_share_that_this_rhythm_cannot_have_is_refused_with_those_that_it_can() -> None:
    raw = copy.deepcopy(DAY)
    raw["rhythm"]["assistance_share"] = 0.9
    with pytest.raises(InputError, match=r"a share from 0\.\d+ to 0\.\d+") as caught:
        calibrate(parse(raw, "mine.yaml"), "mine.yaml")
    assert "rhythm.assistance_share" in str(caught.value)


def test_the_page_shows_the_small_recipe_as_it_is_and_names_every_key() -> None:
    page = (RECIPES.parents[1] / "docs" / "generating.md").read_text(encoding="utf-8")
    assert f"```yaml\n{(RECIPES / 'day.yaml').read_text(encoding='utf-8')}```" in page
    for key in (*Recipe.model_fields, *Rhythm.model_fields, *Habits.model_fields, *Events.model_fields):
        assert key in page
    for name in Ceilings.__slots__:
        assert f"`{name}`" in page
