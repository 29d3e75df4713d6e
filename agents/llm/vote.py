"""``self-consistency``: the zero-shot question several times over, and a majority of the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from agents.base import agents
from agents.llm.ask import Question, decided, strategy
from agents.llm.parse import Said
from agents.llm.zero_shot import OneQuestion
from simulator.core.errors import UsageError
from simulator.core.protocols import Meter
from simulator.core.types import Decision, Observation
from simulator.endpoint.together import together
from simulator.endpoint.types import EndpointError

__all__ = ["TIES", "SelfConsistency", "majority"]

TIES = "silent-then-first-sample/1"
"""As many for help as against: no help. Intentions with as many votes: the one of the earlier sample."""


@agents.register("self-consistency")
@strategy
class SelfConsistency(OneQuestion):
    """Asks a model the same several times and goes with the majority; samples that fail or cannot be read do not vote.

    Each sample is a call of its own, with its tokens and its time: one after the other they add up, made at the same
    time the longest counts. Where a run has ``--model-seed n``, sample i is sent the seed n + i: with one seed all
    would be the same.

    Args:
        k: how many samples.
        concurrent: make them at the same time.
        common: see ``Asking``.
    """

    TASK = "task_zero_shot"

    def __init__(self, k: int = 5, concurrent: bool = False, *, stages: int = 1, **common: Any) -> None:
        if not 1 <= k <= 100:
            raise UsageError(f"k: a number of samples from 1 to 100 is wanted, not {k}")
        super().__init__(stages=stages, **common)
        self._samples, self._at_once = k, concurrent

    @classmethod
    def header_facts(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """See ``Asking``; with the rule for ties."""
        return {**super().header_facts(given), "ties": TIES}

    async def decide(self, observation: Observation) -> Decision:
        """Ask k times and count."""
        question, meter = await self.question(observation), observation.meter
        asked = [partial(self._sample, i, question, meter) for i in range(self._samples)]
        answers = await together(*asked) if self._at_once else [await one() for one in asked]
        said = [answer for answer in answers if isinstance(answer, Said)]
        failed = [answer for answer in answers if isinstance(answer, EndpointError)]
        for _ in failed:
            meter.note("sample_failed")
        for _ in range(len(answers) - len(said) - len(failed)):
            meter.note("sample_unparsed")
        if len(failed) == len(answers):
            raise failed[0]
        return majority(said, self._samples, self.intentions, meter)

    async def _sample(self, i: int, question: Question, meter: Meter) -> Said | EndpointError | None:
        """One answer; an error is a value, so that it ends neither the others nor the vote."""
        seed = getattr(getattr(self.model, "choice", None), "seed", None)
        try:
            return await self.ask(question, meter, {} if seed is None else {"seed": seed + i})
        except EndpointError as error:
            return error


def majority(said: Sequence[Said], k: int, intentions: Sequence[str], meter: Meter) -> Decision:
    """What most of the answers say, by ``TIES``; unparsed where none could be read.

    Args:
        said: the answers that could be read, in order of the samples.
        k: how many were asked for; an offer's confidence is the votes for its intention out of them.
        intentions: in use.
        meter: for notes.
    """
    if not said:
        return decided(None, intentions, meter)
    yes = [one for one in said if one.help]
    if 2 * len(yes) == len(said):
        meter.note("vote_tied")
    if 2 * len(yes) <= len(said):
        against = next(one for one in said if not one.help)
        return Decision(parse_rule=f"vote: {against.rule}")
    votes = Counter(one.intention for one in yes if one.intention is not None)
    most = max(votes.values(), default=0)
    if sum(n == most for n in votes.values()) > 1:
        meter.note("vote_tied")
    winner = next((one for one in yes if one.intention is not None and votes[one.intention] == most), yes[0])
    voted = Said(True, f"vote: {winner.rule}", winner.intention, winner.text)
    return decided(voted, intentions, meter, confidence=(most or len(yes)) / k)
