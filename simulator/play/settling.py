"""What only its end could tell of a live run, put into its folder from the recording afterwards, also after a kill."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from simulator.core.lock import FolderLock
from simulator.runs import runlog
from simulator.runs.folder import digest, read_run, write_json
from simulator.runs.lock import LOCK
from simulator.runs.unit import LOG, TRUTH, file_digest
from simulator.session import truth as truths
from simulator.session.scenario import plays

__all__ = ["settle"]


def settle(run: Path) -> bool:
    """Put into a live run what only its end could tell; False where there is nothing to do. A recording that a kill
    left open may still change: of that run it is done anew each time, until the recording is closed.

    Raises:
        InputError: the recording cannot be read, or holds nothing.
        UsageError: it still goes on. Its log is being written, and nothing of it is touched.
    """
    if read_run(run)["given"].get("settled") is not False:
        return False
    lock = FolderLock(run / LOCK, f"{run} is a live run that still goes on; it has figures once it has ended")
    try:
        return _settled(run)
    finally:
        lock.release()


def _settled(run: Path) -> bool:
    """See ``settle``; nobody else is in the folder."""
    told = read_run(run)
    if told["given"].get("settled") is not False:  # another one did it meanwhile
        return False
    (key, header) = next(iter(told["resolved"].items()))
    (play,) = plays([Path(told["given"]["live"])])
    facts = {
        "session": play.source.session,
        "end_ns": play.truth.end_ns,
        "utc_anchor_ns": getattr(play.source, "utc_anchor_ns", None),
        "dataset": play.dataset_hash,
        "recording": play.recording,
        "truth": play.truth.digest(),
    }
    unit = run / "units" / key
    truths.write(play.truth, unit / TRUTH)
    _new_head(unit / LOG, facts)
    resolved = {key: header | facts}
    unit_told = told["units"].get(key) or {}
    if unit_told.get("log_sha256") is not None:
        unit_told |= {"log_sha256": file_digest(unit / LOG)}
    header_of = getattr(play.source, "header", None)
    given = told["given"] | {"settled": header_of is None or header_of.state != "recording"}
    new = {"resolved": resolved, "identity": digest(resolved), "given": given, "units": {key: unit_told}}
    write_json(run / "run.json", told | new)
    return True


def _new_head(log: Path, facts: dict[str, Any]) -> None:
    """The log with a header that knows these facts; beside, then in its place."""
    header = runlog.read_header(log) | facts
    part = log.with_name(log.name + ".part")
    with log.open("rb") as old, part.open("wb") as new:
        old.readline()
        new.write(json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n")
        while chunk := old.read(1 << 20):
            new.write(chunk)
        new.flush()
        os.fsync(new.fileno())
    part.replace(log)
