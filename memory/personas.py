"""``personas``: a user's past as a few characters, each standing for a cluster of like moments (ProAgentBench, App. C).

Moments with and without a need for help (or, with ``kinds=assistance``, an assistant) are clustered apart. Each cluster
becomes a text of 100 to 120 tokens, put together from its most typical and most different titles; no model writes it,
and it says so (``extractive``). With ``writer=model`` a language model writes it, and it says so too; which are near is
told the same way by both, but for ``match=text``.

When a rebuild is due is a matter of simulated time and of how many labels are new, never of how fast the machine is:
what goes in is what was known at that instant, and it is seen ``lag_s`` later. So answers are the same whenever the
work is done, which is in ``maintain``, beside the decisions; a recall that needs personas nobody has built yet builds
them itself, and counts that (``late_builds``).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memory.base import memories
from memory.embed import HashEmbedder, likeness, vectors
from memory.entry import Entry
from memory.index import best
from memory.past import CAPABILITIES, Remembered
from memory.persona_build import Build, Persona, Rules, build
from memory.persona_plan import KEPT, Due, Plan
from memory.persona_text import KINDS, filled
from memory.persona_writer import PersonaWriter
from memory.sampling import SCORINGS
from memory.wording import estimate_tokens
from simulator.core.errors import ProactError
from simulator.core.protocols import Embedder
from simulator.core.types import SECOND, MemoryItem, Query
from simulator.endpoint.types import ModelChoice

__all__ = ["PersonaMemory", "PersonaRecord"]

_LINKAGES = {"average": False, "ward": True, "personax": True}
_CAP_POLICIES = ("recut_maxclust", "keep_largest", "merge_small")
_MATCHES = ("key", "text")
_WRITERS = ("extractive", "model")


@memories.register("personas")
class PersonaMemory(Remembered):
    """Cluster personas, built before time 0 and anew as labels come, off the decision path.

    Args:
        kinds: what is clustered apart. ``help``: labelled moments in which help was needed, and those in which it was
            not. ``assistance`` (as published): events with an assistant, which then are moments too, and all others.
            Personas of the former tell what was asked there and are ``neutral``: they count in no share of help.
        match: what a question is compared to. ``key``: the windows that a persona names, and its most frequent need.
            ``text`` (as published): its whole text, with ``writer=model`` the one that was written.
        linkage: ``average`` (default): average linkage on cosine distance. ``ward`` (or ``personax``, whose code does
            that): then ``threshold`` hardly ever binds and the cap decides.
        threshold: distance up to which clusters are merged.
        cap: most clusters of a kind.
        cap_policy: what to do with more: ``recut_maxclust`` (default) cuts the tree higher; ``keep_largest`` drops the
            smallest ones (counted); ``merge_small`` joins each of them to the nearest of those kept.
        ratio: share of texts that may represent their clusters; ``max_items`` limits each cluster.
        alpha: balance of typical and different, see ``memory.sampling``; ``scoring`` (``paper`` or ``code``) names
            which of the two published rules picks.
        max_items: most moments, differing in application, title or summary, that a persona is written from.
        max_tokens: most tokens of titles and summaries that a model is shown for one persona.
        refresh: a rebuild is due when so many labels (and events with an assistant, where they count) are new, and a
            quarter more than went into the last one (so that all rebuilds together cost a small multiple of the last).
        every_s: a rebuild is also due, once the run has begun, with the first label that comes so many seconds of
            simulated time after the last one; 0: never for that reason.
        lag_s: simulated seconds from when a rebuild is due to when it is seen: the time that building is given.
        max_texts: above so many different texts of a kind they are first put into ``groups`` groups.
        groups: see ``max_texts``.
        writer: ``extractive`` (default), or ``model``: each text is written by the run's model, before time 0 and anew
            where clusters change. Where it gives none that can be used, the extractive text stays, marked and counted.
        texts: a file where ``writer=model`` keeps what was written, by content, for later runs.
        model: the run's model, given by the run; from Python a ``PersonaWriter`` as well, which is then asked.
        unit: whose calls to the model these are, given by the run.
        embedder: any ``Embedder``; the hashing one by default.
    """

    heading = "Kinds of moments in the user's past (extractive personas):"
    noted = ("personas_failed",)
    """Counts of ``stats`` that stand with the scores, as notes."""

    def __init__(self, linkage: str = "average", threshold: float = 0.7, cap: int = 15,
                 cap_policy: str = "recut_maxclust", ratio: float = 0.6, alpha: float = 1.06, scoring: str = "paper",
                 max_items: int = 12, max_tokens: int = 1_500, refresh: int = 50, every_s: float = 86_400,
                 lag_s: float = 60, max_texts: int = 10_000, groups: int = 1_000, writer: str = "extractive",
                 texts: str | None = None, model: ModelChoice | PersonaWriter | None = None, unit: str = "",
                 embedder: Embedder | None = None, kinds: str = "help", match: str = "key") -> None:  # fmt: skip
        super().__init__()
        for name, value, known in (
            ("kinds", kinds, tuple(KINDS)),
            ("match", match, _MATCHES),
            ("linkage", linkage, tuple(_LINKAGES)),
            ("cap_policy", cap_policy, _CAP_POLICIES),
            ("scoring", scoring, SCORINGS),
            ("writer", writer, _WRITERS),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}")
        if min(cap, max_items, max_tokens, refresh, max_texts, groups) < 1:
            raise ValueError("cap, max_items, max_tokens, refresh, max_texts and groups must be 1 or more")
        if not (0 < ratio <= 1 and alpha >= 1 and threshold >= 0 and every_s >= 0 and lag_s >= 0):
            raise ValueError("ratio must be in (0, 1], alpha 1 or more, threshold, every_s and lag_s 0 or more")
        if linkage == "average" and threshold > 2:
            raise ValueError("threshold must be 2 or less, the largest distance that there is (1 less the cosine)")
        if texts is not None and writer != "model" and not isinstance(model, PersonaWriter):
            raise ValueError("texts keeps what a model writes, and goes with writer=model")
        self._rules = Rules(_LINKAGES[linkage], threshold, cap, cap_policy, ratio, alpha, scoring, max_items,
                            max_tokens, max_texts, groups, kinds, match)  # fmt: skip
        self._refresh, self._every_ns, self._lag_ns = refresh, round(every_s * SECOND), round(lag_s * SECOND)
        self._embedder: Embedder = embedder or HashEmbedder()
        self._plans: dict[str, Plan] = {}
        self._begun_ns: int | None = None
        self._wanted: dict[str, None] = {}
        self._one_at_a_time = threading.Lock()  # upkeep may run beside recalls, in a thread of its own
        self.upkeep_lag_ns = self._lag_ns
        self.capabilities = dict(CAPABILITIES)
        self._writer: PersonaWriter | None = None
        if isinstance(model, PersonaWriter):
            self._writer = model
        elif writer == "model":
            self._writer = _writer(model, texts, unit)
        if self._writer is not None:
            self.inline = False  # it waits for the model
            self.capabilities["llm_per_write"] = True
            self.heading = f"Kinds of moments in the user's past (personas written by {self._writer.identity}):"

    @property
    def embedder(self) -> str:
        """Identity of the embedder, for the result."""
        return self._embedder.identity

    @staticmethod
    def asks_model(params: Mapping[str, Any]) -> bool:
        """Whether it asks the run's model with these parameters: told before anything is made."""
        return params.get("writer") == "model"

    @staticmethod
    def asks_before(params: Mapping[str, Any]) -> int:
        """How often it does before time 0, at most: once a persona. A frozen memory asks no more."""
        return 2 * int(params.get("cap", 15)) if params.get("writer") == "model" else 0

    # What the engine calls.

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The k personas nearest by cosine, from the newest that are seen at ``query.now_ns``."""
        query = self._as_of(query)
        found = await self._seen(query.user, query.now_ns)
        if found is None:
            return self._answer([], k, token_budget)
        asked = query.text if query.text is not None else f"{query.app or ''} {query.title or ''}"
        rows, norms = vectors(self._embedder, [asked])
        scores = likeness(found.rows, found.norms, rows[0], float(norms[0]))
        near = [p for p in best(scores, len(scores)) if scores[p] > 0]
        items = [replace(found.personas[p].item, score=float(scores[p])) for p in near]
        return self._answer(items, k, token_budget)

    def needs_upkeep(self) -> bool:
        """Whether ``maintain`` has something heavy to do: a rebuild is due that nobody has made."""
        return bool(self._wanted)

    async def maintain(self, now_ns: int) -> None:
        """Build what is due; the first time also all that is known, to be seen at once. Safe beside other calls."""
        if self._begun_ns is None:
            self._begun_ns = now_ns
            for known in self._plans.values():
                known.settle(now_ns)
        for user in sorted(self._plans):
            plan = self._plans.get(user)
            if plan is None:  # its past is being replayed beside this, and then asks for upkeep again
                continue
            if not plan.due:  # nothing to read yet: the first ones need not wait for ``refresh`` labels
                plan.settle(now_ns)
            due = plan.due[-1]
            if self._writer is None:
                self._made(user, plan, due)
            else:  # decisions go on in this loop while it waits for the model, and while it clusters
                made = await asyncio.to_thread(self._made, user, plan, due)
                await self._write(made)
                self._ensure_written(made)
            if plan.due[-1] is due:
                self._wanted.pop(user, None)

    async def forget(self, user: str, start_ns: int, end_ns: int) -> int:
        """See ``Remembered``; what is left is clustered and written anew, before this returns."""
        n_gone = await super().forget(user, start_ns, end_ns)
        if n_gone and self._begun_ns is not None:
            await self.maintain(self._begun_ns)
        return n_gone

    async def close(self) -> None:
        """Close the writer, and let go of the store."""
        await super().close()
        if self._writer is not None:
            await self._writer.close()

    def load(self, folder: Path) -> None:
        """See ``Remembered``; the next ``maintain`` is the first one again."""
        self._begun_ns = None
        super().load(folder)

    def stats(self) -> Mapping[str, Any]:
        """Counts, and who wrote the texts."""
        told = {**super().stats(), "embedder": self._embedder.identity}
        if self._writer is None:
            return told
        return {**told, **dict(sorted(self._writer.n.items())), "writer": self._writer.identity}

    def records(self, user: str, now_ns: int) -> list[PersonaRecord]:
        """What is seen of a user's personas at an instant, with all that is needed to audit them; builds nothing."""
        plan = self._plans.get(user)
        due = [] if plan is None else plan.seen(now_ns)
        made = None if plan is None or not due else plan.builds.get(due[0].n)
        if made is None:
            return []
        return [PersonaRecord(p, due[0].due_ns, due[0].visible_ns, made.latest_ns) for p in made.personas]

    # What Remembered asks of a memory.

    def _observe(self, entry: Entry) -> None:
        if entry.event.assistance and self._rules.kinds == "assistance":
            self._take(Entry(entry.event, n=entry.n))  # known since it closed, whatever is said of it later

    def _feedback(self, entry: Entry) -> None:
        if not entry.event.assistance:
            self._take(entry)

    def _take(self, entry: Entry) -> None:
        user = entry.event.user
        plan = self._plans.setdefault(user, Plan())
        if not plan.settled and self._begun_ns is not None and entry.known_ns > self._begun_ns:
            plan.settle(self._begun_ns)  # a replay comes by time 0, or a user without a history has begun
        plan.add(entry)
        enough = plan.n_new >= max(self._refresh, plan.n_last // 4)
        long = plan.settled and 0 < self._every_ns <= plan.latest_ns - plan.last_ns
        if enough or long:
            plan.plan(self._lag_ns)
            if plan.settled:
                self._wanted[user] = None

    def _clear(self, user: str) -> None:
        self._plans.pop(user, None)
        self._wanted.pop(user, None)

    def _replay(self, *users: str) -> None:
        for user in users:
            self._clear(user)
            entries = list(self._past.get(user, {}).values())
            steps = [(entry.event.end_ns, 0, self._observe, entry) for entry in entries]
            steps += [(entry.known_ns, 1, self._feedback, entry) for entry in entries if entry.label is not None]
            for _, _, take, entry in sorted(steps, key=lambda step: step[:2]):  # as it became known, unlike others
                take(entry)
            plan = self._plans.get(user)
            if plan is not None and self._begun_ns is not None:
                if not plan.settled:
                    plan.settle(self._begun_ns)
                self._wanted[user] = None

    # Building.

    async def _seen(self, user: str, now_ns: int) -> Build | None:
        plan = self._plans.get(user)
        due = [] if plan is None else plan.seen(now_ns)
        if plan is None or not due:
            return None
        if self._writer is not None and self._begun_ns is not None:
            # Where a model fails the personas that it wrote before stay, and no others slip into their place.
            written = (m for d in due if (m := plan.builds.get(d.n)) is not None and m.written)
            if (made := next(written, None)) is not None:
                return made
        made = plan.builds.get(due[0].n)
        if made is None:
            if self._begun_ns is not None:  # before that, rehearsals ask, and nobody is charged
                self._n["late_builds"] += 1
            made = self._made(user, plan, due[0])
        if self._begun_ns is not None:
            await self._write(made)
        return made

    def _made(self, user: str, plan: Plan, due: Due) -> Build:
        with self._one_at_a_time:
            made = plan.builds.get(due.n)
            if made is not None:
                return made
            made = build(plan.known[: due.n], self._embedder, self._rules)
            self._n["builds"] += 1
            self._n.update({name: n for name, n in made.counts.items() if n})
            for old in sorted(plan.builds)[: max(len(plan.builds) - KEPT + 1, 0)]:
                plan.builds.pop(old, None)
            plan.builds[due.n] = made
            return made

    async def _write(self, made: Build) -> None:
        """Have the texts of a build written, once."""
        if self._writer is None or made.written:
            return
        made.written = True
        try:
            texts = await self._writer.write([p.material for p in made.personas])
        except BaseException:
            made.written = False
            raise
        said: list[Persona] = []
        for text, one in zip(texts, made.personas, strict=True):
            about = one.material
            whole = f"(extractive) {one.item.text}" if text is None else f"{about.head}: {text} {about.tail}."
            whole = filled(whole, about.more)
            said.append(replace(one, item=replace(one.item, text=whole, tokens=estimate_tokens(whole))))
        made.personas = said
        if self._rules.match == "text":
            made.rows, made.norms = vectors(self._embedder, [one.item.text for one in said])

    def _ensure_written(self, made: Build) -> None:
        """A memory that says a model wrote it, of which no word is the model's, is no memory to measure.

        Raises:
            ProactError: the model has never given a text that can be used.
        """
        assert self._writer is not None
        n = self._writer.n
        if made.personas and not n["personas_written"] + n["personas_known"]:
            of = "the only persona" if n["personas_failed"] == 1 else f"any of {n['personas_failed']} personas"
            raise ProactError(f"the model {self._writer.name} gave no text that can be used, for {of}")


@dataclass(frozen=True, slots=True)
class PersonaRecord:
    """A persona with its times (``maintain``'s first build: due when it was called).

    Attributes:
        persona: text, sources and the events of its cluster.
        t_built_ns: what was known by then went in.
        visible_ns: from when it is recalled.
        latest_source_ns: when the newest moment of the whole build became known.
    """

    persona: Persona
    t_built_ns: int
    visible_ns: int
    latest_source_ns: int


def _writer(model: ModelChoice | None, texts: str | None, unit: str) -> PersonaWriter:
    if model is None or model.model is None:  # a persona names who wrote it
        raise ValueError("writer=model needs a model with a name: --model NAME, and its server: --base-url URL")
    from simulator.endpoint.chat import Endpoint

    kept = None if texts is None else Path(texts)
    client = Endpoint(model, scope=f"{unit}/personas" if unit else "personas")
    return PersonaWriter(client, model.model, sent=model.decoding, kept=kept)
