"""Whom the run's model is given to: whoever's parameter is one, and nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.base import agents
from simulator.core.errors import UsageError
from simulator.core.registry import model_wanted, typed
from simulator.core.types import SILENT, Decision, Observation
from simulator.endpoint import Endpoint, Model, ModelChoice
from simulator.play.assemble import Choice
from simulator.play.makers import Making, agent_maker, memory_maker
from simulator.play.models import asked, asking

CHOICE = ModelChoice("m", "http://127.0.0.1:9/v1")


class Quiet:
    async def decide(self, observation: Observation) -> Decision:
        return SILENT


class ByModel(Quiet):
    def __init__(self, k: int = 1, model: Model | None = None) -> None:
        self.k, self.model = k, model


class ByEndpoint(Quiet):
    def __init__(self, model: Endpoint) -> None:
        self.model = model


class ByChoice(Quiet):
    def __init__(self, model: ModelChoice | None = None) -> None:
        self.model = model


class ByName(Quiet):
    def __init__(self, model: str = "gpt") -> None:
        self.model = model


class ByAnything(Quiet):
    def __init__(self, model=None) -> None:  # type: ignore[no-untyped-def]
        self.model = model


@pytest.mark.parametrize(
    ("cls", "wanted"),
    [
        (Quiet, None),
        (ByModel, "Model"),
        (ByEndpoint, "Model"),
        (ByChoice, "ModelChoice"),
        (ByName, None),
        (ByAnything, None),
    ],
)
def test_the_annotation_says_what_is_wanted(cls: Any, wanted: str | None) -> None:
    assert model_wanted(cls) == wanted
    assert ("model" in typed(cls)) == (cls in (ByName, ByAnything)), "what people write is theirs"


def test_each_gets_what_it_wants_and_a_client_of_its_own_for_each_unit() -> None:
    for cls in (ByModel, ByEndpoint, ByChoice, ByName, ByAnything):
        maker = agent_maker(cls)
        making = Making(maker.make, asked(maker, CHOICE, "unit"), seed=0, intentions=())
        one, other, beside = making(), making(), making.companion("twin")()
        match maker.wants_model:
            case "Model":
                assert isinstance(one.model, Endpoint)
                assert one.model is not other.model
                assert (one.model.scope, beside.model.scope) == ("unit", "unit/twin")
            case "ModelChoice":
                assert one.model is CHOICE
            case _:
                assert one.model in (None, "gpt")


def test_no_words_make_a_model_and_other_parameters_stay_what_they_were(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from simulator.endpoint import Model\n"
        "class Mine:\n    def __init__(self, k: int = 1, model: Model | None = None): self.k, self.model = k, model\n"
        "    async def decide(self, observation): ...\n"
        "class Named:\n    def __init__(self, model: str): self.model = model\n"
        "    async def decide(self, observation): ...\n"
    )
    assert agents.make(f"{file}:Mine:3", model=CHOICE).k == 3
    with pytest.raises(UsageError, match="no parameter 'model'"):
        agents.make(f"{file}:Mine:model=gpt")
    assert agents.make(f"{file}:Named:gpt").model == "gpt"
    assert agent_maker(f"{file}:Mine").wants_model == "Model"


def test_the_header_says_what_is_asked_where_something_is() -> None:
    none, silent = memory_maker("none"), agent_maker("silent")
    assert asking(Choice([]), silent, none, ModelChoice()) == {}
    assert asking(Choice([]), agent_maker(ByModel), none, CHOICE) == {"model": CHOICE.header}
    told = asking(Choice([]), agent_maker("zero-shot:modality=image"), none, CHOICE)
    assert told["strategy"]["modality"] == "image"
    with pytest.raises(UsageError, match="asks one"):
        asking(Choice([], model=CHOICE), silent, none, CHOICE)
    personas = memory_maker("personas")
    assert personas.wants_model == "ModelChoice"
    assert asking(Choice([], model=CHOICE), silent, personas, CHOICE) == {"model": CHOICE.header}


@pytest.mark.parametrize("spec", ["zero-shot:form=verse", "cot:prompts=/nowhere"])
def test_what_the_header_cannot_tell_is_told_in_a_sentence(spec: str) -> None:
    with pytest.raises(UsageError, match=r"verse|nowhere"):
        agent_maker(spec)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("remote:http://127.0.0.1:9", "remote:url=http://127.0.0.1:9"),
        ("remote:http://127.0.0.1:9,stateless=true", "remote:url=http://127.0.0.1:9,stateless=true"),
        ("stdio:python3 agent.py", "stdio:cmd=python3 agent.py"),
        ("random:rate=0.1", "random:rate=0.1"),
        ("silent", "silent"),
    ],
)
def test_a_value_without_a_name_has_that_of_its_parameter_in_the_log(given: str, text: str) -> None:
    assert agent_maker(given).text == text
