"""``proact dataset audit``: how far a person agrees with who annotated, on a random sample."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from simulator.cli.annotate import sessions_at
from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, facts, plain
from simulator.core.errors import Exit, InputError, UsageError

if TYPE_CHECKING:
    from simulator.annotate.audit import Agreement, Drawn
    from simulator.annotate.store import Annotation

__all__ = ["audit"]

_COLUMNS = ("session", "event", "at_s", "seconds", "app", "title", "pictures", "assistance", "intention")
_NEEDED = ("session", "event", "assistance", "intention")


def audit(
    sessions: Annotated[list[Path], Parameter(help="Annotated sessions, or folders of many.")],
    /,
    *,
    sample: Annotated[int, Parameter(help="How many events, drawn at random.")] = 100,
    annotator: Annotated[str | None, Parameter(help="Whose annotations, where there are several.")] = None,
    answers: Annotated[Path | None, Parameter(help="Take answers from this CSV, a filled in --questions.")] = None,
    questions: Annotated[Path | None, Parameter(help="Write what is to be answered into this CSV, and end.")] = None,
    rater: Annotated[str, Parameter(help="Who answers.")] = "person",
    seed: Annotated[int, Parameter(help="Of the draw.")] = 0,
    json: AsJson = False,
) -> int:
    """Ask a person about annotated events, and say how far they agree with the annotator.

    The events are a random sample. Questions are asked on the terminal, or written to a CSV and read from it when it is
    filled in; nobody is shown what the annotator said. Answers are kept in the sessions; the same command goes on where
    it was left. Shares come with their 95 % interval.
    """
    if sample < 1:
        raise UsageError("--sample: one event at least")
    if not rater.strip():
        raise UsageError("--rater: a name is wanted")
    voice = Voice(as_json=json)
    folders = sessions_at(sessions)
    drawn, who = _drawn(folders, annotator, sample, seed)
    if questions is not None:
        _write_questions(questions, drawn)
        if not json:
            voice.say(plain(f"{len(drawn)} questions in {questions}; fill in assistance (yes or no) and intention"))
        voice.record("done", annotator=who, sampled=len(drawn), questions=str(questions))
        return Exit.DONE
    name = f"person {rater.strip()}"
    if answers is not None:
        _take_answers(answers, drawn, name)
    elif not json:
        _ask(voice, drawn, name)
    result = _agreement(drawn, name)
    if not json:
        voice.say(_table(who, result))
    voice.record("done", annotator=who, rater=name, **result.as_dict())
    return Exit.DONE


def _drawn(sessions: Sequence[Path], annotator: str | None, n: int, seed: int) -> tuple[list[tuple[Path, Drawn]], str]:
    """The sample, with the session of each event, and whose annotations they are."""
    from simulator.annotate.audit import Drawn, draw
    from simulator.annotate.sample import targets
    from simulator.annotate.store import Store
    from simulator.core.errors import nearest

    there: dict[str, None] = {}
    for session in sessions:
        with Store(session) as store:
            there |= dict.fromkeys(name for name, source in store.annotators().items() if source != "person")
    if not there:
        raise UsageError("nothing is annotated there: `proact dataset annotate` comes first")
    if annotator is None and len(there) > 1:
        named = "; ".join(f"--annotator {shlex.quote(name)}" for name in there)
        raise UsageError(f"several have annotated these, name one: {named}")
    if annotator is not None and annotator not in there:
        raise UsageError(f"--annotator: nobody of that name has annotated these; {nearest(annotator, there)}")
    who = annotator or next(iter(there))
    population: list[Drawn] = []
    folders: dict[str, Path] = {}
    for session in sessions:
        header, events, _ = targets(session)
        key = header.session if header.session not in folders else str(session)
        folders[key] = session
        with Store(session) as store:
            said = store.said_by(who)
        population += [Drawn(key, event, said[event.start_ns]) for event in events if event.start_ns in said]
    return [(folders[one.session], one) for one in draw(population, n, seed)], who


def _agreement(drawn: Sequence[tuple[Path, Drawn]], name: str) -> Agreement:
    from simulator.annotate.audit import Agreement
    from simulator.annotate.store import Store

    result = Agreement()
    answers: dict[Path, dict[int, Annotation]] = {}
    for folder, one in drawn:
        if folder not in answers:
            with Store(folder) as store:
                answers[folder] = store.said_by(name)
        result.take(one.said, answers[folder].get(one.target.start_ns))
    return result


def _write_questions(file: Path, drawn: Sequence[tuple[Path, Drawn]]) -> None:
    page = io.StringIO(newline="")
    table = csv.writer(page, lineterminator="\n")
    table.writerow(_COLUMNS)
    for folder, one in drawn:
        target = one.target
        at = _at_s(folder, target.start_ns)
        where = [one.session, _key(one), f"{at:.0f}", f"{target.seconds:.0f}", target.app or "", target.title or ""]
        table.writerow([*where, " ".join(_pictures(folder, one)), "", ""])
    file.write_text(page.getvalue(), encoding="utf-8", newline="")


def _at_s(folder: Path, start_ns: int) -> float:
    from simulator.core.types import SECOND
    from simulator.session.reader import Reader

    with Reader(folder) as reader:
        return (start_ns - reader.header.zero_ns) / SECOND


def _key(one: Drawn) -> str:
    """What an event is called in a CSV: its number in the session, else when it starts."""
    return str(one.target.start_ns if one.target.event_id is None else one.target.event_id)


def _pictures(folder: Path, one: Drawn) -> list[str]:
    from simulator.annotate.store import Store

    with Store(folder) as store:
        shots = store.sample(one.target).shots
    return [str(shot.picture.path) for shot in shots if shot.picture is not None]


def _take_answers(file: Path, drawn: Sequence[tuple[Path, Drawn]], name: str) -> None:
    """Keep the answers of a filled in table, all or none of them; rows without one are left for later.

    Raises:
        InputError: a column that is not there, an event that is not in the sample, an answer that is none, or two to
            one event that differ.
    """
    from simulator.core.files import csv_rows

    wanted = {(one.session, _key(one)): (folder, one) for folder, one in drawn}
    answers: dict[tuple[str, str], tuple[int, bool, str | None]] = {}
    for number, row in csv_rows(file, _NEEDED):
        where = f"{file}, line {number}"
        event = row.get("session", ""), row.get("event", "")
        if event not in wanted:
            raise InputError(
                where, "not an event of this sample; the draw depends on --sample, --seed and the sessions"
            )
        if (word := row.get("assistance", "").strip().casefold()) == "":
            continue
        if word not in ("yes", "no"):
            raise InputError(where, "yes, no, or empty", field="assistance", value=word)
        intention = _intention(where, row.get("intention", ""))
        if word == "no" and intention is not None:
            want = "empty where assistance is no: an intention is what an assistant was asked for"
            raise InputError(where, want, field="intention", value=intention)
        said = word == "yes", intention
        first, *before = answers.setdefault(event, (number, *said))
        if tuple(before) != said:
            raise InputError(where, f"another answer to the event of line {first}; one answer an event is wanted")
    for event, (_, assistance, intention) in answers.items():
        _keep(*wanted[event], name, assistance, intention)


def _intention(where: str, text: str) -> str | None:
    from simulator.core.errors import nearest
    from simulator.core.intentions import INTENTIONS, canonical

    if not text.strip():
        return None
    known = canonical(text)
    if known is None:
        raise InputError(where, f"unknown intention; {nearest(text, INTENTIONS)}", field="intention", value=text)
    return known


def _keep(folder: Path, one: Drawn, name: str, assistance: bool, intention: str | None) -> None:
    from simulator.annotate.store import Annotation, Store

    with Store(folder) as store:
        store.put(
            one.target,
            Annotation(name, "person", "annotated", assistance=assistance, intention=intention),
        )


def _ask(voice: Voice, drawn: Sequence[tuple[Path, Drawn]], name: str) -> None:
    """Ask on the terminal about what is not answered yet; an empty line skips, q or the end of input leaves."""
    from simulator.annotate.store import Store
    from simulator.core.intentions import INTENTIONS

    for n, (folder, one) in enumerate(drawn, 1):
        with Store(folder) as store:
            if one.target.start_ns in store.said_by(name):
                continue
        target = one.target
        voice.say(
            plain(f"\n{n}/{len(drawn)}  {target.app or 'unknown'}: {target.title or 'unknown'}  {target.seconds:.0f} s")
        )
        for picture in _pictures(folder, one):
            voice.say(plain(f"  {picture}"))
        word = _line("was an assistant used? [y/n, q leaves] ")
        if word == "q":
            return
        if word not in ("y", "n"):
            continue
        intention = None
        if word == "y":
            voice.say(plain("\n".join(f"{i:3} {name_}" for i, name_ in enumerate(INTENTIONS, 1))))
            number = _line("for what? [number] ")
            intention = (
                INTENTIONS[int(number) - 1] if number.isdecimal() and 1 <= int(number) <= len(INTENTIONS) else None
            )
        _keep(folder, one, name, word == "y", intention)


def _line(prompt: str) -> str:
    try:
        return input(prompt).strip().casefold()
    except EOFError:
        return "q"


def _table(who: str, result: Agreement) -> Any:
    from simulator.annotate.audit import Share, kappa

    def words(share: Share) -> str:
        if share.interval is None:
            return "not computed: nothing to compare"
        low, high = share.interval
        return f"{100 * share.k / share.n:.1f} % of {share.n} (95 %: {100 * low:.1f} to {100 * high:.1f})"

    table = facts(who)
    table.add_row("sampled", f"{result.n_sampled}, {result.n_unanswered} not answered")
    if result.n_unannotated:
        table.add_row("unannotated", f"{result.n_unannotated} of those answered: not among the shares below")
    beyond = kappa(result.table)
    table.add_row("assistance", words(result.assistance_share) + ("" if beyond is None else f", κ {beyond:.2f}"))
    table.add_row("intention", words(result.intention_share))
    for (said, person), n in result.confused.most_common(5):
        table.add_row("", plain(f"{n}: {said or 'none'} where the person says {person}"))
    return table
