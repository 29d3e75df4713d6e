"""The most telling moments of runs, each with its picture and its story."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.report.facts import RunFacts
from simulator.report.frames import Frame, Recordings
from simulator.report.parts import Html, section
from simulator.report.svg import escaped
from simulator.report.telling import Telling, telling

__all__ = ["moments"]


def moments(facts: Sequence[RunFacts], recordings: Sequence[Recordings], most: int) -> tuple[Html, int]:
    """The most telling moments of each run with their pictures, and how many pictures that are."""
    if most <= 0:
        return Html(""), 0
    parts, n_frames, share = list[str](), 0, -(-most // len(facts))
    for f, of in zip(facts, recordings, strict=True):
        found = [] if f.opened is None else telling(f.opened, min(share, most - len(parts)))
        at: dict[str, list[int]] = {}
        for one in found:
            at.setdefault(one.unit, []).append(one.t_ns)
        pictures = {key: of.frames(key, instants) for key, instants in at.items()}
        for one in found:
            frame = pictures[one.unit][one.t_ns]
            n_frames += frame.data is not None
            parts.append(_moment(one, frame, f.name if len(facts) > 1 else ""))
    return section("Telling moments", *parts, id_="moments"), n_frames


def _moment(one: Telling, frame: Frame, run: str) -> str:
    where = ", ".join(filter(None, (run, one.unit, f"{one.t_ns / 1e9:.1f} s")))
    picture = (
        f'<img src="{frame.data}" width="{frame.width}" height="{frame.height}" alt="the screen at that moment">'
        if frame.data is not None
        else f'<p class="no-picture">{escaped(frame.note)}</p>'
    )
    note = f'<p class="soft">{escaped(frame.note)}</p>' if frame.data is not None and frame.note else ""
    agent = f"<blockquote>{escaped(one.agent, 1000)}</blockquote>" if one.agent else ""
    story = "".join(f"<p>{escaped(s, 1500)}</p>" for s in one.story)
    return (
        f'<article class="moment"><h3>{escaped(one.kind)}</h3><p class="soft">{escaped(where)}</p>{picture}{note}'
        f"<p><b>{escaped(one.title, 600)}</b></p>{agent}{story}</article>"
    )
