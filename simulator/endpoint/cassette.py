"""Cassettes: calls to models kept with the instants at which their pieces came, and played again without a server.

A file of JSON lines. The first says ``{"kind": "cassette", "schema": 1}``, each other one is a call: whose (``scope``),
what was asked (``asked``, a fingerprint without texts, see ``asking``), for which time there (``nth``), and what
came of it, errors included. A later line of one key replaces an earlier one: a run that was killed is recorded again.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from simulator.core.errors import CassetteMiss, InputError, ProactError
from simulator.endpoint.asking import canonical
from simulator.endpoint.holding import Hold

__all__ = ["SCHEMA", "Cassette", "Recorder", "cassette_digest", "check_begins", "key_of", "load"]

SCHEMA = 1
_KIND = "cassette"


def key_of(asked: Mapping[str, Any], scope: str, nth: int) -> str:
    """A call's key: SHA-256 of what is asked, by whom, for which time."""
    return hashlib.sha256(canonical([asked, scope, nth])).hexdigest()


@dataclass(frozen=True, slots=True)
class Cassette:
    """A file's calls, to be replayed.

    Attributes:
        path: of the file.
        entries: calls by key.
        torn: the last line was cut off (a killed recording), and is left out.
    """

    path: Path
    entries: Mapping[str, Mapping[str, Any]]
    torn: bool

    def answer(self, asked: Mapping[str, Any], scope: str, nth: int) -> Mapping[str, Any]:
        """What came of a call.

        Raises:
            CassetteMiss: it is not there; the nearest one that is, and what differs.
        """
        entry = self.entries.get(key_of(asked, scope, nth))
        if entry is None:
            raise CassetteMiss(f"{self.path}: the cassette does not hold this call: {self._nearest(asked, scope, nth)}")
        answer: Mapping[str, Any] = entry["answer"]
        return answer

    def _nearest(self, asked: Mapping[str, Any], scope: str, nth: int) -> str:
        best: tuple[int, list[str]] | None = None
        for entry in self.entries.values():
            if entry["asked"].get("what") != asked["what"]:
                continue
            differs = _differences(entry, asked, scope, nth)
            if best is None or len(differs) < best[0]:
                best = (len(differs), differs)
        if best is None:
            return f"it holds no call of kind {asked['what']} at all"
        more = "" if best[0] <= 3 else f" and {best[0] - 3} more"
        return f"in the nearest one {'; '.join(best[1][:3])}{more}"


def _differences(entry: Mapping[str, Any], asked: Mapping[str, Any], scope: str, nth: int) -> list[str]:
    """In words; texts are known by their lengths only."""
    there, found = entry["asked"], list[str]()
    if there.get("model") != asked["model"]:
        found.append(f"the model is {_said(there.get('model'))}, asked is {_said(asked['model'])}")
    for name in sorted({*there.get("params", {}), *asked["params"]}):
        old, new = there.get("params", {}).get(name), asked["params"].get(name)
        if old != new:
            found.append(f"{name} is {_said(old)}, asked is {_said(new)}")
    if there.get("images") != asked.get("images"):
        found.append(f"pictures are made {_said(there.get('images'))}, asked are {_said(asked.get('images'))}")
    if there.get("schema") != asked.get("schema"):
        found.append("the JSON schema is another one")
    found += _message_differences(there.get("messages", ()), asked.get("messages", ()))
    found += _part_differences("text", there.get("texts", ()), asked.get("texts", ()))
    if entry["scope"] != scope:
        found.append(f"the session is {_said(entry['scope'])}, asked is {_said(scope)}")
    if not found and entry["nth"] != nth:
        found.append(f"the same is asked for the {entry['nth'] + 1}. time, here for the {nth + 1}.")
    return found


def _message_differences(old: Sequence[Any], new: Sequence[Any]) -> list[str]:
    found = []
    if len(old) != len(new):
        found.append(f"there are {len(old)} messages, asked are {len(new)}")
    for i, (there, here) in enumerate(zip(old, new, strict=False), 1):
        if there["role"] != here["role"]:
            found.append(f"message {i} is of role {there['role']}, asked is {here['role']}")
        found += _part_differences(f"message {i} ({here['role']}), part", there["parts"], here["parts"])
    return found


def _part_differences(what: str, old: Sequence[Any], new: Sequence[Any]) -> list[str]:
    found = []
    if len(old) != len(new):
        found.append(f"{what}s: {len(old)}, asked are {len(new)}")
    for i, (there, here) in enumerate(zip(old, new, strict=False), 1):
        if there != here:
            found.append(f"{what} {i} is {_part(there)}, asked is {_part(here)}")
    return found


def _part(part: Mapping[str, Any]) -> str:
    return f"picture {part['image']}" if "image" in part else f"a text of {part['chars']} characters ({part['text']})"


def _said(value: Any) -> str:
    return "none" if value is None else json.dumps(value, sort_keys=True, default=dict)[:80]


def load(path: Path) -> Cassette:
    """Read a cassette; blocks. Kept for the next unit as long as the file stays as it is.

    Raises:
        InputError: it is missing, of a newer schema, or damaged elsewhere than in its last line.
    """
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(path, f"no cassette can be read there ({error.strerror})") from error
    return _load(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4)
