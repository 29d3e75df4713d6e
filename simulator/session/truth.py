"""What is true of a recorded session, as far as scorers may know: when help was needed, with what, and until when.

Truth is kept apart from the snapshots so that nothing of it can reach an agent; a run copies it into its own folder
(``truth.json``), from where the run can be scored again without the recording.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from simulator.core.errors import InputError, quote
from simulator.core.files import read_text
from simulator.core.types import SECOND

__all__ = [
    "LEAST_WINDOW_NS",
    "Assist",
    "Gap",
    "Intent",
    "Moment",
    "Opportunity",
    "Span",
    "Truth",
    "active_ns",
    "active_spans",
    "read",
    "write",
]

LEAST_WINDOW_NS = 2 * SECOND
"""In less nobody can be served."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Opportunity:
    """A need for help: useful while ``opens_ns <= t < closes_ns``; ``acted_ns`` is when the user acted alone.

    ``origin`` says where the window comes from: ``scenario``, ``recorded`` (an assistance event with the published
    lead rule), ``label``. ``unservable`` names why it is counted but not scored, None for a real one.
    """

    id: str
    opens_ns: int
    closes_ns: int
    intention: str
    acted_ns: int | None = None
    query: str | None = None
    weight: float = 1.0
    origin: str = "scenario"
    unservable: str | None = None


@dataclass(frozen=True, slots=True)
class Assist:
    """An event in which the user worked with an assistant: ``[start_ns, end_ns)``."""

    start_ns: int
    end_ns: int
    intention: str | None = None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of the session without snapshots, with its reason."""

    start_ns: int
    end_ns: int
    reason: str


@dataclass(frozen=True, slots=True)
class Intent:
    """One true intent of a trajectory under a profile (PIRA)."""

    text: str
    intention: str | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """One sampled question of protocol ``moments``: was help needed at ``t_ns`` (1 s before an event starts)?"""

    t_ns: int
    positive: bool
    intention: str | None = None
    query: str | None = None
    opportunity: str | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """All of it for one session.

    Attributes:
        end_ns: end of the session (last snapshot + period).
        period_ns: the stream's period.
        known: whether the windows of need are known; if not (a live or foreign recording, or intents only), protocols
            ``stream`` and ``moments`` give latency only.
        acts_ns: instants at which the user acted on a need (asked an assistant), in order; the gate reads them.
        intents: per profile name, the true intents of the trajectory; None when the session has no such truth.
        moments: what protocol ``moments`` asks; empty for other protocols.
        rule: how opportunities and moments were made, in words a reader of the result can check.
    """

    session: str
    user: str
    end_ns: int
    period_ns: int = SECOND
    known: bool = True
    opportunities: tuple[Opportunity, ...] = ()
    assists: tuple[Assist, ...] = ()
    gaps: tuple[Gap, ...] = ()
    acts_ns: tuple[int, ...] = ()
    intents: Mapping[str, tuple[Intent, ...]] | None = None
    moments: tuple[Moment, ...] = ()
    rule: str = ""

    @property
    def active_ns(self) -> int:
        """Length of the session without its gaps; the hours of per-hour rates."""
        return active_ns(self)

    @property
    def servable(self) -> tuple[Opportunity, ...]:
        """The opportunities that are scored."""
        return tuple(o for o in self.opportunities if o.unservable is None)

    def digest(self) -> str:
        """SHA-256 of the canonical JSON form."""
        return sha256(_dump(self).encode("utf-8", "surrogatepass")).hexdigest()


class Recorded(Protocol):
    """A length of time with gaps: a ``Truth``, or a session's ``Header``."""

    @property
    def end_ns(self) -> int:
        """Where it ends; it begins at 0."""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """When nothing was recorded."""


def active_ns(of: Recorded) -> int:
    """Its length without its gaps."""
    return sum(end - start for start, end in active_spans(of))


def active_spans(of: Recorded) -> list[Span]:
    """The session from 0 to its end without its gaps, as pairs ``[start_ns, end_ns)`` in order.

    Gaps may overlap and reach beyond the session on both sides.
    """
    spans: list[Span] = []
    start = 0
    for gap in sorted(of.gaps, key=lambda g: (g.start_ns, g.end_ns)):
        spans.append((start, min(gap.start_ns, of.end_ns)))
        start = max(start, gap.end_ns)
    spans.append((start, of.end_ns))
    return [(s, e) for s, e in spans if e > s]


