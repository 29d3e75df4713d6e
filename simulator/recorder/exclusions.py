"""What is left out while recording: which parts of the screen are covered, which ticks are not recorded at all.

The first of the three phases of privacy (ProAgentBench, App. B): what is never recorded need not be found later. Every
*visible* window is judged, not only the focused one, since it is on the picture too. It **fails closed**: where it
cannot be told which windows are visible, or where one that is excluded lies, the tick is not recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from simulator.core.taxonomy import category, spellings
from simulator.core.types import SECOND
from simulator.recorder.rectangles import Rect, left_over
from simulator.recorder.rules import Rule, first_of
from simulator.recorder.titles import TitlePolicy

if TYPE_CHECKING:
    from simulator.recorder.windows import Window

__all__ = [
    "CUT",
    "LINGER_NS",
    "OWN",
    "OWN_MARK",
    "PAGE_MARK",
    "PANEL",
    "UNSEEN",
    "UNTITLED",
    "Exclusions",
    "Handle",
    "Mask",
    "Verdict",
    "handle",
]

OWN_MARK = "[proact live]"
"""Stands in the title of whatever shows a live run (terminal, page), so that it is not recorded by it."""

PAGE_MARK = f"{OWN_MARK} ·"
"""How the title of a live run's page begins: it has the mark, and something that a terminal's title lacks."""

OWN = "own"
PANEL = "panel"
UNSEEN = "unseen windows"
UNTITLED = "untitled browser"
CUT = "cut title"
LINGER_NS = 3 * SECOND // 2

Handle = tuple[int | str | None, int | None]
_NOTHING: Mapping[Handle, str] = MappingProxyType({})

_MENUS = frozenset({"menu", "dropdown_menu", "popup_menu", "tooltip", "combo", "dnd"})
_OFTEN_UNNAMED = frozenset({"popup", "dialog", "utility", "splash", "toolbar"})

_EDGE = 16  # pixels at the edges of a window in front that may show what lies behind: round corners, shadows


@dataclass(frozen=True, slots=True)
class Mask:
    """A rectangle of the virtual desktop that is painted over before anything else looks at it, and why.

    ``reason`` is the name of a rule, never a title.
    """

    x: int
    y: int
    width: int
    height: int
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What of one tick may be recorded.

    Args:
        masks: what is painted over.
        hide_window: the window in front is excluded: of it nothing is stored, not even its application.
        skip: the tick is not recorded (a gap ``excluded``), whatever the masks; the reason, or None.
        own_missing: no window with our own mark was located, so it could not be masked. A live run warns of that.
        page_missing: no window with a live run's page was located; where one is open, it is told that it is seen.
        window: what may be stored of the window in front, its title as the policy says; None where it is hidden.
    """

    masks: tuple[Mask, ...] = ()
    hide_window: bool = False
    skip: str | None = None
    own_missing: bool = False
    page_missing: bool = True
    window: Window | None = None

    def joined(self, other: Verdict) -> Verdict:
        """What both allow, of two looks at the windows around one picture; the window is this one's."""
        hide = self.hide_window or other.hide_window
        return Verdict(
            masks=tuple(dict.fromkeys((*self.masks, *other.masks))),
            hide_window=hide,
            skip=self.skip or other.skip,
            own_missing=self.own_missing and other.own_missing,
            page_missing=self.page_missing and other.page_missing,
            window=None if hide or self.skip or other.skip else self.window,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusions:
    """The rules of one recording; ``load`` reads them from a file.

    Args:
        rules: in order; the first that fits gives the reason.
        panels: task bars, which show titles of other windows.
        mask_panels: ``beside`` an excluded window, always, or never.
        covered: ``mask`` what is excluded even where another window lies in front; ``show`` takes windows in front for
            opaque and masks only what they leave.
        accept_unseen_windows: record also where the desktop does not tell which windows it shows. A window that is
            known to be excluded and cannot be masked still costs the tick.
        titles: what is kept of titles.
        linger_ns: how long something excluded stays masked after it was last seen (see ``Watch``).
        own: windows that show this live run, though no title of theirs has our mark.
    """

    rules: tuple[Rule, ...] = ()
    panels: Rule = field(default_factory=lambda: Rule(PANEL))
    mask_panels: Literal["beside", "always", "never"] = "beside"
    covered: Literal["mask", "show"] = "mask"
    accept_unseen_windows: bool = False
    titles: TitlePolicy = field(default_factory=TitlePolicy)
    linger_ns: int = LINGER_NS
    own: frozenset[Handle] = field(default=frozenset(), compare=False)

    @classmethod
    def load(cls, path: Path | None = None) -> Exclusions:
        """The rules in a YAML file (``docs/privacy.md``) on top of the built-in list, or that list alone.

        Raises:
            InputError: it cannot be read, an unknown key, a pattern that is none or could hang.
        """
        from simulator.recorder.exclusions_file import load  # pydantic and YAML only where a file is read

        return load(path)

    def digest(self) -> str:
        """A word that is the same for the same rules and, without telling them, another for others."""
        return sha256(repr(_written(self)).encode()).hexdigest()

    def judge(
        self,
        foreground: Window | None,
        visible: Sequence[Window] | None,
        *,
        fits_windows: bool = True,
        remembered: Mapping[Handle, str] = _NOTHING,
    ) -> Verdict:
        """What may be recorded while these windows are on the screen.

        Args:
            foreground: the window that has the focus, or None.
            visible: all windows that are to be seen, front to back; None where the desktop does not tell.
            fits_windows: whether their coordinates are those of the picture, so that masks hit.
            remembered: windows that are excluded whatever they show now, and why (see ``Watch``).
        """
        windows = list(visible or ())
        if foreground is not None and foreground not in windows:  # or its title has changed meanwhile: both count
            windows.insert(0, foreground)
        reasons = self.reasons(windows, remembered)
        masks, skip = self._masks(windows, reasons, fits_windows)
        if skip is None and not self.accept_unseen_windows and (visible is None or any(map(_unseen, windows))):
            skip = UNSEEN
        hide = foreground is not None and reasons[windows.index(foreground)] is not None
        return Verdict(
            masks=tuple(masks),
            hide_window=hide,
            skip=skip,
            own_missing=not (fits_windows and any(self._is_own(w) and _rect(w) is not None for w in windows)),
            page_missing=not (fits_windows and any(_page(w) and _rect(w) is not None for w in windows)),
            window=None if hide or skip or foreground is None else self.titles.applied(foreground),
        )

    def reason(self, window: Window) -> str | None:
        """Why a window would be left out, seen alone: the name of a rule, or None."""
        return self.reasons([window])[0]

    def lasting(self, window: Window) -> str | None:
        """The rule for which a window stays excluded for as long as it exists, or None."""
        return first_of([rule for rule in self.rules if rule.remember], window)

    def reasons(self, windows: Sequence[Window], remembered: Mapping[Handle, str] = _NOTHING) -> list[str | None]:
        """Why each of these windows, seen together, would be left out: the name of a rule, or None."""
        # Our own mark comes last: whatever carries it besides a reason to be left out is left out for that.
        named = [
            first_of(self.rules, window)
            or remembered.get(handle(window))
            or (
                OWN if self._is_own(window) else CUT if window.title_cut else None
            )  # browsers put their mark at the end
            for window in windows
        ]
        owned = _of_owners(windows, named)
        reasons = [
            why or belongs or (_of_nameless(window, windows, named) if _nameless(window) else None)
            for window, why, belongs in zip(windows, named, owned, strict=True)
        ]
        beside = any(why not in (None, OWN) for why in reasons)
        if self.mask_panels == "always" or (self.mask_panels == "beside" and beside):
            return [
                why or (PANEL if self.panels.matches(window) else None)
                for window, why in zip(windows, reasons, strict=True)
            ]
        return reasons

    def _is_own(self, window: Window) -> bool:
        return OWN_MARK in (window.title or "") or handle(window) in self.own

    def _masks(
        self, windows: Sequence[Window], reasons: Sequence[str | None], fits_windows: bool
    ) -> tuple[list[Mask], str | None]:
        """The masks, and the reason for which something excluded cannot be masked."""
        masks: list[Mask] = []
        skip = None
        for n, (window, why) in enumerate(zip(windows, reasons, strict=True)):
            if why is None:
                continue
            rect = _rect(window) if fits_windows else None
            if rect is not None:
                # What lies in front of our own window is the person's work; behind it nothing of ours is a secret.
                covers = _covers(windows[:n]) if n and (self.covered == "show" or why == OWN) else ()
                masks += [Mask(*part, reason=why) for part in left_over(rect, covers)]
            elif why != OWN:  # our own is a nuisance on the picture, not a secret: own_missing says so
                skip = skip or why
        return list(dict.fromkeys(masks)), skip


def _written(value: object) -> object:
    """Rules in full: ``repr`` cuts long patterns. What tells none apart (``compare``) is left out."""
    if isinstance(value, re.Pattern):
        return value.pattern
    if isinstance(value, tuple):
        return [_written(part) for part in value]
    if is_dataclass(value):
        return [_written(getattr(value, part.name)) for part in fields(value) if part.compare]
    return value


def handle(window: Window) -> Handle:
    """What tells one window from all others of this recording; nothing that is ever stored."""
    return window.key, window.pid


def _nameless(window: Window) -> bool:
    """Whether a window has no title, or one that says nothing of what it shows.

    GTK and Qt give every menu the name of its program, and many a pop-up and dialog that was given none.
    """
    if window.kind == "desktop":
        return False
    if not window.title or window.kind in _MENUS:
        return True
    names = {name for said in (window.app, window.window_class) for name in spellings(said or "")}
    return window.kind in _OFTEN_UNNAMED and not names.isdisjoint(spellings(window.title)[:1])


def _of_owners(windows: Sequence[Window], named: Sequence[str | None]) -> list[str | None]:
    """For each window why one that it belongs to is left out, or one that this one belongs to, and so on."""
    owner_of = {window.key: window.owner for window in windows if window.key is not None}
    why_of = {w.key: why for w, why in zip(windows, named, strict=True) if why not in (None, OWN)}
    found: list[str | None] = []
    for window in windows:
        owner, passed = window.owner, {window.key}
        while owner is not None and owner not in why_of and owner not in passed:  # some belong to one another
            passed.add(owner)
            owner = owner_of.get(owner)
        found.append(None if owner is None else why_of.get(owner))
    return found


def _of_nameless(window: Window, windows: Sequence[Window], named: Sequence[str | None]) -> str | None:
    """Menus, pop-ups and lists have no title of their own: they go with the windows of their program that have one."""
    shown = [(other, why) for other, why in zip(windows, named, strict=True) if other.kind not in ("listed", "tab")]
    titled = [(other, why) for other, why in shown if other.title and not _nameless(other)]
    if window.pid is None and window.app is None:  # anybody's
        return next((why for _, why in titled if why not in (None, OWN)), None)
    kin = [(other, why) for other, why in titled if _kin(window, other)]
    if any(why not in (None, OWN) for _, why in kin):
        return next(why for _, why in kin if why not in (None, OWN))
    return UNTITLED if category(window.app) == "browser" and not kin else None


def _kin(window: Window, other: Window) -> bool:
    """Whether two windows are of one program."""
    if window.pid is not None and other.pid is not None:
        return window.pid == other.pid
    return window.app == other.app


def _page(window: Window) -> bool:
    return PAGE_MARK in (window.title or "")


def _unseen(window: Window) -> bool:
    """Listed, but neither what it is nor where it is could be told."""
    return window.app is window.title is window.window_class is None and _rect(window) is None


def _rect(window: Window) -> Rect | None:
    x, y, width, height = window.x, window.y, window.width, window.height
    if x is None or y is None or width is None or height is None or width < 0 or height < 0:
        return None
    return Rect(x, y, width, height)


def _covers(front: Iterable[Window]) -> list[Rect]:
    """Where windows in front surely hide what is behind them; menus and pop-ups may be of any shape."""
    rects = [_rect(window) for window in front if window.title and window.kind in ("normal", "dialog")]
    inner = [Rect(r.x + _EDGE, r.y + _EDGE, r.width - 2 * _EDGE, r.height - 2 * _EDGE) for r in rects if r is not None]
    return [r for r in inner if r.width > 0 and r.height > 0]
