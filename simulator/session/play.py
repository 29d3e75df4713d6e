"""One session, ready to be played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.core.protocols import SnapshotSource
from simulator.core.types import Event, Label
from simulator.session.truth import Truth

__all__ = ["Play"]


@dataclass(frozen=True, slots=True)
class Play:
    """What a run needs of one session under one scenario.

    Attributes:
        key: a safe folder name, unique within one call of ``plays``.
        source: opens its file at each pass.
        truth: ``moments`` as the scenario states them; empty, the run's plan samples them.
        history: what happened before time 0, in order of the events' ends, each with what became known of it.
        period_ns: the stream's period.
        window_ns: how far back the history view reaches.
        segmentation: a rule of ``simulator.session.segmentation``.
        settings: what the scenario says of policy, protocol, gate, seed, …; the command line wins over it.
        dataset_hash: SHA-256 of all that was read: recording, scenario, history.
        recording: what the session is a recording of, the same for all versions (``simulator.session.recording_id``);
            empty while it is only about to be recorded.
        where: the file or folder that was named, for messages.
        sample: what a benchmark calls the trajectory and the profile, to the letter; None where it has no such name.
        person: who was recorded, where users of a data set are one person; None: the user.
    """

    key: str
    user: str
    profile: Mapping[str, str]
    source: SnapshotSource
    truth: Truth
    history: tuple[tuple[Event, Label | None], ...]
    intentions: tuple[str, ...]
    period_ns: int
    window_ns: int
    segmentation: str
    settings: Mapping[str, Any]
    dataset_hash: str
    recording: str
    where: Path
    sample: tuple[str, str] | None = None
    person: str | None = None
