"""Strategies against llama.cpp's own server: its answers mean nothing, its protocol and its JSON do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.llm.vote import SelfConsistency
from agents.llm.zero_shot import ZeroShot
from agents.testing import FakeMeter, observe
from simulator.core.intentions import INTENTIONS
from simulator.core.types import Decision, Setup
from simulator.endpoint import Endpoint, ModelChoice
from tests.endpoint.llama import serving


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with serving() as url:
        yield url


def chosen(base_url: str) -> ModelChoice:
    """Such that a model without a thought comes to an end."""
    return ModelChoice(None, base_url, 0.0, max_tokens=300, seed=1, extra_body={"repeat_penalty": 1.3})


async def test_answers_in_json_follow_the_schema_and_are_read(base_url: str) -> None:
    endpoint = Endpoint(chosen(base_url))
    agent = ZeroShot(form="json", budget=200, model=endpoint)
    await agent.open(Setup("s", "sam", {}, INTENTIONS, 0))
    meter = FakeMeter()
    decision = await agent.decide(observe(3, app="xterm", title="bash", text="Traceback", meter=meter))
    await agent.close()
    assert not decision.unparsed
    assert (decision.parse_rule or "").startswith("json")
    assert meter.used["tokens_in"] > 100
    assert meter.used["tokens_out"] > 5
    assert "no_json_schema" not in meter.notes


async def test_samples_side_by_side_are_as_many_calls(base_url: str) -> None:
    endpoint = Endpoint(chosen(base_url))
    agent = SelfConsistency(3, True, form="json", budget=200, model=endpoint)
    meter = FakeMeter()
    decision = await agent.decide(observe(3, app="xterm", title="bash", text="Traceback", meter=meter))
    await agent.close()
    assert isinstance(decision, Decision)
    assert (decision.parse_rule or "").startswith("vote: json")
    assert meter.stages["first_token"] + meter.notes["sample_failed"] >= 3
