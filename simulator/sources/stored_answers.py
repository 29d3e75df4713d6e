"""Model answers that ProactiveBench stored (``eval/traces.zip``): per model and trace, what was proposed at each event.

A zip is never unpacked: members are read one after the other, into memory and up to limits that do not trust what the
archive says of itself. The last two parts of a member's path are the model and the trace; nothing else of it is used.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from zlib import error as ZlibError

from simulator.core.errors import InputError
from simulator.core.faults import kind_of
from simulator.core.files import json_lines
from simulator.sources.foreign import Ledger, natural
from simulator.sources.loose_rows import load, parse, words
from simulator.sources.proactivebench import proposal_of

__all__ = ["Answer", "Split", "Stored", "read_answers", "read_judgements", "read_splits"]

MOST_MEMBERS = 20_000
LARGEST_MEMBER = 32 << 20
LARGEST_WHOLE = 512 << 20
_VERDICTS = {"accepted": True, "accept": True, "rejected": False, "reject": False}
Key = tuple[str, str, int]
"""Model, trace (a file name) and event (its place in the trace, from 0)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one model answered to one event.

    Attributes:
        event: what it was shown last.
        proposals: empty for silence, None for a form that is not known.
        counted: whether the publication counts it as a proposal: anything that is not empty, an empty list of tasks in
            a mapping among them.
    """

    event: str | None
    proposals: tuple[str, ...] | None
    counted: bool

    @property
    def null_word(self) -> bool:
        """Whether what was counted as a proposal is the word *null*: a silence that was put into words."""
        return self.proposals is not None and [p.strip().casefold() for p in self.proposals] in (["null"], ["none"])


@dataclass(frozen=True, slots=True)
class Split:
    """Some of the traces, by file name."""

    name: str
    files: tuple[str, ...]


@dataclass(slots=True)
class Stored:
    """By model and trace, the answers in the order of events."""

    answers: dict[str, dict[str, tuple[Answer, ...]]] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)

    def of(self, model: str, split: Split | None) -> Iterator[tuple[Key, Answer]]:
        """Of a model the answers of a split, each with its key."""
        traces = self.answers[model]
        for file in traces if split is None else [f for f in split.files if f in traces]:
            for i, answer in enumerate(traces[file]):
                yield (model, file, i), answer

    def missing(self, model: str, split: Split) -> tuple[str, ...]:
        """Traces of the split of which the model has no answers."""
        return tuple(f for f in split.files if f not in self.answers[model])


def read_answers(src: Path) -> Stored:
    """All stored answers of a zip, a folder with one folder a model, or one trace.

    Raises:
        InputError: it cannot be read, is larger than any such file, or holds no answer.
    """
    stored = Stored()
    for path, raw in _documents(src, stored.ledger):
        if not isinstance(raw, list) or not any(isinstance(row, dict) and "agent_response" in row for row in raw):
            stored.ledger.add("left out", "files that are no stored answers", path.as_posix()[-120:])
            continue
        model, file = (path.parent.name or src.stem), path.name
        traces = stored.answers.setdefault(model, {})
        if file in traces:
            stored.ledger.add("left out", "second answers of a model to one trace (the first are taken)", file)
            continue
        traces[file] = tuple(_answer(row, f"{model}/{file}[{i}]", stored.ledger) for i, row in enumerate(raw))
    if not stored.answers:
        first = {reason: said[0] for (_, reason), said in stored.ledger.examples.items() if said}
        why = "; ".join(f"{n} {why}: {first.get(why, '-')}" for why, n in stored.ledger.of("left out").items())
        said = f" ({why})" if why else ""
        raise InputError(src, f"there are no stored answers (lists with agent_response) in it{said}")
    stored.answers = {model: stored.answers[model] for model in sorted(stored.answers)}
    return stored


def _answer(row: Any, where: str, ledger: Ledger) -> Answer:
    said = row if isinstance(row, dict) else {}
    seen = said.get("observation")
    proposals = proposal_of(said["agent_response"]) if "agent_response" in said else None
    if proposals is None:
        ledger.add("noted", "events whose answer has no known form (neither proposal nor silence)", where)
    elif isinstance(said["agent_response"], dict):
        ledger.add("noted", "answers that are a mapping of tasks, no model's own (counted as proposals)", where)
        if not proposals:
            ledger.add("noted", "of these, mappings without a task (counted as proposals all the same)", where)
    counted = proposals is not None and bool(said["agent_response"])
    made = Answer(words(seen.get("event")) if isinstance(seen, dict) else None, proposals, counted)
    if made.null_word:
        ledger.add("noted", "proposals that are the word null (counted as proposals)", where)
    return made


def _documents(src: Path, ledger: Ledger) -> Iterator[tuple[PurePosixPath, Any]]:
    if src.is_dir():
        for file in natural(p for p in src.rglob("*.json") if p.is_file()):
            if file.resolve().is_relative_to(src.resolve()):
                yield from _parsed(PurePosixPath(*file.relative_to(src.parent).parts), file, ledger)
            else:
                ledger.add("left out", "links that lead out of the folder", file.name)
    elif zipfile.is_zipfile(src):
        yield from _members(src, ledger)
    elif src.suffix.lower() == ".zip":
        raise InputError(src, "not a zip archive, or one that was cut off")
    elif src.exists():
        yield PurePosixPath(src.stem, src.name), load(src)
    else:
        raise InputError(src, "there is no such file or folder")


def _parsed(path: PurePosixPath, file: Path, ledger: Ledger) -> Iterator[tuple[PurePosixPath, Any]]:
    try:
        yield path, load(file)
    except InputError as error:
        ledger.add("left out", "files that cannot be read", f"{file.name}: {error.want}")


def _members(src: Path, ledger: Ledger) -> Iterator[tuple[PurePosixPath, Any]]:
    """The JSON files of an archive, in its order, each read up to the limits and never written anywhere."""
    left = LARGEST_WHOLE
    try:
        with zipfile.ZipFile(src) as archive:
            infos = archive.infolist()
            if len(infos) > MOST_MEMBERS:
                raise InputError(src, f"more than {MOST_MEMBERS} members, which no archive of this kind has")
            for info in infos:
                if info.is_dir() or info.filename.startswith("__MACOSX/"):
                    continue
                path = PurePosixPath(info.filename.replace("\\", "/"))
                if path.suffix.lower() != ".json":
                    ledger.add("left out", "members that are no JSON", path.name[-120:])
                    continue
                if path.is_absolute() or ".." in path.parts:
                    ledger.add("left out", "members whose path leads out of the archive", path.name[-120:])
                    continue
                content = _content(archive, info, min(LARGEST_MEMBER, left))
                if isinstance(content, str):
                    ledger.add("left out", f"members {content}", path.name[-120:])
                    if content == _TOO_LARGE and left < LARGEST_MEMBER:
                        raise InputError(src, f"more than {LARGEST_WHOLE >> 20} MB unpacked")
                    continue
                left -= len(content)
                try:
                    yield path, parse(content.decode("utf-8-sig"), path.name)
                except InputError as error:
                    ledger.add("left out", "members that are not JSON", f"{path.name[-120:]}: {error.want}")
                except UnicodeDecodeError:
                    ledger.add("left out", "members that are not UTF-8", path.name[-120:])
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(src, kind_of(error) if isinstance(error, OSError) else "a damaged zip archive") from None


_TOO_LARGE = "that unpack to more than the limit"


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes | str:
    """A member's bytes, or what is wrong with it; at most one byte more than ``most`` is ever unpacked."""
    if info.flag_bits & 1:
        return "that are encrypted"
    try:
        with archive.open(info) as stream:
            content = stream.read(most + 1)
    except NotImplementedError:
        return "that are packed by a method which is not known here"
    except (zipfile.BadZipFile, ZlibError, RuntimeError, EOFError, ValueError, OSError) as error:
        return "that are damaged (checksum)" if "CRC" in str(error) else "that are damaged"
    return content if len(content) <= most else _TOO_LARGE


