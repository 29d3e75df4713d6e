"""One user's recording as sessions, with what lies before the split as history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from simulator.core.names import free
from simulator.core.types import SECOND
from simulator.session import importing_account as account
from simulator.session.history import first_query
from simulator.session.import_session import Pictures, Stretch, history_lines, write_session
from simulator.session.importing_account import ACCOUNT, Report, write_new
from simulator.session.quality import Sieve
from simulator.session.split_cut import located
from simulator.sources.foreign import Foreign
from simulator.sources.lifetrace import period_ns

__all__ = ["Images", "Into", "ensure_period", "one_user", "sieve"]

Images = Literal["copy", "reference", "none"]


@dataclass(frozen=True, slots=True)
class Into:
    """Where an import goes, and how. ``options`` is their text, which with the source tells one import from another."""

    out: Path
    zone: str | None
    images: Images
    split: float
    gap_ns: int
    options: str

    def zone_of(self, foreign: Foreign) -> str:
        """The zone of a recording: as the user says, else as its times say."""
        return self.zone or foreign.zone or "UTC"

    def digest(self, *parts: str) -> str:
        """SHA-256 that tells what is imported here from anything else."""
        first, *rest = parts
        return sha256("\n".join([first, self.options, *rest]).encode()).hexdigest()


def one_user(foreign: Foreign, into: Into, report: Report) -> None:
    """Write sessions, history, scenarios and account of one user.

    Raises:
        InputError: the user's folder holds another import.
    """
    ledger, split, zone = foreign.ledger, into.split, into.zone_of(foreign)
    ensure_period(foreign)
    stretches = _stretches(foreign, into.gap_ns)
    _cut_events(foreign, stretches, into.gap_ns)
    for stretch in stretches:
        stretch.ensure_events(foreign)
    sieve(foreign, stretches, pictures=into.images != "none")
    if not foreign.anchored:
        split = 0.0  # without a calendar there is no before: a history could not be placed
    stretches, first_evaluated = _split(stretches, split)
    foreign.notes["split"] = f"first {split:.0%} of the recorded time is history, the rest is evaluated"
    home = into.out / foreign.user
    source = into.digest(foreign.digest)
    account.begin(home / ACCOUNT, source)
    pictures = Pictures(into.images, ledger)
    names: set[str] = set()
    anew = False
    for i, stretch in enumerate(stretches):
        name = _session_name(stretch, foreign, zone, i, names)
        anew |= write_session(home / name, stretch, foreign, zone, into.digest(foreign.digest, name), pictures)
        report.sessions.append(Path(foreign.user) / name)
        if i >= first_evaluated:
            write_new(home / name / "scenario.yaml", _scenario(foreign, stretch, history=first_evaluated > 0))
            report.scenarios.append(Path(foreign.user) / name / "scenario.yaml")
    report.unchanged &= not anew
    if first_evaluated:
        lines, labeller = history_lines(stretches[:first_evaluated], foreign)
        write_new(home / "history.jsonl", "".join(lines))
        ledger.add("noted", "needs in the history whose event was left out or not recorded", n=labeller.n_homeless)
        ledger.add("noted", "needs in the history that came after another in the same event", n=labeller.n_passed_over)
    report.notes[foreign.user] = dict(sorted(foreign.notes.items()))
    report.lines += account.close(home / ACCOUNT, source, account.lines_of(foreign.user, ledger), anew=anew)


def ensure_period(foreign: Foreign) -> None:
    """Tell the recording's period from its times, where neither source nor user said it."""
    if foreign.period_ns is None:
        foreign.period_ns = period_ns(foreign.shots)
        foreign.notes["rate"] = f"one shot in {foreign.period_ns / SECOND:g} s, told from the times"


def _stretches(foreign: Foreign, gap_ns: int) -> list[Stretch]:
    """The shots in stretches without a longer silence, each with the events that start in it."""
    out: list[Stretch] = []
    for shot in foreign.shots:
        if not out or shot.utc_ns - out[-1].shots[-1].utc_ns > gap_ns:
            out.append(Stretch([], [], foreign.period_ns or SECOND))
        out[-1].shots.append(shot)
    k = 0
    for event in foreign.events:
        while k + 1 < len(out) and event.start_ns >= out[k + 1].start_ns:
            k += 1
        out[k].events.append(event)
    return out


