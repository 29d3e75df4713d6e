"""``graph``: how often help was needed in an app, and for what, by app and by words of the title.

The knowledge graph of ProAgentBench (Appendix C): nodes App, Keyword, Intent and User, edges weighted by counts,
transitions between consecutive apps. Kept as dictionaries of tallies (``memory.graph_counts``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, lcm
from typing import Any

from memory.base import memories
from memory.graph_counts import N_KEYWORDS, Counts, Node, above, added
from memory.graph_snapshot import find_counts, keep_counts
from memory.journal import Journal
from memory.keywords import RULE
from memory.past import CAPABILITIES, Entry, Remembered
from memory.wording import estimate_tokens, one_line, percent
from simulator.core.types import SECOND, MemoryItem, Query

__all__ = ["APP_SHARE", "KEYWORD_SHARE", "SCOPES", "GraphMemory", "Words"]

SCOPES = ("user", "global", "backoff")
_CONDITIONALS = ("paper", "help_only")
_MEANS = ("known", "all")
_FEW = 1_000
"""Writes that are counted at each opening rather than kept: a twentieth of a second."""
APP_SHARE, KEYWORD_SHARE = 5, 10
"""An intention is told if its share is above so many hundredths: ``P_intent(c|a)``, the mean of ``P_intent(c|k)``."""


@dataclass(frozen=True, slots=True)
class Words:
    """What the keywords of a title say together.

    Attributes:
        chosen: the keywords, best first, whether the graph knows them or not.
        nodes: those that it knows, as of the moment asked about.
        n: the most moments that one of them has.
        latest_ns: when the newest moment of them became known.
        parts: mean over the keywords of their shares, for each intention, in parts of ``whole``.
        whole: see ``parts``; whole numbers, so that nothing is rounded before it is held against a threshold.
        help_share: likewise of how often help was needed.
    """

    chosen: tuple[str, ...]
    nodes: dict[str, Node]
    n: int
    latest_ns: int
    parts: dict[str, int]
    whole: int
    help_share: float


@memories.register("graph")
class GraphMemory(Remembered):
    """Counts of the past as plain-language percentages.

    Args:
        scope: whose counts are read. ``user`` (default): only this user's. ``global``: everybody's, as equations 5-7 of
            the paper are printed. ``backoff``: this user's where the app or word is known there, else everybody's.
        keyword_conditional: ``paper``: the share of *all* moments with the word in which help with c was needed (its
            shares add up to how often help was needed). ``help_only``: of the moments *with help*, as for apps; a word
            never seen with help has no such shares, and counts in how often help was needed alone.
        keyword_mean: the mean goes over the keywords that the graph knows (``known``, default), or over ``all`` of
            the title, in which an unknown one counts as 0.
        show_next: also tell which apps usually come next (the paper stores transitions and never reads them).
        next_gap_s: an app comes next if its event begins at most so many seconds after the last one's end. 0 (default):
            with its end. More is for histories whose events leave gaps; to forget what lasted no longer may then join
            its neighbours.
        store: a folder with a past that is read and not written, see ``open_store``. Its counts lie beside it.
        utc_anchor_ns: the UTC of time 0; for a store whose instants are UTC.
        store_until_ns: with a store, later questions are answered as of this instant (0 in a run with frozen memory).
        header_facts: what the run's header says of it: with a store, that is seen as it was then.
    """

    heading = "Statistics of the user's past (a hint; what is on the screen counts more):"

    def __init__(self, scope: str = "user", keyword_conditional: str = "paper", keyword_mean: str = "known",
                 show_next: bool = False, next_gap_s: float = 0.0, store: str = "", utc_anchor_ns: int | None = None,
                 store_until_ns: int | None = None,
                 header_facts: Mapping[str, Any] | None = None) -> None:  # fmt: skip
        super().__init__()
        for name, value, known in (
            ("scope", scope, SCOPES),
            ("keyword_conditional", keyword_conditional, _CONDITIONALS),
            ("keyword_mean", keyword_mean, _MEANS),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}")
        if not 0 <= next_gap_s < inf:
            raise ValueError("next_gap_s must be 0 or more")
        self._gap_ns = round(next_gap_s * SECOND)
        self._scope, self._help_only = scope, keyword_conditional == "help_only"
        self._mean_of_all, self._show_next = keyword_mean == "all", show_next
        self._users: dict[str, Counts] = {}
        self._everybody = Counts()
        self.capabilities = {**CAPABILITIES, "isolation": "native" if scope == "user" else "none"}
        self._read_store(store, utc_anchor_ns, store_until_ns, header_facts)

    @classmethod
    def header_facts(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """For a run's header: by which rule keywords are chosen, and what a store holds."""
        return {"keywords": RULE, **super().header_facts(given)}

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """At most one item each for the app, for the title's words and, if asked for, for what comes next.

        An item's ``intention`` is the first that its text names, None where it names none; ``query`` is of that one.
        The score is n / (n + 4) of the moments behind an item: what rests on more weighs more.
        """
        query = self._as_of(query)
        tables = self.tables(query.user)
        if query.text is None:
            app, title = query.app, query.title
        else:
            app, title = None, query.text
        items = [self._app_item(app, tables, query.now_ns), self._word_item(title, tables, query.now_ns)]
        if self._show_next:
            items.append(self._next_item(app, tables, query.now_ns))
        found = sorted((i for i in items if i is not None), key=lambda i: -i.score)
        return self._answer(found, k, token_budget)

    def tables(self, user: str) -> list[Counts]:
        """Whose counts are read for a user, the nearest first."""
        own = [self._users[user]] if user in self._users and self._scope != "global" else []
        return own if self._scope == "user" else [*own, self._everybody]

    def app(self, app: str | None, tables: Sequence[Counts], now_ns: int) -> Node | None:
        """The app's node in the first table in which it had been seen by then."""
        for table in tables:
            node = None if app is None else table.apps.get(app)
            if node is not None and node.upto(now_ns)[0]:
                return node
        return None

    def words(self, title: str | None, tables: Sequence[Counts], now_ns: int) -> Words | None:
        """What a title's keywords say; None where the graph knows none of them.

        The first table's word counts choose them: one title has one set of keywords. A word is read from the first
        table that knows it, also if it was never seen with help there: that none was needed is evidence as well.
        """
        if not title or not tables:
            return None
        chosen = tables[0].words.top(title, now_ns, N_KEYWORDS)
        nodes: dict[str, Node] = {}
        helped: list[tuple[int, int]] = []
        needed: list[tuple[dict[str, int], int]] = []
        most, latest_ns = 0, 0
        for word in chosen:
            for table in tables:
                node = table.keywords.get(word)
                if node is None:
                    continue
                n, n_help, by, newest_ns = node.upto(now_ns)
                if not n:
                    continue
                latest_ns = newest_ns if not nodes else max(latest_ns, newest_ns)
                nodes[word] = node
                most = max(most, n)
                helped.append((n_help, n))
                if n_help:  # a word never seen with help has no shares among moments with help; of all, they are 0
                    needed.append((by, n_help if self._help_only else n))
                break
        if not nodes:
            return None
        of_help = len(chosen) if self._mean_of_all else len(nodes)
        of_needs = len(needed) if self._help_only and not self._mean_of_all else of_help
        of = lcm(*[n for _, n in helped])
        n_helped = sum([n_help * (of // n) for n_help, n in helped])
        parts, whole = added(needed)
        return Words(chosen, nodes, most, latest_ns, parts, whole * of_needs, n_helped / (of * of_help))

    def _app_item(self, app: str | None, tables: Sequence[Counts], now_ns: int) -> MemoryItem | None:
        node = self.app(app, tables, now_ns)
        if node is None:
            return None
        if node.newest_ns > now_ns:
            return _of_app(app, node, now_ns)
        if node.told is None or node.told[0] != node.n:
            node.told = node.n, _of_app(app, node, now_ns)
        return node.told[1]

    def _word_item(self, title: str | None, tables: Sequence[Counts], now_ns: int) -> MemoryItem | None:
        words = self.words(title, tables, now_ns)
        if words is None:
            return None
        nodes = list(words.nodes.values())
        shares = above(words.parts, words.whole, KEYWORD_SHARE)
        named = ", ".join([f"“{w}”" for w in words.nodes])  # words hold letters and digits only
        text = f"With {named} in the title help was needed in {percent(words.help_share)} of moments"
        text += " (the mean of these words)" if len(nodes) > 1 else ""
        if shares:
            text += f"{', then for' if self._help_only else ''}: {_listed(shares)}"
        return _item(text, words.n, words.latest_ns, words.help_share, shares, nodes, now_ns)

    def _next_item(self, app: str | None, tables: Sequence[Counts], now_ns: int) -> MemoryItem | None:
        for table in tables:
            counts, latest_ns = table.next_apps(app, now_ns)
            total = sum(counts.values())
            if total:
                named = ", ".join(f"{one_line(a)} {percent(n, total)}" for a, n in list(counts.items())[:3])
                text = f"After {one_line(app)} usually comes: {named}"
                tokens = estimate_tokens(text)
                return MemoryItem(text, total / (total + 4), (), latest_ns, tokens=tokens, neutral=True)
        return None

    # Writing.

    def _observe(self, entry: Entry) -> None:
        for table in self._written(entry.event.user):
            table.observe(entry, self._gap_ns)

    def _feedback(self, entry: Entry) -> None:
        for table in self._written(entry.event.user):
            table.feedback(entry)

    def _written(self, user: str) -> list[Counts]:
        if self._scope == "global":
            return [self._everybody]
        own = self._users.get(user)
        if own is None:
            own = self._users[user] = Counts()
        return [own] if self._scope == "user" else [own, self._everybody]

    def _adopt(self, journal: Journal) -> None:
        """Counts that were made earlier are read; what was written since is counted, labels in whatever order: see
        ``Node.add``. Where that is much, the counts are kept for the next opening.
        """
        kept, found = find_counts(journal, self._scope, self._gap_ns)
        self._everybody = kept.pop(None, self._everybody)
        self._users = {user: counts for user, counts in kept.items() if user is not None}
        for entry in journal.entries(after=found):
            self._observe(entry)
            if entry.label is not None:
                self._feedback(entry)
        for entry in journal.labelled(found, found):
            self._feedback(entry)
        if journal.seq - found > max(_FEW, found // 20):
            tables: dict[str | None, Counts] = dict(self._users.items())
            if self._scope != "user":
                tables[None] = self._everybody
            keep_counts(journal, self._scope, self._gap_ns, tables)

    def _clear(self, user: str) -> None:
        self._users.pop(user, None)

    def _replay(self, *users: str) -> None:
        """Where counts are shared, what one user takes back changes them: all pasts are replayed, as they arrived."""
        if self._scope == "user":
            super()._replay(*users)
            return
        for user in list(self._stored):
            self._bring(user)
        self._users.clear()
        self._everybody = Counts()
        past = sorted((entry for entries in self._past.values() for entry in entries.values()), key=lambda e: e.n)
        for entry in past:
            self._observe(Entry(entry.event, n=entry.n))
        for entry in sorted((e for e in past if e.label is not None), key=lambda e: e.known_ns):
            self._feedback(entry)

    def stats(self) -> dict[str, Any]:
        """As every memory's, how many nodes and edges there are, and the bytes of their instants."""
        tables = [*self._users.values()] if self._scope == "user" else [self._everybody]
        apps, words = sum(len(t.apps) for t in tables), sum(len(t.keywords) for t in tables)
        sizes = [t.sizes() for t in tables]
        edges, held = sum(n for n, _ in sizes), sum(n for _, n in sizes)
        return {**super().stats(), "apps": apps, "bytes": held, "edges": edges, "keywords": words}


def _of_app(app: str | None, node: Node, now_ns: int) -> MemoryItem:
    n, n_help, by, latest_ns = node.upto(now_ns)
    shares = above(by, n_help, APP_SHARE)
    text = f"In {one_line(app)} help was needed in {percent(n_help, n)} of {n} moments"
    if shares:
        text += f", then for: {_listed(shares)}"
    return _item(text, n, latest_ns, n_help / n, shares, [node], now_ns)


def _listed(shares: dict[str, float]) -> str:
    return ", ".join([f"{_short(c)} {percent(s)}" for c, s in shares.items()])


@lru_cache(maxsize=1024)
def _short(intention: str) -> str:
    return one_line(intention, 60)


def _item(
    text: str, n: int, latest_ns: int, help_share: float, shares: dict[str, float], nodes: Sequence[Node], now_ns: int
) -> MemoryItem:
    intention = next(iter(shares), None)  # what the text does not tell, the item does not claim
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
