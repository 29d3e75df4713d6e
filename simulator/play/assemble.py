"""From what the user named to units that can be played: scenarios, agent, memory, rules, with their precedence.

Command line over environment (``PROACT_…``, read by the command's parser) over scenario file over default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from simulator.core.durations import duration
from simulator.core.errors import InputError, UsageError
from simulator.endpoint.types import ModelChoice
from simulator.play.embedding import embedder_of, embedding
from simulator.play.makers import Making, Named, agent_maker, memory_maker
from simulator.play.models import asked, asking, check_model, model_of
from simulator.play.others import NOBODY, Pasts, check_others, pasts_of, session_events
from simulator.play.settling import settle
from simulator.runs.config import LATEST_ONLY, Settings, check_rules
from simulator.runs.folder import TWIN
from simulator.runs.gate import Gate
from simulator.runs.journal import empirical, refuse_other
from simulator.runs.plan import sample
from simulator.runs.runlog import read_header
from simulator.runs.unit import LOG, UnitPlan
from simulator.session.play import Play
from simulator.session.scenario import plays
from simulator.session.truth import Truth
from simulator.timing.latency import LatencyModel, parse_latency
from simulator.timing.mailbox import parse_policy

T = TypeVar("T")

__all__ = ["Choice", "as_path", "assemble", "checked", "latency_of", "twin", "unit_of"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a run was asked to be; None where the scenario or the default decides."""

    scenarios: Sequence[str | Path]
    agent: Named = "prior"
    memory: Named = "rag"
    clock: str = "measured"
    latency: str | None = None
    journal: str | Path | None = None
    policy: str | None = None
    protocol: str | None = None
    gate: str | None = None
    seed: int | None = None
    timeout: str = "60s"
    memory_mode: str | None = None
    window: str | None = None
    speed: int | None = None
    max_gap: str | None = None
    model: ModelChoice | None = None
    embedder: str | None = None


_WORDS = {
    "clock": "'measured'",
    "latency": "'fixed:350ms'",
    "policy": "'latest_only'",
    "protocol": "'stream'",
    "gate": "'window:30s'",
    "timeout": "'60s'",
    "memory_mode": "'online'",
    "window": "'5min'",
    "max_gap": "'2s'",
    "embedder": "'minilm'",
}
"""Rules that are given as words, each with one."""  # fmt: skip
_NEEDED = ("clock", "timeout")


