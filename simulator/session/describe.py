"""``proact dataset describe``: what a recorded session holds, in numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from simulator.core.calendar import from_utc_ns
from simulator.core.faults import told
from simulator.core.intentions import canonical
from simulator.core.taxonomy import category
from simulator.core.types import SECOND
from simulator.session.history import recorded_assists
from simulator.session.quality import Sieve
from simulator.session.reader import Header, Reader
from simulator.session.rhythm import burstiness

__all__ = ["describe"]


def describe(session: Path, *, monitor: int | None = None) -> dict[str, Any]:
    """Length, rows, applications, events, needs and pictures of a session; unknown is None.

    Raises:
        InputError: the session cannot be read.
    """
    with told(session), Reader(session, monitor=monitor) as reader:
        header = reader.header
        return {
            "session": header.session,
            "user": header.user,
            "state": header.state,
            "starts_utc": None if header.utc_anchor_ns is None else _iso(header.utc_anchor_ns),
            "starts_utc_ns": header.utc_anchor_ns,
            "zone": header.zone,
            "rate_hz": SECOND / header.period_ns,
            "hours": header.end_ns / SECOND / 3600,
            "gaps": _gaps(header),
            "monitors": {str(k): v for k, v in header.monitors.items()},
            **_rows(reader),
            "events": _events(reader),
            "annotations": _annotations(reader),
            "profile": sorted(header.profile),
        }


def _iso(utc_ns: int) -> str:
    return from_utc_ns(utc_ns).isoformat(timespec="seconds")


def _gaps(header: Header) -> dict[str, Any]:
    seconds: Counter[str] = Counter()
    for gap in header.gaps:
        seconds[gap.reason] += (gap.end_ns - gap.start_ns) // SECOND
    return {"n": len(header.gaps), "seconds_by_reason": dict(sorted(seconds.items()))}


def _rows(reader: Reader) -> dict[str, Any]:
    where, args = ("", ()) if reader.header.monitor is None else (" WHERE monitor = ?", (reader.header.monitor,))
    sql = (
        f"SELECT app_name, window_title, COUNT(*), COUNT(file_path), COUNT(text) FROM screenshots{where} GROUP BY 1, 2"
    )
    apps: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    n_rows = n_pictured = n_text = 0
    for app, title, n, pictured, text in reader.fetch(sql, args):
        apps[app or "(unknown)"] += n
        kinds[category(app, title) or "(unknown)"] += n
        n_rows, n_pictured, n_text = n_rows + n, n_pictured + pictured, n_text + text
    files, size = reader.fetch(
        "SELECT COUNT(*), SUM(s) FROM (SELECT MIN(file_size) AS s FROM screenshots "
        "WHERE file_path IS NOT NULL GROUP BY file_path)"
    )[0]
    return {
        "rows": n_rows,
        "rows_with_image": n_pictured,
        "rows_with_text": n_text,
        "distinct_images": files,
        "image_bytes": size,
        "apps": dict(apps.most_common(20)),
        "categories": dict(kinds.most_common()),
    }


def _annotations(reader: Reader) -> dict[str, dict[str, int]]:
    """By annotator: how many events, of these annotated wholly, of these assistance events."""
    found: dict[str, Counter[str]] = {}
    for name, status, assistance in reader.table("annotations", ("annotator", "status", "assistance")):
        whole = status == "annotated"
        counts = found.setdefault(name, Counter())
        counts.update({"n": 1, "annotated": whole, "assistance": whole and bool(assistance)})
    return {name: dict(counts) for name, counts in sorted(found.items())}


def _events(reader: Reader) -> dict[str, Any]:
    columns = ("start_ns", "end_ns", "is_llm_event", "excluded")
    sieve, lengths = Sieve(), []
    n = n_assistance = 0
    for start, end, assistance, excluded in reader.table("events", columns, order="start_ns, id"):
        n += 1
        n_assistance += bool(assistance)
        if start is not None and end is not None:
            lengths.append((end - start) / SECOND)
            sieve.reason(start, end, None, assistance=bool(assistance), excluded=excluded)
    assists = recorded_assists(reader, lambda text: canonical(text) or text)
    opportunities = reader.table("opportunities", ("intention",))
    return {
        "n": n,
        "assistance": n_assistance,
        "assistance_share": n_assistance / n if n else None,
        "median_s": float(np.median(lengths)) if lengths else None,
        "intentions": dict(Counter(a.intention for a in assists if a.intention).most_common()),
        "burstiness": burstiness([a.start_ns for a in assists]),
        "opportunities": len(opportunities),
        "opportunity_intentions": dict(Counter(str(i) for (i,) in opportunities).most_common()),
        "quality": sieve.summary(),
    }
