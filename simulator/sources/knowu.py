"""KnowU-Bench (ZJU-REAL): logs of invented people's phones over a month, clean and with noise, with YAML profiles.

A log is a list of ``{"time", "location", "action", "label": signal|noise, "category"}``. Each becomes one user's
recording: a row of text an entry, no pictures; how long an entry lasted is not logged. Nothing in it says when help was
needed, so what is made of it has no truth: it serves as history for memories, and gives latency. Which entries are
noise, of what category and where is kept beside the events, where no agent and no memory reads it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from simulator.core.calendar import to_utc_ns
from simulator.core.errors import InputError, UsageError, quote
from simulator.core.names import plain
from simulator.core.types import SECOND
from simulator.core.yaml_files import read_yaml
from simulator.sources.foreign import Foreign, ForeignEvent, Ledger, Shot
from simulator.sources.formats import Account, Wanted
from simulator.sources.loose_rows import digest_of, in_order, iso, json_files, load, start_of, words

__all__ = ["looked_at", "profile_of", "recordings", "sniff"]

MINUTE_NS = 60 * SECOND
LASTS_NS = 5 * MINUTE_NS
"""An entry is taken to last so long, or until the next one."""
_INSIDE = (Path(), Path("user_logs"), Path("src/mobile_world/user_logs"))
_LEFT_OUT = "habits"


@dataclass(frozen=True, slots=True)
class _Entry:
    at: datetime
    action: str
    label: str
    category: str | None
    location: str | None


def sniff(src: Path) -> bool:
    """Whether it is a log, or a folder that holds some."""
    heads = map(start_of, json_files(src, _INSIDE)[:8])
    return any(head.startswith("[") and '"action"' in head and '"label"' in head for head in heads)


def recordings(wanted: Wanted, account: Account) -> Iterator[Foreign]:
    """Each log as one user's recording; of several, those that cannot be read are left out with the reason.

    Raises:
        InputError: no log; the only one cannot be read.
        UsageError: a user's name for several logs.
    """
    files = json_files(wanted.src, _INSIDE)
    if not files:
        raise InputError(wanted.src, "there is no log (a .json file with a list of entries) here")
    if wanted.user is not None and len(files) > 1:
        raise UsageError(f"user {quote(wanted.user)}: the source holds {len(files)} logs, each with a user of its own")
    for file in files:
        user = wanted.user or plain(file.stem)
        ledger = Ledger()
        try:
            entries = _entries(load(file), file, ledger)
        except InputError as error:
            if len(files) == 1:
                raise
            account(user, "left out", f"log: {error.want}", file.name)
            continue
        if not entries:
            account(user, "left out", "log: it holds no entry that can be read", file.name)
            continue
        yield _recording(file, user, entries, ledger)


def looked_at(src: Path) -> Iterable[Path]:
    """The logs and their profiles."""
    for log in json_files(src, _INSIDE):
        yield log
        if (profile := _profile(log, Ledger())[1]) is not None:
            yield profile


def _entries(raw: Any, file: Path, ledger: Ledger) -> list[_Entry]:
    if not isinstance(raw, list):
        raise InputError(file, "a list of entries is wanted")
    out: list[_Entry] = []
    for i, row in enumerate(raw):
        where = f"{file.name}[{i}]"
        said = row if isinstance(row, dict) else {}
        at, action, label = iso(said.get("time")), words(said.get("action")), said.get("label")
        if at is None or at.tzinfo is None or not 1971 <= at.year <= 2242:
            ledger.add("left out", "entries without a time and its zone", where)
        elif action is None:
            ledger.add("left out", "entries without an action", where)
        else:
            known = label if label in ("signal", "noise") else "unlabelled"
            ledger.add("kept", f"entries labelled {known}" if known != "unlabelled" else "entries without a label")
            out.append(_Entry(at, action, known, words(said.get("category")), words(said.get("location"))))
    return out


def _recording(file: Path, user: str, entries: Sequence[_Entry], ledger: Ledger) -> Foreign:
    times = in_order([to_utc_ns(e.at) for e in entries], SECOND, ledger, file.name)
    profile, profile_file = _profile(file, ledger)
    files = [file] if profile_file is None else [file, profile_file]
    foreign = Foreign(user, file, [], [], ledger, digest_of(files), period_ns=MINUTE_NS, profile=profile)
    foreign.zone, foreign.person = _zone(entries, ledger), f"KnowU {_persona(file)}"
    for i, (entry, start) in enumerate(zip(entries, times, strict=True), 1):
        after = times[i] if i < len(times) else None
        end = start + LASTS_NS if after is None else min(start + LASTS_NS, after)
        said = {"label": entry.label, "category": entry.category, "location": entry.location}
        foreign.shots.append(Shot(start, title=entry.action, text=entry.action, event=i))
        foreign.events.append(
            ForeignEvent(i, start, end, title=entry.action, description=json.dumps(said, ensure_ascii=False))
        )
        if after is not None and end < after:
            foreign.gaps.append((end, after, "missing"))
    ledger.add("noted", "entries whose end is not known (5 min, or until the next entry)", n=len(entries))
    labels = Counter(e.label for e in entries)
    noise, n = labels["noise"], labels["noise"] + labels["signal"]
    if n:
        foreign.notes["noise"] = f"{noise} of {n} labelled entries ({noise / n:.1%})"
    foreign.notes["truth"] = "none: the log tells of no need for help, so a run gives latency only"
    return foreign


def _zone(entries: Sequence[_Entry], ledger: Ledger) -> str | None:
    """An IANA name for the one offset of all times, where it is one of whole hours."""
    offsets = Counter(e.at.utcoffset() for e in entries)
    (offset, n), *others = offsets.most_common()
    if others:
        ledger.add("noted", "entries of another zone than most (instants are kept)", n=len(entries) - n)
    seconds = offset.total_seconds() if offset is not None else 1.0
    hours = int(seconds // 3600)
    if seconds % 3600 or not -12 <= hours <= 14:
        return None
    return "UTC" if not hours else f"Etc/GMT{-hours:+d}"  # the sign is the other way round there


def _persona(log: Path) -> str:
    """Whose log it is; the same with and without noise."""
    return log.stem.partition("_noise")[0]


def _profile(log: Path, ledger: Ledger) -> tuple[dict[str, str], Path | None]:
    """The persona's profile beside the folder of logs; a damaged one is counted and left out."""
    persona = _persona(log)
    for folder in (log.parent.parent / "user_profile", log.parent):
        file = folder / f"{persona}.yaml"
        if file.is_file():
            try:
                return profile_of(read_yaml(file), ledger), file
            except InputError as error:
                ledger.add("left out", "profiles that cannot be read", f"{file.name}: {error.want}")
                return {}, file
    ledger.add("noted", "logs without a profile (user_profile/<persona>.yaml)", log.name)
    return {}, None


