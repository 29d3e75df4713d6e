"""Why each true and each predicted intent of a trajectory was counted as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scorers.base import Context, Unit
from scorers.explaining import Told, number, some
from scorers.matching import Content, maximum
from scorers.pira import Entry, Pira, merged, true_entries, true_intents, unmerged
from simulator.core.errors import quote

__all__ = ["explain_trajectory"]

_SETS = {"retained": "not taken back by the end", "ever": "ever offered"}
_ONE_SET = {"retained": "offered"}
"""Where nothing was taken back, both sets are one, and are told once."""


@dataclass(frozen=True, slots=True)
class _Set:
    """One predicted set, ``said`` in words, against the true one: ``head`` of each entry is its place in ``kept``;
    ``fits[i]`` are the kept predictions that are right for true intent i, ``by[i]`` the one that matched it.
    """

    said: str
    entries: Sequence[Entry]
    kept: Sequence[Entry]
    head: Sequence[int]
    fits: Sequence[Sequence[int]]
    by: Sequence[int | None]


def explain_trajectory(unit: Unit, context: Context, matcher: str = "category") -> list[Told]:
    """The sample as a whole; every true intent; every entry of both predicted sets, which are told as one where nothing
    was taken back. Near-duplicates of one entry are told together, by the first of them.
    """
    kind = Pira(matcher).content(unit.key, context)
    listed = true_entries(true_intents(unit))
    true, true_head = merged(listed, kind)
    entries = {name: unmerged(unit.log, ever=name == "ever") for name in _SETS}
    words = _SETS if entries["retained"] != entries["ever"] else _ONE_SET
    sets = {name: _set(said, entries[name], true, kind) for name, said in words.items()}
    none_back = () if len(sets) > 1 else ("None was taken back: those retained are those ever offered.",)
    told = [_told_sample(name, found, len(true), none_back) for name, found in sets.items()]
    for n, (entry, at) in enumerate(zip(listed, true_head, strict=True)):
        if n != true_head.index(at):
            why = f"It counts as one with the true intent {_shown(true[at])}: {kind.why(entry, true[at], True)}."
            told.append(Told("intent", str(n), "merged", _shown(entry), (why,), _facts(entry)))
        else:
            told.append(_told_true(str(n), entry, at, sets, kind))
    for name, found in sets.items():
        told += _told_predictions(name, found, true, kind)
    return told


def _told_predictions(of: str, found: _Set, true: Sequence[Entry], kind: Content) -> list[Told]:
    """Each entry, and after it those that were merged with it."""
    told = []
    for at in range(len(found.kept)):
        first, *others = (n for n, head in enumerate(found.head) if head == at)
        told.append(_told_said(of, first, found, true, kind))
        if others:
            told.append(_told_merged(of, others, found, kind))
    return told


def _told_merged(of: str, ns: Sequence[int], found: _Set, kind: Content) -> Told:
    """Entries of one set that count with one that came before them."""
    head, first = found.kept[found.head[ns[0]]], found.entries[ns[0]]
    alike = "A near-duplicate" if len(ns) == 1 else f"{len(ns)} near-duplicates"
    why = f"{alike} of {_shown(head)}, which came first, and counted with it: {kind.why(first, head, True)}."
    words = dict.fromkeys(_shown(found.entries[n]) for n in ns)
    title = f"{some(list(words))}, {found.said}"
    threads = [found.entries[n].thread for n in ns]
    facts = {"set": of, **_facts(first), "n": len(ns), "threads": [t for t in threads if t is not None]}
    return Told("prediction", f"{of} {ns[0]}", "merged", title, (why,), facts)


def _set(said: str, entries: Sequence[Entry], true: Sequence[Entry], kind: Content) -> _Set:
    kept, head = merged(entries, kind)
    right, every = kind.right(kept, true), np.arange(len(kept))
    fits = [every[right(i, every)].tolist() for i in range(len(true))]
    return _Set(said, entries, kept, head, fits, maximum(right, len(true), len(kept)))


def _shown(entry: Entry) -> str:
    if not entry.text or entry.text == entry.intention:
        return quote(entry.intention)
    return f"{quote(entry.intention)} {quote(entry.text)}"


def _facts(entry: Entry) -> dict[str, str | None]:
    return {"intention": entry.intention, "text": entry.text, "thread": entry.thread}


def _told_sample(name: str, found: _Set, n_true: int, more: tuple[str, ...]) -> Told:
    n, hit = len(found.kept), sum(j is not None for j in found.by)
    title = f"the set of intents {found.said}"
    if not n_true:
        why = f"Nothing was to be found: a negative sample, and {n} predicted goes into FPS."
        return Told("sample", name, "negative", title, (why, *more), {"predicted": n, "true": 0, "matched": 0})
    precision = number(hit / n) if n else "0, as nothing was predicted"
    why = (
        f"{n} predicted, {n_true} true, {hit} matched: P = {precision}, R = {number(hit / n_true)}, "
        f"F1 = {number(2 * hit / (n + n_true))}; the figures of a run are means over such samples."
    )
    return Told("sample", name, "positive", title, (why, *more), {"predicted": n, "true": n_true, "matched": hit})


def _told_true(name: str, entry: Entry, at: int, sets: dict[str, _Set], kind: Content) -> Told:
    why = []
    for found in sets.values():
        j = found.by[at]
        if j is not None:
            head = found.kept[j]
            why.append(f"Of the intents {found.said} {_shown(head)} matched it: {kind.why(head, entry, True)}.")
        elif found.fits[at]:
            names = some([_shown(found.kept[j]) for j in found.fits[at]])
            why.append(f"Of the intents {found.said} those right for it matched other true intents: {names}.")
        else:
            n = len(found.kept)
            why.append(f"Of the {n} intent{'' if n == 1 else 's'} {found.said} none is right for it.")
    verdict = "missed" if sets["retained"].by[at] is None else "matched"
    return Told("intent", name, verdict, _shown(entry), tuple(why), _facts(entry))


def _told_said(of: str, n: int, found: _Set, true: Sequence[Entry], kind: Content) -> Told:
    entry, at = found.entries[n], found.head[n]
    title = f"{_shown(entry)}, {found.said}" + ("" if entry.thread is None else f", thread {quote(entry.thread)}")
    facts, name = {"set": of, **_facts(entry)}, f"{of} {n}"
    head = found.kept[at]
    if at in found.by:
        i = found.by.index(at)
        why = f"It matched the true intent {_shown(true[i])}: {kind.why(head, true[i], True)}."
        return Told("prediction", name, "matched", title, (why,), {**facts, "matched": true[i].text})
    near = [_shown(true[i]) for i, fits in enumerate(found.fits) if at in fits]
    if not true:
        why = "Nothing was to be found: a false positive."
    elif near:
        why = f"It was right for {some(near)}, but another prediction matched that: one serves one."
    else:
        why = (
            "It is not right for the one true intent."
            if len(true) == 1
            else (f"It is right for none of the {len(true)} true intents.")
        )
    return Told("prediction", name, "extra", title, (why,), facts)
