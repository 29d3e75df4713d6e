"""Personas written by a language model (ProAgentBench, App. C): the words are the model's, the numbers stay ours.

The model sees a cluster's windows, needs and one question, never counts, so that a cluster that only grew is not asked
about again. What it wrote is kept by content, in memory or also in a file. Where it fails the extractive text stays and
says so.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory.wording import estimate_tokens, one_line
from simulator.endpoint.together import together
from simulator.endpoint.types import EndpointError, Message, Model

__all__ = ["Material", "PersonaWriter"]

TOKENS = 110
"""Of a whole persona, in the middle of the published 100 to 120: head and tail are ours, the rest is the model's."""
_LEAST = 15
_SLACK = 8
_HOPELESS = ("unauthorized", "not_found", "connection")
_PROMPT = Path(__file__).parent / "prompts" / "persona.md"
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|[。！？]")


@dataclass(frozen=True, slots=True)
class Material:
    """What one persona is written from.

    Attributes:
        opening: what kind of moments these are.
        head: how the text begins, with its count; ``tail`` how it ends, with its shares. Both are ours.
        windows: application and title, the most typical first.
        summaries: of some of its events, where there are any.
        needs: intentions, the most frequent first.
        question: one that the user asked.
        more: sentences with numbers that fill a text which came out short; ours too.
        limit: tokens that the model is told at most; windows and summaries that go past it are left out.
    """

    opening: str
    head: str
    tail: str
    windows: tuple[str, ...]
    summaries: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    question: str | None = None
    more: tuple[str, ...] = ()
    limit: int = 1_500

    @property
    def room(self) -> int:
        """How many tokens are the model's."""
        return max(30, TOKENS - estimate_tokens(f"{self.head}  {self.tail}"))

    @property
    def said(self) -> str:
        """What the model is told."""
        end: list[str] = []
        if self.needs:
            needs = ", ".join(one_line(n, 60) for n in self.needs[:12])
            end.append(f"Help that was needed, most often first: {needs}")
        if self.question:
            end.append(f"A question the user asked: {one_line(self.question, 200)}")
        lines = [f"Window: {window}" for window in self.windows]
        lines += [f"What happened: {one_line(summary, 200)}" for summary in self.summaries]
        spent, kept = sum(estimate_tokens(f"{line}\n") for line in (self.opening, *end)), []
        for n, line in enumerate(lines):
            spent += estimate_tokens(f"{line}\n")
            if n and spent > self.limit:
                break
            kept.append(line)
        return "\n".join([self.opening, *kept, *end])


class PersonaWriter:
    """Writes personas.

    Args:
        model: what is asked.
        name: what it is called, for results and for the keys of what is kept.
        sent: decoding and whatever else bears on its answers, for the keys.
        kept: a file of JSON lines with what was written, by content; it holds the texts. None: only while it lives.
        prompt: the file with its instructions.
    """

    def __init__(self, model: Model, name: str, *, sent: Mapping[str, Any] | None = None, kept: Path | None = None,
                 prompt: Path = _PROMPT) -> None:  # fmt: skip
        self._model, self._name, self._sent, self._kept = model, name, dict(sent or {}), kept
        self._prompt = prompt.read_text(encoding="utf-8")
        self._known = {} if kept is None else _read(kept)
        self.n: Counter[str] = Counter()

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._name

    @property
    def identity(self) -> str:
        """Model and prompt, for results."""
        return f"{self._name}, prompt {sha256(self._prompt.encode()).hexdigest()[:12]}"

    async def write(self, materials: Sequence[Material]) -> list[str | None]:
        """A text for each; None where none came that can be used, which is counted.

        Raises:
            EndpointError: nobody can be asked at all.
        """
        return await together(*(partial(self._write, material) for material in materials))

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    async def _write(self, material: Material) -> str | None:
        prompt = self._prompt.replace("{words}", str(material.room * 3 // 4 // 5 * 5))
        key = sha256(json.dumps([self._name, self._sent, prompt, material.said], sort_keys=True).encode()).hexdigest()
        if (known := self._known.get(key)) is not None:
            self.n["personas_known"] += 1
            return known
        try:
            reply = await self._model.chat([Message("system", (prompt,)), Message("user", (material.said,))])
        except EndpointError as error:
            if error.kind in _HOPELESS or (error.kind == "refused" and error.status is not None):
                raise  # with a status it is the request that is wrong, without one the model declined
            self.n["personas_failed"] += 1
            return None
        text = self._fitted(reply.text, material.room)
        if text is None:
            self.n["personas_failed"] += 1
            return None
        self.n["personas_written"] += 1
        self._known[key] = text
        if self._kept is not None:
            with self._kept.open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps({"key": key, "text": text}, ensure_ascii=False) + "\n")
        return text

    def _fitted(self, text: str, room: int) -> str | None:
        """One paragraph that fits, cut behind a sentence where it is too long; None for what is no description."""
        flat = one_line(text, 4000).strip(" \"'`*#“”")
        if estimate_tokens(flat) < _LEAST:
            return None
        if estimate_tokens(flat) <= room + _SLACK:
            return flat
        self.n["personas_cut"] += 1
        ends = [m.end() for m in _SENTENCE_END.finditer(flat) if estimate_tokens(flat[: m.end()]) <= room + _SLACK]
        if ends and estimate_tokens(flat[: ends[-1]]) >= _LEAST:
            return flat[: ends[-1]]
        while estimate_tokens(flat) > room:
            flat = flat[: len(flat) * 9 // 10]
        return flat.rpartition(" ")[0].rstrip(" ,;:") + "…" if " " in flat else flat + "…"


def _read(path: Path) -> dict[str, str]:
    """What was written before; a line that a kill has torn is asked for again."""
    found: dict[str, str] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                said = json.loads(line)
                found[str(said["key"])] = str(said["text"])
            except (ValueError, KeyError, TypeError):
                continue
    return found
