"""What is kept of the titles of windows that are recorded: all, all but what patterns find, a code word, nothing."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

from simulator.core.patterns import PIECE

if TYPE_CHECKING:
    from simulator.recorder.windows import Window

__all__ = ["TitlePolicy"]


@dataclass(frozen=True, slots=True)
class TitlePolicy:
    """What is stored in place of a title.

    Args:
        keep: ``all``; ``replaced``: what ``patterns`` find is replaced, and the title cut to ``PIECE`` characters;
            ``hash``: equal titles of one recording become equal words that tell nothing; ``none``.
        patterns: from ``compile_pattern``, each with the text that takes the place of what it finds.
    """

    keep: Literal["all", "replaced", "hash", "none"] = "all"
    patterns: tuple[tuple[re.Pattern[str], str], ...] = ()
    # True entropy, never stored: a hash without it is undone by trying likely titles. It lives as long as the process.
    _salt: bytes = field(default_factory=lambda: os.urandom(16), repr=False, compare=False)

    def applied(self, window: Window) -> Window:
        """The window with the title that may be stored."""
        return window if self.keep == "all" or window.title is None else replace(window, title=self.of(window.title))

    def of(self, title: str) -> str | None:
        """What may be stored of a title."""
        if self.keep == "hash":
            return f"title {blake2b(title.encode('utf-8', 'replace'), key=self._salt, digest_size=6).hexdigest()}"
        if self.keep == "none":
            return None
        if self.keep == "replaced":
            title = title[:PIECE]
            for pattern, text in self.patterns:
                title = pattern.sub(lambda _, text=text: text, title)[:PIECE]  # type: ignore[misc]
        return title
