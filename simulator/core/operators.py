"""Words to whoever operates a run, on stderr: what the run log does not say and a score table cannot.

Never titles, texts or keys. ``PROACT_LOG`` sets the least level: debug, info, warning (default), error.
"""

from __future__ import annotations

import logging
import os
import sys
from functools import cache
from typing import Any, TextIO, cast

__all__ = ["operators"]


class _Stderr:
    """The process's stderr as it is when something is written, not as it was when the logger was made."""

    def write(self, said: str) -> None:
        sys.stderr.write(said)

    def flush(self) -> None:
        sys.stderr.flush()


@cache
def operators() -> Any:
    """The logger (a structlog one, imported when first used)."""
    import structlog

    level = logging.getLevelNamesMapping().get(os.environ.get("PROACT_LOG", "warning").upper(), logging.WARNING)
    return structlog.wrap_logger(
        structlog.PrintLogger(cast(TextIO, _Stderr())),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty() and "NO_COLOR" not in os.environ,
                exception_formatter=structlog.dev.plain_traceback,  # the default one prints local variables: titles
            ),
        ],
    )
