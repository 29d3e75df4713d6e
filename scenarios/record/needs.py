"""What a scenario says of its script: who sits at the desk and what they need, each need with its reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenarios.record.desk import Desk

__all__ = ["Case", "Need", "Script"]


@dataclass(frozen=True, slots=True)
class Need:
    """A need for help. ``why`` says what shows it and what ends it; the instants come from the recorded script.

    ``acts`` tells whether the person tried alone or found it out: from then on the need is known, to memories as well.
    """

    id: str
    intention: str
    query: str
    why: str
    weight: float = 1.0
    acts: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario file over a recording: whose desk it is, and what that person needs.

    ``folder`` is where it lies below the recording's folder; empty: beside it. ``version_of``: what several recordings
    are versions of; empty: it stands alone.
    """

    name: str
    person: str
    description: str
    needs: tuple[Need, ...]
    quiet: str  # why nothing is wanted elsewhere
    folder: str = ""
    version_of: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """One recording: what is set up before it, what is done in it, and the cases that are made of it.

    Args:
        folder: below ``scenarios/``, where it is kept.
        home: whose home folder the desk shows.
        about: what happens in it.
        purpose: what it is good for, in a line.
        seed: fixes the pauses.
    """

    folder: str
    home: str
    about: str
    purpose: str
    seed: int
    prepare: Callable[[Desk], None]
    play: Callable[[Desk], None]
    cases: tuple[Case, ...]
