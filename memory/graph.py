"""``graph``: how often help was needed in an app, and for what, by app and by words of the title.

The knowledge graph of ProAgentBench (Appendix C): nodes App, Keyword, Intent and User, edges weighted by counts,
transitions between consecutive apps. Kept as dictionaries of tallies: each count remembers when it grew, so every
prior can be read as of the moment asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.base import memories
from memory.keywords import Tally, WordCounts
from memory.past import CAPABILITIES, Entry, Remembered
from memory.wording import estimate_tokens, one_line, percent
from simulator.core.types import MemoryItem, Query

__all__ = ["GraphMemory"]

_SCOPES = ("user", "global", "backoff")
_CONDITIONALS = ("paper", "help_only")
_APP_SHARE = 0.05
_KEYWORD_SHARE = 0.1
_N_KEYWORDS = 5


@memories.register("graph")
class GraphMemory(Remembered):
    """Counts of the past as plain-language percentages.

    Args:
        scope: whose counts are read. ``user`` (default): only this user's. ``global``: everybody's, as equations 5-7 of
            the paper are printed. ``backoff``: this user's where the app or word is known there, else everybody's.
        keyword_conditional: ``paper``: the share of *all* moments with the word in which help with c was needed (its
            shares add up to how often help was needed). ``help_only``: of the moments *with help*, as for apps.
        show_next: also tell which apps usually come next (the paper stores transitions and never reads them).
    """

    heading = "Statistics of the user's past (a hint; what is on the screen counts more):"

    def __init__(self, scope: str = "user", keyword_conditional: str = "paper", show_next: bool = False) -> None:
        super().__init__()
        if scope not in _SCOPES:
            raise ValueError(f"scope must be one of {', '.join(_SCOPES)}")
        if keyword_conditional not in _CONDITIONALS:
            raise ValueError(f"keyword_conditional must be one of {', '.join(_CONDITIONALS)}")
        self._scope, self._help_only, self._show_next = scope, keyword_conditional == "help_only", show_next
        self._users: dict[str, _Counts] = {}
        self._everybody = _Counts()
        isolation = "native" if scope == "user" else "none"
        self.capabilities = {**CAPABILITIES, "isolation": isolation}

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """At most one item each for the app, for the title's words and, if asked for, for what comes next.

        The score is n / (n + 4) of the moments behind an item: what rests on more weighs more.
        """
        tables = self._tables(query.user)
        if query.text is None:
            app, title = query.app, query.title
        else:
            app, title = None, query.text
        items = [self._app_item(app, tables, query.now_ns), self._word_item(title, tables, query.now_ns)]
        if self._show_next:
            items.append(self._next_item(app, tables, query.now_ns))
        found = sorted((i for i in items if i is not None), key=lambda i: -i.score)
        return self._answer(found, k, token_budget)

    def _tables(self, user: str) -> list[_Counts]:
        own = [self._users[user]] if user in self._users and self._scope != "global" else []
        return own if self._scope == "user" else [*own, self._everybody]

    def _app_item(self, app: str | None, tables: Sequence[_Counts], now_ns: int) -> MemoryItem | None:
        nodes = [t.apps[app] for t in tables if app is not None and app in t.apps]
        node = next((n for n in nodes if n.seen.upto(now_ns)), None)
        if node is None:
            return None
        n, n_help = node.seen.upto(now_ns), node.helped.upto(now_ns)
        shares = _above(node.shares(now_ns, n_help), _APP_SHARE)
        text = f"In {one_line(app)} help was needed in {percent(n_help, n)} of {n} moments"
        if shares:
            text += f", then for: {_listed(shares)}"
        return _item(text, n, node.latest(now_ns), n_help / n, shares, [node], now_ns)

    def _word_item(self, title: str | None, tables: Sequence[_Counts], now_ns: int) -> MemoryItem | None:
        if not title or not tables:
            return None
        # The first table's word counts pick the words: one title has one set of keywords.
        words = tables[0].words.top(title, now_ns, _N_KEYWORDS)
        nodes: dict[str, _Node] = {}
        for word in words:
            known = [t.keywords[word] for t in tables if word in t.keywords]
            node = next((n for n in known if (n.helped if self._help_only else n.seen).upto(now_ns)), None)
            if node is not None:
                nodes[word] = node
        if not nodes:
            return None
        found = list(nodes.values())
        mean: dict[str, float] = {}
        for node in found:
            whole = (node.helped if self._help_only else node.seen).upto(now_ns)
            for intention, share in node.shares(now_ns, whole).items():
                mean[intention] = mean.get(intention, 0.0) + share / len(found)
        shares = _above(mean, _KEYWORD_SHARE)
        help_share = sum(n.helped.upto(now_ns) / n.seen.upto(now_ns) for n in found) / len(found)
        named = ", ".join(f"“{one_line(w, 30)}”" for w in nodes)
        if self._help_only:
            text = f"When help was needed with {named} in the title, it was for: {_listed(shares) or 'nothing often'}"
        else:
            text = f"With {named} in the title help was needed in {percent(help_share)} of moments"
            text += f": {_listed(shares)}" if shares else ""
        n = max(node.seen.upto(now_ns) for node in found)
        latest = max(node.latest(now_ns) for node in found)
        return _item(text, n, latest, help_share, shares or _above(mean, 0.0), found, now_ns)

    def _next_item(self, app: str | None, tables: Sequence[_Counts], now_ns: int) -> MemoryItem | None:
        for table in tables:
            tallies = table.following.get(app or "", {})
            counts = {a: t.upto(now_ns) for a, t in tallies.items()}
            total = sum(counts.values())
            if total:
                top = sorted(counts, key=lambda a: -counts[a])[:3]
                latest = max(t.latest(now_ns) or 0 for t in tallies.values() if t.upto(now_ns))
                named = ", ".join(f"{one_line(a)} {percent(counts[a], total)}" for a in top if counts[a])
                text = f"After {one_line(app)} usually comes: {named}"
                return MemoryItem(text, total / (total + 4), (), latest, tokens=estimate_tokens(text))
        return None

    # Writing.

    def _observe(self, entry: Entry) -> None:
        for table in self._written(entry.event.user):
            table.observe(entry)

    def _feedback(self, entry: Entry) -> None:
        for table in self._written(entry.event.user):
            table.feedback(entry)

    def _written(self, user: str) -> list[_Counts]:
        own = [self._users.setdefault(user, _Counts())] if self._scope != "global" else []
        return own if self._scope == "user" else [*own, self._everybody]

    def _clear(self, user: str) -> None:
        self._users.pop(user, None)

    def _replay(self, *users: str) -> None:
        """With shared counts, what one user takes back changes everybody's: all pasts are replayed."""
        if self._scope != "user":
            self._everybody = _Counts()
            users = tuple(self._past)
        super()._replay(*users)


