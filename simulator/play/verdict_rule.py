"""The rule of a verdict, and what it is read from: paired differences in, one word and its reasons out.

It asks two things. Is the agent better off with this memory than with none, and is that due to what this memory knows
of this user's moment? The first alone would praise a coin: an agent that remembers nothing stays silent, and whatever
makes it speak raises F1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from memory.view import mostly_empty
from scorers.statistics.significance import holm

__all__ = ["BLIND", "METRICS", "RULE", "Against", "DataSet", "Member", "Part", "Verdict", "judge"]

BLIND = ("none", "class-prior", "shuffled-user")
"""Controls that know nothing of this user's moment: no memory, the user's shares whatever the window, somebody else."""
METRICS: Mapping[str, tuple[str, ...]] = {
    "stream": ("timely_utility", "F1_rt", "unwanted_per_hour"),
    "moments": ("accuracy", "F1", "intention_accuracy"),
}
"""What is compared, by protocol; the first decides. Silence has utility 0 and accuracy 0.5: one can fall below it."""
LEVEL = 0.05
RULE = (
    "helps: in one data set at least the deciding figure is higher with it than with each blind control that was "
    "played (none, class-prior, shuffled-user), each with p at most 0.05 and an interval above 0, and in no data set "
    "it harms. harms: in one data set at least the figure is lower with it than with none, with p at most 0.05 and an "
    "interval below 0. no evidence: anything else. p: whole sessions (from six users on: users) swapped, by Holm over "
    "all these comparisons; where all sessions differ alike there is no interval, and p and the sign decide. Deciding "
    "figure: timely_utility in stream, accuracy in moments. Not read: a data set in which half or more of the "
    "decisions that should have said something failed or could not be read, with the memory or with a blind control; "
    "not judged: there is no other."
)
LITTLE = 0.1
"""From this share of failed decisions on a verdict says little, and the page says so."""
Word = Literal["helps", "no evidence", "harms", "not judged"]


@dataclass(frozen=True, slots=True)
class DataSet:
    """Sessions to play, under one protocol (None: what each scenario says); ``note``: what a reader has to know."""

    name: str
    scenarios: tuple[Path, ...]
    protocol: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Against:
    """The memory against one control, one figure.

    Attributes:
        gain: with the memory minus with the control; ``low`` and ``high`` its 95 % interval.
        p: before, ``adjusted`` after Holm (of the deciding figure against blind controls only).
        detectable: the smallest true difference that four of five such comparisons would find.
        reason: why there is no comparison.
        direction: of the figure: ``up`` (more is better) or ``down``, where a gain above 0 is a loss.
    """

    control: str
    metric: str
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    adjusted: float | None = None
    detectable: float | None = None
    n: int = 0
    unit: str = "session"
    reason: str | None = None
    direction: str = "up"

    @property
    def above(self) -> bool:
        """Better, and not by chance."""
        return self._sure and (self.gain or 0.0) > 0 and (self.low is None or self.low > 0)

    @property
    def below(self) -> bool:
        """Worse, and not by chance."""
        return self._sure and (self.gain or 0.0) < 0 and (self.high is None or self.high < 0)

    @property
    def _sure(self) -> bool:
        return self.adjusted is not None and self.adjusted <= LEVEL


@dataclass(frozen=True, slots=True)
class Member:
    """One memory of the table: what it was, what the agent reached with it, how it reads and writes.

    ``errors``: decisions that failed or could not be read, of so many ``decisions``; ``answered``: those that should
    have said something, since they asked the memory or a model, and did. ``recalls``: how often the agent asked it,
    and of these how often it recalled nothing (``empty``); None where nobody counted.
    """

    name: str
    memory: str
    scores: Mapping[str, float | None] = field(default_factory=dict)
    probed: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    errors: int = 0
    reason: str | None = None
    recalls: int | None = None
    empty: int | None = None
    decisions: int | None = None
    answered: int | None = None

    @property
    def mostly_failed(self) -> bool:
        """Whether half or more of the decisions that should have said something failed."""
        return self.answered is not None and 0 < self.errors >= self.answered

    @property
    def often_failed(self) -> bool:
        """Whether so many of them failed that figures say little."""
        return self.answered is not None and 0 < self.errors >= LITTLE * (self.errors + self.answered)


@dataclass(frozen=True, slots=True)
class Part:
    """One data set: who was played, and how the memory stands against each control; the members begin with it."""

    data: DataSet
    protocol: str
    n_sessions: int
    n_users: int
    members: tuple[Member, ...]
    against: tuple[Against, ...]

    @property
    def deciding(self) -> str:
        """The metric that the rule reads."""
        return METRICS[self.protocol][0]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The whole. ``where`` names the data sets in which it helps, or harms."""

    memory: str
    agent: str
    word: Word
    why: str
    parts: tuple[Part, ...]
    where: tuple[str, ...] = ()

    def told(self) -> dict[str, Any]:
        """As JSON."""
        made = asdict(self)
        for part in made["parts"]:
            part["data"]["scenarios"] = [str(path) for path in part["data"]["scenarios"]]
            for member in part["members"]:
                member["folder"] = None if member["folder"] is None else str(member["folder"])
        return {"schema": 1, "rule": RULE, **made}


