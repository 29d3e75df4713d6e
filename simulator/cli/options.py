"""The options of ``proact run``: light, since ``--help`` shows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

__all__ = ["Options", "split_memories"]


def _option(help_: str) -> Parameter:
    return Parameter(help=help_)


def _switch(help_: str) -> Parameter:
    return Parameter(help=help_, negative="")


@Parameter(name="*")
@dataclass
class Options:
    """The options of ``proact run``."""

    agent: Annotated[str, _option("Name or path.py:Class, with parameters: random:rate=0.1.")] = "prior"
    memory: Annotated[str, _option("none, window, rag, graph, personas; several with commas, one run each.")] = "rag"
    clock: Annotated[str, _option("measured, modelled, journal, wall or elastic.")] = "measured"
    latency: Annotated[str | None, _option("For modelled: fixed:350ms, profile:5s, token:…, from:RUN.")] = None
    journal: Annotated[Path | None, _option("For journal: the earlier run's folder.")] = None
    policy: Annotated[str | None, _option("When the stream is faster: latest_only, queue_all, overlap:4, ….")] = None
    protocol: Annotated[str | None, _option("stream, moments or trajectory.")] = None
    gate: Annotated[str | None, _option("standard, off or window:30s.")] = None
    seed: Annotated[int | None, _option("Seed of all chance.")] = None
    timeout: Annotated[str, _option("Limit of one decision's charge.")] = "60s"
    memory_mode: Annotated[str | None, _option("online (grows during the run) or frozen (history only).")] = None
    window: Annotated[str | None, _option("How far back the history view reaches, such as 5min.")] = None
    speed: Annotated[int | None, _option("For elastic: idle stretches at most so many times real time.")] = None
    max_gap: Annotated[str | None, _option("For wall: idle real time to wait at most; stamps stay true.")] = None
    twin: Annotated[bool, _switch("Play a zero-charge twin of each unit too, for F1_instant.")] = False
    again: Annotated[bool, _switch("Play all units anew, also those that are there.")] = False
    out: Annotated[Path | None, _option("The run's folder; default runs/AGENT-MEMORY-HASH.")] = None
    json: Annotated[bool, _switch("One JSON record a line on stdout, the last one 'done'.")] = False


def split_memories(text: str) -> list[str]:
    """Several memories in one word: a piece such as ``k=3`` belongs to the memory before it.

    >>> split_memories("rag:k=3,decay=2,graph")
    ['rag:k=3,decay=2', 'graph']
    """
    found: list[str] = []
    for piece in filter(None, text.split(",")):
        if found and "=" in piece and ":" not in piece:
            found[-1] += f",{piece}"
        else:
            found.append(piece)
    return found
