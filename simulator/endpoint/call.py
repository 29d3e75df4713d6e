"""One call on its way: what is known of it by now, and the form in which a cassette keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from simulator.core.errors import InputError, quote
from simulator.core.types import ImageRef
from simulator.endpoint.answer import Gathered, apart, usage_of
from simulator.endpoint.embeddings import Vectors
from simulator.endpoint.prices import Price, cost_of
from simulator.endpoint.types import ERROR_KINDS, EndpointError, ErrorKind, Message, Reply, Stamps, Usage

if TYPE_CHECKING:
    from simulator.core.protocols import Meter

__all__ = ["Call"]

_USAGE = {"in": "tokens_in", "out": "tokens_out", "reasoning": "reasoning", "cached": "cached", "images": "images"}


class Call:
    """A call. Instants (``…_ns`` but ``began_ns``) are relative to its beginning.

    Args:
        began_ns: the real instant at which it was made.
        meter: whom it tells, or None.
        messages: what it says, for an estimate of its tokens.
        stage: the meter's name for asking.
    """

    def __init__(
        self, began_ns: int, meter: Meter | None, messages: Sequence[Message] = (), stage: str = "model"
    ) -> None:
        self.began_ns, self.meter, self.messages, self.asking = began_ns, meter, messages, stage
        self.gathered = Gathered()
        self.vectors = Vectors()
        self.built_ns = self.sent_ns = self.done_ns = self.waited_ns = self.retries = 0
        self.notes: list[str] = []
        self.sent: Mapping[str, Any] = {}
        self.usage: Usage | None = None
        self.price: Price | None = None
        self.cost: float | None = None
        self.error: EndpointError | None = None
        self.names: tuple[str, str, int] = ("", "", 0)  # by which chance is drawn for it
        self.replayed = False
        self.unnamed = False  # nobody said which model: the run's notes are to tell which one it was

    def stage(self, name: str) -> AbstractContextManager[None]:
        """A span of the meter, where there is one."""
        return nullcontext() if self.meter is None else self.meter.stage(name)

    @property
    def first_ns(self) -> int | None:
        """When the first piece came."""
        return self.gathered.pieces[0][0] if self.gathered.pieces else None

    def count(self) -> None:
        """Tokens and cost, as far as anything came: a failed call may have cost as much as a good one."""
        got = self.gathered
        if self.usage is None and (got.usage is not None or got.pieces):
            images = sum(isinstance(part, ImageRef) for message in self.messages for part in message.parts)
            self.usage = usage_of(got.usage, got.pieces, self.messages, images)
        if self.usage is not None:
            told = got.usage.get("cost") if got.usage is not None else None  # some providers say what they charge
            known = isinstance(told, int | float) and not isinstance(told, bool) and 0 <= told < 1e9
            self.cost = float(told) if known else cost_of(self.usage, self.price)  # type: ignore[arg-type]

    def tell(self) -> None:
        """The meter's books, live and replayed alike."""
        meter, usage = self.meter, self.usage
        if meter is None:
            return
        if self.waited_ns or self.retries:
            meter.waited(self.waited_ns, retries=self.retries)
        if usage is not None:
            meter.usage(tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, reasoning=usage.reasoning,
                        cached=usage.cached, images=usage.images, cost=self.cost)  # fmt: skip
            if usage.estimated:
                meter.note("tokens_estimated")
        for note in self.notes:
            meter.note(note)
        if self.unnamed and self.gathered.model:
            meter.note(f"served_by {_last_name(self.gathered.model)}")

    def failed(self) -> EndpointError:
        """The error, with what is known of the call."""
        assert self.error is not None
        error = self.error
        partial = apart(self.gathered.pieces)[0]
        return EndpointError(error.kind, error.sentence, status=error.status, partial=partial,
                             waited_ns=self.waited_ns, retries=self.retries)  # fmt: skip

    def reply(self) -> Reply:
        """The whole answer."""
        got = self.gathered
        text, reasoning = apart(got.pieces)
        chunks = tuple(at for at, _, _ in got.pieces)
        stamps = Stamps(self.built_ns, self.sent_ns, self.first_ns, chunks, self.done_ns, self.waited_ns, self.retries)
        return Reply(text, reasoning, got.finish or "", self.usage or Usage(), stamps, got.model, self.sent,
                     tuple(self.notes), self.cost, self.replayed)  # fmt: skip

    def kept(self) -> dict[str, Any]:
        """As an answer in a cassette."""
        got, usage = self.gathered, self.usage
        stamps = {"built": self.built_ns, "sent": self.sent_ns, "done": self.done_ns, "waited": self.waited_ns}
        said: dict[str, Any] = {"stamps": stamps, "retries": self.retries, "pieces": got.pieces, "finish": got.finish}
        said |= {"model": got.model, "sent": self.sent, "notes": self.notes, "cost": self.cost}
        if usage is not None:
            counts = {short: getattr(usage, name) for short, name in _USAGE.items()}
            said["usage"] = {**counts, "estimated": usage.estimated}
        if self.error is not None:
            error = self.error
            said["error"] = {"kind": error.kind, "sentence": error.sentence, "status": error.status}
        if self.vectors:
            said["vectors"] = self.vectors.kept()
        return said

    def take_back(self, said: Mapping[str, Any], path: Path) -> None:
        """Become the call that a cassette kept.

        Raises:
            InputError: it is damaged.
        """
        try:
            stamps, usage, error = said["stamps"], said.get("usage"), said.get("error")
            self.built_ns, self.sent_ns, self.done_ns, self.waited_ns = (
                _whole(stamps[name]) for name in ("built", "sent", "done", "waited")
            )
            self.retries = _whole(said.get("retries", 0))
            got = self.gathered = Gathered()
            got.pieces = [(_whole(at), str(kind), str(text)) for at, kind, text in said.get("pieces", ())]
            got.finish, got.model = said.get("finish"), said.get("model")
            self.sent, self.notes, self.cost = said.get("sent", {}), list(said.get("notes", ())), said.get("cost")
            self.usage = None if usage is None else _usage(usage)
            if error is not None:
                kind: ErrorKind = error["kind"] if error["kind"] in ERROR_KINDS else "server"
                self.error = EndpointError(kind, str(error["sentence"]), status=error.get("status"))
            if "vectors" in said:
                self.vectors = Vectors.taken_back(said["vectors"])
        except (KeyError, TypeError, ValueError, AttributeError) as wrong:
            raise InputError(path, "the answer to a call is damaged") from wrong
        self.replayed = True


def _last_name(model: str) -> str:
    """A model as it may stand in a log: llama.cpp calls it by the path of its file."""
    return quote(PurePath(model.replace("\\", "/")).name if model.startswith("/") or "\\" in model else model)[1:-1]


def _usage(said: Mapping[str, Any]) -> Usage:
    counts = {name: _whole(said.get(short, 0)) for short, name in _USAGE.items()}
    return Usage(**counts, estimated=said.get("estimated") is True)


def _whole(ns: Any) -> int:
    if type(ns) is not int or ns < 0:
        raise ValueError
    return ns