def _load(path: Path, mtime_ns: int, size: int) -> Cassette:
    entries: dict[str, Mapping[str, Any]] = {}
    torn, headed = False, False
    lines = path.read_bytes().split(b"\n")
    last = max((i for i, line in enumerate(lines) if line.strip()), default=0)
    for i, line in enumerate(lines):
        if not line.strip():
            continue
        where = f"{path}, line {i + 1}"
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            if i == last and headed and lines[-1]:  # no line feed at its end: it was being written
                torn = True
                continue
            raise InputError(where, "not JSON: the cassette is damaged") from None
        if not headed:
            _check_head(path, said)
            headed = True
        elif _is_whole(said):
            entries[said["key"]] = said
        elif not isinstance(said, Mapping) or said.get("kind") != _KIND:  # two that were put together have two heads
            raise InputError(where, "not a call of a cassette: it lacks key, scope, nth, asked or answer")
    if not headed:
        raise InputError(path, "an empty file, not a cassette")
    return Cassette(path, entries, torn)


def _check_head(path: Path, said: Any) -> None:
    schema = said.get("schema") if isinstance(said, Mapping) and said.get("kind") == _KIND else None
    if not isinstance(schema, int):
        raise InputError(path, 'not a cassette: its first line is to say {"kind": "cassette", "schema": 1}')
    if schema > SCHEMA:
        raise InputError(
            path, f"at most {SCHEMA}: this cassette was made by a newer proact", field="schema", value=schema
        )


def check_begins(path: Path, *, to_record: bool = False) -> None:
    """Whether a file begins as a cassette does: soon told, before a run begins.

    Args:
        path: the file.
        to_record: calls are to be added: it need not be there, and may be empty or cut off within its head.

    Raises:
        InputError: it does not.
    """
    if to_record and not path.exists():
        return
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise InputError(path, "not a file, so no cassette")
        with path.open("rb") as file:
            first = file.readline(4096)
    except OSError as error:
        raise InputError(path, f"no cassette can be read there ({error.strerror})") from error
    if to_record and len(first) < len(_HEAD) and _HEAD.startswith(first):
        return
    try:
        said = json.loads(first)
    except (ValueError, RecursionError):
        said = None
    _check_head(path, said)


def _is_whole(said: Any) -> bool:
    fields = {"key": str, "scope": str, "nth": int, "asked": dict, "answer": dict}
    return isinstance(said, dict) and all(isinstance(said.get(name), kind) for name, kind in fields.items())


def cassette_digest(path: Path) -> str:
    """16 hex digits of SHA-256 of the file, for the header of runs that replay it.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        raise InputError(path, f"no cassette can be read there ({error.strerror})") from error


class Recorder:
    """Writes calls to the end of a cassette, in a thread of its own, so that recording costs no decision time.

    Args:
        path: the file; made with its folder by ``begin``, or when the first call comes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="cassette")
        self._last: Future[None] | None = None
        self._failed: str | None = None
        self._hold: Hold | None = None
        self._beginning = threading.Lock()

    def begin(self) -> None:
        """Keep other processes from recording into it, until ``close``; blocks, twice does no harm.

        Raises:
            UsageError: one does already.
            ProactError: it cannot be written.
        """
        with self._beginning:
            if self._hold is None:
                self._hold = Hold(self._path)

    @property
    def begun(self) -> bool:
        """Whether others are kept away."""
        return self._hold is not None

    def keep(self, asked: Mapping[str, Any], scope: str, nth: int, answer: Mapping[str, Any]) -> None:
        """Have a call written.

        Raises:
            ProactError: an earlier one could not be.
        """
        self.check()
        entry = {"kind": "call", "key": key_of(asked, scope, nth), "scope": scope, "nth": nth, "asked": asked}
        line = json.dumps({**entry, "answer": answer}, separators=(",", ":"), default=dict, allow_nan=False)
        self._last = self._writer.submit(self._write, line.encode("ascii") + b"\n")

    def check(self) -> None:
        """Whether all that was kept so far could be written.

        Raises:
            ProactError: it could not.
        """
        if self._failed is not None:
            raise ProactError(f"{self._path}: the cassette cannot be written ({self._failed})")

    def close(self) -> None:
        """Wait for the last line; blocks.

        Raises:
            ProactError: one could not be written.
        """
        self._writer.shutdown()
        if self._hold is not None:
            self._hold.release()
        self.check()

    def _write(self, line: bytes) -> None:
        try:
            with _LOCK:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("ab") as file:
                    file.write(_missing_before(self._path) + line)
        except OSError as error:
            self._failed = error.strerror or type(error).__name__


_LOCK = threading.Lock()
_HEAD = json.dumps({"kind": _KIND, "schema": SCHEMA}, separators=(",", ":")).encode() + b"\n"


def _missing_before(path: Path) -> bytes:
    """What has to come before the next line: the head of a new file. A torn last line is cut off."""
    size = path.stat().st_size
    if size == 0:
        return _HEAD
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.seek(0)
            whole = file.read().rfind(b"\n") + 1
            file.truncate(whole)
            return b"" if whole else _HEAD
    return b""
