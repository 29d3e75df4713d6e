"""``proact dataset privacy``: look through a recording of yourself, redact it, decide about single pictures."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from simulator.cli.bars import bars
from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, counted, facts, plain
from simulator.core.errors import Exit, InputError, UsageError

if TYPE_CHECKING:
    from simulator.privacy.review import Closed, Waiting
    from simulator.privacy.states import Shelf

__all__ = ["privacy"]

privacy = App(name="privacy", help="Find, redact and review what is private in recorded sessions.")

_Sessions = Annotated[list[Path], Parameter(help="Recorded sessions that are closed.")]
_KEYS = "r retain, b fill what was found (or all), d delete, s skip, u undo, c carry out and end, q leave"


privacy.command("simulator.cli.exclusions:try_rules", name="test", help="Say what exclusion rules make of a window.")


@privacy.command
def scan(
    sessions: _Sessions,
    /,
    *,
    rules: Annotated[
        Path | None, Parameter(help="Rules of your own (YAML), beside the built-in ones; `words:` holds names.")
    ] = None,
    language: Annotated[str, Parameter(help="Of tesseract; several as eng+deu.")] = "eng",
    dry_run: Annotated[bool, Parameter(help="Look and count, change no picture and no text.", negative="")] = False,
    only_sure: Annotated[
        bool, Parameter(help="Fill only what leaves no doubt; pictures with more wait for a person.", negative="")
    ] = False,
    keep_text: Annotated[
        bool, Parameter(help="Clean the OCR text of rows by the rules instead of removing it.", negative="")
    ] = False,
    again: Annotated[bool, Parameter(help="Look also at pictures that were looked at before.", negative="")] = False,
    jobs: Annotated[int | None, Parameter(help="Pictures at once; default: one a processor.")] = None,
    json: AsJson = False,
) -> int:
    """Find what is private on the pictures of recorded sessions and fill it, for good.

    Every distinct picture is read twice (OCR, about 1.5 s of one processor). What is found is filled in all pictures
    that show it, the old files are removed; copy the session first if you want to keep them. A scan that is stopped
    goes on where it was. What rules cannot find: names, faces, addresses, handwriting.
    """
    from simulator.privacy.rules import BLIND_SPOTS, load_rules
    from simulator.privacy.scan import Options, readings
    from simulator.privacy.scan import scan as look_through

    voice = Voice(as_json=json)
    known, ocr = load_rules(rules), readings(language)
    options = Options(dry_run, again, only_sure, keep_text, _jobs(jobs))
    waiting = 0
    for session in _named(sessions):
        with bars(voice) as progress:
            report = look_through(session, ocr, known, options, progress=progress)
        waiting += report.n_waiting
        voice.record("scanned", path=str(session), dry=dry_run, **report.as_dict())
        if not json:
            voice.say(_scanned(session, report.as_dict(), dry_run))
        if not dry_run:
            _tell_made(voice, session)
    if not json:
        voice.say(plain(BLIND_SPOTS))
    voice.record("done", sessions=len(sessions), waiting=waiting, cannot_find=BLIND_SPOTS)
    return Exit.DONE


@privacy.command
def review(
    session: Annotated[Path, Parameter(help="A recorded session that is closed.")],
    /,
    *,
    queue: Annotated[
        Path | None, Parameter(help="Write what waits for a decision to this file (JSON lines, or CSV) and end.")
    ] = None,
    decisions: Annotated[
        Path | None, Parameter(help="Read decisions from a file: the queue with `decision` filled in.")
    ] = None,
    everything: Annotated[
        bool, Parameter(name="--all", help="All pictures, not only those that wait.", negative="")
    ] = False,
    undo: Annotated[int, Parameter(help="Take back the last so many decisions.")] = 0,
    close: Annotated[bool, Parameter(help="Carry the decisions out; not to be undone.", negative="")] = False,
    neighbours: Annotated[
        bool, Parameter(help="Pictures nearly the same as a deleted one go with it.", negative="")
    ] = False,
    json: AsJson = False,
) -> int:
    """Decide about single pictures: retain, blur, delete; in the terminal, or by files.

    Nothing changes until --close. To blur a picture is to fill the boxes given with the decision, else what a scan
    found on it, else all of it. A deleted picture leaves its row with a description of the scene; pictures that are
    nearly the same wait for a person.
    """
    from simulator.privacy import review as work
    from simulator.privacy.states import Shelf

    voice = Voice(as_json=json)
    with Shelf(_there(session)) as shelf:
        if decisions is not None:
            work.decide(shelf, work.read_decisions(decisions, shelf))
        if undo:
            shelf.undo([number for number, *_ in shelf.decisions()][-undo:])
        waiting = work.queue(shelf, everything=everything)
        if queue is not None:
            _write_queue(queue, [work.record(one) for one in waiting])
            if not json:
                lines = counted(len(waiting), "line")
                voice.say(plain(f"{lines} in {queue}; fill in decision (retain, blur or delete)" if waiting else
                                f"{queue} has no lines: nothing waits for a decision"))  # fmt: skip
        wants_more = decisions is None and queue is None and not undo and not close
        if wants_more and not json and sys.stdin.isatty():
            close = _ask(voice, shelf, waiting)
        elif wants_more:
            for one in waiting:
                voice.record("waiting", **work.record(one))
        if close:
            with bars(voice) as progress:
                closed = work.close(shelf, neighbours=neighbours, progress=progress)
            voice.record("closed", **_closed(closed))
            if not json:
                voice.say(plain(_closed_words(closed)))
            _tell_made(voice, session)
        noted, left = len(shelf.decisions()), len(work.queue(shelf))
    if not json and not close:
        how = f"; --close carries {'it' if noted == 1 else 'them'} out" if noted else ""
        wait = "waits" if left == 1 else "wait"
        voice.say(plain(f"{counted(left, 'picture')} {wait}, {counted(noted, 'decision')} noted{how}"))
    voice.record("done", waiting=left, decisions=noted)
    return Exit.DONE


@privacy.command
def status(sessions: _Sessions, /, *, json: AsJson = False) -> int:
    """Say how many pictures of recorded sessions are unreviewed, passed, redacted or deleted; nothing is changed."""
    from simulator.privacy.standing import standing

    voice = Voice(as_json=json)
    unreviewed = 0
    for session in _named(sessions):
        told = standing(session)
        unreviewed += told["pictures"]["unreviewed"]
        voice.record("status", path=str(session), **told)
        if not json:
            voice.say(_standing(session, told))
    voice.record("done", sessions=len(sessions), unreviewed=unreviewed)
    return Exit.DONE


def _tell_made(voice: Voice, session: Path) -> None:
    """Runs and reports of the session: they are as they were."""
    from simulator.privacy.made_of import made_of

    made = made_of(session)
    if made.sentence is not None:
        voice.record("not_changed", path=str(session), runs=list(map(str, made.runs)),
                     reports=list(map(str, made.reports)))  # fmt: skip
        voice.tell(f"{session}: {made.sentence}", "yellow")


def _named(sessions: list[Path]) -> list[Path]:
    if not sessions:
        raise UsageError("name a recorded session")
    return [_there(session) for session in sessions]


def _there(session: Path) -> Path:
    if not session.exists():
        raise InputError(session, "there is no such session")
    return session


def _jobs(given: int | None) -> int:
    if given is not None and given < 1:
        raise UsageError("--jobs: one at least")
    return given or os.cpu_count() or 1


def _scanned(session: Path, told: Mapping[str, Any], dry: bool) -> Any:
    table = facts(session)
    found = ", ".join(f"{n} {kind}" for kind, n in told["found"].items()) or "nothing"
    merged = told["n_merged"]
    same = f"; filling made some the same, so there are {told['n_pictures'] - merged} now" if merged else ""
    table.add_row("pictures", plain(f"{told['n_pictures']}, {told['n_looked']} looked at now{same}"))
    table.add_row("boxes found", plain(f"{found}; {told['n_spread']} of them by a neighbour's letters"))
    if dry:
        would = f"{told['n_texts']} would be changed, {told['n_ocr_texts']} OCR texts removed"
        table.add_row("texts", plain(would))
        table.add_row("changed", "nothing: a dry run")
        return table
    table.add_row("redacted", str(told["n_redacted"]))
    table.add_row("passed", str(told["n_passed"]))
    waiting = ", ".join(f"{n} {why}" for why, n in told["waiting"].items())
    table.add_row("waiting", plain(f"{told['n_waiting']}{f' ({waiting})' if waiting else ''}"))
    table.add_row("texts", plain(f"{told['n_texts']} changed, {told['n_ocr_texts']} OCR texts removed"))
    if told["n_outside"]:
        table.add_row("outside", plain(f"{told['n_outside']} originals outside of the session are still there"))
    return table


def _standing(session: Path, told: Mapping[str, Any]) -> Any:
    table = facts(session)
    for state, n in told["pictures"].items():
        table.add_row(state, str(n))
    table.add_row("rows whose picture is deleted", str(told["deleted_rows"]))
    for why, n in told["waiting"].items():
        table.add_row(plain(f"waiting: {why}"), str(n))
    table.add_row("decisions not carried out", str(told["decisions"]))
    if told["removals"]:
        table.add_row("old files to remove", plain(f"{told['removals']}: a redaction was stopped; scan again"))
    return table


def _closed(closed: Closed) -> dict[str, int]:
    return {"retained": closed.n_retained, "blurred": closed.n_blurred, "deleted": closed.n_deleted,
            "spread": closed.n_spread, "like_deleted": closed.n_like, "waiting": closed.n_waiting}  # fmt: skip


def _closed_words(closed: Closed) -> str:
    return (
        f"{closed.n_retained} retained, {closed.n_blurred} filled, {closed.n_spread} more filled as neighbours, "
        f"{closed.n_deleted} deleted, {closed.n_like} nearly the same as a deleted one; {closed.n_waiting} wait"
    )


def _write_queue(file: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    import csv
    import io
    import json

    text = io.StringIO(newline="")
    if file.suffix.lower() == ".csv":
        table = csv.writer(text)
        table.writerow(lines[0] if lines else ["picture", "at_s", "rows", "state", "why", "boxes", "found", "decision"])
        for line in lines:
            flat = {**line, "why": "; ".join(line["why"]), "boxes": json.dumps(line["boxes"]) if line["boxes"] else ""}
            flat["found"] = ", ".join(f"{one['kind']}{' (filled)' if one['filled'] else ''}" for one in line["found"])
            table.writerow(["" if value is None else value for value in flat.values()])
    else:
        text.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    file.write_text(text.getvalue(), encoding="utf-8", newline="")


def _ask(voice: Voice, shelf: Shelf, waiting: Sequence[Waiting]) -> bool:
    """Ask about one picture after the other; whether the decisions are to be carried out at the end."""
    from simulator.privacy.review import Decision, decide

    words = {"r": "retain", "b": "blur", "d": "delete"}
    done: list[int] = []
    n = 0
    voice.say(plain(f"{counted(len(waiting), 'picture')}; {_KEYS}"))
    while n < len(waiting):
        one = waiting[n]
        said = f"{n + 1}/{len(waiting)}  {shelf.folder / one.picture.path}  {counted(one.picture.n_rows, 'row')}"
        voice.say(plain(f"{said}, {counted(len(one.boxes), 'box', 'boxes')}  {', '.join(one.why)}"))
        try:
            key = input("[r/b/d/s/u/c/q] ").strip().lower()[:1]
        except EOFError:
            return False
        if key in words:
            decide(shelf, [Decision(one.picture.path, words[key])])  # type: ignore[arg-type]  # a word of DECISIONS
            done.append(n)
            n += 1
        elif key == "u" and done:
            shelf.undo([number for number, *_ in shelf.decisions()][-1:])
            n = done.pop()
        elif key == "s":
            n += 1
        elif key in ("c", "q"):
            return key == "c"
        else:
            voice.say(plain(_KEYS))
    return False
