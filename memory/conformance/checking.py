"""All checks in order, and what runs them on somebody's memory: each in a thread, none for longer than a limit."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from memory.conformance import answers, conduct, keeping, knowing
from memory.conformance.subject import Fault, NotAsked, Subject
from memory.threads import OwnThread
from simulator.core.types import SECOND
from simulator.timing.clock import real_ns

__all__ = ["CHECKS", "Check", "Checked", "NotBack", "check", "examine", "within"]

T = TypeVar("T")
Check = Callable[[Subject], None]
CHECKS: tuple[Check, ...] = (
    conduct.every_call_comes_back,
    *answers.CHECKS,
    *knowing.CHECKS,
    *keeping.CHECKS,
    *conduct.CHECKS,
)
LIMIT_S = 60.0
CALLS_IN_LIMIT = 6
"""One call may take a sixth of what a rule may."""
_LOOK_S = 0.02
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
    _try(rule, Subject(make))


def _try(rule: Check, subject: Subject) -> None:
    try:
        rule(subject)
    finally:
        subject.close()


def examine(
    make: Callable[[], Any],
    limit_s: float = LIMIT_S,
    tell: Callable[[str], None] = lambda name: None,
    rules: Sequence[Check] = CHECKS,
) -> Iterator[Checked]:
    """Run checks on a memory, one after the other.

    Args:
        make: makes a new, empty one.
        limit_s: how long one check may take, and one call a sixth of it; what hangs is left behind, in a thread that
            keeps nobody from ending. Where the first check finds that a call hangs, no other is tried.
        tell: is told the name of each check before it is tried.
        rules: the checks.
    """
    for n, rule in enumerate(rules, 1):
        name = rule.__name__.replace("_", " ")
        tell(name)
        found: list[Checked] = []
        subject = Subject(make)
        thread = threading.Thread(target=_into, args=(found, name, rule, subject), name="doctor", daemon=True)
        thread.start()
        took = _outlasted(thread, subject, limit_s)
        if found:
            yield found[0]
            continue
        yield Checked(name, "wrong", f"{took}: it blocks, or is far too slow for a screen a second")
        if rule is conduct.every_call_comes_back:
            yield Checked(f"{len(rules) - n} more rules", "note", "not tried, since a call does not come back")
            return


class NotBack(Exception):
    """A call did not come back in time."""


def within(limit_s: float, call: Callable[[], T]) -> T:
    """What a call gives, made in a thread that is left behind if it hangs.

    Raises:
        NotBack: it did not come back within the limit.
        BaseException: whatever it raised.
    """
    own = OwnThread()
    future = own.submit(call)
    own.end()
    wait((future,), limit_s)
    if not future.done():
        raise NotBack
    return future.result()


def _outlasted(thread: threading.Thread, subject: Subject, limit_s: float) -> str:
    """Wait for a check; what did not come back in time, empty if all did."""
    begun, limit_ns = real_ns(), round(limit_s * SECOND)
    call_ns = limit_ns // CALLS_IN_LIMIT
    while thread.is_alive():
        thread.join(_LOOK_S)
        if not thread.is_alive():
            break
        if (call := subject.underway.longer_than(call_ns)) is not None:
            return f"{call} did not come back within {call_ns / SECOND:g} s"
        if real_ns() - begun > limit_ns:
            return f"it did not come to an end within {limit_s:g} s"
    return ""


def _into(found: list[Checked], name: str, rule: Check, subject: Subject) -> None:
    try:
        _try(rule, subject)
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
