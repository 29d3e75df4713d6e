"""``proact dataset split``: each user's time as history, validation and evaluation; and whether a split leaks."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from simulator.cli.parameters import AsJson, switch
from simulator.cli.speak import Voice, counted, plain
from simulator.core.errors import Exit, InputError, UsageError

if TYPE_CHECKING:
    from simulator.session.split import SplitUser
    from simulator.session.split_check import Verdict

__all__ = ["split"]

_SHOWN = 20
_REPEATED = {"query": "question", "picture": "picture"}


def split(
    src: Annotated[Path, Parameter(help="A session, a scenario, or a folder of many; with --check: what was split.")],
    out: Annotated[Path | None, Parameter(help="The folder that gets histories and scenarios, by user.")] = None,
    /,
    *,
    by: Annotated[Literal["time"], Parameter(help="What is early is history, what is late is evaluated.")] = "time",
    history: Annotated[float, Parameter(help="Share of each user's recorded time that becomes history.")] = 0.7,
    validation: Annotated[float, Parameter(help="Share behind it for choosing settings; the rest is evaluated.")] = 0.0,
    check: Annotated[bool, switch("Split nothing: look whether what is evaluated stands in the history.")] = False,
    allow_repeats: Annotated[
        bool, switch("With --check: count questions and pictures that come twice, instead of refusing them.")
    ] = False,
    pictures: Annotated[bool, switch("With --check: also count near duplicates across the cut (decodes).")] = False,
    json: AsJson = False,
) -> int:
    """Split users' time into history and evaluation; check a split.

    By time and without a leak, with a part for validation between them where that is asked for.

    No event and no need is cut: what spans a cut goes to the earlier side. SRC is only read; splitting the same again
    changes nothing. With --check a split is looked through, also one that an import made: exit code 2 if an event, a
    moment, a label, a question or a picture of what is evaluated stands in what lies before it.
    """
    del by  # the one way there is
    voice = Voice(as_json=json)
    if check:
        if out is not None:
            raise UsageError("--check looks through one path; name no OUT")
        return _check(voice, src, allow_repeats=allow_repeats, pictures=pictures)
    if allow_repeats or pictures:
        raise UsageError("--allow-repeats and --pictures belong to --check")
    if out is None:
        raise UsageError("name OUT, the folder that gets histories and scenarios (or --check to look through a split)")
    from simulator.session.split import split as split_

    if not src.exists():
        raise InputError(src, "there is no such file or folder")
    done = split_(src, out, history=history, validation=validation)
    for user in done.users:
        voice.record("split", **_said(user))
        if not json:
            voice.say(_words(user))
    for why in done.left_out:
        voice.record("left_out", said=why)
        voice.tell(f"left out: {why}", "yellow")
    n = sum(len(user.scenarios) for user in done.users)
    if not json:
        voice.say(plain(f"{counted(len(done.users), 'user')}, {counted(n, 'scenario')} in {out}"))
    unchanged = all(user.unchanged for user in done.users)
    voice.record("done", users=len(done.users), scenarios=n, left_out=len(done.left_out), unchanged=unchanged)
    return Exit.DONE


def _said(user: SplitUser) -> dict[str, Any]:
    told = asdict(user)
    return told | {"cuts": list(user.cuts), "scenarios": [s.as_posix() for s in user.scenarios]}


def _words(user: SplitUser) -> Any:
    from simulator.core.calendar import from_utc_ns

    hours = ", ".join(f"{side} {h:.2f} h" for side, h in user.hours.items())
    counts = ", ".join(f"{n} {what}" for what, n in user.counts.items())
    cuts = ", ".join(from_utc_ns(cut).isoformat(timespec="seconds") for cut in user.cuts)
    again = " (nothing changed: it was split before)" if user.unchanged else ""
    return plain(f"{user.user}: {hours}; cut at {cuts}; history: {counts or 'empty'}{again}")


def _check(voice: Voice, path: Path, *, allow_repeats: bool, pictures: bool) -> int:
    from simulator.session.split_check import check_split

    if not path.exists():
        raise InputError(path, "there is no such file or folder")
    verdict = check_split(path, allow_repeats=allow_repeats, pictures=pictures)
    for leak in verdict.leaks:
        voice.record("leak", **asdict(leak))
    if not voice.as_json:
        _tell(voice, verdict)
    voice.record(
        "done",
        leaks=dict(Counter(leak.kind for leak in verdict.leaks)),
        repeats=dict(verdict.repeats),
        near_duplicates=verdict.near_duplicates,
        users_in_both=verdict.users_in_both,
        without_history=verdict.without_history,
        scenarios=verdict.n_scenarios,
        history_events=verdict.n_events,
    )
    return Exit.USAGE if verdict.leaks else Exit.DONE


def _tell(voice: Voice, verdict: Verdict) -> None:
    from simulator.session.split_check import REPEATS

    for leak in verdict.leaks[:_SHOWN]:
        voice.say(plain(f"{leak.kind} of {leak.user}: {leak.evaluated} stands in the history, {leak.history}"))
    if len(verdict.leaks) > _SHOWN:
        voice.say(plain(f"… and {len(verdict.leaks) - _SHOWN} more; --json tells all"))
    if any(leak.kind in REPEATS for leak in verdict.leaks):
        voice.say(
            plain("questions are asked twice and screens come back: if these did, --allow-repeats counts them only")
        )
    near = "" if verdict.near_duplicates is None else f", {verdict.near_duplicates} near-duplicate screens at the cut"
    repeats = "".join(f", {counted(n, _REPEATED[kind])} repeated" for kind, n in verdict.repeats.items())
    n_both = len(verdict.users_in_both)
    voice.say(
        plain(
            f"{counted(verdict.n_scenarios, 'scenario')} ({verdict.without_history} without history), "
            f"{counted(verdict.n_events, 'event')} of history, {counted(len(verdict.leaks), 'leak')}{repeats}{near}; "
            f"{counted(n_both, 'user')} on both sides, which is right: each is helped by their own past"
        )
    )
