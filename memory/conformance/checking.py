"""All checks in order, and what runs them on somebody's memory: each in a thread, none for longer than a limit."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from memory.conformance import answers, conduct, keeping, knowing
from memory.conformance.subject import Fault, NotAsked, Subject

__all__ = ["CHECKS", "Check", "Checked", "check", "examine"]

Check = Callable[[Subject], None]
CHECKS: tuple[Check, ...] = (*answers.CHECKS, *knowing.CHECKS, *keeping.CHECKS, *conduct.CHECKS)
LIMIT_S = 60.0
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found.

    Attributes:
        name: the rule, as the words of a sentence.
        state: ``ok``; ``note`` for a rule that the memory does without and would be better with; ``wrong``.
        said: why, in a sentence.
    """

    name: str
    state: Literal["ok", "note", "wrong"]
    said: str


def check(rule: Check, make: Callable[[], Any]) -> None:
    """Run one check here, on memories of its own.

    Raises:
        Fault: the rule is broken.
        NotAsked: it does not apply.
        Exception: whatever the memory raised.
    """
    subject = Subject(make)
    try:
        rule(subject)
    finally:
        subject.close()


def examine(make: Callable[[], Any], limit_s: float = LIMIT_S) -> Iterator[Checked]:
    """Run all checks on a memory, one after the other.

    Args:
        make: makes a new, empty one.
        limit_s: how long one check may take; one that hangs is left behind, in a thread that keeps nobody from ending.
    """
    for rule in CHECKS:
        name = rule.__name__.replace("_", " ")
        found: list[Checked] = []
        thread = threading.Thread(target=_into, args=(found, name, rule, make), name="doctor", daemon=True)
        thread.start()
        thread.join(limit_s)
        took = f"it did not come back within {limit_s:g} s: some call blocks, or is far too slow for a screen a second"
        yield found[0] if found else Checked(name, "wrong", took)


def _into(found: list[Checked], name: str, rule: Check, make: Callable[[], Any]) -> None:
    try:
        check(rule, make)
        found.append(Checked(name, "ok", "it holds"))
    except NotAsked as why:
        found.append(Checked(name, "note" if why.worth else "ok", f"not asked: {why}"))
    except Fault as fault:
        found.append(Checked(name, "wrong", str(fault)))
    except BaseException as error:  # noqa: BLE001 - the border to foreign code
        found.append(Checked(name, "wrong", _raised(error)))


def _raised(error: BaseException) -> str:
    """What it raised and where, in the file of whoever wrote it; the words of the error name what the fault is."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not Path(f.filename).is_relative_to(_HERE)]
    at = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    told = " ".join(str(error).split())
    words = "".join(c if c.isprintable() else "�" for c in told[:200])
    return f"it raised {type(error).__name__}{at}" + (f": {words}" if words else "")
