"""Forgetting what a run folder holds of a user: the words go, the numbers stay and can still be scored.

All of a user: each of their units is written anew without words, name and date under a key that says nothing, then
``run.json`` names that one, then the old folder goes, its log last. A stretch of time: from its start on nothing that
an agent said stays, since it may quote what it remembered, and needs in the stretch lose the user's question. Hashes
in ``run.json`` and in the log's head follow, so ``proact score`` reads the run as before; ``scores.json`` is removed,
it can be computed again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.lock import FolderLock, is_locked
from simulator.privacy.disk import remove, remove_tree, replace
from simulator.privacy.items import Item, Unreached
from simulator.privacy.run_files import canonical, digest_of, head_of, line_of, read_object, records, write_object
from simulator.privacy.run_of import FORGOTTEN, LOCK, LOG, RUN, UnitOf, lock_of, units_of
from simulator.privacy.scrub import GONE, Scrubber
from simulator.privacy.span import Span
from simulator.session.ignored import IGNORED, is_ours

__all__ = ["is_others", "plan_run", "units_of_others", "without_names"]

SCORES, TRUTH, TRACES, TWIN, FEEDBACK = "scores.json", "truth.json", "errors.txt", "twin", "feedback.jsonl"
_CASSETTES, _VERDICTS, _REPORT = "cassettes", "judge.jsonl", "report.html"
_UNIT, _SCORED = "unit.json", ".scored"  # of runs that a sweep made
_HASH = re.compile("[0-9a-f]{64}")
_PLAYED = "a run is being played into {}: wait for it and call again"


def plan_run(run: Path, user: str, span: Span, played_as: frozenset[tuple[str, str]]) -> Item | Unreached | None:
    """What of a run is the user's; None for nothing.

    Args:
        run: its folder.
        user: whose.
        span: when.
        played_as: (user, session) under which recordings of the user were played by scenarios that name somebody else.

    Raises:
        InputError: ``run.json`` cannot be read.
    """
    told_of = read_object(run / RUN) if (run / RUN).is_file() else {}
    found = [unit for unit in units_of(run, told_of) if _is_of(unit, told_of, user, played_as)]
    units = found if span.everything else [u for unit in found if (u := _in_span(unit, span)) is not None]
    if not units:
        return None
    if is_locked(lock_of(run)):
        return Unreached(run, _PLAYED.format(run))
    if (link := _link(run, units)) is not None:
        return Unreached(link, "a link, not followed: units of this run lie in another folder")
    asked = frozenset(text for unit in units for text in _asked(unit))
    offered = frozenset(text for unit in units for text in _offered(unit))
    played = sum(bool(unit.header) for unit in units)
    said = f"{played} unit{'' if played == 1 else 's'}: what was said goes, numbers stay"
    called = frozenset(name for u in units for name in (u.key, str(u.header.get("session") or u.key)))
    if span.everything:
        names = tuple(sorted({user, *(str(u.header.get("session") or u.key) for u in units)}))
        return Item("run", run, said, lambda: _forget_all(run, user, units, names), asked, called, offered)
    pending = [unit for unit in units if _is_changed(unit, span)]
    if not pending and all(read_object(run / RUN) == _summed_up(run, told_of, unit) for unit in units):
        return None
    return Item("run", run, said, lambda: _forget_span(run, units, span), asked, called, offered)


def units_of_others(run: Path, user: str, played_as: frozenset[tuple[str, str]]) -> list[Path]:
    """Folders of a run's units that are not the user's; none where it cannot be read, which ``plan_run`` tells.

    What was said in them may be of the user all the same: some memories read the past of others (``shuffled-user``,
    ``scope=global``).
    """
    try:
        told_of = read_object(run / RUN) if (run / RUN).is_file() else {}
        others = [unit for unit in units_of(run, told_of) if not _is_of(unit, told_of, user, played_as)]
    except InputError:
        return []
    return [unit.folder for unit in others if unit.header.get("user") != FORGOTTEN]


def _link(run: Path, units: list[UnitOf]) -> Path | None:
    """A folder of the run that is a link: what it holds may be others' too."""
    folders = [run / "units", *(folder for unit in units for folder in (unit.folder, unit.folder / TWIN))]
    return next((folder for folder in folders if folder.is_symlink()), None)


