"""A study file: what may stand in it, and one sentence with file, field, value and the nearest for what may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import InputError
from simulator.sweep.study import StudyFile, json_schema, load, parse, said

ROOT = Path(__file__).resolve().parents[2]
WHERE = Path("study.yaml")


def refused(raw: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        parse({"name": "n", **raw}, WHERE)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_name_is_enough() -> None:
    study = parse({"name": "n"}, WHERE)
    assert (study.all_seeds, study.axes, study.sessions) == ((0,), {}, None)


def test_seeds_are_a_list_or_counted_from_0() -> None:
    assert parse({"name": "n", "seeds": 3}, WHERE).all_seeds == (0, 1, 2)
    assert parse({"name": "n", "seeds": [7, 3]}, WHERE).all_seeds == (7, 3)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"axess": {}}, ["study.yaml: axess: unknown key; did you mean 'axes'?"]),
        ({"figures": ["heatmapp"]}, ["figures: 'heatmapp'", "did you mean 'heatmap'?"]),
        ({"seeds": -1}, ["seeds"]),
        ({"seeds": [1, 1]}, ["seeds", "each once"]),
        ({"seeds": "two"}, ["seeds", "'two'"]),
        ({"seeds": 0}, ["seeds: '0': a list of whole numbers from 0, each once, or how many of them: 1 to 100,000"]),
        ({"sessions": "bundled"}, ["sessions: 'bundled': a list is wanted, such as [bundled]"]),
        (
            {"data": {"bundled": "bundled"}},
            ["data.bundled: 'bundled': a list of sessions is wanted, or a mapping with"],
        ),
        ({"name": "my study"}, ["name: 'my study': letters, digits and . : + - _, without blanks"]),
        ({"include": [3]}, ["include[0]", "'3'"]),
        ({"data": {"made": {"generatr": {}}}}, ["data.made.generatr: unknown key; did you mean 'generate'?"]),
        ({"data": {"made": {"generate": {"user": 3}}}}, ["data.made.generate.user: unknown key; did you mean 'users'"]),
        ({"data": {"made": {"generate": {"users": 0}}}}, ["data.made.generate.users", "'0'"]),
        ({"data": {"a": ["x"]}, "sessions": ["y"]}, ["data: give sessions, or data"]),
        ({"name": "a/b"}, ["name: 'a/b'"]),
        ({"data": {"/tmp/x": {"generate": {}}}}, ["data: '/tmp/x': a data set's name is no path"]),
        ({"data": {"../x": {"generate": {}}}}, ["data: '../x': a data set's name is no path"]),
        ({"data": {"..": ["x"]}}, ["data: '..': a data set's name is no path"]),
        ({"data": {"漢" * 34: ["x"]}}, ["up to 100 bytes"]),
        ({"sessions": ["a\0b"]}, ["sessions: no path holds a zero byte"]),
        ({"data": {"a": ["a\0b"]}}, ["data.a: no path holds a zero byte"]),
        ({"layout": {"a": b"bytes"}}, ["layout: texts, numbers, true, false, lists and mappings are wanted"]),
        ({"published": [{"value": float("nan")}]}, ["published: texts, numbers"]),
        ({"metrics": "F1_rt"}, ["metrics: 'F1_rt'", "list"]),
    ],
)
def test_what_may_not_stand_there_is_told_in_one_sentence(raw: dict[str, Any], words: list[str]) -> None:
    told = refused(raw)
    assert all(word in told for word in words), told


def test_all_faults_of_a_file_are_told_at_once_a_sentence_each() -> None:
    with pytest.raises(InputError) as caught:
        parse({"name": "my study", "seeds": "two", "axess": {}, "axes": {"agent": [["x"], None]}, "metrics": "F1_rt",
               "data": {"m": {"generate": {"user": 3, "users": 0}}}}, WHERE)  # fmt: skip
    places = ["axess", "data.m.generate.user", "name", "data.m.generate.users", "axes.agent[0]", "axes.agent[1]",
              "seeds", "metrics"]  # fmt: skip
    assert sorted(line.split(": ")[1] for line in str(caught.value).splitlines()) == sorted(places)
    with pytest.raises(InputError) as caught:
        parse({"name": "n", "figures": ["x", "pareto", "heatmap:a,b"], "sessions": ["a\0"]}, WHERE)
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == ["sessions", "figures", "figures"]


def test_a_name_is_wanted(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("seeds = 2\n")
    with pytest.raises(InputError, match="name: this key is missing"):
        load(file)


def test_toml_says_the_same_as_yaml(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('name = "n"\nseeds = 2\n[axes]\nmemory = ["none", "rag"]\n')
    (tmp_path / "s.yaml").write_text("name: n\nseeds: 2\naxes: {memory: [none, rag]}\n")
    assert load(tmp_path / "s.toml") == load(tmp_path / "s.yaml")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such study file"):
        load(tmp_path / "none.yaml")


def test_values_are_said_as_they_are_typed() -> None:
    assert [said(v) for v in (True, 1, 0.5, "rag:k=3")] == ["true", "1", "0.5", "rag:k=3"]


def test_the_published_schema_is_that_of_the_code() -> None:
    published = json.loads((ROOT / "docs/study.schema.json").read_text(encoding="utf-8"))
    assert published == json_schema(), "write it anew: python -m simulator.sweep.study > docs/study.schema.json"
    assert set(published["properties"]) == set(StudyFile.model_fields)


@pytest.mark.parametrize(
    ("figure", "fits"),
    [
        ("heatmap:memory,window", True),
        ("heatmap:memory", False),
        ("heatmap:memory,colour", False),
        ("pareto:memory,window", False),
    ],
)
def test_a_heat_map_may_name_two_axes_of_the_study(figure: str, fits: bool, tmp_path: Path) -> None:
    raw = {"name": "n", "axes": {"agent": "prior", "window": ["1s", "2s"]}, "figures": [figure]}
    if fits:
        assert parse(raw, tmp_path).figures == [figure]
    else:
        with pytest.raises(InputError, match="heatmap:DOWN,ACROSS"):
            parse(raw, tmp_path)
