"""``proact forget``: a user's recordings, history, memories and what runs hold of them, all of it or a stretch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, plain
from simulator.core.calendar import from_utc_ns
from simulator.core.errors import Exit, ProactError, UsageError

if TYPE_CHECKING:
    from simulator.privacy.forget import Plan
    from simulator.privacy.items import Item, Unreached
    from simulator.privacy.span import Span

__all__ = ["forget"]


def forget(
    user: Annotated[str, Parameter(help="Whose, by the name in their recordings.")],
    /,
    *,
    since: Annotated[
        str | None, Parameter(name="--from", help="From when on: 2026-11-30T09:00+01:00, or 10min (ago).")
    ] = None,
    until: Annotated[str | None, Parameter(name="--to", help="Until before when, likewise.")] = None,
    folders: Annotated[
        list[Path] | None,
        Parameter(name="--in", help="Where to look; may be given several times. Default: here.", negative=""),
    ] = None,
    also: Annotated[
        list[Path] | None,
        Parameter(
            help="A file that goes as a whole: a cassette, a file of texts. Several times for several.", negative=""
        ),
    ] = None,
    dry_run: Annotated[bool, Parameter(help="Only say what would go.", negative="")] = False,
    yes: Annotated[bool, Parameter(help="Do not ask.", negative="")] = False,
    json: AsJson = False,
) -> int:
    """Forget a user: recordings, history, and the words in run logs.

    Pictures, profiles, memories and caches go too. Numbers of runs stay and can still be scored. A second call goes on
    where the first was cut short. At the end it lists what it could not reach; exit code 2 if anything of the user's
    was found and left.
    """
    from simulator.privacy.forget import cache_folder, plan
    from simulator.privacy.span import Span, parse_instant

    voice = Voice(as_json=json)
    span = Span(
        *(None if text is None else parse_instant(text, name) for text, name in ((since, "--from"), (until, "--to")))
    )
    if span.start_ns is not None and span.end_ns is not None and span.end_ns <= span.start_ns:
        raise UsageError("--to is not after --from: nothing lies between")
    found = plan(user, folders or [Path()], span, cache=cache_folder(), also=also or ())
    if not found.items:
        return _nothing(voice, user, found, span)
    if dry_run or _asks(yes):
        _show(voice, found.items)
    if dry_run:
        _tell_unreached(voice, found.foreseen())
        voice.record("done", user=user, dry_run=True, items=[_told(item) for item in found.items])
        return Exit.DONE
    if _asks(yes) and not _agreed(voice, user):
        return Exit.INTERRUPTED
    return _forget(voice, user, found)


def _forget(voice: Voice, user: str, found: Plan) -> int:
    forgotten: list[Item] = []

    def watch(item: Item) -> None:
        voice.record("forgot", **_told(item))
        voice.say(plain(f"forgot {item.kind} {item.path}: {item.said}"))
        forgotten.append(item)

    if found.n_others > 1000:
        voice.tell(f"afterwards {found.n_others:,} other files are looked through for copies; that may take a while")
    left = found.carry_out(watch)
    for item in forgotten:
        if item.kind == "run":
            _score_again(voice, item.path)
    _tell_unreached(voice, left)
    told = [_told(item) for item in forgotten]
    voice.record("done", user=user, dry_run=False, items=told, left=[_where(one) for one in left])
    return _code(left)


def _code(left: list[Unreached]) -> int:
    return Exit.DONE if all(one.only_maybe for one in left) else Exit.USAGE


def _score_again(voice: Voice, run: Path) -> None:
    """Scores from what is left of a run, where that is enough for any."""
    from simulator.play.scoring import score_folder

    try:
        score_folder(run)
    except (ProactError, KeyError, ValueError):
        voice.tell(f"{run}: what is left of it gives no scores")


def _nothing(voice: Voice, user: str, found: Plan, span: Span) -> int:
    others = sorted(found.users - {user})
    here = f"; there is something of {', '.join(others)}" if others else ""
    if not span.everything and user in found.users:
        last = None if found.last_ns is None else from_utc_ns(found.last_ns).isoformat(timespec="seconds")
        here = " in that stretch" + ("" if last is None else f"; what is recorded ends at {last}") + here
    _tell_unreached(voice, found.unreached)
    all_told = "nothing was forgotten" if _code(found.unreached) else f"nothing of '{user}' was found"
    voice.say(plain(f"{all_told}{here}"))
    voice.record("done", user=user, items=[], left=[_where(u) for u in found.unreached])
    return _code(found.unreached)


def _asks(yes: bool) -> bool:
    """Whether somebody is there to be asked; a script means what it says."""
    return not yes and sys.stdin is not None and sys.stdin.isatty()


def _agreed(voice: Voice, user: str) -> bool:
    voice.tell(f"This cannot be undone. Type the name '{user}' to forget all of the above:")
    try:
        return input().strip() == user
    except EOFError:
        return False


def _show(voice: Voice, items: list[Item]) -> None:
    """A table on a terminal; elsewhere a line each, whole, since a program or a file reads it."""
    if voice.people.is_terminal:
        voice.say(_table(items))
        return
    for item in items:
        voice.say(plain(f"{item.kind}  {item.path}  {item.said}"))


def _table(items: list[Item]) -> Any:
    from rich.table import Table

    table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for item in items:
        table.add_row(plain(item.kind), plain(item.path), plain(item.said))
    return table


def _tell_unreached(voice: Voice, left: list[Unreached]) -> None:
    from simulator.privacy.forget import OUT_OF_REACH

    for one in left:
        voice.record("left", **_where(one))
        voice.tell(f"left: {one.path}: {one.why}", "yellow")
    voice.tell("Out of reach, for you to see to:")
    for words in OUT_OF_REACH:
        voice.tell(f"  * {words}")


def _told(item: Item) -> dict[str, Any]:
    return {"kind": item.kind, "path": str(item.path), "said": item.said}


def _where(one: Unreached) -> dict[str, Any]:
    return {"path": str(one.path), "why": one.why}
