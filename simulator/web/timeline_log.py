"""What the replay timeline shows of a log and a truth as they are, before anything is counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator.core.types import SECOND
from simulator.runs.records import Ints, Kind, RunLog
from simulator.session.truth import Truth
from simulator.web.clipping import clip
from simulator.web.timeline_times import seconds_of

__all__ = ["LONG", "decisions", "failed", "needed", "stages", "write"]

LONG = 400
"""Characters of a text that lists carry; the whole is in the decision."""

_FAILED = (Kind.ERROR, Kind.UNPARSED)


def decisions(log: RunLog) -> dict[str, Any]:
    """The decisions as columns."""
    stamps = {c: getattr(log, f"{c}_ns") for c in ("captured", "content", "released", "started", "actionable")}
    return {
        "seq": log.seq.tolist(),
        "snapshot": log.snapshot.tolist(),
        "kind": log.kind.tolist(),
        "kinds": [kind.name.lower() for kind in Kind],
        "flags": log.flags.tolist(),
        "dropped": log.dropped_before.tolist(),
        **{f"{name}_s": _seconds(column) for name, column in stamps.items()},
    }


def stages(log: RunLog) -> dict[str, dict[str, list[Any]]]:
    """By stage, the rows of the decisions that report it, and how long it took, in seconds."""
    found: dict[str, dict[str, list[Any]]] = {}
    row_of = {int(seq): row for row, seq in enumerate(log.seq.tolist())}
    for seq, record in log.full.items():
        for name, ns in record.get("stages_ns", {}).items():
            column = found.setdefault(name, {"row": [], "s": []})
            column["row"].append(row_of[seq])
            column["s"].append(seconds_of(ns))
    return found


def failed(log: RunLog) -> dict[str, Any]:
    """How many decisions failed or could not be read, what each failed one is charged at least, in seconds, and by
    ``seq`` what was said of it.
    """
    timeout = log.header.get("timeout_ns")
    errors, unread = (int((log.kind == kind).sum()) for kind in _FAILED)
    said = {
        str(seq): clip(f"{e['kind']}: {e['text']}", LONG)
        for seq, record in log.full.items()
        if (e := record.get("error"))
    }
    charge_s = None if timeout is None else seconds_of(int(timeout))
    return {"errors": errors, "unparsed": unread, "charge_s": charge_s, "said": said}


def write(record: Mapping[str, Any]) -> dict[str, Any]:
    """One write of memory."""
    error = record.get("error")
    return {
        "seq": record["seq"],
        "what": record["what"],
        "event": record["event"],
        "started_s": seconds_of(record["started_ns"]),
        "done_s": seconds_of(record["done_ns"]),
        "error": None if error is None else error.get("kind"),
    }


def needed(truth: Truth) -> dict[str, Any]:
    """What was needed, and what else is known of the session."""
    return {
        "known": truth.known,
        "rule": truth.rule,
        "needs": [
            {
                "id": n.id,
                "opens_s": seconds_of(n.opens_ns),
                "closes_s": seconds_of(n.closes_ns),
                "acted_s": None if n.acted_ns is None else seconds_of(n.acted_ns),
                "intention": n.intention,
                "query": n.query,
                "weight": n.weight,
                "origin": n.origin,
                "unservable": n.unservable,
            }
            for n in sorted(truth.opportunities, key=lambda n: (n.opens_ns, n.id))
        ],
        "assists": [[seconds_of(a.start_ns), seconds_of(a.end_ns), a.intention] for a in truth.assists],
        "gaps": [[seconds_of(g.start_ns), seconds_of(g.end_ns), g.reason] for g in truth.gaps],
        "acts_s": [seconds_of(t) for t in truth.acts_ns],
    }


def _seconds(column: Ints) -> list[float]:
    found: list[float] = np.round(column / SECOND, 6).tolist()
    return found
