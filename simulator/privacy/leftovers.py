"""Looking for copies of what was forgotten: in files that lie anywhere, and in units of other users."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from simulator.privacy.items import Unreached

__all__ = ["MOST_TEXTS", "Traces", "report_of", "search", "search_units"]

MOST_TEXTS = 500
_SHORTEST = 12  # "Inbox" stands in many files that hold nothing of anybody
_LARGEST = 64 * 1024 * 1024
_TOO_LARGE = "over 64 MB, not searched for copies"
_SHOWN = 10  # files of which only may be that they are of the user: the others are counted
# Pictures, and the source of agents, whose sentences are theirs also where an offer was made of one.
_PASSED_OVER = frozenset({".webp", ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".py", ".pyc"})
_PACKED = frozenset({".parquet", ".zip", ".gz", ".tgz", ".xz", ".bz2", ".zst", ".7z"})
_TRUTH = "truth.json"  # of a unit: what its own user asked
_NOBODY = "user"  # the name of whoever was given none: a word of every second file
_CASSETTE = b'{"kind":"cassette"'
_PERSONAS = re.compile(rb'\{"key": "[0-9a-f]{64}", "text": ')  # as ``memory.persona_writer`` keeps them
_NAMING = {  # how files of proact's begin that call sessions by their names
    re.compile(rb"<!doctype html>.{0,2000}? - proact report</title>", re.DOTALL): "a report of proact's",
    re.compile(rb"session,event,at_s,"): "questions of `proact dataset audit`",
}
_DRAWN = re.compile(rb"<svg [^>]*>.{0,600}?>words of titles</text>", re.DOTALL)
_DRAWN_WORD = re.compile(rb'text-anchor="end">([^<]+)</text></g>')


@dataclass(frozen=True)
class Traces:
    """What tells that a file holds something of what was forgotten.

    Attributes:
        user: whose it was.
        names: of their sessions, as cassettes, reports and questions call them.
        texts: what their titles, queries and the like said, and what agents said to them.
    """

    user: str
    names: Collection[str]
    texts: Collection[str]

    @cached_property
    def needles(self) -> list[tuple[bytes, ...]]:
        """The longest texts, each in the forms that files have it in."""
        wanted = sorted({text for text in self.texts if len(text) >= _SHORTEST}, key=lambda t: (-len(t), t))
        return [_forms(text) for text in wanted[:MOST_TEXTS]]

    @cached_property
    def words(self) -> str:
        """All texts, for looking up words that somebody took out of them."""
        return "\n".join(sorted(self.texts)).casefold()

    @cached_property
    def node(self) -> re.Pattern[bytes]:
        """The user as graphs of ``proact memory export`` have them."""
        return re.compile(rb"[>'\"\n](?:%b)[<'\",]" % b"|".join(map(re.escape, _forms(f"user:{self.user}"))))

    @cached_property
    def name(self) -> re.Pattern[bytes] | None:
        """The user's name as a word of its own; None for the name of whoever has none."""
        return None if self.user == _NOBODY else _word([self.user])

    @cached_property
    def name_of_session(self) -> re.Pattern[bytes] | None:
        """One of the sessions' names as a word of its own."""
        return _word(sorted(self.names)) if self.names else None


def search(files: Iterable[Path], traces: Traces) -> list[Unreached]:
    """The files that still hold something of it, as far as that can be told.

    Only the longest 500 texts of at least 12 characters are looked for; files that cannot be read, that are packed, and
    those of over 64 MB, are told too. Pictures and Python source are not looked into.
    """
    out: list[Unreached] = []
    perhaps: dict[str, list[Path]] = {}
    if not (traces.names or traces.texts):
        return out
    for path in files:
        suffix = path.suffix.lower()
        if suffix in _PASSED_OVER:
            continue
        if suffix in _PACKED:
            perhaps.setdefault("packed, not searched for copies", []).append(path)
            continue
        try:
            if path.stat().st_size > _LARGEST:
                out.append(Unreached(path, _TOO_LARGE, only_maybe=True))
                continue
            data = path.read_bytes()
        except OSError as error:
            out.append(Unreached(path, f"cannot be read ({error.strerror})"))
            continue
        if (why := _held(path, data, traces)) is not None:
            out.append(Unreached(path, why))
        elif traces.name is not None and traces.name.search(data):
            perhaps.setdefault(f"holds the name '{traces.user}', whoever is meant", []).append(path)
    return out + [one for why, paths in perhaps.items() for one in _told(paths, why)]


