"""Axes to cells: every value with every other, each cell once, and what each chooses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.errors import InputError, UsageError
from simulator.endpoint.types import ModelChoice
from simulator.sweep.cells import Grid, grid
from simulator.sweep.study import parse
from simulator.sweep.types import Cell

WHERE = Path("study.yaml")


def made(set_: Any = None, model: ModelChoice | None = None, **said: Any) -> Grid:
    return grid(parse({"name": "n", **said}, WHERE), WHERE, set_=set_, model=model)


def values(found: Grid, *axes: str) -> list[tuple[str | None, ...]]:
    return [tuple(cell.value(axis) for axis in axes) for cell in found.cells]


def refused(set_: Any = None, **said: Any) -> str:
    with pytest.raises(InputError) as caught:
        made(set_, **said)
    return str(caught.value)


def test_every_value_meets_every_other_and_the_last_axis_runs_fastest() -> None:
    found = made(axes={"memory": ["none", "rag"], "timeout": ["10s", "5min"]})
    assert values(found, "memory", "timeout") == [
        ("none", "10s"), ("none", "5min"), ("rag", "10s"), ("rag", "5min")
    ]  # fmt: skip
    assert [c.name for c in found.cells] == ["none_10s", "none_5min", "rag_10s", "rag_5min"]
    assert len({c.id for c in found.cells}) == 4


def test_data_agent_and_memory_are_always_axes() -> None:
    (cell,) = made().cells
    assert cell.values == (("data", "sessions"), ("agent", "prior"), ("memory", "rag"))
    assert (cell.name, cell.data, cell.choice["clock"]) == ("only", "sessions", "measured")


def test_a_latency_is_modelled_unless_it_is_measured() -> None:
    found = made(axes={"latency": ["measured", "fixed:1s"]})
    assert [(c.choice["clock"], c.choice.get("latency")) for c in found.cells] == [
        ("measured", None), ("modelled", "fixed:1s")
    ]  # fmt: skip


def test_an_axis_that_says_nothing_to_a_cell_is_a_dash_and_the_cell_is_there_once() -> None:
    found = made(axes={"agent": ["silent", "zero-shot"], "modality": ["text", "image"]})
    assert values(found, "agent", "modality") == [("silent", "-"), ("zero-shot", "text"), ("zero-shot", "image")]
    assert [c.choice["agent"] for c in found.cells] == ["silent", "zero-shot:modality=text", "zero-shot:modality=image"]
    assert next(a for a in found.axes if a.name == "modality").values == ("text", "image", "-")


def test_a_parameter_in_the_spec_itself_wins_over_its_axis() -> None:
    found = made(axes={"agent": ["zero-shot:modality=both"], "modality": ["text", "image"]})
    assert values(found, "modality") == [("-",)]


def test_parameters_of_a_memory_have_its_name_before_them() -> None:
    found = made(axes={"memory": ["rag", "none"], "memory.documents": ["event", "window"]})
    assert [c.choice["memory"] for c in found.cells] == ["rag:documents=event", "rag:documents=window", "none"]


def test_an_embedder_is_for_memories_that_embed() -> None:
    found = made(axes={"memory": ["none", "rag"], "embedder": ["hash", "minilm"]})
    assert values(found, "memory", "embedder") == [("none", "-"), ("rag", "hash"), ("rag", "minilm")]


def test_a_model_is_for_those_that_ask_one_and_goes_over_that_of_the_command_line() -> None:
    axes = {"agent": ["silent", "cot"], "model": ["small", {"name": "large", "temperature": 0.5}]}
    found = made(model=ModelChoice(base_url="http://127.0.0.1:1/v1", max_tokens=9), axes=axes)
    assert values(found, "agent", "model") == [("silent", "-"), ("cot", "small"), ("cot", "large")]
    models: list[Any] = [c.choice.get("model") for c in found.cells]
    assert models[0] is None
    assert (models[2].model, models[2].temperature, models[2].max_tokens) == ("large", 0.5, 9)


def test_an_entry_of_include_takes_all_values_of_the_axes_that_it_does_not_name() -> None:
    found = made(
        axes={"agent": "prior", "memory": ["none", "rag"], "timeout": ["10s", "5min"]},
        include=[{"agent": "silent", "memory": "none"}],
    )
    assert values(found, "agent", "memory", "timeout")[4:] == [("silent", "none", "10s"), ("silent", "none", "5min")]
    assert next(a for a in found.axes if a.name == "agent").values == ("prior", "silent")


def test_an_entry_of_exclude_leaves_out_what_has_all_of_its_values() -> None:
    found = made(
        axes={"memory": ["none", "personas"], "timeout": ["10s", "5min"]},
        exclude=[{"memory": "personas", "timeout": "10s"}],
    )
    assert values(found, "memory", "timeout") == [("none", "10s"), ("none", "5min"), ("personas", "5min")]


def test_the_command_line_sets_an_axis_whether_the_file_has_it_or_not() -> None:
    found = made({"memory": ["graph"], "timeout": ["10s"]}, axes={"memory": ["none", "rag"]})
    assert values(found, "memory", "timeout") == [("graph", "10s")]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"axes": {"memorie": ["none"]}}, ["axes.memorie", "no axis 'memorie'; did you mean 'memory'?"]),
        ({"axes": {"memory": ["nun"]}}, ["memory 'nun'"]),
        ({"axes": {"agent": ["pryor"]}}, ["did you mean 'prior'"]),
        ({"axes": {"memory": []}}, ["axes.memory: at least one value"]),
        ({"axes": {"memory": ["rag", "rag"]}}, ["axes.memory: 'rag': each value once"]),
        (
            {"axes": {"memory": ["personas", "cluster"]}},
            ["'cluster': each value once, and this is another word for 'pers"],
        ),
        ({"axes": {"memory": ["grpah"]}}, ["study.yaml: axes.memory: unknown memory 'grpah'; did you mean 'graph'?"]),
        ({"axes": {"agent": ["priorr"], "timeout": ["5s"]}}, ["study.yaml: axes.agent: unknown agent 'priorr'"]),
        ({"include": [{"memory": "grpah"}]}, ["study.yaml: include[0].memory: unknown memory 'grpah'"]),
        ({"exclude": [{"memory": "nun"}]}, ["exclude[0].memory: 'nun': no value of that axis"]),
        ({"exclude": [{}]}, ["exclude[0]"]),
        ({"exclude": [{"memory": "rag"}]}, ["exclude: no cell is left"]),
        ({"baseline": {"timeout": "5s"}}, ["baseline.timeout: the study has no such axis"]),
        ({"baseline": {"memory": "none"}}, ["baseline.memory: 'none': no value of that axis; known: rag"]),
        ({"axes": {"data": ["a"]}}, ["axes.data: data sets are named under data"]),
        ({"axes": {"agent": "cot", "model": [{"nam": "x"}]}}, ["no 'nam' of a model; did you mean 'name'"]),
        ({"axes": {"memory": ["none"], "speed": ["fast"], "clock": "elastic"}}, ["speed: a whole number"]),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(said: dict[str, Any], words: list[str]) -> None:
    told = refused(**said)
    assert told.startswith("study.yaml: ")
    assert all(word in told for word in words), told


@given(st.permutations(["none", "rag", "graph"]), st.permutations(["10s", "1min", "5min"]))
def test_a_cell_has_the_same_id_in_whatever_order_the_values_stand(memories: list[str], limits: list[str]) -> None:
    found = made(axes={"memory": memories, "timeout": limits})
    plain = made(axes={"timeout": ["10s", "1min", "5min"], "memory": ["none", "rag", "graph"]})
    assert {c.id for c in found.cells} == {c.id for c in plain.cells}
    assert len(found.cells) == 9


def test_a_cell_of_another_rule_has_another_id() -> None:
    one, other = (made(axes={"timeout": [w]}).cells[0].id for w in ("10s", "11s"))
    assert one != other


def test_a_cells_name_fits_a_file_system_in_any_script() -> None:
    cell = Cell((("memory", "漢" * 100),), {}, "d", ("memory",))
    assert cell.name == "漢" * 33  # of 3 bytes each


@pytest.mark.parametrize(
    ("field", "value", "want"),
    [
        ("name", 5, "model of a model: a text is wanted, not '5'"),
        ("name", {"a": "b"}, "model of a model: a text is wanted"),
        ("base_url", [1], "base_url of a model: a text is wanted"),
        ("seed", "x", "seed of a model: a whole number is wanted, not 'x'"),
        ("concurrency", True, "concurrency of a model: a whole number is wanted"),
        ("temperature", "x", "temperature of a model: a number is wanted"),
        ("extra_body", 3, "extra_body of a model: a mapping is wanted"),
    ],
)
def test_a_field_of_a_model_of_another_kind_is_told(field: str, value: Any, want: str) -> None:
    with pytest.raises(UsageError, match=re.escape(want)):
        made(axes={"agent": "zero-shot", "model": [{field: value}]})


def test_a_speed_of_very_many_digits_is_told() -> None:
    with pytest.raises(UsageError, match="speed: a whole number is wanted"):
        made(axes={"clock": "elastic", "speed": ["9" * 5000]})


def test_an_exclude_of_a_value_that_the_command_line_took_away_is_moot() -> None:
    said: dict[str, Any] = {"axes": {"memory": ["none", "rag", "graph"]}, "exclude": [{"memory": "graph"}]}
    assert [cell.value("memory") for cell in made({"memory": ["none", "rag"]}, **said).cells] == ["none", "rag"]
    assert "exclude[0].memory: 'grpah': no value" in refused(
        {"memory": ["none"]}, **(said | {"exclude": [{"memory": "grpah"}]})
    )
