from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agents.base import agents, make_agent
from agents.testing import FakeModel
from simulator.core.types import SECOND, Decision, Observation, Offer
from simulator.endpoint.types import Message
from simulator.session.truth import Intent, Opportunity, Truth
from tests import remotes
from tests.conformance.agent_conformance import AgentConformance

TRUTH = Truth(
    "session-1",
    "user",
    60 * SECOND,
    opportunities=(Opportunity("a", 10 * SECOND, 20 * SECOND, "Translation", query="what does this mean"),),
    intents={"p": (Intent("find a train", None),)},
)


class Nobody:
    """A terminal at which nobody presses a key."""

    @staticmethod
    def check() -> None:
        """There is one."""

    def say(self, line: str) -> None:
        """Heard by nobody."""

    async def key(self, limit_s: float | None) -> str | None:
        return None

    def close(self) -> None:
        """Nothing to put back."""


def answered(messages: Sequence[Message]) -> str:
    """Something else for each question, in each of the forms that strategies ask for, and sometimes in none."""
    asked = str(messages)
    kinds = (
        "1. Need help: Yes\n2. Intention category: Translation\n3. Offer: Shall I?",
        "1. Need help: No",
        '{"action": "CREATE", "intent": "find a train", "category": "Information Lookup", "why": "x"}',
        '{"action": "UPDATE", "intent_id": "T1", "intent": "find a cheap train", "delete_intent_id": "T2"}',
        '{"intents": [{"intent": "find a train", "category": "Information Lookup"}]}',
        "I cannot tell.",
    )
    return kinds[sha256(asked.encode("utf-8", "replace")).digest()[0] % len(kinds)]


class TestEveryRegisteredAgentConforms(AgentConformance):
    @pytest.fixture(autouse=True, params=agents.names())
    def _spec(self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        self.spec: str = request.param
        monkeypatch.setattr("agents.human.Terminal", Nobody)
        self.file = tmp_path / "offers.yaml"
        self.file.write_text("- {t_s: 3, intention: Translation}\n", encoding="utf-8")
        with remotes.example() if self.spec == "remote" else nullcontext("") as self.url:
            yield

    def make(self) -> Any:
        given = {"truth": TRUTH, "file": str(self.file), "url": self.url, "cmd": remotes.STDIO}
        return make_agent(self.spec, **given, model=FakeModel(answered))


class Sloppy:
    """Breaks rules, to see that the suite notices."""

    inline = True

    def __init__(self) -> None:
        self.n = 0

    async def decide(self, observation: Observation) -> Decision:
        return Decision((Offer("", confidence=float("nan")),))


@pytest.mark.parametrize("rule", ["test_every_answer_is_a_decision_whose_offers_can_be_scored"])
def test_the_suite_finds_an_agent_that_breaks_a_rule(rule: str) -> None:
    class Suite(AgentConformance):
        def make(self) -> Any:
            return Sloppy()

    with pytest.raises(AssertionError):
        getattr(Suite(), rule)()
