"""Regular expressions that people wrote, for titles that anybody wrote: refused where a title could hang a program.

Python's ``re`` tries alternatives one after the other and cannot be stopped; ``(a+)+b`` takes years over forty letters.
So the work that a pattern can cause is bounded from its structure before it is taken, and titles are examined in pieces
of bounded length.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

from simulator.core.titles import INVISIBLE

__all__ = ["PIECE", "PatternError", "compile_pattern", "folded", "pieces"]

PIECE = 500
"""Characters that a pattern looks at in one go."""

_STEPS = 2_000_000  # of the matcher over one piece at the very worst, some 20 ms
_LONGEST = 2000
_SPACES = re.compile(r"\s+")


class PatternError(ValueError):
    """A pattern that is not taken; the text is the end of a sentence."""


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A pattern, case ignored, that examines any title in bounded time.

    Raises:
        PatternError: no regular expression, or one that could take long over some title.
    """
    if len(pattern) > _LONGEST:
        raise PatternError(f"a regular expression of at most {_LONGEST} characters")
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
        worst = PIECE * _ways(_parser().parse(pattern, re.IGNORECASE), last=True)
    except (re.error, RecursionError, OverflowError) as error:
        said = error.msg if isinstance(error, re.error) else "too large"
        raise PatternError(f"not a regular expression ({said})") from error
    if worst > _STEPS:
        raise PatternError(
            "could take too long over some titles: at most one open repeat (*, +, {3,}) in a row and none around "
            "another; bound them, as in .{0,40}"
        )
    return compiled


def folded(title: str) -> str:
    """A title as patterns see it: without the invisible characters that browsers plant, spaces folded."""
    return _SPACES.sub(" ", title.translate(INVISIBLE)).strip()


def pieces(text: str) -> Iterator[str]:
    """A text in overlapping pieces of at most ``PIECE`` characters, so that no long title hides its end.

    Anything of up to half a piece lies whole in one of them. An anchor (``^``, ``$``) also matches where a piece starts
    or ends, which excludes rather too much.
    """
    yield text[:PIECE]
    for start in range(PIECE // 2, len(text) - PIECE // 2, PIECE // 2):
        yield text[start : start + PIECE]


def _parser() -> Any:
    # Python names no public way to a pattern's structure (sre_parse is deprecated); a change of it fails our tests.
    return importlib.import_module("re._parser")


def _ways(parsed: Any, *, last: bool = False) -> int:
    """In how many ways the matcher could try a piece from one place, at most; cut off far above the limit.

    ``last``: nothing follows that could fail, so what stands at the end is tried in one way.
    """
    ways, items = 1, list(parsed)
    for n, (op, value) in enumerate(items, 1):
        ways = min(ways * _ways_of(str(op), value, last and n == len(items)), _STEPS + 1)
    return ways


def _ways_of(op: str, value: Any, last: bool) -> int:
    match op:
        case "BRANCH":
            return sum(_ways(branch, last=last) for branch in value[1])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return _ways_of_repeat(*value, last=last)
        case "SUBPATTERN":
            return _ways(value[-1], last=last)
        case "ASSERT" | "ASSERT_NOT":
            return _ways(value[1])
        case "ATOMIC_GROUP":
            return _ways(value)
        case "GROUPREF_EXISTS":
            return sum(_ways(branch) for branch in value[1:] if branch is not None)
        case "GROUPREF":  # no choice, but as long as what it repeats
            return 16
    return 1


def _ways_of_repeat(least: int, most: int, body: Any, *, last: bool) -> int:
    most, inner = min(int(most), PIECE), _ways(body)
    if inner == 1:
        return 1 if last else most - min(int(least), PIECE) + 1
    tried = inner**most if most <= 20 else _STEPS + 1
    return (most - min(int(least), PIECE) + 1) * min(tried, _STEPS + 1)
