"""Windows in which help was needed, as people marked them on a recording: read, checked, and never changed here.

See ``labelling`` for how they stand in the table ``labels``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simulator.core.errors import InputError, UsageError
from simulator.core.intentions import INTENTIONS
from simulator.core.types import SECOND
from simulator.session.reader import Header, Reader
from simulator.session.scenario import SUFFIXES
from simulator.session.scenario_file import OpportunitySpec, ScenarioFile, load, parse
from simulator.session.scenario_truth import LABELLED, Intentions, StatedTruth
from simulator.session.schema import ACCEPTED, DRAFTS, MARKED
from simulator.session.truth import Opportunity

__all__ = ["ACCEPTED", "CLOSED", "COLUMNS", "MARKED", "NEED", "Case", "Mark", "Standing", "case_of", "labelled_by",
           "live", "mark_of", "problems", "scenario_text", "standing", "version_of", "why"]  # fmt: skip

CLOSED, NEED = "closed", "need"
COLUMNS = ("id", "at_ns", "closes_ns", "acted_ns", "intention", "query", "note", "weight", "origin", "verdict",
           "state", "replaces", "rater")  # fmt: skip
_DRAFT, _UNDONE = DRAFTS


@dataclass(frozen=True, slots=True)
class Mark:
    """A window, as its labeller has it now. Instants as in the stream: 0 is the first snapshot; unknown is None."""

    opens_ns: int
    closes_ns: int
    intention: str | None = None
    acted_ns: int | None = None
    query: str | None = None
    note: str | None = None
    weight: float = 1.0
    origin: str = MARKED
    id: int = 0

    def as_spec(self) -> OpportunitySpec:
        """As a scenario file would state it.

        Raises:
            ValidationError: a weight or an instant that no file may hold.
        """
        stated = {"opens_s": self.opens_ns / SECOND, "closes_s": self.closes_ns / SECOND, "weight": self.weight,
                  "intention": self.intention, "query": self.query,
                  "acted_s": None if self.acted_ns is None else self.acted_ns / SECOND}  # fmt: skip
        return OpportunitySpec.model_validate(stated)


@dataclass(frozen=True, slots=True)
class Case:
    """A session with what says of it which intentions there are.

    Attributes:
        scenario: the scenario file beside it that names it, None for none.
    """

    header: Header
    spec: ScenarioFile
    names: Intentions
    scenario: Path | None

    @property
    def where(self) -> Path:
        """What a sentence about its truth names."""
        return self.scenario or self.header.file

    def rule(self) -> StatedTruth:
        """What windows are checked by: the same as a scenario's.

        Raises:
            InputError: the session is damaged.
        """
        reader = Reader(self.header.folder, known=self.header)
        return StatedTruth(self.where, self.spec, reader, self.names, self.header.period_ns, self.header.user)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the labels of a session are.

    Attributes:
        marks: the windows of the labeller in question, in order of time.
        can_undo: whether there is a change to undo; ``can_redo`` likewise.
        closed: whether the labeller has closed.
        others: how many windows others have, by name, and whether they have closed.
        truth_by: whose windows are the session's truth, by name; empty for nobody's.
        n_recorded: windows in ``opportunities`` that no labeller put there.
        n_assists: recorded events with an assistant, from which needs follow where ``opportunities`` is empty.
        version: what the labeller had changed by then, see ``version_of``.
    """

    marks: tuple[Mark, ...]
    can_undo: bool
    can_redo: bool
    closed: bool
    others: Mapping[str, tuple[int, bool]]
    truth_by: tuple[str, ...]
    n_recorded: int
    n_assists: int
    version: str


def case_of(folder: Path) -> Case:
    """A session's header, and the intentions of the scenario file in it or above it that names it; else the 16.

    Raises:
        InputError: no session, a damaged one, a scenario that cannot be read.
    """
    for place in (folder, folder.parent):
        for file in (place / f"scenario{suffix}" for suffix in SUFFIXES):
            if file.is_file() and (place / (spec := load(file)).session).resolve() == folder.resolve():
                with Reader(folder, monitor=spec.monitor) as reader:
                    return Case(reader.header, spec, Intentions(tuple(spec.intentions or INTENTIONS)), file)
    with Reader(folder) as reader:
        return Case(reader.header, parse({}, folder), Intentions(INTENTIONS), None)


