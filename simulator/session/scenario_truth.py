"""The truth that a scenario states, or that a session recorded, checked against the session."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from simulator.core.errors import InputError, nearest
from simulator.core.intentions import canonical
from simulator.core.types import SECOND
from simulator.session.history import recorded_assists
from simulator.session.opportunities import LeadRule, Released, derive, mark_unservable
from simulator.session.reader import Reader
from simulator.session.scenario_file import (
    LEAST_WEIGHT,
    MOST_WEIGHT,
    IntentSpec,
    OpportunitySpec,
    ScenarioFile,
    TruthSpec,
)
from simulator.session.schema import FAR_NS
from simulator.session.truth import Assist, Intent, Moment, Opportunity, Truth

__all__ = ["LABELLED", "Intentions", "StatedTruth", "to_ns"]

LABELLED = "labelled_by"
"""The entry of ``meta`` that names who marked the windows in ``opportunities``, a JSON list of pseudonyms."""


def to_ns(seconds: float) -> int:
    """Seconds of a file as nanoseconds."""
    return round(seconds * SECOND)


class Intentions:
    """The categories in use, with the other names of the standard ones."""

    def __init__(self, known: tuple[str, ...]) -> None:
        self.known = known
        self._folded = {name.casefold(): name for name in known}

    def canonical(self, text: str) -> str | None:
        """The category that a text names, None for none."""
        own = self._folded.get(" ".join(text.split()).casefold())
        if own is None and (other := canonical(text)) in self.known:
            return other
        return own

    def named(self, text: str) -> str:
        """The category that a text names; ValueError with the nearest for none."""
        found = self.canonical(text)
        if found is None:
            raise ValueError(f"unknown intention; {nearest(text, self.known)}")
        return found

    def check(self, where: Path, field: str, text: str) -> str:
        """The category that a text names; InputError with the nearest for none."""
        try:
            return self.named(text)
        except ValueError as error:
            raise InputError(where, str(error), field=field, value=text) from None


class StatedTruth:
    """The truth that a scenario gives, checked against the session."""

    def __init__(
        self, where: Path, spec: ScenarioFile, reader: Reader, names: Intentions, period_ns: int, user: str
    ) -> None:
        self.where, self.spec, self.reader, self.names = where, spec, reader, names
        self.header, self.period_ns, self.user = reader.header, period_ns, user
        self.rule = LeadRule()
        self._released: Released | None = None

    def by_profile(self) -> list[tuple[str | None, Truth]]:
        """One truth a profile; a scenario without ``profiles`` has one, named None."""
        profiles = None if self.spec.profiles is None else list(self.spec.profiles)
        intents = self._intents(profiles)
        if self.spec.profile is not None and profiles is not None:
            raise InputError(self.where, "give profile or profiles, not both", field="profiles")
        if profiles is None:
            return [(None, self._truth(intents))]
        if not profiles:
            raise InputError(self.where, "at least one profile", field="profiles")
        return [(name, self._truth(None if intents is None else {name: intents.get(name, ())})) for name in profiles]

    def _truth(self, intents: Mapping[str, tuple[Intent, ...]] | None) -> Truth:
        spec, header = self.spec.truth, self.header
        assists: tuple[Assist, ...] = ()
        needs: tuple[Opportunity, ...] = ()
        known, rule = True, "none: nothing is known of needs"
        if spec == "recorded":
            needs, assists, rule = self._recorded()
            known = bool(needs or assists)
        elif spec == "none":
            known = False
        else:
            needs, assists, rule = self._given(spec)
            known = spec.opportunities is not None or spec.assists is not None  # intents alone tell of no windows
        acts = sorted({a.start_ns for a in assists} | {n.acted_ns for n in needs if n.acted_ns is not None})
        return Truth(
            session=header.session,
            user=self.user,
            end_ns=header.end_ns,
            period_ns=self.period_ns,
            known=known,
            opportunities=needs,
            assists=assists,
            gaps=header.gaps,
            acts_ns=tuple(acts),
            intents=intents,
            moments=() if isinstance(spec, str) else self._moments(spec),
            rule=rule if known or intents is not None else "none: nothing is known of needs",
        )

    def _recorded(self) -> tuple[tuple[Opportunity, ...], tuple[Assist, ...], str]:
        assists = tuple(recorded_assists(self.reader, self.names.named))
        columns = ("id", "opens_ns", "closes_ns", "intention", "acted_ns", "query", "weight", "origin")
        rows = self.reader.table("opportunities", columns, order="opens_ns, closes_ns, id")
        if not rows:
            if not assists:
                return (), (), ""
            rule = self.rule.text + self._annotated()
            return derive(assists, self.released, self.header.gaps, self.rule), assists, rule
        zero, needs = self.header.zero_ns, []
        for name, opens, closes, intention, acted, query, weight, origin in rows:
            kept = self.names.check(self.reader.file, f"opportunities row {name}, intention", str(intention))
            need = Opportunity(str(name), opens - zero, closes - zero, kept, None if acted is None else acted - zero,
                               query, float(weight), str(origin))  # fmt: skip
            needs.append(self._sound(need, self.reader.file, f"opportunities row {name}", ", {}_ns"))
        self._apart(needs, self.reader.file, "opportunities")
        by = " and ".join(self._names_in(LABELLED)) if any(need.origin == "label" for need in needs) else ""
        rule = (
            f"recorded: marked by {by} on the recording" if by else "recorded: the session's own table of opportunities"
        )
        return tuple(needs), assists, rule

    def _annotated(self) -> str:
        """Who said afterwards which events were spent with an assistant, where not all of it was recorded so."""
        names = self._names_in("annotated_by")
        return f"; annotated by {' and '.join(names)}, not official" if names else ""

    def _names_in(self, entry: str) -> list[str]:
        """The names that an entry of ``meta`` lists."""
        try:
            return list(map(str, json.loads(self.header.meta.get(entry, "[]"))))
        except (ValueError, TypeError, RecursionError):
            return ["somebody"]

    def _given(self, spec: TruthSpec) -> tuple[tuple[Opportunity, ...], tuple[Assist, ...], str]:
        assists = self._assists(spec)
        if spec.opportunities is None:
            if spec.assists is None and spec.intents is None:
                raise InputError(self.where, "give opportunities, assists or intents (or the word none)", field="truth")
            if spec.assists is None:
                return (), (), "scenario: intents of the whole session, no windows"
            return derive(assists, self.released, self.header.gaps, self.rule), assists, spec.rule or self.rule.text
        needs: list[Opportunity] = []
        taken: set[str] = set()
        for i, given in enumerate(spec.opportunities):
            need = self.need(given, i)
            if need.id in taken:
                raise InputError(self.where, "each id once", field=f"truth.opportunities[{i}].id", value=need.id)
            taken.add(need.id)
            needs.append(need)
        self.apart(needs)
        ordered = sorted(needs, key=lambda n: (n.opens_ns, n.closes_ns, n.id))
        return tuple(ordered), assists, f"scenario: {spec.rule or 'windows as written in the scenario file'}"

    def _moments(self, spec: TruthSpec) -> tuple[Moment, ...]:
        """What protocol ``moments`` is to ask; empty where that is to be sampled."""
        if spec.moments is not None and spec.opportunities is None:
            raise InputError(self.where, "moments stand beside opportunities (an empty list for none)", field="truth")
        made: dict[int, Moment] = {}
        for i, given in enumerate(spec.moments or ()):
            field, t = f"truth.moments[{i}]", to_ns(given.t_s)
            if t >= self.header.end_ns:
                want = f"a moment within the session (0 to {self.header.end_ns / SECOND:g} s)"
                raise InputError(self.where, want, field=f"{field}.t_s", value=given.t_s)
            if t in made:
                raise InputError(self.where, "each instant once", field=f"{field}.t_s", value=given.t_s)
            intention = None
            if given.intention is not None:
                intention = self.names.check(self.where, f"{field}.intention", given.intention)
            made[t] = Moment(t, given.positive, intention, given.query)
        return tuple(made[t] for t in sorted(made))

    def need(self, given: OpportunitySpec, i: int) -> Opportunity:
        """A stated window, checked against the session; marked if nobody could have served it.

        Raises:
            InputError: it cannot be a window of this session.
        """
        field = f"truth.opportunities[{i}]"
        return self._sound(self._need(given, i, field), self.where, field, ".{}_s")

    def apart(self, needs: Iterable[Opportunity]) -> None:
        """Refuse windows of one intention that overlap."""
        self._apart(needs, self.where, "truth.opportunities")

    def _need(self, given: OpportunitySpec, i: int, field: str) -> Opportunity:
        return Opportunity(
            id=given.id or f"o{i}",
            opens_ns=to_ns(given.opens_s),
            closes_ns=to_ns(given.closes_s),
            intention=self.names.check(self.where, f"{field}.intention", given.intention),
            acted_ns=None if given.acted_s is None else to_ns(given.acted_s),
            query=given.query,
            weight=given.weight,
        )

    def _sound(self, need: Opportunity, where: Path, field: str, column: str) -> Opportunity:
        """The need, marked if nobody could have served it; ``column`` is how the file writes a time of it."""
        end = self.header.end_ns
        if need.closes_ns <= need.opens_ns:
            raise InputError(where, "the window must close after it opens", field=field, value=_span(need))
        if not 0 <= need.opens_ns < end:
            want = f"the window must open within the session (0 to {end / SECOND:g} s)"
            raise InputError(where, want, field=field, value=_span(need))
        if need.acted_ns is not None and need.acted_ns < need.opens_ns:
            raise InputError(where, "the user cannot act before the window opens", field=field, value=_span(need))
        self._recorded_by_then(need.closes_ns, where, field + column.format("closes"))
        self._recorded_by_then(need.acted_ns, where, field + column.format("acted"))
        if not LEAST_WEIGHT <= need.weight <= MOST_WEIGHT:
            want = f"a weight from {LEAST_WEIGHT:g} to {MOST_WEIGHT:,.0f}"
            raise InputError(where, want, field=f"{field}.weight", value=need.weight)
        return mark_unservable(need, self.released, self.rule)

    def _recorded_by_then(self, at_ns: int | None, where: Path, field: str) -> None:
        """Refuse an instant after the recording; up to one period is what rounding and the last snapshot need."""
        end, slack = self.header.end_ns, self.header.period_ns
        if at_ns is not None and at_ns > end + slack:
            want = f"this lies after the recording, which ends at {end / SECOND:g} s"
            raise InputError(where, want, field=field, value=f"{at_ns / SECOND:g} s")

    def _apart(self, needs: Iterable[Opportunity], where: Path, field: str) -> None:
        last: dict[str, Opportunity] = {}
        for need in sorted(needs, key=lambda n: (n.opens_ns, n.closes_ns, n.id)):
            before = last.get(need.intention)
            if before is not None and need.opens_ns < before.closes_ns:
                want = f"two windows of {need.intention} overlap: {_span(before)} and {_span(need)}"
                raise InputError(where, f"{want}; join them", field=field)
            last[need.intention] = need

    def _assists(self, spec: TruthSpec) -> tuple[Assist, ...]:
        out: list[Assist] = []
        for i, given in enumerate(spec.assists or ()):
            field = f"truth.assists[{i}]"
            if given.end_s < given.start_s:
                raise InputError(self.where, "it must end after it starts", field=field)
            self._recorded_by_then(to_ns(given.start_s), self.where, f"{field}.start_s")
            intention = None
            if given.intention is not None:
                intention = self.names.check(self.where, f"{field}.intention", given.intention)
            out.append(Assist(to_ns(given.start_s), to_ns(given.end_s), intention, given.query))
        return tuple(sorted(out, key=lambda a: (a.start_ns, a.end_ns)))

    def _intents(self, profiles: list[str] | None) -> dict[str, tuple[Intent, ...]] | None:
        given = self.spec.truth.intents if isinstance(self.spec.truth, TruthSpec) else None
        if given is None:
            return None
        if profiles is not None:
            for name in given:
                if name not in profiles:
                    raise InputError(
                        self.where, f"no such profile; {nearest(name, profiles)}", field="truth.intents", value=name
                    )
        elif len(given) > 1:
            raise InputError(self.where, "intents of several profiles need `profiles`", field="truth.intents")
        return {name: tuple(self._intent(name, i, one) for i, one in enumerate(all_)) for name, all_ in given.items()}

    def _intent(self, profile: str, i: int, given: str | IntentSpec) -> Intent:
        if isinstance(given, str):
            return Intent(given)
        if given.intention is None:
            return Intent(given.text)
        field = f"truth.intents.{profile}[{i}].intention"
        return Intent(given.text, self.names.check(self.where, field, given.intention))

    @property
    def released(self) -> Released:
        """The session's instants, read when a window first needs them."""
        if self._released is None:
            times = np.fromiter(self._instants(), dtype=np.int64)
            self._released = Released(times, self.header.gaps, self.period_ns, self.header.end_ns)
        return self._released

    def _instants(self) -> Iterator[int]:
        header = self.header
        last = header.zero_ns
        for row, captured in self.reader.rows(("id", "captured_ns")):
            if type(captured) is not int or not 0 <= captured - last <= FAR_NS:
                header.check_time(row, captured, last)
            last = captured
            yield captured - header.zero_ns


def _span(need: Opportunity) -> str:
    return f"{need.opens_ns / SECOND:g} to {need.closes_ns / SECOND:g} s"