def judge(memory: str, agent: str, parts: Sequence[Part]) -> Verdict:
    """The verdict by ``RULE``, with p adjusted over what the rule reads."""
    read = {
        f"{i} {a.control}": a.p
        for i, part in enumerate(parts)
        for a in part.against
        if a.metric == part.deciding and a.control in BLIND and a.p is not None and not _unread(part)
    }
    adjusted = holm(read)
    parts = [
        replace(part, against=tuple(
            replace(a, adjusted=adjusted.get(f"{i} {a.control}") if a.metric == part.deciding else None)
            for a in part.against))
        for i, part in enumerate(parts)
    ]  # fmt: skip
    blind = [[a for a in part.against if a.metric == part.deciding and a.control in BLIND and not _unread(part)]
             for part in parts]  # fmt: skip
    worse = [part.data.name for part, few in zip(parts, blind, strict=True) for a in few
             if a.control == "none" and a.below]  # fmt: skip
    better = [part.data.name for part, few in zip(parts, blind, strict=True) if _beats_all(few)]
    beside = _failures(parts)
    if parts and all(_unread(part) for part in parts):
        return Verdict(memory, agent, "not judged", beside.removeprefix("; ") + _silences(parts), tuple(parts))
    beside += _looks(parts, blind, worse) + _silences(parts)
    if worse:
        why = f"worse than without it in {', '.join(worse)}"
        return Verdict(memory, agent, "harms", why + beside, tuple(parts), tuple(worse))
    if better:
        why = f"better than no memory, and than what knows nothing of the moment, in {', '.join(better)}"
        return Verdict(memory, agent, "helps", why + beside, tuple(parts), tuple(better))
    return Verdict(memory, agent, "no evidence", _why_not(parts, blind) + beside, tuple(parts))


def _unread(part: Part) -> list[Member]:
    """The memory, or blind controls, with which half of the decisions failed: the rule does not read the data set."""
    return [m for n, m in enumerate(part.members) if m.mostly_failed and (n == 0 or m.name in BLIND)]


def _failures(parts: Sequence[Part]) -> str:
    """How many decisions failed, and what that makes of the verdict."""
    said = []
    for part in parts:
        unread = _unread(part)
        for n, m in enumerate(part.members):
            if m in unread or (n == 0 and m.errors):
                of = "" if m.decisions is None else f" of {m.decisions}"
                said.append(f"; in {part.data.name} {m.errors}{of} decisions{f' with {m.name}' if n else ''} failed")
                if m.often_failed and m.errors + (m.answered or 0) < (m.decisions or 0) / 2:
                    said.append(" (most others asked nothing)")
                if m in unread:
                    said.append(", half or more of those that should have said something, so it is not read")
                elif m.often_failed:
                    said.append(", so this says little")
    return "".join(said)


def _silences(parts: Sequence[Part]) -> str:
    """Where the memory was not asked, or mostly had nothing to say: figures say little of it then."""
    said = []
    for part in parts:
        mine = part.members[0] if part.members else None
        if mine is None or mine.recalls is None or mine.empty is None:
            continue
        if not mine.recalls and not mine.errors:  # a recall that failed is none that was counted
            said.append(f"; in {part.data.name} the agent never asked it")
        elif (empty := mostly_empty(mine.recalls, mine.empty)) is not None:
            said.append(f"; in {part.data.name} it {empty}")
    return "".join(said)


def _looks(parts: Sequence[Part], blind: Sequence[Sequence[Against]], said: Sequence[str] = ()) -> str:
    """Where it may well harm, though p does not show it: the interval against no memory lies below 0."""
    told = [
        f"; it looks harmful in {part.data.name}: {part.deciding} {a.gain:+.3g} against none, interval "
        f"[{a.low:.3g}, {a.high:.3g}], not shown by p"
        for part, few in zip(parts, blind, strict=True)
        for a in few
        if a.control == "none"
        and part.data.name not in said
        and a.low is not None
        and a.high is not None
        and a.high < 0
    ]
    return "".join(told)


def _beats_all(few: Sequence[Against]) -> bool:
    played = [a for a in few if a.gain is not None]
    return any(a.control == "none" for a in played) and all(a.above for a in played)


def _why_not(parts: Sequence[Part], blind: Sequence[Sequence[Against]]) -> str:
    """What stands against it, data set by data set, and what could have been seen."""
    said = []
    for part, few in zip(parts, blind, strict=True):
        if _unread(part):
            continue
        short = [a for a in few if a.gain is not None and not a.above]
        untested = [a for a in short if a.p is None]
        least = max((a.detectable for a in short if a.detectable is not None), default=None)
        words = f"{part.data.name}: not shown to be better than {', '.join(a.control for a in short) or 'none'}"
        if untested:
            words += f" ({untested[0].reason or 'no test'})"
        elif least is not None:
            words += f"; a true difference of {least:.3g} in {part.deciding} would mostly have been found"
        said.append(words)
    return "; ".join(said)
