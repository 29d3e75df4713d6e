"""What the labelling page shows and what it may ask for, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from simulator.annotate.labelling import Labels
from simulator.annotate.marks import ACCEPTED, Case, Mark, Standing, case_of, problems, scenario_text, standing
from simulator.core.errors import InputError, UsageError
from simulator.core.types import SECOND
from simulator.play.accepted import met
from simulator.play.live import LiveFolder
from simulator.runs.folder import read_run, read_unit
from simulator.session.scenario import plays
from simulator.web.index import runs_of
from simulator.web.place import Place
from simulator.web.timeline_recording import read_play
from simulator.web.timeline_times import seconds_of

__all__ = ["change", "offers", "recording", "windows"]

FARTHEST_S = 1e9
MOST_RUNS, MOST_OFFERS = 8, 1000


def recording(folder: Path, place: Place) -> dict[str, Any]:
    """What was on the screen, as the timeline shows it, and what a label may say of it."""
    case = case_of(folder)
    try:
        play = plays([case.scenario or folder])[0]
    except InputError:  # what else the scenario names is not needed here
        play = plays([folder])[0]
    found = read_play(play)
    ids = place.pictures.add([(ref.path, ref.pixels_hash) for ref in found.pictures], folder)
    return {
        **(found.columns or {}),
        "there": True,
        "pictures": ids,
        "sheets": place.pictures.sheets(ids),
        "period_s": seconds_of(case.header.period_ns),
        "end_s": seconds_of(case.header.end_ns),
        "session": case.header.session,
        "intentions": list(case.names.known),
        "being_recorded": case.header.state == "recording",
        "accepted": _n_accepted(folder),
    }


def _n_accepted(folder: Path) -> int:
    """How many needs the accepted offers of a live run met."""
    try:
        return len(met(folder.parent).needs) if LiveFolder(folder.parent).session == folder else 0
    except (UsageError, OSError):
        return 0


def windows(case: Case, by: str) -> dict[str, Any]:
    """The windows of one labeller and how far the labels are; of others' only how many."""
    stands = standing(case, by.strip() or None)
    single, together = problems(case, stands.marks)
    return {
        "by": by.strip(),
        "windows": [_window(mark, why) for mark, why in zip(stands.marks, single, strict=True)],
        "together": together,
        "can_undo": stands.can_undo,
        "can_redo": stands.can_redo,
        "closed": stands.closed,
        "version": stands.version,
        "others": [{"by": name, "n": n, "closed": done} for name, (n, done) in stands.others.items()],
        "truth_by": list(stands.truth_by),
        "closing": _closing(case, stands, by.strip(), [why for why in (*single, together) if why is not None]),
        "text": scenario_text(stands.marks, by.strip() or "somebody") if stands.marks else "",
    }


def _window(mark: Mark, why: str | None) -> dict[str, Any]:
    return {
        "id": mark.id,
        "opens_s": seconds_of(mark.opens_ns),
        "closes_s": seconds_of(mark.closes_ns),
        "acted_s": None if mark.acted_ns is None else seconds_of(mark.acted_ns),
        "intention": mark.intention,
        "query": mark.query,
        "note": mark.note,
        "weight": mark.weight,
        "origin": mark.origin,
        "problem": why,
    }


def _closing(case: Case, stands: Standing, by: str, wrong: list[str]) -> dict[str, Any]:
    """What closing would do, in a sentence, or why it cannot be done."""
    n = len(stands.marks)
    before = [name for name in stands.truth_by if name != by]
    why = None
    if stands.closed:
        why = "You have closed: these windows cannot be changed any more."
    elif not n:
        why = "No window is marked yet."
    elif wrong:
        why = f"Not all windows can be a truth yet: {wrong[0]}."
    elif case.spec.truth != "recorded":
        why = (f"{case.where.name} states a truth of its own, so windows in the session would not count: take it out "
               "of the file first, or put the text below in its place.")  # fmt: skip
    elif stands.n_recorded:
        why = (f"The session came with {stands.n_recorded} needs of its own, which labels do not replace; the text "
               "below can be put into a scenario file instead.")  # fmt: skip
    says = [
        f"{n} window{'' if n == 1 else 's'} become{'s' if n == 1 else ''} the truth of this session, marked by {by}: "
        "`proact run` and `proact score --truth` take them from then on.",
        "Nothing of it can be undone afterwards, and the record of your changes is removed.",
        *([f"{' and '.join(before)}'s windows are its truth now; they stay in the table of labels."] if before else []),
        *(
            ["What recorded events with an assistant said of needs does not count any more."]
            if stands.n_assists
            else []
        ),
        "Notes stay in the recording. A run that was played before keeps the truth that it had.",
    ]
    return {"why": why, "says": says, "replaces": before}