def _cut_events(foreign: Foreign, stretches: Sequence[Stretch], gap_ns: int) -> None:
    """An event ends with its stretch: the recorder let the last one run until the next shot, days later."""
    for i, stretch in enumerate(stretches):
        limit = stretches[i + 1].start_ns if i + 1 < len(stretches) else stretch.end_ns + gap_ns
        end = stretch.end_ns
        for event in stretch.events:
            if event.end_ns is not None and event.end_ns >= limit:
                foreign.ledger.add("repaired", "events cut where the recording paused", f"event {event.id}")
                event.end_ns = max(end, event.start_ns)
            stretch.until_ns = max(stretch.until_ns, event.end_ns or 0)


def sieve(foreign: Foreign, stretches: Sequence[Stretch], *, pictures: bool) -> None:
    """Mark the events that are not scored, and say why."""
    # Where there are no pictures at all, or none are wanted, a row is all that one can ask for.
    pictured = pictures and any(s.file is not None for s in foreign.shots)
    valid: dict[int, int] = {}
    for shot in foreign.shots:
        if shot.event is not None and not shot.made and (shot.file or shot.scene or shot.text or not pictured):
            valid[shot.event] = valid.get(shot.event, 0) + 1
    quality = Sieve()
    for stretch in stretches:
        for event in stretch.events:
            end = event.start_ns if event.end_ns is None else event.end_ns
            why = quality.reason(
                event.start_ns, end, valid.get(event.id, 0), assistance=event.assistance, excluded=event.excluded
            )
            event.excluded = why
            if event.assistance and event.excluded is None:
                if event.intention is None:
                    foreign.ledger.add(
                        "noted", "assistance events without an intention (Uncategorized)", f"event {event.id}"
                    )
                if first_query(event.conversation) is None:
                    foreign.ledger.add("noted", "assistance events without the user's question", f"event {event.id}")
    for reason, n in quality.left_out.items():
        foreign.ledger.add("left out", f"events not scored: {reason}", n=n)
    for odd, n in quality.flagged.items():
        foreign.ledger.add("noted", f"events to look at: {odd}", n=n)


def _split(stretches: list[Stretch], share: float) -> tuple[list[Stretch], int]:
    """Stretches with the one at the split cut in two at an event's start, and the index of the first evaluated."""
    i, offset = located([s.end_ns - s.start_ns for s in stretches], share)
    if i == len(stretches):
        return stretches, i
    cut = stretches[i].cut_at(stretches[i].start_ns + offset) if offset else None
    return (stretches, i) if cut is None else ([*stretches[:i], *cut, *stretches[i + 1 :]], i + 1)


def _session_name(stretch: Stretch, foreign: Foreign, zone: str, i: int, taken: set[str]) -> str:
    if not foreign.anchored:
        return f"{i + 1:03d}"
    return free(stretch.local_start(zone).strftime("%Y%m%d-%H%M%S"), taken)


_HOW_TO_SAY = (
    "# Nothing is known of needs, so a run gives latency only. To have help scored, replace that line by the windows",
    "# in which it would be useful, in seconds since the first snapshot (intentions: `proact list intentions`):",
    "# truth:",
    "#   opportunities:",
    "#     - {opens_s: 0, closes_s: 5, intention: Information Lookup}",
)


def _scenario(foreign: Foreign, stretch: Stretch, *, history: bool) -> str:
    """A scenario that people may edit: importing again leaves it alone."""
    lines = [
        "# Made by `proact dataset import`; importing again leaves this file as you edit it.",
        "session: .",
        *(["history: [../history.jsonl]"] if history else []),
        *(["truth: recorded"] if foreign.has_assistance else ["truth: none", *_HOW_TO_SAY]),
        f"segmentation: {stretch.rule}",
    ]
    return "\n".join(lines) + "\n"
