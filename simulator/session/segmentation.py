"""Events out of snapshots: where one stretch of work in one window ends and the next begins.

The rules are those of LifeTrace, from whose databases ProAgentBench was made (its builds changed the rule twice):

* ``app`` (until 2025-10-14 and again from 2025-11-20): a new event when the app differs, exactly; the event keeps
  its first title.
* ``app_title`` (2025-10-15 to 2025-11-19): a new event when the app (case-folded) or the title (stripped) differs.
* ``app_clean_title``: as ``app_title`` over the normal form of titles, so that an unsaved mark or a counter of
  unread mail does not start a new event. Ours.

An event ends where the next one starts, so events touch, except at gaps. ``None`` is a value like any other: it equals
itself and differs from every text (LifeTrace compared in SQL, where NULL differs from nothing, and such events
stayed open for ever).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from simulator.core.errors import UsageError, nearest, quote
from simulator.core.titles import clean
from simulator.core.types import Event, Snapshot

__all__ = ["RULES", "Cutter", "Segmenter"]

Key = tuple[str | None, str | None]


def _app(app: str | None, title: str | None) -> Key:
    return app, None


def _app_title(app: str | None, title: str | None) -> Key:
    return None if app is None else app.casefold(), None if title is None else title.strip()


def _app_clean_title(app: str | None, title: str | None) -> Key:
    return None if app is None else app.casefold(), None if title is None else clean(title)


RULES: dict[str, Callable[[str | None, str | None], Key]] = {
    "app": _app,
    "app_title": _app_title,
    "app_clean_title": _app_clean_title,
}


class Segmenter:
    """Cuts one session's snapshots into events, each handed out when it is proved closed.

    Args:
        user: whose events they are.
        session: prefix of the events' ids ``session/0``, ``session/1``, …
        rule: a key of ``RULES``.

    Raises:
        UsageError: unknown rule.
    """

    __slots__ = (
        "_app", "_category", "_key", "_key_of", "_n", "_open", "_seen_app", "_seen_title", "_start_ns", "_title",
        "session", "user",
    )  # fmt: skip

    def __init__(self, user: str, session: str, rule: str = "app_title") -> None:
        if rule not in RULES:
            raise UsageError(f"unknown segmentation {quote(rule)}; {nearest(rule, RULES)}")
        self.user, self.session = user, session
        self._key_of = RULES[rule]
        self._n = 0
        self._open = False
        self._start_ns = 0
        self._key: Key = (None, None)
        self._app: str | None = None
        self._title: str | None = None
        self._category: str | None = None
        self._seen_app: str | None = None
        self._seen_title: str | None = None

    def push(self, snapshot: Snapshot) -> Event | None:
        """Take the next snapshot in order of time; the event that it proved closed, if it did."""
        app, title = snapshot.app, snapshot.title
        # Nearly every snapshot repeats the last one; identity is tried first because sources share strings.
        if (
            self._open
            and (app is self._seen_app or app == self._seen_app)
            and (title is self._seen_title or title == self._seen_title)
        ):
            return None
        return self._changed(snapshot, app, title)

    def gap(self, start_ns: int) -> Event | None:
        """Nothing is known from ``start_ns`` on: the open event ends there. A further call does nothing."""
        return self._close(start_ns)

    def current(self, now_ns: int) -> Event | None:
        """The open event cut at now; None between a gap and the next snapshot."""
        return self._event(now_ns) if self._open else None

    def flush(self, end_ns: int) -> Event | None:
        """End of the session: the open event ends at ``end_ns``."""
        return self._close(end_ns)

    def _changed(self, snapshot: Snapshot, app: str | None, title: str | None) -> Event | None:
        self._seen_app, self._seen_title = app, title
        key = self._key_of(app, title)
        if self._open and key == self._key:
            return None
        closed = self._close(snapshot.captured_ns)
        self._open, self._start_ns, self._key = True, snapshot.captured_ns, key
        self._app, self._title, self._category = app, title, snapshot.category
        return closed

    def _close(self, end_ns: int) -> Event | None:
        if not self._open:
            return None
        event = self._event(end_ns)
        self._n += 1
        self._open = False
        return event

    def _event(self, end_ns: int) -> Event:
        return Event(
            id=f"{self.session}/{self._n}",
            user=self.user,
            start_ns=self._start_ns,
            end_ns=max(end_ns, self._start_ns),
            app=self._app,
            title=self._title,
            category=self._category,
        )


class Cutter(Segmenter):
    """A segmenter that knows a whole session's gaps and ends the open event where one starts.

    Args:
        user: whose events they are.
        session: prefix of the events' ids.
        rule: a key of ``RULES``.
        gaps_ns: where the session's gaps start.
    """

    __slots__ = ("_gaps",)

    def __init__(self, user: str, session: str, rule: str, gaps_ns: Iterable[int]) -> None:
        super().__init__(user, session, rule)
        self._gaps = sorted(gaps_ns, reverse=True)

    def push(self, snapshot: Snapshot) -> Event | None:
        """Take the next snapshot in order of time; the event that it or a gap before it proved closed, if one did."""
        closed = None
        while self._gaps and self._gaps[-1] <= snapshot.captured_ns:
            closed = self.gap(self._gaps.pop()) or closed
        return Segmenter.push(self, snapshot) or closed  # after a gap nothing is open that the snapshot could close