def _is_of(unit: UnitOf, told_of: Mapping[str, Any], user: str, played_as: frozenset[tuple[str, str]]) -> bool:
    resolved = told_of.get("resolved", {}).get(unit.key, {})
    truth = read_object(unit.folder / TRUTH) if not unit.header and (unit.folder / TRUTH).is_file() else {}
    whose = {(str(said.get("user")), str(said.get("session"))) for said in (unit.header, resolved, truth) if said}
    return any(name == user or (name, session) in played_as for name, session in whose)


def _in_span(unit: UnitOf, span: Span) -> UnitOf | None:
    """The unit with the instant from which on words go; None if it ended before."""
    zero, end = unit.header.get("utc_anchor_ns"), unit.header.get("end_ns")
    if not isinstance(zero, int) or not isinstance(end, int):
        return UnitOf(unit.key, unit.folder, unit.header)  # nobody knows when it was: all of it
    if span.start_ns is not None and zero + end <= span.start_ns:
        return None
    # A run of a later session may quote the stretch from memory: words go there too, from its beginning.
    return UnitOf(unit.key, unit.folder, unit.header, 0 if span.start_ns is None else max(0, span.start_ns - zero))


def _forget_all(run: Path, user: str, units: list[UnitOf], names: tuple[str, ...]) -> list[Unreached]:
    with _locked(run):
        told_of = read_object(run / RUN) if (run / RUN).is_file() else {}
        resolved, results = dict(told_of.get("resolved", {})), dict(told_of.get("units", {}))
        for unit in units:
            head, result = resolved.pop(unit.key, {}), results.pop(unit.key, {})
            key, header = _renamed(run, unit, names)
            if header:
                same = {k: v for k, v in header.items() if k not in ("kind", "schema")}
                resolved[key] = {k: same[k] for k in head if k in same} if head else same
                results[key] = _result(result or results.get(key, {}), run / "units" / key / LOG)
        if told_of:
            made = {**told_of, "identity": digest_of(resolved), "resolved": resolved, "units": results}
            made["given"] = without_names(told_of.get("given"), names)
            write_object(run / RUN, made)
        _drop_derived(run)
        for unit in units:
            remove_tree(unit.folder, last=unit.folder / LOG if unit.header else None)
    return _others(run)


