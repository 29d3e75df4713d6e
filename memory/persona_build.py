"""From a user's labelled moments to personas: texts, vectors, clusters, a choice of windows, words. A pure function.

Moments of two kinds are clustered apart (``KINDS``). Equal texts are one point with a weight. Up to ``max_texts``
different ones of a kind are clustered exactly; more are first put into ``groups`` groups by k-means, and what is
averaged between those groups is still every pair of their texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from memory.clusters import UNIT, coarse, cut, distances, means, merge_small, merges, products, whole
from memory.embed import Floats, Rows, vectors
from memory.entry import Entry
from memory.persona_text import KINDS, Among, extractive, told
from memory.persona_writer import Material
from memory.sampling import allot, pick
from memory.wording import estimate_tokens, event_words
from simulator.core.protocols import Embedder
from simulator.core.types import MemoryItem

__all__ = ["Build", "Persona", "Rules", "build", "words_of"]


@dataclass(frozen=True, slots=True)
class Rules:
    """How clusters and texts are made; each as the option of ``PersonaMemory`` of that name."""

    ward: bool = False
    threshold: float = 0.7
    cap: int = 15
    cap_policy: str = "recut_maxclust"
    ratio: float = 0.6
    alpha: float = 1.06
    scoring: str = "paper"
    max_items: int = 12
    max_tokens: int = 1_500
    max_texts: int = 10_000
    groups: int = 1_000
    kinds: str = "help"
    match: str = "key"


@dataclass(frozen=True, slots=True)
class Persona:
    """One cluster.

    Attributes:
        item: what is recalled; its sources are the events picked of the windows it names.
        key: the text it is searched by: those events and the most frequent need, or with ``match=text`` its own.
        material: what a model may write its words from.
        event_ids: of all moments behind it, those of its cluster, in the order in which they became known.
    """

    item: MemoryItem
    key: str
    material: Material
    event_ids: tuple[str, ...]


@dataclass(slots=True)
class Build:
    """All personas of a user as of one instant.

    Attributes:
        latest_ns: when the newest of what is behind them became known.
        n_moments: how many moments are.
        personas: those with help (or an assistant) first, the heaviest first.
        rows: of their keys, with ``norms``.
        counts: how they came about: pre-clustered, which bound was met, clusters dropped.
        written: whether a model has had its turn.
    """

    latest_ns: int
    n_moments: int
    personas: list[Persona]
    rows: Rows
    norms: Floats
    counts: Counter[str]
    written: bool = False


@dataclass(slots=True)
class _Text:
    """One text of one kind, and the moments that read so.

    Attributes:
        first: whether it is of the first of the two kinds.
        moments: in the order in which they became known.
        told: how many of them count in shares of help, none with an assistant; ``needed`` how many of these needed it.
    """

    first: bool
    moments: list[Entry] = field(default_factory=list)
    told: int = 0
    needed: int = 0

    def add(self, moment: Entry) -> None:
        self.moments.append(moment)
        if not moment.event.assistance:
            self.told += 1
            self.needed += moment.label is not None and moment.label.help


@dataclass(slots=True)
class _Corpus:
    """The different texts of a user with their vectors, row for row."""

    texts: list[_Text]
    rows: Rows
    norms: Floats
    weights: list[int]


@dataclass(slots=True)
class _Cluster:
    """Texts of one kind that belong together, and the mean of their unit vectors."""

    first: bool
    members: list[int]
    weight: int
    centre: Floats


def words_of(moment: Entry) -> str:
    """The text of a moment: application, title and summary."""
    event = moment.event
    return " ".join(filter(None, (event.app, event.title, event.summary)))


def build(moments: Sequence[Entry], embedder: Embedder, rules: Rules) -> Build:
    """The personas of a user.

    Args:
        moments: labelled or (``kinds=assistance``) with an assistant, at least one, in the order in which they became
            known.
        embedder: of titles and of the finished personas.
        rules: how.
    """
    texts: dict[tuple[bool, str], _Text] = {}
    for moment, first in _sorted_out(moments, rules.kinds):
        texts.setdefault((first, words_of(moment)), _Text(first)).add(moment)
    rows, norms = whole(*vectors(embedder, [words for _, words in texts]))
    corpus = _Corpus(list(texts.values()), rows, norms, [len(t.moments) for t in texts.values()])
    counts: Counter[str] = Counter()
    clusters = [c for first in (True, False) for c in _clusters(corpus, first, rules, counts)]
    latest_ns = max(m.known_ns for m in moments)
    made = _personas(corpus, clusters, latest_ns, rules)
    keys, key_norms = vectors(embedder, [one.key for one in made])
    return Build(latest_ns, len(moments), made, keys, key_norms, counts)


def _sorted_out(moments: Sequence[Entry], kinds: str) -> Iterator[tuple[Entry, bool]]:
    """Each moment, and whether it is of the first kind. One with an assistant is told with what was asked there, which
    is the label of the moment in which the need arose: known from the instant at which it begins.
    """
    asked = {m.label.available_ns: m.label for m in moments if m.label is not None and m.label.help}
    for moment in moments:
        if kinds == "help":
            yield moment, moment.label is not None and moment.label.help
        elif moment.event.assistance:
            yield replace(moment, label=asked.get(moment.event.start_ns)), True
        else:
            yield moment, False


def _clusters(corpus: _Corpus, first: bool, rules: Rules, counts: Counter[str]) -> list[_Cluster]:
    """The clusters of one kind, heaviest first."""
    kind = [i for i, t in enumerate(corpus.texts) if t.first == first]
    if not kind:
        return []
    rows, norms, weights = corpus.rows[kind], corpus.norms[kind], [corpus.weights[i] for i in kind]
    if len(kind) > rules.max_texts:
        parts = coarse(rows, norms, weights, rules.groups)
        counts["preclustered"] += 1
        middle = means(rows, norms, weights, parts)
        points: Rows = np.rint(middle * UNIT).astype(np.float32)
        sizes, lengths = [sum(weights[i] for i in part) for part in parts], np.full(len(parts), UNIT)
        apart = distances(points, lengths, sizes, ward=rules.ward)
    else:
        parts, sizes = [[i] for i in range(len(kind))], weights
        apart = distances(rows, norms, weights, ward=rules.ward)
    tree = merges(apart, sizes, ward=rules.ward)
    del apart
    cutting = cut(tree, len(parts), height=rules.threshold)
    bound = len(cutting) > rules.cap
    counts["bound_by_cap" if bound else "bound_by_threshold"] += 1
    if bound and rules.cap_policy == "recut_maxclust":
        cutting = cut(tree, len(parts), n_clusters=rules.cap)
    groups = [sorted(i for part in group for i in parts[part]) for group in cutting]
    if bound and rules.cap_policy == "merge_small":
        counts["merged_clusters"] += len(groups) - rules.cap
        heavy = [sum(weights[i] for i in group) for group in groups]
        groups = merge_small(groups, means(rows, norms, weights, groups), heavy, rules.cap)
    centres = means(rows, norms, weights, groups)
    clusters = [
        _Cluster(first, [kind[i] for i in group], sum(weights[i] for i in group), centre)
        for group, centre in zip(groups, centres, strict=True)
    ]
    clusters.sort(key=lambda c: (-c.weight, c.members[0]))
    counts["dropped_clusters"] += max(len(clusters) - rules.cap, 0)
    return clusters[: rules.cap]


def _personas(corpus: _Corpus, clusters: list[_Cluster], latest_ns: int, rules: Rules) -> list[Persona]:
    allowed, n_kind = [0] * len(clusters), dict.fromkeys((True, False), 0)
    for first in (True, False):
        of_kind = [i for i, c in enumerate(clusters) if c.first == first]
        shares = allot([len(clusters[i].members) for i in of_kind], rules.ratio, rules.max_items)
        for i, n in zip(of_kind, shares, strict=True):
            allowed[i] = n
    for text in corpus.texts:
        n_kind[text.first] += len(text.moments)
    counted, needed = (np.array([getattr(t, name) for t in corpus.texts]) for name in ("told", "needed"))
    near = _cosines(corpus, clusters)
    made: list[Persona] = []
    for i, cluster in enumerate(clusters):
        kind = KINDS[rules.kinds][not cluster.first]
        within = (near[:, i] >= 1.0 - rules.threshold) & (kind.share == "nearest")
        within[cluster.members] = True
        shown = _shown(corpus, cluster, near[cluster.members, i], allowed[i], rules)
        of = Among(kind, n_kind[cluster.first], int(needed[within].sum()), int(counted[within].sum()))
        made.append(_persona(corpus, cluster, shown, of, latest_ns, rules))
    return made


def _cosines(corpus: _Corpus, clusters: Sequence[_Cluster]) -> Floats:
    """Of every text and every cluster's centre, shape (texts, clusters)."""
    centres = np.array([c.centre for c in clusters]).reshape(len(clusters), corpus.rows.shape[1])
    points, lengths = whole(centres.astype(np.float32), np.sqrt(np.vecdot(centres, centres)))
    by = corpus.norms[:, None] * lengths
    dots = products(corpus.rows, points).astype(np.float64)
    found: Floats = np.divide(dots, by, out=np.zeros_like(dots), where=by > 0)
    return found