def checked(choice: Choice) -> Choice:
    """The choice with its paths as such, whoever made it.

    Raises:
        UsageError: a rule of another kind than its place wants.
    """
    for name, such_as in _WORDS.items():
        value = getattr(choice, name)
        if not isinstance(value, str) and (value is not None or name in _NEEDED):
            raise UsageError(f"{name}: a text is wanted, such as {such_as}, not {value!r}")
    for name in ("seed", "speed"):
        value = getattr(choice, name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise UsageError(f"{name}: a whole number is wanted, not {value!r}")
    if choice.seed is not None and choice.seed < 0:
        raise UsageError(f"seed: a whole number from 0 is wanted, not {choice.seed}")
    check_model(choice.model)
    named = choice.scenarios
    if isinstance(named, str | Path) or not isinstance(named, Iterable):
        raise UsageError(f"scenarios: a list of paths is wanted, not {named!r}")
    journal = None if choice.journal is None else as_path("journal", choice.journal)
    return replace(choice, scenarios=[as_path("scenarios", path) for path in named], journal=journal)


def as_path(what: str, given: Any) -> Path:
    """A path that was given as one or as a text.

    Raises:
        UsageError: it is neither.
    """
    if not isinstance(given, str | Path):
        raise UsageError(f"{what}: a path is wanted, not {given!r}")
    return Path(given)


async def assemble(choice: Choice) -> list[UnitPlan]:
    """The units of a run, in order of the scenarios.

    Raises:
        UsageError: an unknown word or an impossible combination.
        InputError: a fault of a file.
    """
    choice = checked(choice)
    latency = latency_of(choice)
    if (choice.journal is not None) != (choice.clock == "journal"):
        raise UsageError("clock journal reads an earlier run: give both --clock journal and --journal RUN")
    window = None if choice.window is None else duration("window", choice.window, above_0=True)
    found = plays([Path(s) for s in choice.scenarios])
    others = await pasts_of(found, choice) if memory_maker(choice.memory).wants_others else NOBODY
    return [await unit_of(play, choice, latency, window, others) for play in found]


def latency_of(choice: Choice) -> LatencyModel | None:
    """The model of charges that a choice names.

    Raises:
        UsageError: there is none of that name; of an earlier run, that is none.
    """
    if choice.latency is None:
        return None
    if choice.latency.startswith("from:"):
        return empirical(Path(choice.latency.removeprefix("from:")))
    return parse_latency(choice.latency)


async def unit_of(play: Play, choice: Choice, latency: LatencyModel | None = None, window: int | None = None,
                  others: Pasts = NOBODY) -> UnitPlan:  # fmt: skip
    """The unit of one session.

    Args:
        play: the session.
        choice: what the run was asked to be.
        latency: the model of charges that it names.
        window: the history window that it names, ns.
        others: the pasts of the run's users, for a memory that wants them.

    Raises:
        UsageError: see ``assemble``, as for ``InputError``.
    """
    said = play.settings
    protocol = choice.protocol or said.get("protocol") or "stream"
    policy = LATEST_ONLY
    if choice.policy is not None:
        policy = parse_policy(choice.policy)
    elif said.get("policy") is not None and protocol == "stream":
        policy = _read(play, "policy", parse_policy)
    seed = choice.seed if choice.seed is not None else int(said.get("seed") or 0)
    settings = Settings(
        clock=choice.clock,
        policy=policy,
        protocol=protocol,
        latency=latency,
        seed=seed,
        timeout_ns=duration("timeout", choice.timeout, above_0=True),
        memory_mode=choice.memory_mode or ("frozen" if protocol == "moments" else "online"),
        max_gap_ns=None if choice.max_gap is None else duration("max-gap", choice.max_gap),
        speed=choice.speed,
    )
    truth = play.truth
    if protocol != "moments":
        truth = replace(truth, moments=())
    elif not truth.moments:  # the scenario does not say what to ask
        truth = await _with_moments(play, seed)
    made_of: dict[str, Any] = {"seed": seed, "intentions": play.intentions}
    made_of["utc_anchor_ns"] = getattr(play.source, "utc_anchor_ns", None)
    agent, memory = agent_maker(choice.agent), memory_maker(choice.memory)
    check_others(memory, play, others)
    shown = made_of | ({"truth": truth} if agent.sees_truth else {})
    known = made_of | ({"truth": truth} if memory.sees_truth else {})
    known |= {"store_until_ns": 0 if settings.memory_mode == "frozen" else None}
    if memory.wants_others:
        known |= {"others": {user: past for user, past in others.items() if user != play.user}}
    model = model_of(choice, settings, agent)
    embedder = embedder_of(choice.embedder, memory, model)
    check_rules(settings)
    gate = Gate.parse(choice.gate) if choice.gate is not None else _read(play, "gate", Gate.parse)
    plan = UnitPlan(
        key=play.key,
        source=play.source,
        truth=truth,
        history=play.history,
        profile=play.profile,
        intentions=play.intentions,
        window_ns=play.window_ns if window is None else window,
        segmentation=play.segmentation,
        settings=settings,
        agent=Making(agent.make, asked(agent, model, play.key), **shown),
        memory=Making(memory.make, {**asked(memory, model, play.key), **embedding(embedder, model, play.key)}, **known),
        agent_text=agent.text,
        agent_code=agent.code,
        sees_truth=agent.sees_truth or memory.sees_truth,
        memory_text=memory.text,
        memory_code=memory.code,
        gate_text=gate.text,
        dataset=play.dataset_hash,
        recording=play.recording,
        person=play.person,
        journal=None if choice.journal is None else _journal_of(Path(choice.journal), play.key),
        asking=asking(choice, agent, memory, model, embedder),
        sample=play.sample,
    )
    if plan.journal is not None:  # told before a folder is made for it
        refuse_other(plan.journal, read_header(plan.journal), plan.header())
    return plan


def _read(play: Play, field: str, parse: Callable[[Any], T]) -> T:
    """What the scenario file says of a rule; a wrong word is a fault of that file."""
    try:
        return parse(play.settings.get(field))
    except UsageError as error:
        raise InputError(play.where, str(error), field=field) from error


def _journal_of(run: Path, key: str) -> Path:
    """The log of the same unit in an earlier run."""
    settle(run)
    path = run / "units" / key / LOG
    if not path.exists():
        raise UsageError(f"--journal {run}: that run has no unit '{key}'")
    return path


async def _with_moments(play: Play, seed: int) -> Truth:
    """The truth with what protocol ``moments`` asks, sampled from the session's own events."""
    events = [event for event, _ in await session_events(play)]
    plan = sample(events, play.truth, seed)
    rule = f"{play.truth.rule}; moments: {plan.rule}, sha256 {plan.digest()}".removeprefix("; ")
    return replace(play.truth, moments=plan.moments, rule=rule)


def twin(plan: UnitPlan) -> UnitPlan:
    """The same unit with zero charge: what ``F1_instant`` needs."""
    instant = replace(
        plan.settings, clock="modelled", latency=parse_latency("profile:instant"), speed=None, max_gap_ns=None
    )
    return replace(plan, settings=instant, journal=None, agent=_beside(plan.agent), memory=_beside(plan.memory))


def _beside(make: Callable[[], T]) -> Callable[[], T]:
    """What makes the companion's: any other callable makes a new one each time anyway."""
    return make.companion(TWIN) if isinstance(make, Making) else make
