"""What people said of offers: accepted, rejected, ignored; one line of JSON a verdict, in ``feedback.jsonl`` of a unit.

::

    {"seq": 12, "said": "accepted", "by": "p01", "at": "2026-03-02T10:11:12Z"}

``seq`` names the decision, and with ``intention`` one of several offers of it. ``by`` is a pseudonym of who said so,
``at`` when, ``t_s`` when in seconds of the stream; all three may be left out. Of what one person said of one offer the
last line counts.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.intentions import key
from simulator.runs.records import LoggedOffer

__all__ = ["FILE", "SAID", "Feedback", "Heard", "add", "heard", "last_words", "read", "take_back"]

FILE = "feedback.jsonl"
SAID = ("accepted", "rejected", "ignored")


@dataclass(frozen=True, slots=True)
class Feedback:
    """One person's verdict on one offer; ``t_s`` is when it was said, in seconds since the stream's first snapshot."""

    seq: int
    said: str
    by: str | None = None
    at: str | None = None
    intention: str | None = None
    t_s: float | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """Verdicts on the surfaced offers of one session.

    Attributes:
        counts: by what was said, how many verdicts; one a person and offer.
        silent: surfaced offers of which nobody said anything.
        elsewhere: verdicts on offers that did not surface under this gate, or that there are not; they count nowhere.
    """

    counts: Mapping[str, int]
    silent: int
    elsewhere: int


def heard(offers: Sequence[LoggedOffer], said: Sequence[Feedback]) -> Heard:
    """Set verdicts against the surfaced offers."""
    last, elsewhere = last_words(offers, said)
    counts = Counter(verdict.said for verdict in last.values())
    spoken = {(seq, intention) for seq, intention, _ in last}
    known = {(o.seq, key(o.intention)) for o in offers}
    return Heard({name: counts[name] for name in SAID}, len(known - spoken), elsewhere)


def last_words(
    offers: Sequence[LoggedOffer], said: Sequence[Feedback]
) -> tuple[dict[tuple[int, str, str | None], Feedback], int]:
    """By decision, intention as it is compared, and person the verdict that counts, which is the last; and how many
    verdicts are on none of these offers.
    """
    known = {(o.seq, key(o.intention)) for o in offers}
    alone = {o.seq: (o.seq, key(o.intention)) for o in reversed(offers)}  # without intention: the first of a decision
    last: dict[tuple[int, str, str | None], Feedback] = {}
    elsewhere = 0
    for verdict in said:
        at = alone.get(verdict.seq) if verdict.intention is None else (verdict.seq, key(verdict.intention))
        if at is None or at not in known:
            elsewhere += 1
        else:
            last[(*at, verdict.by)] = verdict
    return last, elsewhere


def read(path: Path) -> tuple[Feedback, ...] | None:
    """The verdicts of a unit in order of the file, None where nobody was asked (there is no file).

    Raises:
        InputError: a line that is no verdict.
    """
    if not path.is_file():
        return None
    found = []
    for n, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
        if line.strip():
            found.append(_verdict(f"{path}, line {n}", line))
    return tuple(found)


def add(path: Path, said: Feedback) -> None:
    """Write one verdict down, durably: it is on the disk, whole, or not there at all."""
    _replace(path, [*_lines(path), json.dumps({k: v for k, v in asdict(said).items() if v is not None})])


def take_back(path: Path, seq: int, intention: str, by: str | None) -> str | None:
    """Remove the newest verdict of a person on an offer; what they had said of it before, which counts again.

    Raises:
        InputError: a line of the file is no verdict.
    """
    lines = _lines(path)
    theirs = [n for n, line in enumerate(lines) if _is_of(_verdict(f"{path}, line {n + 1}", line), seq, intention, by)]
    if not theirs:
        return None
    before = None if len(theirs) == 1 else _verdict(str(path), lines[theirs[-2]]).said
    _replace(path, [line for n, line in enumerate(lines) if n != theirs[-1]])
    return before


def _is_of(one: Feedback, seq: int, intention: str, by: str | None) -> bool:
    return (one.seq, one.by) == (seq, by) and one.intention is not None and key(one.intention) == key(intention)


def _lines(path: Path) -> list[str]:
    """What stands there, without blank lines."""
    if not path.is_file():
        return []
    return [line for line in path.read_text(encoding="utf-8", errors="replace").split("\n") if line.strip()]


def _replace(path: Path, lines: Sequence[str]) -> None:
    """Beside, to the disk, then in its place; an empty file says that somebody was asked and took all back."""
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        file.write("".join(f"{line}\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _verdict(where: str, line: str) -> Feedback:
    try:
        told: dict[str, Any] = json.loads(line)
        seq, said = told["seq"], told["said"]
        rest = {name: told.get(name) for name in ("by", "at", "intention")}
        t_s = told.get("t_s")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(where, 'not a verdict; one is {"seq": 12, "said": "accepted", "by": "p01"}') from error
    if type(seq) is not int or seq < 0:
        raise InputError(where, "the whole number of a decision is wanted", field="seq", value=seq)
    if said not in SAID:
        raise InputError(where, f"one of {', '.join(SAID)} is wanted", field="said", value=said)
    for name, value in rest.items():
        if value is not None and not isinstance(value, str):
            raise InputError(where, "text is wanted, or nothing", field=name)
    if t_s is not None and not (type(t_s) in (int, float) and isfinite(t_s)):
        raise InputError(where, "a number of seconds is wanted, or nothing", field="t_s")
    return Feedback(seq, said, **rest, t_s=t_s)