def _dump(truth: Truth) -> str:
    return json.dumps(asdict(truth), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def write(truth: Truth, path: Path) -> None:
    """Write ``truth.json``."""
    path.write_text(_dump(truth) + "\n", encoding="utf-8")


def read(path: Path) -> Truth:
    """Read ``truth.json``.

    Raises:
        InputError: not a truth file of this version, or it holds what cannot be.
    """
    if not path.is_file():
        raise InputError(path, "there is no such file: the truth that the unit was played with")
    try:
        raw: dict[str, Any] = json.loads(read_text(path), parse_constant=_no_number)
        intents = raw.pop("intents")
        made: dict[str, Any] = {
            "opportunities": tuple(Opportunity(**o) for o in raw.pop("opportunities")),
            "assists": tuple(Assist(**a) for a in raw.pop("assists")),
            "gaps": tuple(Gap(**g) for g in raw.pop("gaps")),
            "moments": tuple(Moment(**m) for m in raw.pop("moments")),
            "acts_ns": tuple(raw.pop("acts_ns")),
            "intents": None if intents is None else {k: tuple(Intent(**i) for i in v) for k, v in intents.items()},
        }
        found = Truth(**raw, **made)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(path, f"not a truth file that this version reads ({error})") from error
    for field, fits, want in _rules(found):
        if not fits:
            raise InputError(path, f"{want} is wanted", field=field)
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


_Rule = tuple[str, bool, str]
"""A field, whether what it holds fits, and what would."""


def _rules(truth: Truth) -> Iterator[_Rule]:
    """What holds of every truth that was written here: read back, it may have been edited."""
    for name in ("session", "user", "rule"):
        yield name, type(getattr(truth, name)) is str, "a text"
    yield "known", type(truth.known) is bool, "true or false"
    yield "end_ns", _whole(truth.end_ns), "an instant"
    yield "period_ns", _whole(truth.period_ns) and truth.period_ns > 0, "a length of time"
    yield "acts_ns", all(map(_whole, truth.acts_ns)), "a list of instants"
    for n, need in enumerate(truth.opportunities):
        yield from ((f"opportunities[{n}].{field}", fits, want) for field, fits, want in _of_need(need))
    spans: dict[str, Sequence[Assist | Gap]] = {"assists": truth.assists, "gaps": truth.gaps}
    for name, found in spans.items():
        for n, span in enumerate(found):
            fits = _instant(span.start_ns) and _instant(span.end_ns) and span.start_ns <= span.end_ns
            yield f"{name}[{n}]", fits, "a start and an end after it"
    for n, moment in enumerate(truth.moments):
        yield f"moments[{n}].t_ns", _whole(moment.t_ns), "an instant"
        yield f"moments[{n}].positive", type(moment.positive) is bool, "true or false"
        words = (moment.intention, moment.query, moment.opportunity)
        yield f"moments[{n}]", all(w is None or type(w) is str for w in words), "texts or null"
    for profile, intents in (truth.intents or {}).items():
        fits = all(type(i.text) is str and (i.intention is None or type(i.intention) is str) for i in intents)
        yield f"intents of {quote(profile)}", fits, "a list of texts"


def _of_need(need: Opportunity) -> Iterator[_Rule]:
    yield "id", type(need.id) is str, "a text"
    yield "intention", type(need.intention) is str, "a text"
    yield "origin", type(need.origin) is str, "a text"
    yield "query", need.query is None or type(need.query) is str, "a text or null"
    yield "unservable", need.unservable is None or type(need.unservable) is str, "a text or null"
    yield "opens_ns", _instant(need.opens_ns), "an instant"
    yield "closes_ns", _instant(need.closes_ns) and need.closes_ns >= need.opens_ns, "an instant after its opening"
    yield "acted_ns", need.acted_ns is None or _instant(need.acted_ns), "an instant or null"
    yield "weight", type(need.weight) in (int, float) and 0 <= need.weight < _HEAVIEST, "a number from 0"


_HEAVIEST = 1e15  # integers of JSON have no end, and are no floats beyond 1e308


def _instant(value: Any) -> bool:
    return type(value) is int and -(1 << 63) <= value < 1 << 63


def _whole(value: Any) -> bool:
    return _instant(value) and value >= 0
