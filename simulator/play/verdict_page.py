"""The page of a verdict, in Markdown: the word, why, and for each data set two tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simulator.play.probing import K
from simulator.play.verdict_rule import BLIND, METRICS, RULE, Against, Member, Part, Verdict

__all__ = ["page"]

_HOW = (
    f"**recall@{K}**: of the past events whose true intention was that of the need, the share among the first {K} "
    f"recalled events (of {K} at most); **hit@{K}**: how often there was one; **MRR**: 1 / place of the first, on "
    "average; over needs whose intention had arisen before. **read**, **write**: real time of one call, 95th "
    "percentile. **visible**: from the begin of a write to the end of a recall that shows it. **tokens**: of a recall "
    f"of {K} items. **size**: of what the memory made of the past, as it reports itself (`bytes` in its `stats()`); "
    "- where it does not. **calls**: to models, per event. **recalled nothing**: of the agent's own recalls, those "
    "that brought no item (in the first minutes of a past there is nothing to recall); - where there was no memory to "
    "ask, or nobody counted. **errors**: decisions that failed or could not be read."
)
_BRACKETS = (
    "p in brackets is of what the rule does not read, such as the controls that are not blind: each by itself, not "
    "adjusted, so among several of them one is small by chance."
)
_CALLS = {
    "writes": ("write", "writes"),
    "upkeeps": ("upkeep", "upkeeps"),
    "tries": ("try of how soon a write can be read", "tries of how soon a write can be read"),
}
_BLIND = (
    "`shuffled-user` is somebody else's past as `rag` reads it, whatever memory is judged: so it is the same control "
    "in every verdict, and a memory need not be able to read two pasts to be held against it. What a memory's own way "
    "of reading is worth shows against `rag`, which reads the right one."
)


def page(verdict: Verdict) -> str:
    """The whole page."""
    return "\n".join(_lines(verdict)) + "\n"


def _lines(v: Verdict) -> Iterator[str]:
    yield f"# `{v.memory}`: {v.word}{' in ' if v.where else ''}{', '.join(v.where)}"
    yield ""
    yield f"{v.why[:1].upper()}{v.why[1:]}. Read by the agent `{v.agent}`."
    for part in v.parts:
        yield ""
        yield f"## {part.data.name}"
        yield ""
        yield from _part(part)
    yield ""
    yield "## How to read this"
    yield ""
    yield f"The rule: {RULE}"
    yield ""
    yield _BLIND
    yield ""
    yield (
        "**gain**, **change**: with the memory minus with the control, over the same sessions, with its 95 % interval. "
        f"{_BRACKETS} {_HOW}"
    )


def _part(part: Part) -> Iterator[str]:
    note = f" {part.data.note}" if part.data.note else ""
    yield f"{part.n_sessions} sessions of {part.n_users} users, protocol {part.protocol}.{note}"
    yield ""
    metrics = METRICS[part.protocol]
    down = {a.metric for a in part.against if a.direction == "down"}
    gains = [f"change in {m} (less is better)" if m in down else f"gain in {m}" for m in metrics]
    head = ["against", *gains, f"p ({part.deciding})", "would show from"]
    yield from _table(head, [_gains(part, member, metrics) for member in part.members[1:]])
    yield ""
    head = ["memory", *metrics, f"recall@{K}", f"hit@{K}", "MRR", "read ms", "write ms", "visible ms", "tokens", "size",
            "calls", "recalled nothing", "errors"]  # fmt: skip
    rows = [_figures(m, metrics) if m.reason is None else [m.name, *["-"] * (len(head) - 1)] for m in part.members]
    yield from _table(head, rows)
    notes = [f"`{m.name}` was not played: {m.reason}" for m in part.members if m.reason is not None]
    notes += [f"`{m.name}`, tried by itself: {said}" for m in part.members if (said := _failed(m.probed))]
    if notes:
        yield ""
        yield from (f"* {one}" for one in notes)


def _failed(probed: Mapping[str, Any]) -> str:
    """Which calls of the trial without an agent failed; empty where none did."""
    n = probed.get("failed") or {}
    if not n:
        return ""
    few = [f"{n['recalls']} of {probed['needs']} recalls failed and count as finding nothing"] if "recalls" in n else []
    few += [f"{n[what]} {told[n[what] > 1]} failed" for what, told in _CALLS.items() if what in n]
    first = str(probed.get("fault")).replace("`", "'")
    return f"{'; '.join(few)}; the first said `{first}`"


def _gains(part: Part, member: Member, metrics: Sequence[str]) -> list[str]:
    by = {a.metric: a for a in part.against if a.control == member.name}
    first = by[part.deciding]
    mark = "**" if member.name in BLIND else ""
    p = first.adjusted if first.adjusted is not None else first.p
    shown = "-" if p is None else "<.001" if p < 0.001 else f"{p:.3f}"
    if p is not None and first.adjusted is None:
        shown = f"({shown})"
    return [f"{mark}{member.name}{mark}", *(_gain(by[m]) for m in metrics), shown, _number(first.detectable)]


def _gain(a: Against) -> str:
    if a.gain is None:
        return "-"
    ends = "" if a.low is None or a.high is None else f" [{_number(a.low)}, {_number(a.high)}]"
    return f"{a.gain:+.3g}{ends}"


def _figures(member: Member, metrics: Sequence[str]) -> list[str]:
    p = member.probed
    calls: Any = None
    if "model_calls_per_event" in p:
        calls = p["model_calls_per_event"] + p.get("embedding_calls_per_event", 0.0)
    return [
        member.name,
        *(_number(member.scores.get(m)) for m in metrics),
        *(_number(p.get(name)) for name in (f"recall@{K}", f"hit@{K}", "mrr")),
        *(_number(p.get(name)) for name in ("read_ms_p95", "write_ms_p95", "visible_ms_p95", "tokens_per_recall")),
        _size(p.get("size_bytes")),
        _number(calls),
        "-" if member.recalls is None else f"{member.empty} of {member.recalls}",
        f"{member.errors} of {member.decisions}" if member.errors and member.decisions else str(member.errors),
    ]


def _size(n: int | None) -> str:
    return "-" if n is None else f"{n / 1e6:.1f} MB" if n >= 100_000 else f"{n / 1e3:.1f} kB"


def _number(x: float | None) -> str:
    return "-" if x is None else f"{x:.3g}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"