def read_splits(path: Path) -> list[Split]:
    """``splits.json``: ``{name: {"files": […], "theme": …}}``.

    Raises:
        InputError: it is of another form; a split names a trace twice.
    """
    raw = load(path)
    if not isinstance(raw, dict) or not raw:
        raise InputError(path, 'a mapping is wanted: {"name": {"files": ["code_11.json", …]}}')
    out: list[Split] = []
    for name, said in raw.items():
        files = said.get("files") if isinstance(said, dict) else None
        if not isinstance(files, list) or not files or not all(isinstance(f, str) for f in files):
            raise InputError(path, "a list of file names is wanted", field=f"{name}.files")
        if len(set(files)) < len(files):
            raise InputError(path, "each trace once", field=f"{name}.files")
        out.append(Split(name, tuple(files)))
    return out


def read_judgements(path: Path, ledger: Ledger) -> dict[Key, bool]:
    """Verdicts from JSON lines ``{"model", "file", "index", "judgement": "accepted" | "rejected"}``.

    Raises:
        InputError: a line that is not of this form; two lines that say different things of one answer.
    """
    out: dict[Key, bool] = {}
    for number, row in json_lines(path, keys_once=True):
        where = f"{path}, line {number}"
        said: Mapping[str, Any] = row if isinstance(row, dict) else {}
        model, file, index = said.get("model"), said.get("file"), said.get("index")
        verdict = verdict_of(said.get("judgement"))
        if not isinstance(model, str) or not isinstance(file, str) or type(index) is not int or verdict is None:
            want = '{"model": …, "file": …, "index": 0, "judgement": "accepted" or "rejected"} is wanted'
            raise InputError(where, want)
        if out.setdefault((model, file, index), verdict) != verdict:
            raise InputError(where, "a line above says the opposite of the same answer")
    ledger.add("kept", "verdicts read", n=len(out))
    return out


def verdict_of(word: Any) -> bool | None:
    """``accepted`` or ``rejected`` as a truth value; None for any other word."""
    return _VERDICTS.get(word.strip().casefold()) if isinstance(word, str) else None


def observed(stored: Stored, key: Key, most: int) -> Sequence[str]:
    """The events up to that of the key, at most so many, the latest last."""
    model, file, i = key
    answers = stored.answers[model][file][max(0, i + 1 - most) : i + 1]
    return [a.event for a in answers if a.event is not None]