def problems(case: Case, marks: Sequence[Mark]) -> tuple[list[str | None], str | None]:
    """Why windows could not be a truth, one by one, and together; None where they could."""
    rule, found, sound = case.rule(), list[str | None](), list[Opportunity]()
    with rule.reader:
        for n, mark in enumerate(marks, 1):
            try:
                if mark.intention is None:
                    raise UsageError("it has no intention yet")
                sound.append(rule.need(mark.as_spec().model_copy(update={"id": f"l{n}"}), n))
                found.append(None)
            except (UsageError, ValidationError) as error:
                found.append(why(error))
        try:
            rule.apart(sound)
        except InputError as error:
            return found, error.want
    return found, None


def why(error: Exception) -> str:
    """What would be right, without the file's name."""
    if isinstance(error, ValidationError):
        return "a weight from 0.000001 to 1,000,000, and times within 31 years"
    return error.want if isinstance(error, InputError) else str(error)


def scenario_text(marks: Sequence[Mark], by: str) -> str:
    """The windows as the ``truth`` of a scenario file; those without an intention are left out."""
    import yaml

    stated = [
        {
            key: round(value, 3) if isinstance(value, float) else value
            for key, value in mark.as_spec().model_dump(exclude_none=True).items()
            if (key, value) != ("weight", 1.0)
        }
        for mark in marks
        if mark.intention is not None
    ]
    truth = {"truth": {"rule": f"marked by {by} on the recording", "opportunities": stated}}
    return str(yaml.safe_dump(truth, allow_unicode=True, sort_keys=False, width=120))


def standing(case: Case, by: str | None) -> Standing:
    """How far the labels are; the session is only read."""
    with Reader(case.header.folder, known=case.header) as reader:
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in reader.table("labels", COLUMNS)]
        assists = sum(bool(said) for (said,) in reader.table("events", ("is_llm_event",)))
        origins = [origin for (origin,) in reader.table("opportunities", ("origin",), order="opens_ns, id")]
    own = [row for row in rows if row["rater"] == by and row["state"] is not None]
    others: dict[str, tuple[int, bool]] = {}
    for rater in dict.fromkeys(row["rater"] for row in rows if row["state"] is not None and row["rater"] != by):
        theirs = [row for row in rows if row["rater"] == rater]
        others[str(rater)] = len(live(theirs)), any(row["state"] == CLOSED for row in theirs)
    marks = sorted(
        (mark_of(row, case.header.zero_ns) for row in live(own)), key=lambda m: (m.opens_ns, m.closes_ns, m.id)
    )
    by_labeller = MARKED in origins
    return Standing(
        marks=tuple(marks),
        can_undo=any(row["state"] == _DRAFT for row in own),
        can_redo=any(row["state"] == _UNDONE for row in own),
        closed=any(row["state"] == CLOSED for row in own),
        others=others,
        truth_by=tuple(labelled_by(case.header.meta)) if by_labeller else (),
        n_recorded=sum(origin != MARKED for origin in origins),
        n_assists=assists,
        version=version_of(own),
    )


def version_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """A word for all that one labeller has changed and undone: another one as soon as any of it is different.

    Ids alone would not do: that of a change which was undone is given again.
    """
    said = [[row[column] for column in COLUMNS] for row in sorted(rows, key=lambda row: row["id"])]
    return sha256(repr(said).encode(errors="surrogatepass")).hexdigest()[:24]


def live(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows that count: drafts that no draft replaces, and closed ones; without those that say that one is gone."""
    counted = [row for row in rows if row["state"] in (_DRAFT, CLOSED)]
    replaced = {row["replaces"] for row in counted if row["replaces"] is not None}
    return [row for row in counted if row["verdict"] == NEED and row["id"] not in replaced]


def mark_of(row: Mapping[str, Any], zero_ns: int) -> Mark:
    """A row of the table as a window."""
    opens = row["at_ns"] or 0
    closes, acted = row["closes_ns"], row["acted_ns"]
    return Mark(opens - zero_ns, (opens if closes is None else closes) - zero_ns, row["intention"],
                None if acted is None else acted - zero_ns, row["query"], row["note"],
                1.0 if row["weight"] is None else row["weight"], row["origin"] or MARKED, row["id"])  # fmt: skip


def labelled_by(meta: Mapping[str, str]) -> list[str]:
    """Whose windows are the session's truth, where its windows are a labeller's."""
    try:
        return list(map(str, json.loads(meta.get(LABELLED, "[]"))))
    except (ValueError, TypeError, RecursionError):
        return []
