"""``class-prior``: how often help is needed at all, and for what; what the graph would know without its nodes."""

from __future__ import annotations

from memory.base import memories
from memory.graph_counts import Node, above
from memory.past import CAPABILITIES, Entry, Remembered
from memory.wording import estimate_tokens, one_line, percent
from simulator.core.types import MemoryItem, Query

__all__ = ["ClassPrior"]

_SCOPES = ("user", "global", "backoff")


@memories.register("class-prior")
class ClassPrior(Remembered):
    """The user's own shares of help and of each intention, whatever the window: the control beside ``graph``.

    Args:
        scope: whose moments are counted, as for ``graph``: ``user`` (default), ``global``, or ``backoff`` (this user's
            once there are any, else everybody's).
    """

    heading = "How often the user needs help (a hint; what is on the screen counts more):"

    def __init__(self, scope: str = "user") -> None:
        super().__init__()
        if scope not in _SCOPES:
            raise ValueError(f"scope must be one of {', '.join(_SCOPES)}")
        self._scope = scope
        self._users: dict[str, Node] = {}
        self._everybody = Node()
        self.capabilities = {**CAPABILITIES, "isolation": "native" if scope == "user" else "none"}

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """One item: P(help), and P(intention | help) above 0.05, as of the moment asked about."""
        query = self._as_of(query)
        own = [] if self._scope == "global" else [self._users.get(query.user)]
        nodes = [*own, self._everybody] if self._scope != "user" else own
        found = [_item(n, query.now_ns) for n in nodes if n is not None and n.upto(query.now_ns)[0]]
        return self._answer(found[:1], k, token_budget)

    def _feedback(self, entry: Entry) -> None:
        label = entry.label
        if label is None or entry.event.assistance:
            return
        ns = entry.known_ns
        what = (ns, label.help, label.intention, (ns, label.query) if label.query else None)
        self._users.setdefault(entry.event.user, Node()).add(*what)
        self._everybody.add(*what)

    def _clear(self, user: str) -> None:
        self._users.pop(user, None)

    def _replay(self, *users: str) -> None:
        """Everybody's counts are made of all pasts."""
        self._users.clear()
        self._everybody = Node()
        super()._replay(*self._past)


def _item(node: Node, now_ns: int) -> MemoryItem:
    n, n_help, by, latest_ns = node.upto(now_ns)
    shares = above(by, n_help, 5)
    intention = next(iter(shares), None)
    asked = node.question(intention, now_ns)
    text = f"Help was needed in {percent(n_help, n)} of {n} moments"
    if shares:
        text += ", then for: " + ", ".join(f"{one_line(c, 60)} {percent(s)}" for c, s in shares.items())
    return MemoryItem(
        text=text,
        score=n / (n + 4),
        latest_source_ns=latest_ns,
        intention=intention,
        help=n_help / n,
        query=None if asked is None else asked[1],
        tokens=estimate_tokens(text),
    )