def search_units(units: Iterable[Path], traces: Traces) -> list[Unreached]:
    """The units of other users whose files hold some of the texts: of agents whose memory read the past of others.

    What the unit's own user asked too, as its truth says, is theirs. Bounds are those of ``search``.

    Args:
        units: their folders.
        traces: of what the forgotten user wrote, without what agents said: the same sentences stand in many units.
    """
    out: list[Unreached] = []
    for unit in units if traces.needles else ():
        own, said = b"", list[bytes]()
        for path in _files_of(unit):
            try:
                if path.stat().st_size > _LARGEST:
                    out.append(Unreached(path, _TOO_LARGE, only_maybe=True))
                elif path.name == _TRUTH:
                    own += path.read_bytes()
                else:
                    said.append(path.read_bytes())
            except OSError as error:
                out.append(Unreached(path, f"cannot be read ({error.strerror})"))
        held = [forms for forms in traces.needles if any(form in data for data in said for form in forms)]
        if n := sum(not any(form in own for form in forms) for forms in held):
            why = "in a unit of somebody else: remove this run, or play it again with --again"
            out.append(Unreached(unit, f"it holds {n} of the forgotten texts, {why}"))
    return out


def _files_of(unit: Path) -> list[Path]:
    """What lies in a unit's folder; links are not followed."""
    if unit.is_symlink():
        return []
    return [path for path in sorted(unit.rglob("*")) if path.is_file() and not path.is_symlink()]


def _held(path: Path, data: bytes, traces: Traces) -> str | None:
    """What of it a file holds for sure, in words."""
    if data.startswith(_CASSETTE) and (n := _calls(data, traces.names)):
        how = f"call again with --also {shlex.quote(str(path))}, and all of it goes"
        return f"a cassette with {n} call{'' if n == 1 else 's'} of the sessions that go: {how}"
    if _PERSONAS.match(data):
        how = f"--also {shlex.quote(str(path))} removes all of them"
        return f"personas that a model wrote, and that do not say of whom: {how}; they are written again when needed"
    n = sum(any(form in data for form in forms) for forms in traces.needles)
    if n:
        return f"it holds {n} of the forgotten texts"
    if traces.node.search(data) or (_DRAWN.match(data) and _is_drawn_of(data, traces)):
        return "a graph of the user's past (`proact memory export`): remove it"
    what = report_of(data, traces)
    return None if what is None else f"{what}, and it names a session of theirs: remove it"


def report_of(data: bytes, traces: Traces) -> str | None:
    """What kind of file of proact's it is that calls sessions by their names, if it names one of these."""
    if traces.name_of_session is None or not traces.name_of_session.search(data):
        return None
    return next((what for begins, what in _NAMING.items() if begins.match(data)), None)


def _calls(cassette: bytes, names: Collection[str]) -> int:
    """How many calls of a cassette are of one of the sessions: their ``scope`` is its name, with what was beside it."""
    n = 0
    for line in cassette.splitlines()[1:]:
        try:
            scope = json.loads(line)["scope"].split("/")[0]
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            continue
        n += scope in names or scope.split("@")[0] in names
    return n


def _is_drawn_of(picture: bytes, traces: Traces) -> bool:
    """Whether most words of a graph's picture stand in the texts: it does not say whose they are."""
    drawn = (word.decode(errors="replace") for word in _DRAWN_WORD.findall(picture))
    words = [html.unescape(word).rstrip("…").casefold() for word in drawn]
    return bool(words) and 2 * sum(word in traces.words for word in words) >= len(words)


def _told(paths: list[Path], why: str) -> Iterator[Unreached]:
    """The first files of many alike, and how many more there are."""
    for path in paths[:_SHOWN]:
        yield Unreached(path, why, only_maybe=True)
    if (more := len(paths) - _SHOWN) > 0:
        rest = f"; so it is with {more - 1:,} more files" if more > 1 else ""
        yield Unreached(paths[_SHOWN], f"{why}{rest}", only_maybe=True)


def _word(words: list[str]) -> re.Pattern[bytes]:
    forms = sorted({form for word in words for form in _forms(word)}, key=lambda form: (-len(form), form))
    return re.compile(rb"(?<!\w)(?:%b)(?!\w)" % b"|".join(map(re.escape, forms)))


def _forms(text: str) -> tuple[bytes, ...]:
    """A text as it stands and on one line, each also quoted as JSON, HTML, XML and CSV have it."""
    forms: set[str] = set()
    for one in (text, " ".join(text.split())):
        forms |= {one, one.replace('"', '""'), html.escape(one), html.escape(one, quote=False)}
        forms |= {json.dumps(one, ensure_ascii=escaped)[1:-1] for escaped in (True, False)}
    return tuple(sorted(form.encode(errors="surrogatepass") for form in forms if form))
