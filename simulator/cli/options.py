"""The options of ``proact run``: light, since ``--help`` shows them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Group, Parameter

from simulator.cli.parameters import AsJson, option, switch
from simulator.core.errors import UsageError, quote

if TYPE_CHECKING:
    from simulator.cli.live import LiveOptions
    from simulator.endpoint.types import ModelChoice

__all__ = ["Embedder", "MemoryModel", "MemoryUrl", "ModelOptions", "Options", "split_memories"]

T = TypeVar("T", "Options", "LiveOptions")
Embedder = Annotated[
    str | None,
    option("Of memories that embed (rag, personas, threads, …): hash, minilm, wordllama, endpoint:model=NAME."),
]
MemoryModel = Annotated[str | None, option("Of personas:writer=model: as the server calls it.")]
"""Of commands that make a memory outside of a run, like ``MemoryUrl``."""
MemoryUrl = Annotated[
    str | None, option("Of the model's server, such as http://localhost:8000/v1; or OPENAI_BASE_URL.")
]


@Parameter(name="*")
@dataclass
class Options:
    """The options of ``proact run``."""

    agent: Annotated[str, option("Name or path.py:Class, with parameters: random:rate=0.1.")] = "prior"
    memory: Annotated[str, option("none, window, rag, graph, rag+graph, …; several with commas, one run each.")] = "rag"
    embedder: Embedder = None
    clock: Annotated[str, option("measured, modelled, journal, wall or elastic.")] = "measured"
    latency: Annotated[str | None, option("For modelled: fixed:350ms, profile:5s, token:…, from:RUN, cassette.")] = None
    journal: Annotated[Path | None, option("For journal: the earlier run's folder.")] = None
    policy: Annotated[str | None, option("When the stream is faster: latest_only, queue_all, overlap:4, ….")] = None
    protocol: Annotated[str | None, option("stream, moments or trajectory.")] = None
    gate: Annotated[str | None, option("standard, off or window:30s.")] = None
    seed: Annotated[int | None, option("Seed of all chance.")] = None
    timeout: Annotated[str, option("Limit of one decision's charge.")] = "60s"
    memory_mode: Annotated[str | None, option("online (grows during the run) or frozen (history only).")] = None
    window: Annotated[str | None, option("How far back the history view reaches, such as 5min.")] = None
    speed: Annotated[int | None, option("For elastic: idle stretches at most so many times real time.")] = None
    max_gap: Annotated[str | None, option("For wall: idle real time to wait at most; stamps stay true.")] = None
    twin: Annotated[bool, switch("Play a zero-charge twin of each unit too, for F1_instant.")] = False
    again: Annotated[bool, switch("Play all units anew, also those that are there.")] = False
    out: Annotated[Path | None, option("The run's folder; default runs/AGENT-MEMORY-HASH.")] = None
    json: AsJson = False


_MODEL = Group("Model", sort_key=1)


def _of_model(help_: str) -> Parameter:
    return Parameter(help=help_, group=_MODEL)


@Parameter(name="*")
@dataclass
class ModelOptions:
    """The options of agents that ask a model. The key is read from OPENAI_API_KEY, and goes nowhere else."""

    model: Annotated[str | None, _of_model("As the server calls it; default: the one it serves.")] = None
    base_url: Annotated[
        str | None, _of_model("Of the server, such as http://localhost:8000/v1; or OPENAI_BASE_URL.")
    ] = None
    modality: Annotated[str | None, _of_model("What it is shown of the screen: text, image or both.")] = None
    frames: Annotated[int | None, _of_model("How many earlier pictures go along.")] = None
    ocr: Annotated[str | None, _of_model("Reads pictures: tesseract, tesserocr, rapidocr, none.")] = None
    prompts: Annotated[Path | None, _of_model("A folder of prompts that come before those of agents/prompts.")] = None
    temperature: Annotated[float | None, _of_model("Default, as for all decoding: the provider's.")] = None
    top_p: Annotated[float | None, _of_model("Share of likely tokens that are drawn from.")] = None
    max_tokens: Annotated[int | None, _of_model("Of an answer; one that reaches it is an error.")] = None
    model_seed: Annotated[int | None, _of_model("Sent as seed; self-consistency counts up from it.")] = None
    extra_body: Annotated[str | None, _of_model("A JSON object that is sent along.")] = None
    cassette: Annotated[Path | None, _of_model("Replay calls from this file, or with --record keep them in it.")] = None
    record: Annotated[bool, Parameter(help="Ask the server and keep the calls.", group=_MODEL, negative="")] = False
    prices: Annotated[Path | None, _of_model("A file of prices; without one a cost is unknown.")] = None
    max_retries: Annotated[int | None, _of_model("Of a call that failed; default 2, and 0 is none.")] = None
    concurrency: Annotated[int | None, _of_model("Calls in flight at most; default 4, or all samples.")] = None
    image_side: Annotated[int | None, _of_model("Longest side of a picture sent, in pixels; default 1280.")] = None

    def shown(self) -> dict[str, Any]:
        """What becomes parameters of the agent."""
        said = {"modality": self.modality, "frames": self.frames, "ocr": self.ocr, "prompts": self.prompts}
        return {name: value for name, value in said.items() if value is not None}

    def shown_to(self, options: T) -> T:
        """Options of a command whose agent has these parameters, as if they had been written in it.

        Raises:
            UsageError: see ``with_params``.
        """
        if not self.shown():
            return options
        from simulator.play.makers import with_params  # --help does without

        return replace(options, agent=with_params(options.agent, self.shown()))

    def choice(self) -> ModelChoice | None:
        """The model; None where nothing was said of one.

        Raises:
            UsageError: a value that cannot be.
            InputError: what is to be recorded into is no cassette.
        """
        names = (
            "model",
            "base_url",
            "temperature",
            "top_p",
            "max_tokens",
            "cassette",
            "prices",
            "max_retries",
            "concurrency",
            "image_side",
        )
        said = {name: getattr(self, name) for name in names} | {"seed": self.model_seed}
        if not (self.model or "").strip():
            said["model"] = None
        chosen = {name: value for name, value in said.items() if value is not None}
        if self.extra_body is not None:
            chosen["extra_body"] = _json_object(self.extra_body)
        if self.record:
            chosen["record"] = True
        if not chosen:
            return None
        from simulator.endpoint.types import ModelChoice  # --help does without

        choice = ModelChoice(**chosen)
        _check_reach(choice)
        return choice


def _check_reach(choice: ModelChoice) -> None:
    """What would be found out only when the first unit is played, or when the screen is seen already."""
    from simulator.endpoint.address import check_address
    from simulator.endpoint.cassette import check_begins

    if choice.base_url:
        check_address(choice.base_url, choice.key_variable)
    if choice.cassette is not None and choice.record:
        check_begins(choice.cassette, to_record=True)


def _json_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UsageError(f"--extra-body {quote(text)}: a JSON object is wanted, such as '{{\"top_k\": 20}}'")
    return found


def split_memories(text: str) -> list[str]:
    """Several memories in one word: a piece such as ``k=3`` belongs to the memory before it, and so does what is
    joined to it by ``+``.

    >>> split_memories("rag:k=3,decay=2,graph")
    ['rag:k=3,decay=2', 'graph']
    >>> split_memories("rag:k=3,decay=2+graph:scope=user,none")
    ['rag:k=3,decay=2+graph:scope=user', 'none']
    """
    found: list[str] = []
    for piece in filter(None, text.split(",")):
        if found and "=" in piece and ":" not in piece.partition("=")[0]:
            found[-1] += f",{piece}"
        else:
            found.append(piece)
    return found
