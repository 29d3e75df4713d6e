"""What a scorer is, what a metric is called and means, and how the scores of a run come together.

A scorer reads each session once (``tally``) and turns any number of tallies into figures: the same code gives the
scores of one session and, from the counts pooled over sessions, those of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

from scorers.feedback import Feedback
from scorers.foreign import blamed, ensure_scorer, ensure_scores, ensure_told, is_ours
from scorers.interrupted import truth_as_played
from scorers.matching import Judging
from scorers.metric import FEW, PROTOCOLS, Metric, Score
from scorers.resampled import cluster_of, enter
from scorers.statistics.clusters import Clusters
from simulator.core.errors import UsageError, nearest, quote
from simulator.core.protocols import Embedder
from simulator.core.registry import Registry
from simulator.core.types import SECOND
from simulator.runs.gate import STANDARD, Gate
from simulator.runs.records import Flag, Kind, RunLog
from simulator.session.truth import Truth

__all__ = [
    "FEW",
    "NOT_PLAYED",
    "PROTOCOLS",
    "Context",
    "Metric",
    "Score",
    "Scorer",
    "Unit",
    "catalogue",
    "score_run",
    "scorers",
]

RUN = ("agent", "memory", "memory_mode", "policy", "clock", "latency")
"""Fields of a log's header that say what was run."""
NOT_PLAYED = "no unit was played"
"""Why a run without a played unit has no figure."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unit:
    """One agent and memory on one session: its run log, and what is true of the session."""

    key: str
    log: RunLog
    truth: Truth

    def has_truth(self, protocol: str) -> bool:
        """Whether it is known what was needed, so that a run of this protocol can be scored for more than latency."""
        return self.truth.intents is not None if protocol == "trajectory" else self.truth.known


@dataclass(frozen=True, slots=True)
class Context:
    """What scoring takes besides logs and truth.

    Attributes:
        protocol: of the run: ``stream``, ``moments`` or ``trajectory``.
        gate: what surfaces.
        embedder: for similarities and the matcher ``embedding>=θ``; None leaves those out, with the reason.
        twins: by unit key, the same agent's run with zero charge; F1_instant needs it.
        judge: for the matcher ``judge``: gives it for the unit of that key, whose profile it knows.
        companions: by unit key, the same run under other seeds; pass^k needs them.
        feedback: by unit key, what people said of its offers; acceptance_rate needs it.
    """

    protocol: str = "stream"
    gate: Gate = STANDARD
    embedder: Embedder | None = None
    twins: Mapping[str, Unit] = field(default_factory=dict)
    judge: Callable[[str], Judging] | None = None
    companions: Mapping[str, Sequence[Unit]] = field(default_factory=dict)
    feedback: Mapping[str, Sequence[Feedback]] = field(default_factory=dict)


@runtime_checkable
class Scorer(Protocol[T]):
    """Turns sessions into figures.

    Class attributes: ``protocols`` it is meant for, ``needs_truth``, ``metrics`` it gives, each exactly once.
    """

    protocols: tuple[str, ...]
    needs_truth: bool
    metrics: tuple[Metric, ...]

    def tally(self, unit: Unit, context: Context) -> T:
        """Count one session."""
        ...

    def figures(self, tallies: Sequence[T]) -> list[Score]:
        """The figures of these sessions taken together, in the order of ``metrics``."""
        ...

    def explain(self, tally: T) -> Mapping[str, Any]:
        """What people argue about in one session, JSON-ready: each offer with its class, for instance."""
        ...

    def reference(self, tallies: Sequence[T]) -> Mapping[str, Any]:
        """Rows to hold the figures against, such as an agent that always speaks; empty where there are none."""
        ...


COMPATIBLE = ("erde", "f_latency", "nab", "pauc", "proactivebench", "streamingbench")
"""Scores of other benchmarks; none is in a standard set."""

scorers: Registry[Scorer[Any]] = Registry(
    "scorer",
    "proact.scorers",
    (
        *("scorers.acceptance", "scorers.assistance", "scorers.pira", "scorers.realtime", "scorers.serving"),
        *(f"scorers.compat.{name}" for name in COMPATIBLE),
    ),
    "tally",
)


def catalogue() -> list[tuple[str, Metric]]:
    """All metrics with the scorer that gives them, by scorer name, in the order in which each gives them.

    Raises:
        UsageError: a scorer of another distribution that cannot be had, or is none.
        ValueError: two scorers use one name.
    """
    listed = [(name, metric) for name in scorers for metric in _made(name).metrics]
    owner: dict[str, str] = {}
    for name, metric in listed:
        if metric.name in owner:
            raise ValueError(f"metric '{metric.name}' is given by '{owner[metric.name]}' and by '{name}'")
        owner[metric.name] = name
    return listed


def _made(scorer: str | Scorer[Any]) -> Scorer[Any]:
    made = scorers.make(scorer) if isinstance(scorer, str) else scorer
    if not is_ours(made):
        ensure_scorer(made)
    return made


STANDARD_SCORERS = {
    "stream": ("realtime", "serving"),
    "moments": ("proagentbench", "serving"),
    "trajectory": ("pira", "pira_card_approx", "serving"),
}
"""What a run of each protocol is scored by when nothing else is asked for."""
WHERE_ASKED = {"stream": ("acceptance",)}
"""And by these, where people said what they made of offers."""


def score_run(
    units: Sequence[Unit],
    protocol: str,
    gate: Gate | str | Mapping[str, Any] | None = None,
    *,
    names: Sequence[str | Scorer[Any]] | None = None,
    embedder: Embedder | None = None,
    twins: Mapping[str, Unit] | None = None,
    judge: Callable[[str], Judging] | None = None,
    companions: Mapping[str, Sequence[Unit]] | None = None,
    feedback: Mapping[str, Sequence[Feedback]] | None = None,
) -> dict[str, Any]:
    """Score the sessions of one run; the result is what ``scores.json`` holds.

    Sessions of which no needs are known give latency, and what people said, only. A unit that was not played (its log
    holds neither a decision nor an end, as when the agent could not be opened) enters no figure and is counted as
    ``not_played``; where none was played every figure is null. One that was interrupted is scored as far as its log
    goes, as if the session had ended there (``scorers.interrupted``). Nothing here depends on the order of ``units``.

    Args:
        units: the sessions, each with its log and truth.
        protocol: ``stream``, ``moments`` or ``trajectory``.
        gate: None takes the standard gate.
        names: scorer specs, such as ``realtime`` or ``pira:matcher=embedding>=0.8``, or scorers, which go by the name
            of their class; None takes those of the protocol, and those of ``WHERE_ASKED`` where there is feedback.
        embedder: for similarities; None leaves them out with a reason.
        twins: by unit key, the zero-charge run of the same agent.
        judge: see ``Context``.
        companions: by unit key, its companions under other seeds, all or none of every session's.
        feedback: by unit key, what people said of its offers.

    Returns:
        ``schema, protocol, gate, latency_source, run, n_units, counts, scores {metric: value or null}, details {metric:
        {value, n, unit, reason, interval, …}}, reference {scorer: rows}, units {key: {counts, scores, parts, …}}``, all
        JSON-ready; ``parts`` are what the unit adds to each table of sums (``scorers.pooling``).

    Raises:
        UsageError: unknown protocol or scorer, a scorer that does not fit the protocol, two units of one key; a scorer
            of somebody else's that fails, or does not keep to what a scorer promises (``scorers.foreign``).
    """
    if protocol not in PROTOCOLS:
        raise UsageError(f"unknown protocol {quote(protocol)}; {nearest(protocol, PROTOCOLS)}")
    units = sorted(units, key=lambda u: u.key)
    if len({u.key for u in units}) < len(units):
        raise UsageError("two units have the same key")
    units = [replace(u, truth=truth_as_played(u.log, u.truth)) for u in units]
    played = [u for u in units if _was_played(u)]
    whole = {u.key for u in played if u.log.complete}  # a twin played on where its unit was cut short
    twins = {key: twin for key, twin in (twins or {}).items() if _was_played(twin) and key in whole}
    others = {
        key: tuple(c for c in found if c.log.complete) for key, found in (companions or {}).items() if key in whole
    }
    context = Context(protocol, Gate.parse(gate), embedder, twins, judge, others, feedback or {})
    known = [u for u in played if u.has_truth(protocol)]
    result: dict[str, Any] = {
        "schema": 1,
        "protocol": protocol,
        "gate": context.gate.text,
        "latency_source": " + ".join(sorted({str(u.log.header.get("latency_source", "unknown")) for u in units})),
        "run": _run_of(units),
        "sees_truth": any(bool(u.log.header.get("sees_truth")) for u in units),
        "n_units": len(units),
        "counts": {**_counts(units), "sessions_without_truth": len(played) - len(known)},
        "scores": {},
        "details": {},
        "reference": {},
        "units": {u.key: {"counts": _counts([u]), "scores": {}} for u in units},
    }
    usual = STANDARD_SCORERS[protocol] + (WHERE_ASKED.get(protocol, ()) if context.feedback else ())
    for spec in usual if names is None else names:
        scorer, name = _made(spec), spec if isinstance(spec, str) else type(spec).__name__
        if protocol not in scorer.protocols:
            fit = ", ".join(n for n in scorers if protocol in _made(n).protocols)
            raise UsageError(f"scorer {quote(name)} does not fit protocol {quote(protocol)}; these do: {fit}")
        if scored := (known if scorer.needs_truth else played):
            _enter(result, name, scorer, scored, context)
        elif not played:
            _put(result, name, [Score(m, None, 0, NOT_PLAYED) for m in scorer.metrics if protocol in m.protocols])
    return result


def _run_of(units: Sequence[Unit]) -> dict[str, str]:
    """What was run, as the logs say; where units differ in it, all there is."""
    found = {k: {str(u.log.header[k]): None for u in units if u.log.header.get(k) is not None} for k in RUN}
    found["embedder"] = {str(u.log.header["embedder"]["name"]): None for u in units if u.log.header.get("embedder")}
    return {k: " + ".join(values) for k, values in found.items() if values}


def _was_played(unit: Unit) -> bool:
    return len(unit.log) > 0 or unit.log.complete


def _put(result: dict[str, Any], name: str, found: Sequence[Score]) -> None:
    for score in found:
        if (before := result["details"].get(score.metric.name)) is not None:
            raise UsageError(f"{quote(score.metric.name)} is given by {quote(before['scorer'])} and by {quote(name)}: "
                             "score by one at a time")  # fmt: skip
        result["scores"][score.metric.name] = score.value
        result["details"][score.metric.name] = {"scorer": name, **score.details()}


def _enter(result: dict[str, Any], name: str, scorer: Scorer[Any], units: Sequence[Unit], context: Context) -> None:
    held = not is_ours(scorer)

    def figures(some: Sequence[Any], of: str = "") -> list[Score]:
        with blamed(scorer, f"figures(){of}"):
            found = scorer.figures(some)
        if held:
            ensure_scores(scorer, found)
        return [s for s in found if context.protocol in s.metric.protocols]

    tallies = []
    for unit in units:
        with blamed(scorer, f"tally() of unit {quote(unit.key)}"):
            tallies.append(scorer.tally(unit, context))
    scores = figures(tallies)
    _put(result, name, scores)
    clusters = Clusters.group([cluster_of(u.key, u.log.header) for u in units])
    details = {s.metric.name: result["details"][s.metric.name] for s in scores}
    enter(scorer, tallies, clusters, details, [result["units"][u.key].setdefault("parts", {}) for u in units])
    with blamed(scorer, "reference()"):
        rows = scorer.reference(tallies)
    if held:
        ensure_told(scorer, "what reference() gives", rows)
    if rows:
        result["reference"][name] = dict(rows)
    for unit, tally in zip(units, tallies, strict=True):
        told = result["units"][unit.key]
        told["scores"].update((s.metric.name, s.value) for s in figures([tally], f" of unit {quote(unit.key)} alone"))
        with blamed(scorer, f"explain() of unit {quote(unit.key)}"):
            explained = scorer.explain(tally)
        if held:
            ensure_told(scorer, "what explain() gives", explained, of_unit=True)
        told.update(explained)


def _counts(units: Sequence[Unit]) -> dict[str, int]:
    """What happened, in whole numbers; errors and unparsed answers are a third outcome beside right and wrong.

    Of a unit that was not played nothing counts but that: its needs were nobody's to serve.
    """
    n_all, units = len(units), [u for u in units if _was_played(u)]
    kinds = {kind: sum(int((u.log.kind == kind).sum()) for u in units) for kind in Kind}
    return {
        "decisions": sum(len(u.log) for u in units),
        **{kind.name.lower(): n for kind, n in kinds.items()},
        "opportunities": sum(len(u.truth.servable) for u in units),
        "unservable": sum(len(u.truth.opportunities) - len(u.truth.servable) for u in units),
        "after_end": sum(int(((u.log.flags & Flag.AFTER_END) != 0).sum()) for u in units),
        "interrupted": sum(not u.log.complete for u in units),
        "torn": sum(u.log.torn for u in units),
        "never_seen": sum(int((u.log.end or {}).get("never_seen", 0)) for u in units),
        "seconds_played": round(sum(u.truth.end_ns for u in units) / SECOND),
        "not_played": n_all - len(units),
    }