def _shown(corpus: _Corpus, cluster: _Cluster, near: Floats, n: int, rules: Rules) -> list[Entry]:
    """The newest moment of each text chosen to stand for the cluster.

    Args:
        corpus: all texts.
        cluster: whose.
        near: cosine of each member with the cluster's centre.
        n: how many.
        rules: balance and scoring.
    """
    rows, norms = corpus.rows[cluster.members], corpus.norms[cluster.members]
    says = (norms > 0).astype(np.float64)  # squared length of a unit vector, or of none
    length = float(np.sqrt(np.vecdot(cluster.centre, cluster.centre)))
    to_centre = np.sqrt(np.maximum(says - 2.0 * near * length + length * length, 0.0))

    def apart(one: int) -> Floats:
        by = norms * norms[one]
        dots = np.vecdot(rows, rows[one]).astype(np.float64)
        cosine = np.divide(dots, by, out=np.zeros_like(dots), where=by > 0)
        found: Floats = np.sqrt(np.maximum(says + says[one] - 2.0 * cosine, 0.0))
        return found

    chosen = pick(to_centre, apart, n, rules.alpha, rules.scoring)
    return [corpus.texts[cluster.members[p]].moments[-1] for p in chosen]


def _persona(corpus: _Corpus, cluster: _Cluster, shown: Sequence[Entry], of: Among, latest_ns: int,
             rules: Rules) -> Persona:  # fmt: skip
    moments = sorted((m for i in cluster.members for m in corpus.texts[i].moments), key=lambda m: m.known_ns)
    summaries = tuple(dict.fromkeys(m.event.summary for m in shown if m.event.summary))
    windows = tuple(dict.fromkeys(event_words(m.event) for m in shown))  # texts may differ in their summary alone
    said = told(moments, of, summaries)
    text, n_named = extractive(said, windows)
    named = [m for m in shown if event_words(m.event) in windows[:n_named]]
    ids = tuple(m.event.id for m in named)
    key = " ".join([*map(words_of, named), said.intention or ""])
    item = MemoryItem(text, 0.0, ids, latest_ns, tokens=estimate_tokens(text))
    if of.kind.share != "none":
        item = replace(item, intention=said.intention, help=of.needed / of.counted, query=said.query)
    else:  # it tells what assistants were asked, and not how often help is needed
        item = replace(item, neutral=True)
    material = Material(opening=of.kind.opening, head=said.head, tail=said.tail, windows=windows, summaries=summaries,
                        needs=said.needs, question=said.query, more=said.more, limit=rules.max_tokens)  # fmt: skip
    return Persona(item, text if rules.match == "text" else key, material, tuple(m.event.id for m in moments))
