"""A model that says whether a user would accept a proposal, or an assistant's silence (ProactiveBench's question).

Their own judge is a fine-tuned model with a prompt that goes with it; a verdict by this one is never the official one,
and names its model and the hash of its prompt. An answer that cannot be read is asked for twice more, then the case
stays unjudged: it is counted, and no verdict is made up. Verdicts are kept by content, so that asking again costs
nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.core.loose_json import find_object
from simulator.endpoint.types import EndpointError, Message, Model
from simulator.timing.tasks import task_group

__all__ = ["SCHEMA", "Proposal", "Proposals"]

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"thought": {"type": "string"}, "judgement": {"type": "string", "enum": ["accepted", "rejected"]}},
    "required": ["thought", "judgement"],
    "additionalProperties": False,
}
TRIES = 3
_PROMPT = Path(__file__).parent / "prompts" / "proposal.md"
_LONGEST = 600  # characters of a line
_HOPELESS = ("unauthorized", "not_found", "connection")
_IN_A_ROW = 5  # questions without an answer: nobody is there


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is to be judged. ``tasks`` empty: the assistant stayed silent."""

    events: tuple[str, ...]
    tasks: tuple[str, ...]

    @property
    def question(self) -> str:
        """As the model is asked."""
        done = "\n".join(f"{n}. {_line(event)}" for n, event in enumerate(self.events, 1)) or "(nothing is known)"
        said = "\n".join(f"- {_line(task)}" for task in self.tasks) or "(nothing: it stayed silent)"
        return f"What the user did\n{done}\n\nWhat the assistant proposed\n{said}"


@dataclass(slots=True)
class Proposals:
    """Asks a model for verdicts.

    Args:
        model: what is asked; the caller closes it.
        name: what it is called, for results and for the keys of what is kept.
        sent: decoding and whatever else bears on its answers, for the keys.
        kept: a file of JSON lines where verdicts are kept by content; it holds hashes and words of verdicts, no texts.
        at_once: questions at a time.
        asked: told after each verdict.
    """

    model: Model
    name: str
    sent: Mapping[str, Any] = field(default_factory=dict)
    kept: Path | None = None
    at_once: int = 4
    asked: Callable[[], None] = lambda: None
    n_asked: int = field(default=0, init=False)
    n_known: int = field(default=0, init=False)
    n_unread: int = field(default=0, init=False)
    n_failed: int = field(default=0, init=False)
    _verdicts: dict[str, bool] = field(default_factory=dict, init=False)
    _lame: int = field(default=0, init=False)

    @property
    def judge(self) -> str:
        """For results: model and prompt."""
        return f"judge ({self.name}, prompt {sha256(_PROMPT.read_bytes()).hexdigest()[:12]})"

    async def verdicts(self, asked: Sequence[Proposal]) -> list[bool | None]:
        """For each whether it would be accepted; None where the model gave no verdict. Equal ones are asked once.

        Raises:
            EndpointError: nobody is there, or the request is wrong; what came before is kept.
        """
        if self.kept is not None:
            self._verdicts = _read(self.kept)
        prompt = _PROMPT.read_text(encoding="utf-8")
        by_key = {self._key(one, prompt): one for one in asked}
        open_ = [(key, one) for key, one in by_key.items() if key not in self._verdicts]
        self.n_known = len(asked) - len(open_)
        coming = iter(open_)

        async def worker() -> None:
            for key, one in coming:
                said = await self._ask(one, prompt)
                self.asked()
                if said is not None:
                    self._keep(key, said)

        async with task_group() as group:
            for _ in range(max(1, self.at_once)):
                group.start_soon(worker)
        return [self._verdicts.get(self._key(one, prompt)) for one in asked]

    def _key(self, one: Proposal, prompt: str) -> str:
        said = json.dumps([self.name, dict(self.sent), prompt, one.question], sort_keys=True, default=str)
        return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()

    def _keep(self, key: str, said: bool) -> None:
        self._verdicts[key] = said
        if self.kept is not None:
            with self.kept.open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps({"key": key, "judgement": "accepted" if said else "rejected"}) + "\n")

    async def _ask(self, one: Proposal, prompt: str) -> bool | None:
        first = [Message("system", (prompt,)), Message("user", (one.question,))]
        messages = first
        for _ in range(TRIES):
            self.n_asked += 1
            try:
                reply = await self.model.chat(messages, schema=SCHEMA)
            except EndpointError as error:
                self.n_failed += 1
                self._lame += 1
                hopeless = error.kind in _HOPELESS or (error.kind == "refused" and error.status is not None)
                if hopeless or self._lame >= _IN_A_ROW:
                    raise
                return None
            self._lame = 0
            found = find_object(reply.text, lambda value: "judgement" in value)
            word = None if found is None else found.value["judgement"]
            if isinstance(word, str) and word.strip().casefold() in ("accepted", "rejected"):
                return word.strip().casefold() == "accepted"
            again = 'That cannot be used. Answer with the JSON object alone; "judgement" is accepted or rejected.'
            messages = [*first, Message("assistant", (reply.text[:2000],)), Message("user", (again,))]
        self.n_unread += 1
        return None


def _line(text: str) -> str:
    """On one line, whatever somebody wrote into it."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"


def _read(path: Path) -> dict[str, bool]:
    """Verdicts of earlier calls; a line that a kill has torn is asked for again."""
    found: dict[str, bool] = {}
    lines: Iterable[str] = path.read_text(encoding="utf-8", errors="replace").split("\n") if path.is_file() else ()
    for line in lines:
        try:
            said = json.loads(line)
            found[str(said["key"])] = {"accepted": True, "rejected": False}[said["judgement"]]
        except (ValueError, KeyError, TypeError):
            continue
    return found
