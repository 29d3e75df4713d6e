"""``proact dataset status`` and ``compact``: how a recording is doing, and making one smaller."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, counted, facts, missed, plain
from simulator.core.errors import Exit
from simulator.core.sizes import show_size
from simulator.core.types import SECOND
from simulator.timing.clock import real_ns

__all__ = ["compact", "status"]

_TELL_NS = 10 * SECOND  # how often a sentence is told where no line can be drawn
_STATES = {
    "recording": "being recorded",
    "paused": "being recorded, and paused",
    "died": "not closed, and nobody records: its recorder died. `proact record` on it goes on, `proact dataset "
    "compact` closes it",
    "closed": "closed",
    "recovered": "closed, after it was repaired",
}


def status(folder: Annotated[Path, Parameter(help="A session, running or not.")], /, *, json: AsJson = False) -> int:
    """Say how a recording is doing.

    Whether anybody still records, the last tick's age, rows, gaps, size. Nothing is changed.
    """
    from simulator.recorder.status import status as look

    voice = Voice(as_json=json)
    told = look(folder)
    if not json:
        voice.say(_table(folder, told))
    voice.record("done", path=str(folder), **told)
    return Exit.DONE


def compact(
    folder: Annotated[Path, Parameter(help="A session that nobody records.")], /, *, json: AsJson = False
) -> int:
    """Make a session smaller, pixels unchanged.

    Its pictures are encoded again by the slowest method. A session that a crash left is repaired and closed first. A
    kill loses nothing; the same command goes on.
    """
    from simulator.recorder.compact import compact as shrink

    voice = Voice(as_json=json)
    made = shrink(folder, _progress(folder, voice))
    if made.repaired is not None:
        voice.tell(f"{folder}: {made.repaired}")
    if made.n_damaged:
        voice.tell(
            f"{counted(made.n_damaged, 'damaged picture')} left alone; `proact dataset check` names them", "yellow"
        )
    if not json:
        saved = made.bytes_before - made.bytes_after
        said = f"{made.n_smaller} of {counted(made.n_pictures, 'picture')} smaller now, by {show_size(saved)} in all"
        voice.say(plain(f"{folder}: {said if made.n_pictures else 'all of it was compacted before'}"))
    voice.record(
        "done", path=str(folder), pictures=made.n_pictures, smaller=made.n_smaller, damaged=made.n_damaged,
        bytes_before=made.bytes_before, bytes_after=made.bytes_after, repaired=made.repaired,
    )  # fmt: skip
    return Exit.DONE


def _progress(folder: Path, voice: Voice) -> Callable[[int, int], None]:
    """Tells pictures done and pictures to do: a line on a terminal, elsewhere a sentence now and then."""
    told_ns = real_ns()

    def progress(done: int, total: int) -> None:
        nonlocal told_ns
        if done % 10 == 0 or done == total:
            voice.record("compacting", done=done, total=total)
        if voice.progress.is_terminal:
            end = "\r\x1b[K" if done == total else ""
            voice.progress.file.write(f"\r\x1b[K{done}/{total} pictures{end}")
            voice.progress.file.flush()
        elif real_ns() - told_ns >= _TELL_NS and not voice.as_json:
            told_ns = real_ns()
            voice.tell(f"{folder}: {done} of {counted(total, 'picture')}")

    return progress


def _table(folder: Path, told: dict[str, Any]) -> Any:
    rate = told["kb_per_s"]
    rows = {
        "state": _STATES.get(told["state"], told["state"]),
        "last tick": _age(told["last_tick_age_s"]),
        "last row": _age(told["last_row_age_s"]),
        "now": told["trouble"],
        "rows": f"{told['rows']} in {counted(told['ticks'], 'tick')}, {told['seconds']:.0f} s",
        "events": str(told["events"]),
        "pictures": f"{told['pictures']} distinct",
        "size": show_size(told["bytes"]) + ("" if rate is None else f", {rate:.1f} KB/s"),
        "gaps": missed(told["gaps"]) or "none",
    }
    if now := told["now"]:
        rows["cost"] = f"CPU {now['cpu_percent']:.1f} % of a core"
        if now["rss_bytes"] is not None:
            rows["cost"] += f", {show_size(now['rss_bytes'])} memory"
        if now["late_p99_ms"] is not None:
            rows["lateness"] = f"p99 {now['late_p99_ms']:.1f} ms"
    return facts(folder, {key: value for key, value in rows.items() if value is not None})


def _age(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:.0f} s ago"