def _renamed(run: Path, unit: UnitOf, words: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """A played unit under a key that says nothing: the same one however often this is cut short, and the header of its
    new log. No header for one that was never played, or whose log cannot be read: nothing of it stays.
    """
    if not unit.header:
        return "", {}
    key = f"{FORGOTTEN}-{sha256(unit.key.encode() + (unit.folder / LOG).read_bytes()).hexdigest()[:8]}"
    new = run / "units" / key
    try:
        header = _rewrite(unit.folder, new, key, words)
        if (unit.folder / TWIN / LOG).is_file():
            _rewrite(unit.folder / TWIN, new / TWIN, key, words)
    except InputError:
        remove_tree(new)
        return "", {}
    return key, header


def _rewrite(old: Path, new: Path, key: str, words: tuple[str, ...]) -> dict[str, Any]:
    """A unit's log and truth without words, names and dates, into another folder; the new log's header."""
    new.mkdir(parents=True, exist_ok=True)
    scrubber, names = Scrubber(), {"session": key, "user": FORGOTTEN, "utc_anchor_ns": None, "person": FORGOTTEN}
    if (old / TRUTH).is_file():
        truth = scrubber.truth(read_object(old / TRUTH)) | {"session": key, "user": FORGOTTEN}
        replace(new / TRUTH, canonical(truth) + b"\n")
        names["truth"] = digest_of(truth)
    elif (new / TRUTH).is_file():  # the old one went before a call was cut short
        names["truth"] = digest_of(read_object(new / TRUTH))
    lines, header = list[bytes](), dict[str, Any]()
    for record in records(old / LOG):
        if record.get("kind") == "header":
            if not _HASH.fullmatch(str(record.get("recording", ""))):  # a name that somebody gave it
                names["recording"] = key
            header = without_names(record, words) | {k: v for k, v in names.items() if k in record}
            lines.append(line_of(header))
        else:
            lines.append(line_of(scrubber.record(record)))
    replace(new / LOG, b"".join(lines))
    return header


def _forget_span(run: Path, units: list[UnitOf], span: Span) -> list[Unreached]:
    with _locked(run):
        told_of = read_object(run / RUN) if (run / RUN).is_file() else {}
        for unit in units:
            for folder in (unit.folder, unit.folder / TWIN):
                for path, content in _without_span(folder, unit, span).items():
                    replace(path, content)
                remove(folder / TRACES) if folder.is_dir() else None
            told_of = _summed_up(run, told_of, unit)
        if told_of:
            write_object(run / RUN, told_of)
        _drop_derived(run)
    return _others(run)


def _without_span(folder: Path, unit: UnitOf, span: Span) -> dict[Path, bytes]:
    """The files of a unit (or its twin) as they ought to be."""
    out: dict[Path, bytes] = {}
    zero, cut_ns = unit.header.get("utc_anchor_ns"), unit.cut_ns or 0

    def touched(start_ns: int, end_ns: int) -> bool:
        return not isinstance(zero, int) or span.touches(zero + start_ns, zero + end_ns)

    truth = read_object(folder / TRUTH) if (folder / TRUTH).is_file() else None
    if truth is not None:
        if touched(0, int(unit.header.get("end_ns", 0))):  # else a later session: its own truth is not of the stretch
            truth = Scrubber().truth(truth, touched)
        out[folder / TRUTH] = canonical(truth) + b"\n"
    if (folder / LOG).is_file():
        scrubber = Scrubber(_known(folder / LOG, truth or {}, cut_ns))
        digest = None if truth is None else digest_of(truth)
        out[folder / LOG] = b"".join(line_of(_cut(r, scrubber, cut_ns, digest)) for r in records(folder / LOG))
        if (folder / FEEDBACK).is_file():
            after = {record.get("seq") for record in records(folder / LOG) if _is_after(record, cut_ns)}
            out[folder / FEEDBACK] = b"".join(_verdicts(folder / FEEDBACK, after))
    if (folder / _UNIT).is_file():
        log = out.get(folder / LOG)
        out[folder / _UNIT] = line_of(_summary(read_object(folder / _UNIT), None if log is None else sha256(log)))
    return out


def _verdicts(file: Path, after: Set[object]) -> Iterator[bytes]:
    """Lines of what people said of offers: without those on decisions after the cut, whose words they may repeat."""
    for line in file.read_bytes().split(b"\n"):
        with suppress(ValueError, RecursionError, TypeError):
            told = json.loads(line)
            if isinstance(told, dict) and told.get("seq") not in after:
                yield line + b"\n"


def _known(log: Path, truth: Mapping[str, Any], cut_ns: int) -> frozenset[str]:
    """Threads and intentions that stand in the part of a unit that stays: there is no use in renaming them after it."""
    known = {n["intention"] for part in ("opportunities", "assists", "moments") for n in truth.get(part, ())}
    for record in records(log):
        if not _is_after(record, cut_ns):
            known.update(offer.get(key) for offer in _offers(record) for key in ("thread", "intention"))
    return frozenset(word for word in known if isinstance(word, str))


def _cut(record: dict[str, Any], scrubber: Scrubber, cut_ns: int, truth: str | None) -> dict[str, Any]:
    if record.get("kind") == "header":
        return record if truth is None else record | {"truth": truth}
    return scrubber.record(record) if _is_after(record, cut_ns) else record


def _is_after(record: Mapping[str, Any], cut_ns: int) -> bool:
    """Whether a record may hold words that were said from then on. Folded silences hold none."""
    ended = record.get("actionable_ns", record.get("done_ns"))
    return record.get("kind") != "silence" and (not isinstance(ended, int) or ended >= cut_ns)


def _is_changed(unit: UnitOf, span: Span) -> bool:
    folders = (unit.folder, unit.folder / TWIN)
    changed = any(p.read_bytes() != new for f in folders for p, new in _without_span(f, unit, span).items())
    return changed or any((f / TRACES).exists() for f in folders)


def _summed_up(run: Path, told_of: Mapping[str, Any], unit: UnitOf) -> dict[str, Any]:
    """``run.json`` as it ought to be once the unit's files have changed."""
    if unit.key not in told_of.get("resolved", {}):
        return dict(told_of)
    head, result = told_of["resolved"][unit.key], told_of.get("units", {}).get(unit.key, {})
    header = head_of(unit.folder / LOG)
    resolved = {**told_of["resolved"], unit.key: head | {k: header[k] for k in ("truth",) if k in header}}
    results = {**told_of.get("units", {}), unit.key: _result(result, unit.folder / LOG)}
    return {**told_of, "identity": digest_of(resolved), "resolved": resolved, "units": results}


def _result(result: Mapping[str, Any], log: Path) -> dict[str, Any]:
    """See ``_summary``."""
    return _summary(result, sha256(log.read_bytes()) if log.is_file() else None)


def _summary(result: Mapping[str, Any], log: Any) -> dict[str, Any]:
    """How a unit went, without the words of agent and memory; with the hash of its log."""
    made: dict[str, Any] = {}
    for key, value in result.items():
        if key == "audit" or not isinstance(value, (str, list, dict)):
            made[key] = value
        elif key == "log_sha256":
            made[key] = value if log is None else log.hexdigest()
        elif isinstance(value, str):
            made[key] = GONE if key == "error" else None
        else:
            made.update(Scrubber().record({key: value}))
    return made


def _asked(unit: UnitOf) -> Iterator[str]:
    """The user's questions in a unit's truth, for finding copies of them; as far as it can be read."""
    with suppress(InputError, LookupError, TypeError):
        if (unit.folder / TRUTH).is_file():
            raw = read_object(unit.folder / TRUTH)
            yield from (n["query"] for part in ("opportunities", "assists", "moments") for n in raw[part] if n["query"])


def _offered(unit: UnitOf) -> Iterator[str]:
    """What was said to the user in a unit, likewise."""
    with suppress(InputError):
        for record in records(unit.folder / LOG) if (unit.folder / LOG).is_file() else ():
            yield from (offer["text"] for offer in _offers(record) if offer.get("text"))


def _offers(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Of a decision; the log's last line has a count under that name."""
    offers = record.get("offers")
    return [offer for offer in offers if isinstance(offer, dict)] if isinstance(offers, list) else []


def _drop_derived(run: Path) -> None:
    """What can be computed again, model calls on tape, and what a killed writer left half written."""
    remove(run / _SCORED)
    remove(run / SCORES)
    remove(run / _VERDICTS)
    remove(run / _REPORT)
    remove_tree(run / _CASSETTES)
    for part in sorted(run.rglob("*.part")):
        remove_tree(part)


def _others(run: Path) -> list[Unreached]:
    known = {_VERDICTS, _REPORT, "units"}
    return [
        Unreached(path, "a file in the run's folder that proact did not make there")
        for path in sorted(run.iterdir())
        if path.name not in known and is_others(path)
    ]


def is_others(file: Path) -> bool:
    """Whether what lies in a run's folder is no part of the run. A report is none: it may be of other runs too."""
    known = (RUN, SCORES, LOCK, _SCORED, _UNIT)
    return file.name not in known and not (file.name == IGNORED and is_ours(file.parent))


class _locked:
    """Nobody plays into the run while its files change."""

    def __init__(self, run: Path) -> None:
        self._run = run

    def __enter__(self) -> None:
        self._lock = FolderLock(lock_of(self._run), _PLAYED.format(self._run))

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def without_names(value: Any, names: tuple[str, ...]) -> Any:
    """What was typed, without the name of the user or of a session where it stands alone between other signs."""
    if isinstance(value, str):
        for name in names:
            value = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", GONE, value)
        return value
    if isinstance(value, list):
        return [without_names(one, names) for one in value]
    return {k: without_names(v, names) for k, v in value.items()} if isinstance(value, dict) else value
