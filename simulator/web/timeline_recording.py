"""The recording behind a unit of a run, for the replay timeline: when which window was open, and which picture it was.

A run folder holds no pictures and no titles. They are looked for where the run's scenarios were, and shown only where
the session found fits what was played. What is not there any more, or was changed since, the page says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from simulator.core.errors import InputError
from simulator.core.protocols import SnapshotSource
from simulator.core.types import ImageRef, Snapshot
from simulator.play.whereabouts import fits, plays_of
from simulator.privacy.recorded import State
from simulator.session.play import Play
from simulator.session.reader import Header, Reader
from simulator.web.timeline_times import seconds_of

__all__ = ["Found", "read_play", "read_recording"]

T = TypeVar("T")
_ABSENT = (
    "The recording is not where it was when the run was played: the log is shown alone, without pictures and titles."
)
_OTHER = "The recording at the place of the one that was played does not fit this run: the log is shown alone."
_CHANGED = ("The recording was changed since the run was played (reviewed, labelled or redacted): pictures and titles "
            "are those of today.")  # fmt: skip
_TOLD = ("What is said of this session was changed since the run was played (in its scenario, history or labels); "
         "pictures and titles are as they were.")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a recording.

    Attributes:
        notes: what a reader has to know of it, in sentences.
        columns: JSON-ready, see ``read_recording``; None where there is no recording to show.
        pictures: distinct ones, in order of their first appearance.
        words: what can be searched: second, kind and text, each when it first appears.
        folder: of the session; None where there is none.
    """

    notes: tuple[str, ...]
    columns: Mapping[str, Any] | None = None
    pictures: Sequence[ImageRef] = ()
    words: Sequence[tuple[float, str, str]] = ()
    folder: Path | None = None


def read_recording(run: Path, told: Mapping[str, Any], key: str) -> Found:
    """Find and read the recording of a unit; blocks, and is run in a thread.

    Args:
        run: the run folder.
        told: as ``simulator.runs.folder.read_run`` gives it.
        key: of the unit.

    Returns:
        ``columns`` holds ``t_s`` (of each snapshot, held ones too), ``picture`` (its place in ``pictures``, null for
        none), ``gone`` (places of pictures whose files are not there), ``state`` (place in ``states``), ``held`` (0 or
        1), ``spans`` (``[from_s, to_s, app, title]`` by place in ``apps`` and ``titles``, null where unknown),
        ``masked_s`` (seconds at which something was filled when recorded) and ``gaps``.
    """
    header = told["resolved"][key]
    seen_any = False
    for play in plays_of(run, told, key):
        seen_any = True
        if not fits(play, header):
            continue
        try:
            found = read_play(play)
            return replace(found, notes=_changes(header, play, found))
        except (InputError, OSError) as error:
            said = error.want if isinstance(error, InputError) else "it cannot be read"
            return Found((f"The recording is damaged ({said}): the log is shown alone.",))
    return Found((_OTHER if seen_any else _ABSENT,))


def _changes(header: Mapping[str, Any], play: Play, found: Found) -> tuple[str, ...]:
    """What changed of a session since a unit with this header was played."""
    if header.get("dataset") in (None, "", play.dataset_hash):
        return ()
    states = {} if found.columns is None else found.columns["states"]
    same = header.get("recording") == play.recording and not {State.REDACTED, State.DELETED} & set(states)
    return (_TOLD if same else _CHANGED,)


def read_play(play: Play) -> Found:
    """The recording of a session that is ready to be played.

    Raises:
        InputError: it is damaged.
    """
    source: Any = play.source
    header: Header = source.header
    states, masked_s = _states(header)
    pictures, apps, titles, kinds = _Places[ImageRef](), _Places[str](), _Places[str](), _Places[str]()
    column: dict[str, list[Any]] = {"t_s": [], "picture": [], "state": [], "held": []}
    spans: list[list[Any]] = []
    words: list[tuple[float, str, str]] = []
    text_before = None
    for shot in asyncio.run(_all(source)):
        t = seconds_of(shot.captured_ns)
        window = [apps.of(shot.app), titles.of(shot.title)]
        if not spans or spans[-1][2:] != window:
            spans.append([t, t, *window])
            words.append((t, "window", f"{shot.app or ''} {shot.title or ''}"))
        spans[-1][1] = seconds_of(shot.captured_ns + play.period_ns)
        if shot.text and shot.text != text_before:
            words.append((t, "text", shot.text))
            text_before = shot.text
        column["t_s"].append(t)
        column["picture"].append(pictures.of(shot.image))
        column["state"].append(kinds.of(str(states.get(shot.content_ns, State.UNREVIEWED))))
        column["held"].append(int(shot.held))
    columns = {
        **column,
        "gone": [i for i, ref in enumerate(pictures.listed) if not ref.path.is_file()],
        "apps": apps.listed,
        "titles": titles.listed,
        "states": kinds.listed,
        "spans": spans,
        "masked_s": masked_s,
        "gaps": [[seconds_of(g.start_ns), seconds_of(g.end_ns), g.reason] for g in header.gaps],
        "session": source.session,
        "going_on": header.state == "recording",
    }
    return Found((), columns, pictures.listed, words, header.folder)


async def _all(source: SnapshotSource) -> list[Snapshot]:
    return [shot async for shot in source.snapshots()]


def _states(header: Header) -> tuple[dict[int, State], list[float]]:
    """By instant, where a picture stands if it is not as it was recorded; and when something was masked."""
    with Reader(header.folder, known=header) as reader:
        states, at = dict[int, State](), dict[int, int]()
        for captured, action, tick in reader.rows(("captured_ns", "privacy_action", "tick")):
            at[tick] = captured - header.zero_ns
            if action in (State.REDACTED, State.DELETED):
                states[captured - header.zero_ns] = State(action)
        ticks = dict.fromkeys(tick for (tick,) in reader.table("masks", ("tick",), order="tick, id"))
        return states, [seconds_of(at[tick]) for tick in ticks if tick in at]


class _Places(Generic[T]):
    """Values, each kept once, by their place."""

    def __init__(self) -> None:
        self.listed: list[T] = []
        self._at: dict[T, int] = {}

    def of(self, value: T | None) -> int | None:
        """Its place; None for None."""
        if value is None:
            return None
        if value not in self._at:
            self._at[value] = len(self.listed)
            self.listed.append(value)
        return self._at[value]
