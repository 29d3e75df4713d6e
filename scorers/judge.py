"""``judge``: a language model says which offers mean the same as which needs (scorers ``pira`` and ``realtime``).

PIRA-Bench's own judge and its prompt are closed, so a score by this one is never the official one: it names its model
and the hash of its prompt. It sees what the published one sees: predictions, truth, and the user's profile. One
question holds whole lists; what cannot be read is asked for once more, then the sample stays unjudged, never matched by
default. Answers are kept by content, so scoring again costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scorers.matching import ByCategory, Content, Judging, Right, Said, Wanted
from simulator.core.errors import ProactError, quote
from simulator.core.loose_json import find_object
from simulator.endpoint.types import EndpointError, Message, Model
from simulator.runs.records import Ints

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

__all__ = ["KEPT", "SCHEMA", "Judge", "JudgeFailed"]

KEPT = "judge.jsonl"
"""Where a run folder keeps verdicts."""

_PROMPT = Path(__file__).parent / "prompts" / "judge.md"
_MOST = 40  # lines of a list in one question
_LONGEST = 400  # characters of a line
_HOPELESS = ("unauthorized", "not_found", "connection")
_IN_A_ROW = 5  # questions without an answer: nobody is there
_PAIR = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"pairs": {"type": "array", "items": _PAIR}},
    "required": ["pairs"],
    "additionalProperties": False,
}
_Pairs = frozenset[tuple[int, int]]


class JudgeFailed(ProactError):
    """One comparison brought no verdict that can be read; others may."""


class Judge:
    """Asks a model, from ordinary code; a context manager that closes the model.

    Args:
        model: what is asked.
        name: what it is called, for results and for the keys of what is kept.
        sent: decoding and whatever else bears on its answers, for the keys.
        kept: a file of JSON lines where verdicts are kept by content; it holds hashes and numbers, no texts.
        prompt: the file with its instructions.
        asking: told before each question how many were asked by then, this one among them, and how many of them
            brought no answer.
    """

    def __init__(self, model: Model, name: str, *, sent: Mapping[str, Any] | None = None, kept: Path | None = None,
                 prompt: Path = _PROMPT, asking: Callable[[int, int], None] | None = None) -> None:  # fmt: skip
        self._model, self._model_name, self._sent, self._kept = model, name, dict(sent or {}), kept
        self._prompt = prompt.read_text(encoding="utf-8")
        self.prompt_hash = sha256(self._prompt.encode()).hexdigest()[:12]
        self._verdicts = {} if kept is None else _read(kept)
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._asking, self._lame = asking or (lambda asked, failed: None), 0
        self.n_asked = self.n_known = self.n_failed = 0

    @property
    def name(self) -> str:
        """For results: model and prompt."""
        return f"judge ({self._model_name}, prompt {self.prompt_hash})"

    def __enter__(self) -> Judge:
        from anyio.from_thread import start_blocking_portal

        self._portal = self._stack.enter_context(start_blocking_portal())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._portal is not None:
            try:
                self._portal.call(self._model.close)
            finally:
                self._portal = None
                self._stack.__exit__(kind, error, trace)

    def matcher(self, profile: Mapping[str, str] | None) -> Judging:
        """The judge as a matcher for one user; ``profile`` None: nothing is known of them."""
        return _Judged(self, profile)

    def same(self, profile: Mapping[str, str] | None, a: Sequence[str], b: Sequence[str]) -> _Pairs:
        """Places in two lists of descriptions that mean the same.

        Raises:
            JudgeFailed: no verdict that can be read.
            EndpointError: nobody can be asked at all, or too many questions in a row brought no answer.
        """
        found: set[tuple[int, int]] = set()
        for i in range(0, len(a), _MOST):
            for j in range(0, len(b), _MOST):
                part = self._verdict(
                    _question(profile, a[i : i + _MOST], b[j : j + _MOST]), a[i : i + _MOST], b[j : j + _MOST]
                )
                found |= {(i + x, j + y) for x, y in part}
        return frozenset(found)

    def _verdict(self, question: str, a: Sequence[str], b: Sequence[str]) -> _Pairs:
        key = sha256(
            json.dumps([self._model_name, self._sent, self._prompt, question], sort_keys=True).encode()
        ).hexdigest()
        known = self._verdicts.get(key)
        if known is not None and all(0 <= x < len(a) and 0 <= y < len(b) for x, y in known):
            self.n_known += 1
            return known
        found = self._ask(question, len(a), len(b))
        self._verdicts[key] = found
        if self._kept is not None:
            with self._kept.open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps({"key": key, "pairs": sorted(found)}) + "\n")
        return found

    def _ask(self, question: str, n_a: int, n_b: int) -> _Pairs:
        if self._portal is None:
            raise RuntimeError("a judge is to be entered first")
        messages = [Message("system", (self._prompt,)), Message("user", (question,))]
        why = ""
        for _ in range(2):
            self.n_asked += 1
            self._asking(self.n_asked, self.n_failed)
            try:
                reply = self._portal.call(partial(self._model.chat, messages, schema=SCHEMA))
            except EndpointError as error:
                if error.kind in _HOPELESS or (error.kind == "refused" and error.status is not None):
                    raise  # with a status it is the request that is wrong, without one the model declined
                self.n_failed += 1
                self._lame += 1
                if self._lame >= _IN_A_ROW:
                    raise
                raise JudgeFailed(f"the judge gave no answer ({error.kind})") from None
            self._lame = 0
            try:
                return _pairs(reply.text, n_a, n_b)
            except ValueError as error:
                why = str(error)
            again = f"That cannot be used: {why}. Answer with the JSON object alone."
            messages = [*messages[:2], Message("assistant", (reply.text[:2000],)), Message("user", (again,))]
        raise JudgeFailed(f"the judge's answer cannot be read ({why})")


class _Judged:
    """See ``Content``: one judge for one user."""

    def __init__(self, judge: Judge, profile: Mapping[str, str] | None) -> None:
        self._judge, self._profile = judge, profile
        self.name = judge.name + ("" if profile is not None else ", without the profile")

    def right(self, offers: Sequence[Said], needs: Sequence[Wanted]) -> Right:
        """What the model says; equal words mean the same without being asked about."""
        said = [_line(o.intention, o.text) for o in offers]
        wanted = [_line(n.intention, n.query or "") for n in needs]
        distinct_a, distinct_b = list(dict.fromkeys(wanted)), list(dict.fromkeys(said))
        alone = distinct_a == distinct_b and len(distinct_a) == 1
        pairs = frozenset[tuple[int, int]]()
        if distinct_a and distinct_b and not alone:
            pairs = self._judge.same(self._profile, distinct_a, distinct_b)
        table = np.array([[a == b for b in distinct_b] for a in distinct_a], dtype=bool).reshape(
            len(distinct_a), len(distinct_b)
        )
        for x, y in pairs:
            table[x, y] = True
        if distinct_a == distinct_b:  # among themselves: whichever way round it was said
            table |= table.T
        row = np.array([distinct_a.index(w) for w in wanted], np.int64)
        column = np.array([distinct_b.index(s) for s in said], np.int64)
        return lambda i, js: table[row[i], column[js]]

    def why(self, offer: Said, need: Wanted, right: bool) -> str:
        """What the model said; it is not asked again."""
        return _why(self.name, offer, need, right)

    def in_time(self) -> Content:
        """See ``Judging``; verdicts are kept between its tests."""
        return _InTime(self._judge, self._profile, self.name)


class _InTime:
    """See ``Content``: a judge of offers and needs of a stream, which asks about a pair once a window holds it.

    A need of which only the category is known (the user's words are not) has nothing that could be judged: it is
    compared by category, without a question.
    """

    def __init__(self, judge: Judge, profile: Mapping[str, str] | None, name: str) -> None:
        self._judge, self._profile, self.name = judge, profile, name
        self._known: dict[tuple[str, str], bool] = {}

    def right(self, offers: Sequence[Said], needs: Sequence[Wanted]) -> Right:
        """What the model says; equal words mean the same without being asked about."""
        by_category = ByCategory().right(offers, needs)
        said = [_line(o.intention, o.text) for o in offers]
        wanted = [_line(n.intention, n.query) if n.query else None for n in needs]

        def test(i: int, js: Ints) -> NDArray[np.bool_]:
            need = wanted[i]
            if need is None:
                return by_category(i, js)
            self._learn(need, list(dict.fromkeys(said[j] for j in js.tolist())))
            return np.array([self._known[need, said[j]] for j in js.tolist()], bool)

        return test

    def _learn(self, need: str, lines: Sequence[str]) -> None:
        self._known.update(((need, line), True) for line in lines if line == need)
        unknown = [line for line in lines if (need, line) not in self._known]
        if unknown:
            same = self._judge.same(self._profile, [need], unknown)
            self._known.update(((need, line), (0, at) in same) for at, line in enumerate(unknown))

    def why(self, offer: Said, need: Wanted, right: bool) -> str:
        """What the model said; it is not asked again."""
        if not need.query:
            return f"{ByCategory().why(offer, need, right)} (the user's words are not known: the judge is not asked)"
        return _why(self.name, offer, need, right)


def _why(name: str, offer: Said, need: Wanted, right: bool) -> str:
    a, b = _line(offer.intention, offer.text), _line(need.intention, need.query or "")
    if a == b:
        return "both are said in the same words"
    return f"{quote(a)} and {quote(b)} {'' if right else 'do not '}mean the same, says the {name}"


def _line(intention: str, text: str) -> str:
    """One description on one line, whatever somebody wrote into it."""
    said = intention if not text or text == intention else f"{intention}: {text}"
    flat = " ".join("".join(c if c.isprintable() else " " for c in said).split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"


def _question(profile: Mapping[str, str] | None, a: Sequence[str], b: Sequence[str]) -> str:
    known = "\n".join(f"{_line(k, '')}: {_line(v, '')}" for k, v in (profile or {}).items()) or "(nothing)"
    lists = [f"List {name}\n" + "\n".join(f"{n}. {line}" for n, line in enumerate(of, 1)) for name, of in
             (("A", a), ("B", b))]  # fmt: skip
    return f"What is known of the user\n{known}\n\n" + "\n\n".join(lists)


def _pairs(text: str, n_a: int, n_b: int) -> _Pairs:
    found = find_object(text, lambda value: "pairs" in value)
    if found is None or not isinstance(found.value["pairs"], list):
        raise ValueError('it holds no object {"pairs": [...]}')
    made = set()
    for pair in found.value["pairs"]:
        a, b = (pair.get("a"), pair.get("b")) if isinstance(pair, dict) else (
            pair if isinstance(pair, list) and len(pair) == 2 else (None, None))  # fmt: skip
        if type(a) is not int or type(b) is not int or not (1 <= a <= n_a and 1 <= b <= n_b):
            raise ValueError(f"a pair names no line; A has {n_a} lines, B has {n_b}")
        made.add((a - 1, b - 1))
    return frozenset(made)


def _read(path: Path) -> dict[str, _Pairs]:
    """Verdicts of earlier calls; a line that a kill has torn is asked for again."""
    found: dict[str, _Pairs] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                said = json.loads(line)
                found[str(said["key"])] = frozenset((int(a), int(b)) for a, b in said["pairs"])
            except (ValueError, KeyError, TypeError):
                continue
    return found
