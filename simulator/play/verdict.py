"""One verdict on a memory: an agent is played with it and with controls over the same sessions, and paired."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scorers.statistics.interval import Interval
from simulator.core.errors import Exit, ProactError, UsageError, quote
from simulator.endpoint.types import ModelChoice
from simulator.play.assemble import Choice, assemble
from simulator.play.comparing import Row, compare
from simulator.play.failing import answered, failed, reports_of
from simulator.play.makers import Maker, agent_maker, memory_maker
from simulator.play.player import play, slug
from simulator.play.probing import Probed, probe
from simulator.play.verdict_rule import METRICS, Against, DataSet, Member, Part, Verdict, judge
from simulator.runs import blame
from simulator.runs.folder import read_run
from simulator.session.play import Play
from simulator.session.scenario import plays

__all__ = ["CONTROLS", "Unjudged", "weigh"]

CONTROLS = ("none", "class-prior", "recency", "shuffled-user", "rag", "graph", "oracle")


Tell = Callable[[str], None]


class Unjudged(ProactError):
    """A memory that could not be played to the end has no verdict."""

    exit_code = Exit.SOME_UNITS_ERRED


async def weigh(memory: str, sets: Sequence[DataSet], out: Path, *, agent: str = "prior", clock: str = "measured",
                latency: str | None = None, seed: int | None = None, embedder: str | None = None,
                model: ModelChoice | None = None, controls: Sequence[str] = CONTROLS,
                tell: Tell = lambda said: None, again: bool = False) -> Verdict:  # fmt: skip
    """Play, probe, compare, judge.

    Args:
        memory: the spec of the memory in question.
        sets: data sets, each with a name of its own.
        out: gets a folder for each data set with a run folder for each memory; what is there is not played again,
            unless the code of the memory or the agent has changed since.
        agent: the agent that reads the memories.
        clock: see ``Choice``.
        latency: likewise.
        seed: likewise.
        model: likewise.
        embedder: for those memories that embed.
        controls: whom it is held against.
        tell: is told what goes on.
        again: play all of it anew.

    Raises:
        UsageError: an unknown word, or nothing to play.
        Unjudged: the memory's own run did not come to its end, or it raised when it was asked.
    """
    mine = memory_maker(memory)
    name = slug(mine.name) if slug(mine.name) not in CONTROLS else f"{slug(mine.name)}-in-question"
    given = {"agent": agent, "clock": clock, "latency": latency, "seed": seed, "model": model}
    parts = []
    for data in sets:
        found = {p.key: p for p in plays(list(data.scenarios))}
        protocols = {p.settings.get("protocol") or "stream" for p in found.values()}
        protocol = data.protocol or (protocols.pop() if len(protocols) == 1 else "")
        if protocol not in METRICS:
            raise UsageError(
                f"{data.name}: scenarios of one protocol are wanted, stream or moments; --protocol sets it"
            )
        members = []
        for key, spec in ((name, memory), *((control, control) for control in controls)):
            choice = Choice(data.scenarios, memory=spec, protocol=protocol, **given)  # type: ignore[arg-type]
            if embedder is not None and memory_maker(spec).wants_embedder:
                choice = replace(choice, embedder=embedder)
            members.append(await _member(key, choice, out / data.name / key, found, tell, again=again))
            if members[0].reason is not None:
                raise Unjudged(f"memory {quote(memory)} in data set {data.name}: {members[0].reason}")
        parts.append(_part(data, protocol, members))
    return judge(mine.text, agent, parts)


async def _member(name: str, choice: Choice, folder: Path, found: Mapping[str, Play], tell: Tell, *,
                  again: bool) -> Member:  # fmt: skip
    """Play one memory and probe it; a control that cannot be played says why, and the others go on."""
    maker: Maker = memory_maker(choice.memory)
    changed = _changed_code(folder, choice)
    tell(f"{folder.parent.name}: {name}" + (f": the code of the {changed} has changed, played anew" if changed else ""))
    if again or changed:
        _kept_probe(folder).unlink(missing_ok=True)
    try:
        played = await play(choice, out=folder, again=again or changed is not None)
    except UsageError as error:
        if name not in CONTROLS:
            raise
        return Member(name, maker.text, reason=str(error))
    if played.scores is None or played.code not in (Exit.DONE, Exit.SOME_UNITS_ERRED):
        return Member(name, maker.text, reason="its run did not come to its end")
    erred = [r for r in played.results if r.error is not None]
    if erred:
        return Member(name, maker.text, reason=f"{len(erred)} units could not be played: {erred[0].error}")
    scores = {metric: played.scores["scores"].get(metric) for metric in METRICS[choice.protocol or ""]}
    asked = await _probed(choice, folder, found, anew=bool(played.results))
    counts = played.scores["counts"]
    recalls = counts.get("recalls")
    # A decision that asks nobody is no success beside one that asked the memory in vain.
    well = answered(counts, max(reports_of(played.scores), recalls or 0), seldom=recalls is not None)
    return Member(name, maker.text, scores, asked, folder, failed(counts), recalls=recalls,
                  empty=counts.get("empty_return"), decisions=counts.get("decisions"), answered=well)  # fmt: skip


def _changed_code(folder: Path, choice: Choice) -> str | None:
    """Whose code has changed since the run there was played: ``memory`` or ``agent``; None where neither has."""
    if not (folder / "run.json").exists():
        return None
    now = {"memory": memory_maker(choice.memory).code, "agent": agent_maker(choice.agent).code}
    headers = read_run(folder)["resolved"].values()
    return next((whose for whose, code in now.items() if any(h.get(f"{whose}_code") != code for h in headers)), None)


def _kept_probe(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.probed.json")


async def _probed(choice: Choice, folder: Path, found: Mapping[str, Play], *, anew: bool) -> Mapping[str, Any]:
    """What asking at each need brought; kept beside the run, and asked again when that was played again."""
    kept = _kept_probe(folder)
    if not anew and kept.exists():
        told: Mapping[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return told
    probed = Probed()
    for nth, plan in enumerate(await assemble(choice)):
        try:
            await probe(plan, found[plan.key], probed, nth=nth)
        except ProactError:
            raise
        except Exception as error:
            raise Unjudged(
                f"memory {quote(plan.memory_text)} failed when it was tried by itself: {blame.said(error)[1]}"
            ) from error
    if probed.asked and probed.failed["recalls"] == probed.asked:
        raise Unjudged(
            f"memory {quote(choice.memory)} failed whenever it was asked at a need ({probed.asked} of {probed.asked} "
            f"times): {probed.fault}"
        )
    kept.write_text(json.dumps(probed.told(), indent=1) + "\n", encoding="utf-8")
    return probed.told()


def _part(data: DataSet, protocol: str, members: Sequence[Member]) -> Part:
    first, *controls = members
    against: list[Against] = []
    n_sessions = n_users = 0
    for control in controls:
        if control.folder is None or first.folder is None:
            reason = control.reason or "it was not played"
            against += [Against(control.name, metric, reason=reason) for metric in METRICS[protocol]]
            continue
        (found,) = compare([control.folder, first.folder], METRICS[protocol])
        n_sessions = max(n_sessions, found.n_sessions)
        n_users = max([n_users, *(row.clusters.n_users for row in found.rows)])
        against += [_against(control.name, row) for row in found.rows]
    return Part(data, protocol, n_sessions, n_users, tuple(members), tuple(against))


def _against(control: str, row: Row) -> Against:
    d = row.found
    if d is None:
        return Against(control, row.metric, reason=row.reason, direction=row.direction)
    interval = d.interval if isinstance(d.interval, Interval) else None
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return Against(control, row.metric, d.difference, low, high, d.p, None, d.detectable, len(row.clusters),
                   row.clusters.unit, d.no_test, row.direction)  # fmt: skip
