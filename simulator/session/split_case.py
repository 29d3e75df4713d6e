"""One session of a user on its way into a split: its events, its questions, and the scenario it gets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.faults import told
from simulator.core.types import SECOND, Event
from simulator.session.history import cut_events, recorded_events
from simulator.session.opportunities import Question, questions
from simulator.session.play import Play
from simulator.session.reader import Header, Reader
from simulator.session.scenario import find, plays
from simulator.session.scenario_file import read_mapping
from simulator.session.truth import Assist, Truth
from simulator.sources.recording import header_of

__all__ = ["Case", "cases", "relative"]

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Case:
    """A session as one user's, all instants UTC.

    Attributes:
        header: of the session, in stream time.
        user: whose it is.
        scenario: the scenario file that plays it, None for a bare session.
        truth: what is true of it, in stream time.
        events: what the history would hold of it, in order.
        asked: what the user asked.
        needs: windows of needs as stated or recorded, until the user acted; none that follow from requests.
        requests: events with an assistant, as recorded or stated.
        last_ns: when its last row was captured; from then on the screen stands still.
        recording: what it is a version of (``simulator.session.recording_id``).
    """

    header: Header
    user: str
    scenario: Path | None
    truth: Truth
    events: tuple[Event, ...]
    asked: tuple[Question, ...]
    needs: tuple[Span, ...]
    requests: tuple[Assist, ...]
    last_ns: int
    recording: str

    @property
    def start_ns(self) -> int:
        """UTC of the first snapshot."""
        return self.header.utc_anchor_ns or 0

    @property
    def end_ns(self) -> int:
        """UTC of the session's end."""
        return self.start_ns + self.header.end_ns

    def scenario_text(self, folder: Path, session: Path, history: Sequence[str], span: Span | None) -> dict[str, Any]:
        """The scenario for a part, as a file in ``folder`` says it.

        Args:
            folder: where the file will lie.
            session: the folder of the session or part that it plays.
            history: tables before it, relative to ``folder``.
            span: from when until when of the session's stream time the part reaches; None for the whole.
        """
        raw = {} if self.scenario is None else read_mapping(self.scenario)
        made: dict[str, Any] = {"session": relative(session, folder)}
        if self.scenario is None:
            made["truth"] = "recorded" if self.truth.known else "none"
        else:
            base = self.scenario.parent
            made |= {k: v for k, v in raw.items() if k not in ("session", "history")}
            for key in ("profile", "taxonomy"):
                if isinstance(raw.get(key), str):
                    made[key] = relative(base / raw[key], folder)
            history = [*(relative(base / entry, folder) for entry in raw.get("history") or ()), *history]
            if span is not None and isinstance(raw.get("truth"), dict):
                made["truth"] = _shifted(raw["truth"], span[0] / SECOND, span[1] / SECOND)
        if history:
            made["history"] = list(history)
        return made


def cases(src: Path) -> Iterator[Case | InputError]:
    """Everything at or below a path that has a calendar, each session once a user; else why it cannot be split.

    Raises:
        InputError: there is nothing.
    """
    found = find(src)
    if not found.scenarios and not found.sessions:
        raise InputError(src, "there is neither a session (session.db) nor a scenario (scenario.yaml) here")
    taken: set[tuple[Path, str]] = set()
    played: set[Path] = set()
    for file in found.scenarios:
        try:
            made = _of_scenario(file)
        except InputError as error:
            yield error
            continue
        played.add(made.header.folder.resolve())
        if (key := (made.header.folder.resolve(), made.user)) in taken:
            yield InputError(file, f"another scenario plays that session for {made.user}; of one user each once")
            continue
        taken.add(key)
        yield made
    for folder in found.sessions:
        if folder.resolve() not in played:
            try:
                yield _of_session(folder)
            except InputError as error:
                yield error


def _of_scenario(file: Path) -> Case:
    found = plays([file])
    if len(found) > 1 or found[0].truth.intents is not None:
        raise InputError(file, "a scenario of several profiles, or of intents, is of a whole session and is not split")
    if found[0].truth.moments:
        raise InputError(file, "a scenario that states its moments is not split")
    play = found[0]
    return _case(play, file)


def _of_session(folder: Path) -> Case:
    (play,) = plays([folder])
    return _case(play, None)


def _case(play: Play, scenario: Path | None) -> Case:
    header, user, truth = header_of(play.source), play.user, play.truth
    where = scenario or header.folder
    if (shift := header.utc_anchor_ns) is None:
        raise InputError(where, "without a calendar (meta.utc_anchor_ns) there is no before and no after")
    with told(where), Reader(header.folder, known=header) as reader:
        events = recorded_events(reader) or list(cut_events(reader, play.segmentation))
        ((last,),) = reader.stream("SELECT MAX(captured_ns) FROM screenshots")
        needs = truth.opportunities if _stated(reader, scenario) else ()
    asked = questions(truth.opportunities, truth.assists)
    spans = [(n.opens_ns, max(n.closes_ns, n.acted_ns or 0)) for n in needs]
    return Case(
        header=header,
        user=user,
        scenario=scenario,
        truth=truth,
        events=tuple(
            replace(e, user=user, start_ns=e.start_ns + shift, end_ns=e.end_ns + shift)
            for e in sorted(events, key=lambda e: (e.end_ns, e.start_ns, e.id))
        ),
        asked=tuple(replace(q, asked_ns=q.asked_ns + shift) for q in asked),
        needs=tuple((a + shift, b + shift) for a, b in spans),
        requests=tuple(replace(a, start_ns=a.start_ns + shift, end_ns=a.end_ns + shift) for a in truth.assists),
        last_ns=last - header.zero_ns + shift,
        recording=play.recording,
    )


def _stated(reader: Reader, scenario: Path | None) -> bool:
    """Whether windows of need are written down somewhere; those derived from requests follow the requests."""
    said = "recorded" if scenario is None else read_mapping(scenario).get("truth", "recorded")
    if isinstance(said, dict):
        return said.get("opportunities") is not None
    return said == "recorded" and bool(reader.table("opportunities", ("id",)))


def _shifted(truth: Mapping[str, Any], by_s: float, until_s: float) -> dict[str, Any]:
    """The stated windows and assistance events that begin in a part, in seconds since the part's first snapshot."""
    made = dict(truth)
    for key, fields, first in (("opportunities", ("opens_s", "closes_s", "acted_s"), "opens_s"),
                               ("assists", ("start_s", "end_s"), "start_s")):  # fmt: skip
        if truth.get(key) is not None:
            made[key] = [
                {k: round(v - by_s, 9) if k in fields and v is not None else v for k, v in one.items()}
                for one in truth[key]
                if by_s <= one[first] < until_s
            ]
    return made


def relative(path: Path, folder: Path) -> str:
    """A path as a file in that folder names it."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
