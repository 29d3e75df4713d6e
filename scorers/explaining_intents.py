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


@dataclass(frozen=True, slots=True)
class _Set:
    """One predicted set against the true one: ``head`` of each entry is its place in ``kept``; ``fits[i]`` are the
    kept predictions that are right for true intent i, ``by[i]`` the one that matched it.
    """

    entries: Sequence[Entry]
    kept: Sequence[Entry]
    head: Sequence[int]
    fits: Sequence[Sequence[int]]
    by: Sequence[int | None]


def explain_trajectory(unit: Unit, context: Context, matcher: str = "category") -> list[Told]:
    """The sample as a whole; every true intent; every entry of both predicted sets. Near-duplicates are among them."""
    kind = Pira(matcher).content(unit.key, context)
    listed = true_entries(true_intents(unit))
    true, true_head = merged(listed, kind)
    sets = {name: _set(unmerged(unit.log, ever=name == "ever"), true, kind) for name in _SETS}
    told = [_told_sample(name, found, len(true)) for name, found in sets.items()]
    for n, (entry, at) in enumerate(zip(listed, true_head, strict=True)):
        if n != true_head.index(at):
            why = f"It counts as one with the true intent {_shown(true[at])}: {kind.why(entry, true[at], True)}."
            told.append(Told("intent", str(n), "merged", _shown(entry), (why,), _facts(entry)))
        else:
            told.append(_told_true(str(n), entry, at, sets, kind))
    for name, found in sets.items():
        told += [_told_said(name, n, found, true, kind) for n in range(len(found.entries))]
    return told


def _set(entries: Sequence[Entry], true: Sequence[Entry], kind: Content) -> _Set:
    kept, head = merged(entries, kind)
    right, every = kind.right(kept, true), np.arange(len(kept))
    fits = [every[right(i, every)].tolist() for i in range(len(true))]
    return _Set(entries, kept, head, fits, maximum(right, len(true), len(kept)))


def _shown(entry: Entry) -> str:
    if not entry.text or entry.text == entry.intention:
        return quote(entry.intention)
    return f"{quote(entry.intention)} {quote(entry.text)}"


def _facts(entry: Entry) -> dict[str, str | None]:
    return {"intention": entry.intention, "text": entry.text, "thread": entry.thread}


def _told_sample(name: str, found: _Set, n_true: int) -> Told:
    n, hit = len(found.kept), sum(j is not None for j in found.by)
    title = f"the set of intents {_SETS[name]}"
    if not n_true:
        why = f"Nothing was to be found: a negative sample, and {n} predicted goes into FPS."
        return Told("sample", name, "negative", title, (why,), {"predicted": n, "true": 0, "matched": 0})
    precision = number(hit / n) if n else "0, as nothing was predicted"
    why = (
        f"{n} predicted, {n_true} true, {hit} matched: P = {precision}, R = {number(hit / n_true)}, "
        f"F1 = {number(2 * hit / (n + n_true))}; the figures of a run are means over such samples."
    )
    return Told("sample", name, "positive", title, (why,), {"predicted": n, "true": n_true, "matched": hit})


def _told_true(name: str, entry: Entry, at: int, sets: dict[str, _Set], kind: Content) -> Told:
    why = []
    for of, found in sets.items():
        j = found.by[at]
        if j is not None:
            head = found.kept[j]
            why.append(f"Of the intents {_SETS[of]} {_shown(head)} matched it: {kind.why(head, entry, True)}.")
        elif found.fits[at]:
            names = some([_shown(found.kept[j]) for j in found.fits[at]])
            why.append(f"Of the intents {_SETS[of]} those right for it matched other true intents: {names}.")
        else:
            why.append(f"Of the {len(found.kept)} intents {_SETS[of]} none is right for it.")
    verdict = "missed" if sets["retained"].by[at] is None else "matched"
    return Told("intent", name, verdict, _shown(entry), tuple(why), _facts(entry))


def _told_said(of: str, n: int, found: _Set, true: Sequence[Entry], kind: Content) -> Told:
    entry, at = found.entries[n], found.head[n]
    title = f"{_shown(entry)}, {_SETS[of]}" + ("" if entry.thread is None else f", thread {quote(entry.thread)}")
    facts, name = {"set": of, **_facts(entry)}, f"{of} {n}"
    head = found.kept[at]
    if n != found.head.index(at):
        why = (
            f"A near-duplicate of {_shown(head)}, which came first, and counted with it: {kind.why(entry, head, True)}."
        )
        return Told("prediction", name, "merged", title, (why,), facts)
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
        why = f"It is right for none of the {len(true)} true intents."
    return Told("prediction", name, "extra", title, (why,), facts)
