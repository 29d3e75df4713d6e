"""A cluster as a text of 100 to 120 tokens without a model: what is counted, and as many windows as there is room for.

The same numbers stand around the words of a model (``memory.persona_writer``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Literal

from memory.entry import Entry
from memory.wording import estimate_tokens, one_line, percent
from simulator.core.types import SECOND

__all__ = ["KINDS", "LEAST", "MOST", "Among", "Kind", "Told", "clipped", "extractive", "filled", "told"]

LEAST, MOST = 100, 120
"""Tokens of a persona, as published (ProAgentBench, App. C)."""
_FEW = 5
_STOPS = (".", "!", "?", "…", "。", "！", "？")
_NOTES = (
    "The windows named are the most typical and the most different of their kind.",
    "They stand for the rest of it.",
    "Shares are counted over the moments known when this was put together.",
    "They go by whether help was needed then, and are not a guess.",
    "What the user does next may be another thing.",
    "Read this as a habit that has been seen, not as a rule.",
    "Look at the window in front first.",
    "Where it is like these, what was needed then may be needed now.",
    "Where it is not, this tells nothing of it.",
)
"""Whole sentences for a text with little to count, none longer than the 20 tokens between ``LEAST`` and ``MOST``."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of moments, in words.

    Attributes:
        name: as in "moments with help needed"; ``short`` as in "all moments with help".
        short: see ``name``.
        opening: of what a model is told of it.
        share: of which moments it is told how often help was needed: of those ``nearest`` to a cluster, since with and
            without help apart its ``own`` share would be 1 or 0; of its own; or of ``none``.
    """

    name: str
    short: str
    opening: str
    share: Literal["nearest", "own", "none"]


KINDS: Mapping[str, tuple[Kind, Kind]] = {
    "help": (
        Kind("with help needed", "with help", "Moments in which the user needed help", "nearest"),
        Kind("without help needed", "without help", "Moments in which no help was needed", "nearest"),
    ),
    "assistance": (
        Kind("with an assistant", "with an assistant", "Moments in which the user worked with an assistant", "none"),
        Kind(
            "without an assistant",
            "without an assistant",
            "Moments in which the user worked without an assistant",
            "own",
        ),
    ),
}
"""By what is clustered apart (``kinds``): whether help was needed, or, as published, whether an assistant was used."""


@dataclass(frozen=True, slots=True)
class Among:
    """Where a cluster stands among the rest.

    Attributes:
        kind: of its moments.
        n_kind: moments of that kind in all.
        counted: moments that its share of help is counted over (``Kind.share``), none of them with an assistant;
            ``needed`` how many of these needed help.
    """

    kind: Kind
    n_kind: int
    needed: int
    counted: int


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of a cluster, beside its windows.

    Attributes:
        head: how the text begins, with the number of moments.
        tail: how often help was needed, for what, and one question.
        more: further sentences, the most telling first, for as long as there is room.
        intention: the most frequent need; ``query`` a question asked for it.
        needs: all of them, the most frequent first.
    """

    head: str
    tail: str
    more: tuple[str, ...]
    intention: str | None
    query: str | None
    needs: tuple[str, ...]


def told(moments: Sequence[Entry], of: Among, summaries: Sequence[str]) -> Told:
    """The numbers of a cluster in words.

    Args:
        moments: all of the cluster's, in the order in which they became known.
        of: where it stands.
        summaries: of the events shown, where there are any.
    """
    labels = [m.label for m in moments if m.label is not None and m.label.help]
    needs = Counter(one.intention for one in labels if one.intention is not None)
    ordered = tuple(sorted(needs, key=lambda c: (-needs[c], c)))
    intention = ordered[0] if ordered else None
    asked = [(one.query, one.intention) for one in reversed(labels) if one.query]
    query = next((question for question, need in asked if need == intention), None)
    another = next((question for question, _ in asked if question != query), None)

    head = f"Moments {of.kind.name} ({len(moments)})"
    most = None if intention is None else (intention, percent(needs[intention], len(labels)))
    tail = _tail(of, len(labels), most, query)
    more: list[str] = []
    if len(ordered) > 1:
        others = ", ".join(f"{clipped(c, 12)} {percent(needs[c], len(labels))}" for c in ordered[1:4])
        more.append(f"Other needs of these: {others}.")
    happened = dict.fromkeys(clipped(text, 30) for text in summaries)
    more += [f"What happened: {text}{'' if text.endswith(_STOPS) else '.'}" for text in [*happened][:2]]
    if another is not None:
        more.append(f"Also asked: “{clipped(another, 20)}”.")
    more += _habits(moments, of)
    if len(moments) < _FEW:
        more.append("Few moments are behind this.")
    return Told(head, tail, tuple(more), intention, query, ordered)