@dataclass(slots=True)
class _Node:
    """An app or a word: in how many moments it was seen, in how many help was needed, and for what."""

    seen: Tally = field(default_factory=Tally)
    helped: Tally = field(default_factory=Tally)
    needs: dict[str, Tally] = field(default_factory=dict)
    questions: list[tuple[int, str | None, str]] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        """Count a labelled event."""
        label, ns = entry.label, entry.known_ns
        if label is None:
            return
        self.seen.add(ns)
        if not label.help:
            return
        self.helped.add(ns)
        if label.intention is not None:
            self.needs.setdefault(label.intention, Tally()).add(ns)
        if label.query:
            self.questions.append((ns, label.intention, label.query))

    def shares(self, now_ns: int, whole: int) -> dict[str, float]:
        """Share of each intention in ``whole`` moments; empty if there were none."""
        return {c: t.upto(now_ns) / whole for c, t in self.needs.items()} if whole else {}

    def latest(self, now_ns: int) -> int:
        """When the newest moment behind it became known."""
        return self.seen.latest(now_ns) or 0

    def question(self, intention: str | None, now_ns: int) -> tuple[int, str] | None:
        """The latest question asked by then for this intention."""
        return next(((ns, q) for ns, c, q in reversed(self.questions) if ns <= now_ns and c == intention), None)


class _Counts:
    """All nodes and edges of one user, or of everybody."""

    def __init__(self) -> None:
        self.apps: dict[str, _Node] = {}
        self.keywords: dict[str, _Node] = {}
        self.following: dict[str, dict[str, Tally]] = {}
        self.words = WordCounts()
        self._last_app: dict[str, str] = {}
        self._keywords_of: dict[tuple[str, str], tuple[str, ...]] = {}

    def observe(self, entry: Entry) -> None:
        event = entry.event
        if event.title:
            self.words.add(event.title, event.end_ns)
            # Chosen once, with the word counts of that time; needed again when the label comes.
            self._keywords_of[event.user, event.id] = self.words.top(event.title, event.end_ns, _N_KEYWORDS)
        if event.app is not None:
            last = self._last_app.get(event.user)
            if last is not None and last != event.app:
                self.following.setdefault(last, {}).setdefault(event.app, Tally()).add(event.end_ns)
            self._last_app[event.user] = event.app

    def feedback(self, entry: Entry) -> None:
        event = entry.event
        words = self._keywords_of.pop((event.user, event.id), ())
        if event.assistance:
            return  # help was needed in the event before it, and is counted there
        if event.app is not None:
            self.apps.setdefault(event.app, _Node()).add(entry)
        for word in words:
            self.keywords.setdefault(word, _Node()).add(entry)


def _above(shares: dict[str, float], least: float) -> dict[str, float]:
    """Shares above a threshold, largest first, ties by name."""
    return {c: shares[c] for c in sorted(shares, key=lambda c: (-shares[c], c)) if shares[c] > least}


def _listed(shares: dict[str, float]) -> str:
    return ", ".join(f"{one_line(c, 60)} {percent(s)}" for c, s in shares.items())


def _item(
    text: str,
    n: int,
    latest_ns: int,
    help_share: float,
    shares: dict[str, float],
    nodes: Sequence[_Node],
    now_ns: int,
) -> MemoryItem:
    intention = next(iter(shares), None)
    asked = [q for node in nodes if (q := node.question(intention, now_ns)) is not None]
    query = max(asked, default=None, key=lambda a: a[0])
    return MemoryItem(
        text=text,
        score=n / (n + 4),
        latest_source_ns=latest_ns,
        intention=intention,
        help=help_share,
        query=None if query is None else query[1],
        tokens=estimate_tokens(text),
    )
