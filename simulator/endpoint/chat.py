"""The client: one call to a model from messages to a reply, with its waits on record, live or from a cassette."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from simulator.core.errors import CassetteMiss, InputError, ProactError
from simulator.core.types import SECOND, ImageRef
from simulator.endpoint.asking import Question, body_of, chat_question, embed_question, with_schema
from simulator.endpoint.call import Call
from simulator.endpoint.cassette import Cassette, Recorder, check_begins, load
from simulator.endpoint.embeddings import embedded
from simulator.endpoint.images import Pictures
from simulator.endpoint.limit import Limit
from simulator.endpoint.prices import Price, read_prices
from simulator.endpoint.retry import backoff_ns
from simulator.endpoint.streaming import read_answer
from simulator.endpoint.together import passed
from simulator.endpoint.transport import Transport, base_url_of, only_model
from simulator.endpoint.types import NO_PARAMS, EndpointError, Message, ModelChoice, Reply, shown_url
from simulator.timing.aside import aside
from simulator.timing.clock import pause, real_ns
from simulator.timing.meter import SilentMeter, charging

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simulator.core.protocols import Meter

__all__ = ["Endpoint"]

_ODD_WAIT = "retry_after_unread"
_NO_SCHEMA, _NO_USAGE = "no_json_schema", "no_stream_usage"
_LACKS = {
    _NO_USAGE: ("stream_options",),
    _NO_SCHEMA: ("response_format", "json_schema", "guided", "grammar", "structured"),
}
"""What a server may not know, with the words by which its refusal is known."""


class Endpoint:
    """Asks one server for one unit. Opened by its first call, in the loop of that call; close it in that loop.

    What it learns (how many calls the server bears, what it does not know) and keeps (encoded pictures) is its own, so
    that no unit's charges depend on the one before.

    Args:
        choice: the model and how it is asked.
        scope: whose calls these are (a session's name): a cassette counts repeated questions for each apart.

    Raises:
        UsageError: no server is named, though one is to be asked.
        InputError: there is no such cassette, what is to be recorded into is none, or the prices cannot be read.
    """

    def __init__(self, choice: ModelChoice, *, scope: str = "") -> None:
        self.choice, self.scope = choice, scope
        self._transport: Transport | None = None
        self._recorder: Recorder | None = None
        self._cassette: Cassette | None = None
        if choice.replays is not None:
            check_begins(choice.replays)
        else:
            self._transport = Transport(choice)
            if choice.cassette is not None:
                check_begins(choice.cassette, to_record=True)
                self._recorder = Recorder(choice.cassette)
        self._prices: Mapping[str, Price] = {} if choice.prices is None else read_prices(choice.prices)
        self._limit = Limit(choice.concurrency, None if choice.replays is not None else shown_url(base_url_of(choice)))
        self._pictures = Pictures(choice.image_side, choice.image_quality)
        self._asked: Counter[str] = Counter()
        self._lacks: list[str] = []
        self._name, self._naming = choice.model, asyncio.Lock()

    # ------------------------------------------------------------------ what others call

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None,
                   meter: Meter | None = None, params: Mapping[str, Any] = NO_PARAMS) -> Reply:  # fmt: skip
        """One answer of the model; drives the meter (stages ``build``, ``wait``, ``model``, first token, usage).

        Args:
            messages: in order.
            schema: a JSON schema for the answer; where the server knows none, the call goes without and is noted.
            meter: the decision's meter; by default that of the decision in whose task this is called, if there is one.
            params: sent over those of the choice (``temperature``, ``seed``, …); None takes one of those away.

        Raises:
            EndpointError: no answer came, whatever the reason.
            CassetteMiss: the cassette does not hold this call: a fault of the run, let it pass.
        """
        call = Call(real_ns(), charging.get() if meter is None else meter, messages)
        params = {k: v for k, v in {**self.choice.decoding, **params}.items() if v is not None}
        question = await chat_question(self.choice, messages, schema, params, self._pictures)
        await self._make(call, question, partial(self._complete, call, messages, schema, params))
        return call.reply()

    async def embed(self, texts: Sequence[str], *, meter: Meter | None = None) -> NDArray[np.float32]:
        """Embeddings, float32 of shape (len(texts), d), as the server gives them (not normed); stage ``embed``.

        Raises:
            EndpointError: none came, or not one of equal length for each text.
            CassetteMiss: see ``chat``.
        """
        call = Call(real_ns(), charging.get() if meter is None else meter, stage="embed")
        if texts:
            await self._make(call, embed_question(self.choice, texts), partial(self._embed, call, texts))
        return call.vectors.rows

    async def close(self) -> None:
        """Close the connections, and the cassette; twice does no harm.

        Raises:
            ProactError: the cassette could not be written.
        """
        if self._transport is not None:
            await self._transport.close()
        if self._recorder is not None:
            await asyncio.to_thread(self._recorder.close)

    async def __aenter__(self) -> Endpoint:
        if self._recorder is not None:
            await asyncio.to_thread(self._recorder.begin)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    # ------------------------------------------------------------------ a call

    async def _make(self, call: Call, question: Question, work: Callable[[], Awaitable[None]]) -> None:
        """Make it for real or from the cassette; tell the meter how it went, however it went."""
        call.unnamed = self.choice.model is None
        digest = question.digest
        nth = self._asked[digest]
        self._asked[digest] += 1
        call.names = (self.scope, digest, nth)
        if self.choice.replays is not None:
            await self._replay(call, question, nth)
            self._ended(call)
        else:
            await self._begin(call)
            try:
                await self._within_the_limit(call, work)
            finally:  # also when it is cancelled
                call.done_ns = call.done_ns or real_ns() - call.began_ns
                call.count()
                self._ended(call)
                self._keep(call, question, nth)
        if call.error is not None:
            raise call.failed() from None

    def _ended(self, call: Call) -> None:
        """Tell the meter what it took."""
        if isinstance(call.meter, SilentMeter) and not call.meter.timed:
            passed(call.meter, call.done_ns, call.first_ns)
        call.tell()

    async def _within_the_limit(self, call: Call, work: Callable[[], Awaitable[None]]) -> None:
        limit_s = self.choice.timeout_ns / SECOND
        try:
            async with asyncio.timeout(limit_s) as limit:
                await work()
        except EndpointError as error:
            call.error = error
        except TimeoutError:
            said = f"no whole answer within {limit_s:g} s" if limit.expired() else "a connection took too long"
            call.error = EndpointError("timeout" if limit.expired() else "connection", said)
        except asyncio.CancelledError:
            call.error = EndpointError("timeout", "stopped before its end")
            raise

    @property
    def _server(self) -> Transport:
        assert self._transport is not None
        return self._transport

    async def _complete(self, call: Call, messages: Sequence[Message], schema: Mapping[str, Any] | None,
                        params: Mapping[str, Any]) -> None:  # fmt: skip
        with call.stage("build"):
            model = await self._model()
            refs = [part for message in messages for part in message.parts if isinstance(part, ImageRef)]
            urls = [await self._url(ref, i) for i, ref in enumerate(refs, 1)]
            body = body_of(model, messages, urls, params)
        call.price, call.built_ns = self._prices.get(model), real_ns() - call.began_ns

        async def attempt() -> None:
            said = self._said(call, body, schema)
            async with self._server.post("/chat/completions", said) as response:
                await read_answer(response, call, self._server, self.choice.idle_timeout_ns)

        await self._insist(call, attempt)

    def _said(self, call: Call, body: Mapping[str, Any], schema: Mapping[str, Any] | None) -> bytes:
        """The body as far as this server knows it."""
        said = dict(body)
        odd = [note for note in call.notes if note == _ODD_WAIT]
        call.notes = [*odd, *(lack for lack in self._lacks if lack != _NO_SCHEMA or schema is not None)]
        if _NO_USAGE in self._lacks:
            said.pop("stream_options", None)
        if schema is not None and _NO_SCHEMA not in self._lacks:
            said = with_schema(said, schema)
        call.sent = {k: "json_schema" if k == "response_format" else v for k, v in said.items() if k != "messages"}
        encoded = json.dumps(said, separators=(",", ":"), default=dict).encode("ascii")
        call.sent_ns = real_ns() - call.began_ns
        return encoded

    async def _embed(self, call: Call, texts: Sequence[str]) -> None:
        with call.stage("build"):
            model = await self._model()
            body = {"model": model, "encoding_format": "float", **self.choice.extra_body, "input": list(texts)}
            said = json.dumps(body, separators=(",", ":"), default=dict).encode("ascii")
        call.price, call.built_ns = self._prices.get(model), real_ns() - call.began_ns

        async def attempt() -> None:
            call.sent_ns = real_ns() - call.began_ns
            async with self._server.post("/embeddings", said) as response:
                call.vectors, call.usage = embedded(await self._server.whole(response), texts)

        await self._insist(call, attempt)

    async def _insist(self, call: Call, attempt: Callable[[], Awaitable[None]]) -> None:
        """Attempts until one is answered, or there is no use."""
        while True:
            closed_ns = self._limit.closed_ns()
            if closed_ns and closed_ns >= self._left_ns(call):
                said = f"the server asked before to be left alone for {closed_ns / SECOND:.3g} s more"
                raise EndpointError("rate_limited", f"{said}, longer than the time limit")
            with call.stage("wait"):
                call.waited_ns += await self._limit.enter()
            began = real_ns()
            try:
                with call.stage(call.asking):
                    await attempt()
                self._limit.went_well()
                return
            except EndpointError as error:
                if self._adapts(error):
                    continue  # at once: what is sent now is another question
                if error.odd_wait and _ODD_WAIT not in call.notes:
                    call.notes.append(_ODD_WAIT)
                if error.status == 429:
                    self._limit.was_limited(began, error.retry_after_ns or 0)
                if not error.again or call.retries >= self.choice.max_retries:
                    raise
                wait_ns = self._wait_ns(call, error)
            finally:
                self._limit.leave()
            call.retries += 1
            with call.stage("wait"):
                began = real_ns()
                await pause(wait_ns)
                call.waited_ns += real_ns() - began

    def _adapts(self, error: EndpointError) -> bool:
        """Whether the server told that it does not know something that can be left out; each is found out once."""
        if error.status not in (400, 422):
            return False
        for lack, words in _LACKS.items():
            if lack not in self._lacks and error.names(*words):
                self._lacks.append(lack)
                return True
        return False

    def _left_ns(self, call: Call) -> int:
        return self.choice.timeout_ns - (real_ns() - call.began_ns)

    def _wait_ns(self, call: Call, error: EndpointError) -> int:
        if error.retry_after_ns is None:
            return backoff_ns(call.retries, self.choice.seed or 0, *call.names)
        if error.retry_after_ns >= self._left_ns(call):
            said = f"{error.sentence}; it asks to wait {error.retry_after_ns / SECOND:g} s, longer than the time limit"
            raise EndpointError(error.kind, said, status=error.status)
        return error.retry_after_ns

    async def _model(self) -> str:
        """The model's name; asked of the server once where nobody said."""
        async with self._naming:
            if self._name is None:
                self._name = only_model(await self._server.get("/models"), self._server.where, self._server.key)
            return self._name

    async def _url(self, ref: ImageRef, number: int) -> str:
        try:
            return await self._pictures.url(ref)
        except InputError as error:
            raise EndpointError("refused", f"picture {number} cannot be sent: {error.want}") from None

    # ------------------------------------------------------------------ the cassette

    async def _begin(self, call: Call) -> None:
        if self._recorder is None or self._recorder.begun:
            return
        try:
            await asyncio.to_thread(self._recorder.begin)
        except ProactError as error:
            raise _told(call.meter, error) from None

    def _keep(self, call: Call, question: Question, nth: int) -> None:
        if self._recorder is None:
            return
        try:
            self._recorder.keep(question.asked, self.scope, nth, call.kept())
        except ProactError as error:  # a hole in a cassette would be found out only when it is replayed
            raise _told(call.meter, error) from None

    async def _replay(self, call: Call, question: Question, nth: int) -> None:
        path = self.choice.replays
        assert path is not None
        try:
            if self._cassette is None:
                self._cassette = await aside(load, path)
            call.take_back(self._cassette.answer(question.asked, self.scope, nth), path)
        except (CassetteMiss, InputError) as error:
            raise _told(call.meter, error) from None
        if not getattr(call.meter, "timed", False):
            return  # nobody measures: its recorded time is what it takes
        with call.stage("wait"):
            await _until(call.began_ns + call.waited_ns)
        with call.stage(call.asking):
            if call.first_ns is not None and call.meter is not None:
                await _until(call.began_ns + call.first_ns)
                call.meter.first_token()
            await _until(call.began_ns + call.done_ns)


async def _until(real: int) -> None:
    if (left := real - real_ns()) > 0:
        await pause(left)


def _told(meter: Meter | None, fault: ProactError) -> ProactError:
    """The unit is to end with this, also where an agent swallows it."""
    if isinstance(meter, SilentMeter):
        meter.failed(fault)
    return fault