def profile_of(raw: Any, ledger: Ledger) -> dict[str, str]:
    """Facts about the user as texts by dotted names, from ``user_profile``.

    Left out: ``habits``, which spell out the tasks of the benchmark with triggers and answers, what is to be learned
    from the log; and everything beside ``user_profile`` (states of simulated apps).
    """
    said = raw.get("user_profile") if isinstance(raw, dict) else None
    if not isinstance(said, dict):
        ledger.add("left out", "profiles without a mapping user_profile")
        return {}
    out: dict[str, str] = {}
    for name, value in said.items():
        if name == _LEFT_OUT:
            n = len(value) if isinstance(value, dict | list) else 1
            ledger.add("left out", "habits of the profile (what is to be learned from the log)", n=n)
        elif isinstance(value, dict):
            out.update({f"{name}.{inner}": flat for inner, one in value.items() if (flat := _flat(one))})
        elif flat := _flat(value):
            out[str(name)] = flat
    return out


def _flat(value: Any) -> str:
    """A value of any depth on one line; empty for nothing."""
    if isinstance(value, Mapping):
        return "; ".join(f"{k}: {flat}" for k, one in value.items() if (flat := _flat(one)))
    if isinstance(value, list):
        return ", ".join(filter(None, map(_flat, value)))
    return "" if value is None else " ".join((words(str(value)) or "").split())