def extractive(said: Told, windows: Sequence[str]) -> tuple[str, int]:
    """The text, and how many of the windows, each another one, it names (at least one)."""
    tail = f"{said.tail}."
    places = [clipped(windows[0], 30)]
    for window in windows[1:]:
        longer = f"{said.head}: {'; '.join([*places, window])}. {tail}"
        if estimate_tokens(longer) > MOST:
            break
        places.append(window)
    return filled(f"{said.head}: {'; '.join(places)}. {tail}", said.more), len(places)


def filled(text: str, more: Sequence[str]) -> str:
    """A text with as many further sentences as bring it to 100 tokens, and not past 120; a longer one is cut."""
    text = clipped(text, MOST)
    for sentence in (*more, *_NOTES):
        if estimate_tokens(text) >= LEAST:
            break
        longer = f"{text} {sentence}"
        if estimate_tokens(longer) <= MOST:
            text = longer
    return text


def clipped(text: str, tokens: int) -> str:
    """One line of at most so many tokens, cut behind a word where there is one."""
    flat = one_line(text, 4 * tokens)  # a token is a quarter of a character or a whole one
    if estimate_tokens(flat) <= tokens:
        return flat
    spent = 0  # quarters of a token
    for end, character in enumerate(flat):
        spent += 4 if ord(character) >= 0x2E80 else 1
        if spent > 4 * tokens - 4:  # room for the dots
            short = flat[:end]
            at = short.rfind(" ")
            return (short[:at] if at > end * 2 // 3 else short).rstrip(" ,;:") + "…"
    return flat


def _tail(of: Among, n_needs: int, most: tuple[str, str] | None, question: str | None) -> str:
    """How often help was needed, and for what; each share with the moments that it is of.

    Args:
        of: where the cluster stands.
        n_needs: how many of its moments have a need that is known.
        most: the most frequent of these, and its share.
        question: one that was asked for it.
    """
    asked = "" if question is None else f"an earlier question: “{clipped(question, 24)}”"
    need, share_of_need = ("", "") if most is None else (clipped(most[0], 15), most[1])
    if of.kind.share == "nearest":
        here = "; ".join(filter(None, (f"main need: {need} ({share_of_need} of these)" if most else "", asked)))
        share = percent(of.needed, of.counted)
        near = f"Of the {of.counted} moments nearest these {share} needed help"
        return f"{here[0].upper()}{here[1:]}. {near}" if here else near
    if of.kind.share == "own":
        tail, base = f"Help was needed in {of.needed} of {of.counted} ({percent(of.needed, of.counted)})", f"{n_needs}"
    else:
        tail, base = "The user had turned to an assistant", f"{n_needs} known needs"
    if most is not None:
        tail += f", most often for {need} ({share_of_need} of {base})"
    return "; ".join(filter(None, (tail, asked)))


def _habits(moments: Sequence[Entry], of: Among) -> list[str]:
    """Where, how long and how often, as sentences."""
    apps = Counter(clipped(m.event.app, 8) for m in moments if m.event.app)
    usual = ", ".join(f"{app} {percent(n, len(moments))}" for app, n in sorted(apps.items(), key=_most_first)[:3])
    n_titles = len({m.event.title for m in moments})
    lengths = [m.event.end_ns - m.event.start_ns for m in moments]
    known = [m.known_ns for m in moments]
    days = (max(known) - min(known)) / (86_400 * SECOND)
    these = "This one is" if len(moments) == 1 else f"These {len(moments)} are"
    share = percent(len(moments), of.n_kind)
    said = [f"{these} {share} of all moments {of.kind.short}, under {_titles(n_titles)}."]
    if usual:
        said.insert(0, f"Applications: {usual}.")
    said.append(f"Such a moment lasts {_duration(median_low(lengths))}, at most {_duration(max(lengths))}.")
    if days >= 1:
        said.append(f"These lie within {days:.0f} days.")
    return said


def _most_first(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]


def _titles(n: int) -> str:
    return "1 title" if n == 1 else f"{n} different titles"


def _duration(ns: int) -> str:
    seconds = ns // SECOND
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
