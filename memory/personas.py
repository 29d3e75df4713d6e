"""``personas``: a user's past as a few characters, each standing for a cluster of like moments (ProAgentBench, App. C).

Moments with and without a need for help are clustered apart. Each cluster becomes a text of about 110 tokens, put
together from its most typical and most different titles; no model writes it, and it says so (``extractive``). With
``writer=model`` a language model writes it, and it says so too; which personas are near is told the same way by both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from memory.base import memories
from memory.clusters import allot, cosines, cut, leaders, merges, typical_and_different
from memory.embed import Floats, HashEmbedder, Rows, likeness, vectors
from memory.index import best
from memory.past import CAPABILITIES, Entry, Remembered
from memory.persona_writer import Material, PersonaWriter
from memory.wording import estimate_tokens, event_words, one_line, percent
from simulator.core.protocols import Embedder
from simulator.core.types import Event, Label, MemoryItem, Query
from simulator.endpoint.types import ModelChoice

__all__ = ["PersonaMemory"]

_LINKAGES = ("average", "personax")
_CAP_POLICIES = ("recut_maxclust", "keep_largest")
_WRITERS = ("extractive", "model")
_TOKENS = 115


@memories.register("personas")
class PersonaMemory(Remembered):
    """Cluster personas, built before time 0 (``maintain``), and anew when enough labels have come: inside the write of
    the last one (``feedback``), which agents wait for and which is charged.

    Args:
        linkage: ``average`` (default): average linkage on cosine distance. ``personax``: Ward, as that code does; then
            ``threshold`` hardly ever binds and the cap decides.
        threshold: distance up to which clusters are merged.
        cap: most clusters of a kind.
        cap_policy: what to do with more: ``recut_maxclust`` (default) cuts the tree higher; ``keep_largest`` drops the
            smallest ones (counted).
        ratio: share of items that may represent their clusters; ``max_items`` limits each cluster.
        alpha: balance of typical and different, see ``typical_and_different``.
        max_items: most titles that a persona is written from.
        refresh: rebuild when so many new labels have come (and a quarter more than before), at most.
        max_texts: above so many different texts of a kind they are pre-clustered.
        writer: ``extractive`` (default), or ``model``: each text is written by the run's model, before time 0 and anew
            where clusters change. Where it gives none that can be used, the extractive text stays, marked and counted.
        texts: a file where ``writer=model`` keeps what was written, by content, for later runs.
        model: the run's model, given by the run; from Python a ``PersonaWriter`` as well, which is then asked.
        unit: whose calls to the model these are, given by the run.
        embedder: any ``Embedder``; the hashing one by default.
    """

    heading = "Kinds of moments in the user's past (extractive personas):"

    def __init__(self, linkage: str = "average", threshold: float = 0.7, cap: int = 15,
                 cap_policy: str = "recut_maxclust", ratio: float = 0.6, alpha: float = 1.06, max_items: int = 12,
                 refresh: int = 50, max_texts: int = 600, writer: str = "extractive", texts: str | None = None,
                 model: ModelChoice | PersonaWriter | None = None, unit: str = "",
                 embedder: Embedder | None = None) -> None:  # fmt: skip
        super().__init__()
        if linkage not in _LINKAGES:
            raise ValueError(f"linkage must be one of {', '.join(_LINKAGES)}")
        if cap_policy not in _CAP_POLICIES:
            raise ValueError(f"cap_policy must be one of {', '.join(_CAP_POLICIES)}")
        if writer not in _WRITERS:
            raise ValueError(f"writer must be one of {', '.join(_WRITERS)}")
        if cap < 1 or max_items < 1 or refresh < 1 or max_texts < 1:
            raise ValueError("cap, max_items, refresh and max_texts must be 1 or more")
        self._ward, self._threshold, self._cap, self._cap_policy = linkage == "personax", threshold, cap, cap_policy
        self._ratio, self._alpha, self._max_items = ratio, alpha, max_items
        self._refresh, self._max_texts = refresh, max_texts
        self._embedder: Embedder = embedder or HashEmbedder()
        self._builds: dict[str, list[_Build]] = {}
        self._new: Counter[str] = Counter()
        self._settled: set[str] = set()
        # Rebuilding from later data rewrites personas; the last two builds are kept for decisions in flight.
        self.capabilities = {**CAPABILITIES, "mutates_past": True}
        self._writer: PersonaWriter | None = None
        if isinstance(model, PersonaWriter):
            self._writer = model
        elif writer == "model":
            self._writer = _writer(model, texts, unit)
        self._unwritten: dict[str, _Build] = {}
        if self._writer is not None:
            self.inline = False  # it waits for the model
            self.capabilities["llm_per_write"] = True
            self.heading = f"Kinds of moments in the user's past (personas written by {self._writer.identity}):"

    @property
    def embedder(self) -> str:
        """Identity of the embedder, for the result."""
        return self._embedder.identity

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The k personas nearest by cosine, from the newest build that knows nothing later than now."""
        builds = self._builds.get(query.user, [])
        build = next((b for b in reversed(builds) if b.latest_ns <= query.now_ns), None)
        if build is None or not build.personas:
            return self._answer([], k, token_budget)
        asked = query.text if query.text is not None else f"{query.app or ''} {query.title or ''}"
        rows, norms = vectors(self._embedder, [asked])
        scores = likeness(build.rows, build.norms, rows[0], float(norms[0]))
        near = [p for p in best(scores, len(scores)) if scores[p] > 0]
        return self._answer([replace(build.personas[p], score=float(scores[p])) for p in near], k, token_budget)

    async def maintain(self, now_ns: int) -> None:
        """Rebuild: once for each user who has labels, then again whenever ``refresh`` new ones have come."""
        for user, n_new in sorted(self._new.items()):
            if n_new >= self._refresh or (n_new and user not in self._settled):
                self._build(user)
            self._settled.add(user)
        await self._write()

    async def feedback(self, event: Event, label: Label) -> None:
        """Take in a label; with a model as writer also wait for the texts of what was rebuilt for it. Not while the
        history comes in: the many builds on the way to the first ``maintain`` stay extractive.
        """
        await super().feedback(event, label)
        if event.user in self._settled:
            await self._write()

    async def forget(self, user: str, start_ns: int, end_ns: int) -> int:
        """See ``Remembered``; texts are written anew from what is left."""
        n_gone = await super().forget(user, start_ns, end_ns)
        await self._write()
        return n_gone

    async def close(self) -> None:
        """Close the writer."""
        if self._writer is not None:
            await self._writer.close()

    def stats(self) -> Mapping[str, Any]:
        """Counts, and who wrote the texts."""
        if self._writer is None:
            return super().stats()
        return {**super().stats(), **dict(sorted(self._writer.n.items())), "writer": self._writer.identity}

    def _feedback(self, entry: Entry) -> None:
        # Rehearsals ask a memory that is still filling: it rebuilds at ever larger steps, so that all builds together
        # cost a small multiple of the last one.
        user = entry.event.user
        self._new[user] += 1
        builds = self._builds.get(user)
        if self._new[user] >= max(self._refresh, builds[-1].n_moments // 4 if builds else 0):
            self._build(user)

    def _clear(self, user: str) -> None:
        self._builds.pop(user, None)
        self._unwritten.pop(user, None)
        self._new.pop(user, None)

    def _replay(self, *users: str) -> None:
        for user in users:
            self._clear(user)
            self._build(user)

    # Building.

    def _build(self, user: str) -> None:
        moments = [e for e in self._past.get(user, {}).values() if e.label is not None and not e.event.assistance]
        self._new[user] = 0
        if not moments:
            return
        texts: dict[tuple[bool, str], _Text] = {}
        for moment in moments:
            helped = moment.label is not None and moment.label.help
            texts.setdefault((helped, _words(moment)), _Text(helped)).moments.append(moment)
        rows, norms = vectors(self._embedder, [words for _, words in texts])
        corpus = _Corpus(list(texts.values()), rows, norms)
        clusters = [c for helped in (True, False) for c in self._clusters(corpus, helped)]
        latest_ns = max(m.known_ns for m in moments)
        made = self._written(corpus, clusters, latest_ns)
        keys, key_norms = vectors(self._embedder, [one.key for one in made])
        build = _Build(latest_ns, len(moments), [one.item for one in made], keys, key_norms)
        if self._writer is not None:
            build.materials = [one.material for one in made]
            self._unwritten[user] = build
        self._builds[user] = [*self._builds.get(user, [])[-1:], build]
        self._n["builds"] += 1

    def _clusters(self, corpus: _Corpus, helped: bool) -> list[_Cluster]:
        """The clusters of one kind, heaviest first."""
        kind = [i for i, t in enumerate(corpus.texts) if t.helped == helped]
        if not kind:
            return []
        weights = [len(corpus.texts[i].moments) for i in kind]
        led_by = list(range(len(kind)))
        if len(kind) > self._max_texts:
            led_by = leaders(corpus.rows[kind], corpus.norms[kind], weights, self._max_texts)
            self._n["preclustered"] += 1
        heads = sorted(set(led_by))
        place = {head: n for n, head in enumerate(heads)}
        followers: list[list[int]] = [[] for _ in heads]
        for member, head in enumerate(led_by):
            followers[place[head]].append(member)
        at = [kind[h] for h in heads]
        between = cosines(corpus.rows[at], corpus.norms[at], corpus.rows[at], corpus.norms[at])
        tree = merges(between, [sum(weights[m] for m in f) for f in followers], ward=self._ward)
        groups = cut(tree, len(heads), height=self._threshold)
        self._n["bound_by_cap" if len(groups) > self._cap else "bound_by_threshold"] += 1
        if len(groups) > self._cap and self._cap_policy == "recut_maxclust":
            groups = cut(tree, len(heads), n_clusters=self._cap)
        clusters = [
            _Cluster(helped, [at[g] for g in group], [kind[m] for g in group for m in followers[g]]) for group in groups
        ]
        clusters.sort(key=lambda c: (-sum(len(corpus.texts[m].moments) for m in c.members), c.heads[0]))
        self._n["dropped_clusters"] += max(len(clusters) - self._cap, 0)
        return clusters[: self._cap]

    async def _write(self) -> None:
        """Have the texts of new builds written; one that is replaced before its turn never is."""
        while self._writer is not None and self._unwritten:
            user = next(iter(self._unwritten))
            build = self._unwritten[user]
            texts = await self._writer.write(build.materials)
            for i, (text, material) in enumerate(zip(texts, build.materials, strict=True)):
                extractive = f"(extractive) {build.personas[i].text}"
                said = extractive if text is None else f"{material.head}: {text} {material.tail}."
                build.personas[i] = replace(build.personas[i], text=said, tokens=estimate_tokens(said))
            if self._unwritten.get(user) is build:
                del self._unwritten[user]

    def _written(self, corpus: _Corpus, clusters: list[_Cluster], latest_ns: int) -> list[_Persona]:
        """Each cluster as the text that is searched and the item that is recalled."""
        allowed = dict.fromkeys(range(len(clusters)), 0)
        for helped in (True, False):
            kind = [i for i, c in enumerate(clusters) if c.helped == helped]
            shares = allot([len(clusters[i].heads) for i in kind], self._ratio, self._max_items)
            allowed.update(zip(kind, shares, strict=True))
        weights = np.array([len(t.moments) for t in corpus.texts], dtype=np.float64)
        needed = weights * np.array([t.helped for t in corpus.texts])
        rows = corpus.rows.astype(np.float64)
        made: list[_Persona] = []
        for i, cluster in enumerate(clusters):
            # In float64 these sums of counts are whole numbers too, and exact.
            centre = (weights[cluster.members, None] * rows[cluster.members]).sum(axis=0)
            near = likeness(rows, corpus.norms, centre, float(np.sqrt(np.vecdot(centre, centre))))
            like = near >= 1.0 - self._threshold
            like[cluster.members] = True
            help_share = float(needed[like].sum() / weights[like].sum())
            shown = self._shown(corpus, cluster.heads, near, allowed[i])
            made.append(_persona(corpus, cluster, shown, help_share, int(weights[like].sum()), latest_ns))
        return made

    def _shown(self, corpus: _Corpus, heads: list[int], near: Floats, n: int) -> list[_Text]:
        between = cosines(corpus.rows[heads], corpus.norms[heads], corpus.rows[heads], corpus.norms[heads])
        to_centre = np.sqrt(np.maximum(2.0 - 2.0 * near[heads], 0.0))
        apart = np.sqrt(np.maximum(2.0 - 2.0 * between, 0.0))
        return [corpus.texts[heads[p]] for p in typical_and_different(to_centre, apart, n, self._alpha)]


@dataclass(slots=True)
class _Text:
    """One text of one kind, and the moments that read so."""

    helped: bool
    moments: list[Entry] = field(default_factory=list)


@dataclass(slots=True)
class _Corpus:
    """The different texts of a user with their vectors, row for row."""

    texts: list[_Text]
    rows: Rows
    norms: Floats


@dataclass(slots=True)
class _Cluster:
    """Texts of one kind that belong together; ``heads`` lead the others where there was pre-clustering."""

    helped: bool
    heads: list[int]
    members: list[int]


@dataclass(slots=True)
class _Build:
    """All personas of a user as of one building."""

    latest_ns: int
    n_moments: int
    personas: list[MemoryItem]
    rows: Rows
    norms: Floats
    materials: Sequence[Material] = ()  # for a model to write from


@dataclass(slots=True)
class _Persona:
    """The text that is searched, the item that is recalled, and what a model may write its words from."""

    key: str
    item: MemoryItem
    material: Material


def _writer(model: ModelChoice | None, texts: str | None, unit: str) -> PersonaWriter:
    if model is None or model.model is None:  # a persona names who wrote it
        raise ValueError("writer=model needs a model with a name: --model NAME, and its server: --base-url URL")
    from simulator.endpoint.chat import Endpoint

    kept = None if texts is None else Path(texts)
    client = Endpoint(model, scope=f"{unit}/personas" if unit else "personas")
    return PersonaWriter(client, model.model, sent=model.decoding, kept=kept)


def _words(moment: Entry) -> str:
    event = moment.event
    return " ".join(filter(None, (event.app, event.title, event.summary)))


def _persona(
    corpus: _Corpus, cluster: _Cluster, shown: list[_Text], help_share: float, n_like: int, latest_ns: int
) -> _Persona:
    moments = [m for i in cluster.members for m in corpus.texts[i].moments]
    labels = [m.label for m in moments if m.label is not None]
    needs = Counter(lb.intention for lb in labels if lb.help and lb.intention is not None)
    intention = min(needs, key=lambda c: (-needs[c], c)) if needs else None
    asked = [m for m in moments if m.label is not None and m.label.query and m.label.intention == intention]
    question = max(asked, key=lambda m: m.known_ns).label if asked else None
    query = None if question is None else question.query

    head = f"Moments {'with' if cluster.helped else 'without'} help needed ({len(moments)})"
    tail = f"In {n_like} moments like these help was needed in {percent(help_share)}"
    if intention is not None:
        tail += f", most often for {one_line(intention, 60)} ({percent(needs[intention], len(labels))} here)"
    if query is not None:
        tail += f"; an earlier question: “{one_line(query)}”"
    places: list[str] = []
    spent = estimate_tokens(f"{head}: . {tail}.")
    for one in shown:
        words = event_words(one.moments[-1].event)
        spent += estimate_tokens(f"{words}; ")
        if places and spent > _TOKENS:
            break
        places.append(words)
    text = f"{head}: {'; '.join(places)}. {tail}."
    ids = tuple(t.moments[-1].event.id for t in shown[: len(places)])
    key = " ".join([*(_words(t.moments[-1]) for t in shown[: len(places)]), intention or ""])
    item = MemoryItem(text, 0.0, ids, latest_ns, intention, help_share, query, estimate_tokens(text))
    told = [event.summary for one in shown if (event := one.moments[-1].event).summary is not None]
    ordered = tuple(sorted(needs, key=lambda c: (-needs[c], c)))
    windows = tuple(event_words(one.moments[-1].event) for one in shown)
    return _Persona(key, item, Material(cluster.helped, head, tail, windows, tuple(told), ordered, query))