def offers(case: Case, place: Place) -> list[dict[str, Any]]:
    """What agents offered in runs over this session that may be shown, without whether it was right."""
    made: list[dict[str, Any]] = []
    n_runs = 0
    for _, run, name in runs_of(place):
        try:
            told = read_run(run)
            keys = [key for key, unit in told["resolved"].items() if unit.get("session") == case.header.session]
            for key in keys if n_runs < MOST_RUNS else ():
                log, _ = read_unit(run, told, key)
                n_runs += 1
                made += [
                    {"t_s": seconds_of(one.captured_ns), "run": name, "intention": one.intention, "text": one.text}
                    for one in log.offers()[:MOST_OFFERS]
                ]
        except (UsageError, OSError, KeyError):
            continue
    return sorted(made, key=lambda one: (one["t_s"], one["run"]))


def change(folder: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Do what was asked for, and tell how the windows are then.

    Raises:
        UsageError: it is not understood, or cannot be done.
    """
    case, by, do = case_of(folder), _text(given, "by") or "", given.get("do")
    made: int | None = None
    with Labels(case, by) as labels:
        if do == "add":
            made = labels.add(_given(given))
        elif do == "change":
            made = labels.change(_given(given))
        elif do == "remove":
            labels.remove(_id(given))
        elif do == "undo":
            _ensure_seen(given, labels)
            labels.undo()
        elif do == "redo":
            _ensure_seen(given, labels)
            labels.redo()
        elif do == "take":
            made = _take(folder, labels)
        elif do == "close":
            _ensure_seen(given, labels)
            labels.close(replace=given.get("replace") is True)
        else:
            raise UsageError("add, change, remove, undo, redo, take or close is wanted")
    return {**windows(case_of(folder), by), "made": made}


def _ensure_seen(given: Mapping[str, Any], labels: Labels) -> None:
    """What is said of all windows at once is said of those that the page shows, and not of what came since."""
    if given.get("seen") != labels.version():
        raise UsageError("the windows were changed elsewhere; load the page again and look at them first")


def _take(folder: Path, labels: Labels) -> int | None:
    """Take accepted offers of the live run over as windows, as far as they are not there."""
    there = {(mark.opens_ns, mark.closes_ns, mark.intention) for mark in labels.marks()}
    made = None
    for need in met(folder.parent).needs:
        if (need.opens_ns, need.closes_ns, need.intention) not in there:
            made = labels.add(Mark(need.opens_ns, need.closes_ns, need.intention, origin=ACCEPTED))
    if made is None:
        raise UsageError("all offers that were called useful are among the windows already")
    return made


def _given(given: Mapping[str, Any]) -> Mark:
    weight = given.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not isfinite(weight):
        raise UsageError("weight: a number is wanted")
    opens, closes = _ns(given, "opens_s"), _ns(given, "closes_s")
    if opens is None or closes is None:
        raise UsageError("a window opens and closes: two numbers of seconds are wanted")
    origin = ACCEPTED if given.get("origin") == ACCEPTED else Mark.__dataclass_fields__["origin"].default
    return Mark(opens, closes, _text(given, "intention"), _ns(given, "acted_s"), _text(given, "query"),
                _text(given, "note"), float(weight), str(origin), _id(given) if "id" in given else 0)  # fmt: skip


def _id(given: Mapping[str, Any]) -> int:
    id_ = given.get("id")
    if type(id_) is not int or not 0 <= id_ < 2**53:
        raise UsageError("id: which window is meant?")
    return id_


def _ns(given: Mapping[str, Any], name: str) -> int | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= FARTHEST_S:
        raise UsageError(f"{name}: a number of seconds is wanted")
    return round(value * SECOND)


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise UsageError(f"{name}: a text is wanted")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{name}: it holds half a character") from None
    return value.replace("\0", "").strip() or None
