"""Documents of a stored past beside its journal, so that years are opened in a moment instead of embedded again.

    FOLDER/vectors/<what they are>/<up to which write>/   about.json, and for each user rows.npy and columns.npz
    FOLDER/vectors/<what they are>/hnsw/<user>/           graphs over their sealed blocks, where they are asked for

They are derived: valid for one embedder and one way to make documents, for a log that holds the write they were made up
to and no correction or forgetting since. What does not match is made anew, without embedding a text twice. about.json
tells the CRC-32 of each file, compared whenever files are opened: what is damaged is made anew, too. Beyond that, rows
are mapped and not read. Where nothing can be written, or another process is at it, the same is made in this process.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.embed import Rows
from memory.entry import Entry
from memory.hnsw import kept
from memory.index import BLOCK, EXACT, Block, Index
from memory.journal import VECTORS, Journal
from memory.segments import Lists
from memory.shelf import Documents, Shelf
from simulator.core.errors import UsageError
from simulator.core.lock import FolderLock

__all__ = ["Kind", "StoredShelf", "open_shelves", "versions"]

_FORMAT = 1
_FEW = 1_000
_ROWS, _COLUMNS, _GRAPHS = "rows.npy", "columns.npz", "hnsw"
_Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Kind:
    """What documents are: ``facts`` names embedder and rules.

    Attributes:
        facts: what has to be the same for vectors to be used again.
        document: the text that stands for an event, None if none does.
        embed: a text's row and its length.
        dimension: of a row.
        exact: rows up to which a search scans them all.
        search: ``auto``, ``exact`` or ``hnsw``, as ``rag`` has it. What is stored is the same for all three; graphs lie
            beside it.
    """

    facts: Mapping[str, Any]
    document: Callable[[Entry], str | None]
    embed: Callable[[str], tuple[Rows, float]]
    dimension: int
    exact: int = EXACT
    search: str = "auto"

    def index(self) -> Index:
        """An empty index for such rows."""
        exact = None if self.search == "exact" else self.exact
        return Index(self.dimension, exact=exact, graphs=self.search == "hnsw")

    @property
    def name(self) -> str:
        """A folder's name for these facts."""
        said = json.dumps([_FORMAT, BLOCK, self.dimension, dict(self.facts)], sort_keys=True)
        return blake2b(said.encode(), digest_size=8).hexdigest()


def versions(entries: Iterable[Entry]) -> list[Entry]:
    """Events as they closed, and again as their labels made them, in the order in which each became known."""
    found = []
    for entry in entries:
        found.append(Entry(entry.event, None, entry.n))
        if entry.label is not None:
            found.append(Entry(entry.event, entry.label, entry.n))
    found.sort(key=lambda e: e.known_ns)
    return found


class StoredShelf(Documents):
    """One user's documents as they lie on a disk. Whose versions end is kept here, the files stay.

    Args:
        folder: with ``rows.npy`` and ``columns.npz``.
        journal: tells the events.
        kind: what the documents are.
    """

    known_ns: _Numbers
    until_ns: _Numbers
    end_ns: _Numbers
    n: _Numbers

    def __init__(self, folder: Path, journal: Journal, kind: Kind) -> None:
        self._journal = journal
        rows, c = _read(folder)
        self.index = kind.index()
        self.index.extend(list(_blocks(rows, c)), c["row_known_ns"] + journal.shift_ns)
        if self.index.graphs:
            sealed = [block for block in self.index.blocks if block.lists is not None]
            made_of = (_made_of(kind, c, i) for i in range(len(sealed)))
            stretches = ((what, block.rows, block.norms) for what, block in zip(made_of, sealed, strict=True))
            for block, graph in zip(sealed, kept(folder.parents[1] / _GRAPHS / folder.name, stretches), strict=True):
                block.graph = graph
        self.known_ns, self.end_ns = c["known_ns"] + journal.shift_ns, c["end_ns"] + journal.shift_ns
        # What never ends is the largest number there is: nothing can be added to that.
        self.until_ns = np.where(c["open"], np.iinfo(np.int64).max, c["until_ns"] + journal.shift_ns)
        self.n, self._told = c["n"], c["told"]
        self._order, self._starts = c["order"], c["starts"]
        self._by_event: _Numbers | None = None

    def versions(self, row: int) -> NDArray[np.int32]:  # type: ignore[override]  # a sequence in all that is asked of it
        """See ``Documents``."""
        found: NDArray[np.int32] = self._order[self._starts[row] : self._starts[row + 1]]
        return found

    def entry(self, version: int) -> Entry:
        """See ``Documents``."""
        entry = self._journal.entry(int(self.n[version]))
        return entry if self._told[version] else Entry(entry.event, None, entry.n)

    def replaced(self, n: int, known_ns: int) -> None:
        """End the version of an event from when a newer one is known."""
        if self._by_event is None:
            self._by_event = np.argsort(self.n, kind="stable")
        at = int(np.searchsorted(self.n, n, side="right", sorter=self._by_event)) - 1
        if at >= 0 and self.n[self._by_event[at]] == n:
            self.until_ns[self._by_event[at]] = known_ns


def _read(folder: Path) -> tuple[Rows, dict[str, Any]]:
    """What lies in one user's folder; rows are mapped."""
    rows: Rows = np.load(folder / _ROWS, mmap_mode="r", allow_pickle=False)
    with np.load(folder / _COLUMNS, allow_pickle=False) as columns:
        return rows, {name: columns[name] for name in columns.files}


def _blocks(rows: Rows, c: Mapping[str, Any]) -> Iterator[Block]:
    for i, a in enumerate(range(0, len(rows), BLOCK)):
        b = min(a + BLOCK, len(rows))
        lists = Lists(c["centres"][i], c["list_starts"][i], c["list_order"][i]) if i < len(c["centres"]) else None
        yield Block(rows[a:b], c["norms"][a:b], b - a, lists)


def _made_of(kind: Kind, c: Mapping[str, Any], block: int) -> bytes:
    """What the rows of a sealed block and their places follow from."""
    digests = c["digests"][block * BLOCK : (block + 1) * BLOCK]
    return b"".join([kind.name.encode(), digests.tobytes(), c["list_order"][block].tobytes()])


def open_shelves(journal: Journal, kind: Kind) -> tuple[dict[str, StoredShelf], int]:
    """Each user's stored documents, and up to which write they go (0: there are none, all is to be made here).

    Args:
        journal: the log.
        kind: what documents are.
    """
    place = journal.path.parent / VECTORS / kind.name
    found = _valid(place, journal)
    if journal.seq - found > max(_FEW, found // 20):
        found = _made(place, journal, kind, found)
    if not found:
        return {}, 0
    folder = place / str(found)
    names = {str(number): name for name, number in journal.numbers.items()}
    try:
        users = json.loads((folder / "about.json").read_text(encoding="utf-8"))["users"]
        return {names[user]: StoredShelf(folder / user, journal, kind) for user in users}, found
    except FileNotFoundError:  # another process made them anew, or forgets
        return {}, 0


def _valid(place: Path, journal: Journal) -> int:
    """The newest write up to which there are documents of this very log."""
    known = sorted((int(p.name) for p in place.glob("[0-9]*") if p.name.isdecimal()), reverse=True)
    for seq in known:
        about = _about(place / str(seq))
        if seq > journal.seq or (about.get("epoch"), about.get("identity")) != (journal.epoch, journal.chain(seq)):
            continue
        if _whole(place / str(seq), about):
            return seq
    return 0


def _about(folder: Path) -> dict[str, Any]:
    """What about.json says; nothing where it cannot be read."""
    try:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


def _whole(folder: Path, about: Mapping[str, Any]) -> bool:
    """Whether the files are those that were written."""
    users, sums = about.get("users"), about.get("crc32")
    if not isinstance(users, list) or not isinstance(sums, dict):
        return False
    try:
        return sums == {user: _sums(folder / user) for user in users}
    except (OSError, TypeError):
        return False


def _sums(folder: Path) -> dict[str, int]:
    return {name: _sum(folder / name) for name in (_ROWS, _COLUMNS)}


def _sum(path: Path) -> int:
    """Of a file. CRC-32 finds what a disk or a copy did, at 4 GB/s; against people there is no guard in a store."""
    found = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            found = zlib.crc32(piece, found)
    return found


def _made(place: Path, journal: Journal, kind: Kind, older: int) -> int:
    """Write documents of all there is; what can be used if that is not possible."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(place / ".lock", "")
    except (OSError, UsageError):
        return older
    try:
        new = place / ".new"
        shutil.rmtree(new, ignore_errors=True)
        before = _valid_or_any(place, older)
        plain = replace(kind, search="auto")  # graphs are made where they are opened
        users = []
        for user in journal.sizes():
            number = str(journal.numbers[user])
            known = _Known(place / before / number, kind.embed) if before else None
            shelf = shelved(versions(journal.entries(user)), plain, known)
            if shelf.entries:
                _store(new / number, shelf, journal.shift_ns)
                users.append(number)
        new.mkdir(exist_ok=True)
        sums = {user: _sums(new / user) for user in users}
        about = {"identity": journal.identity, "epoch": journal.epoch, "users": users, "crc32": sums, **kind.facts}
        (new / "about.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
        final = place / str(journal.seq)
        shutil.rmtree(final, ignore_errors=True)
        new.rename(final)
        for old in place.glob("[0-9]*"):
            if old != final:
                shutil.rmtree(old, ignore_errors=True)
        return journal.seq
    except OSError:
        return older
    finally:
        lock.release()


def _valid_or_any(place: Path, older: int) -> str:
    """Whose rows can be taken over: a text's row is the same whatever became of the log."""
    if older:
        return str(older)
    known = sorted((p for p in place.glob("[0-9]*") if p.name.isdecimal()), key=lambda p: int(p.name), reverse=True)
    return next((p.name for p in known if _whole(p, _about(p))), "")


def shelved(found: Iterable[Entry], kind: Kind, known: _Known | None = None) -> Shelf:
    """Versions as documents, in this process."""
    shelf = Shelf(kind.index())
    for entry in found:
        text = kind.document(entry)
        if text is not None:
            shelf.put(text, kind.embed if known is None else known.embed, entry)
    shelf.index.seal()
    return shelf


class _Known:
    """Rows that were made earlier, by what their texts hash to (128 bits)."""

    def __init__(self, folder: Path, embed: Callable[[str], tuple[Rows, float]]) -> None:
        self._embed = embed
        self._rows: dict[bytes, int] = {}
        if (folder / _ROWS).is_file():
            rows, c = _read(folder)
            self._index = Index(rows.shape[1])
            self._index.extend(list(_blocks(rows, c)), c["row_known_ns"])
            self._slots = _slots(self._index)
            self._rows = {bytes(digest): i for i, digest in enumerate(c["digests"])}

    def embed(self, text: str) -> tuple[Rows, float]:
        at = self._rows.get(_digest(text))
        if at is None:
            return self._embed(text)
        block = self._index.blocks[at // BLOCK]
        slot = int(self._slots[at])
        return block.rows[slot], float(block.norms[slot])


def _slots(index: Index) -> NDArray[np.int32]:
    """In which slot of its block each position's row lies."""
    parts = []
    for block in index.blocks:
        places = np.arange(block.n, dtype=np.int32)
        if block.lists is not None:
            places = np.argsort(block.lists.order, kind="stable").astype(np.int32)
        parts.append(places)
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _store(folder: Path, shelf: Shelf, shift_ns: int) -> None:
    folder.mkdir(parents=True)
    index, n = shelf.index, len(shelf.index)
    rows = np.lib.format.open_memmap(folder / _ROWS, mode="w+", dtype=np.float32, shape=(n, index.dimension))
    for i, block in enumerate(index.blocks):
        rows[i * BLOCK : i * BLOCK + block.n] = block.rows[: block.n]
    rows.flush()
    lists = [b.lists for b in index.blocks if b.lists is not None]
    row_of, end_ns, order_of = (np.array(c, dtype=np.int64) for c in (shelf.row_of, shelf.end_ns, shelf.n))
    order = np.lexsort((order_of, end_ns, row_of)).astype(np.int32)
    until_ns = np.array(shelf.until_ns, dtype=np.int64)
    endless = until_ns == np.iinfo(np.int64).max
    np.savez(
        folder / _COLUMNS,
        norms=np.concatenate([b.norms[: b.n] for b in index.blocks]),
        row_known_ns=index.known_ns - shift_ns,
        known_ns=np.array(shelf.known_ns, dtype=np.int64) - shift_ns,
        end_ns=end_ns - shift_ns,
        until_ns=np.where(endless, 0, until_ns - np.where(endless, 0, shift_ns)),
        open=endless,
        n=order_of,
        told=np.array([e.label is not None for e in shelf.entries], dtype=bool),
        order=order,
        starts=np.concatenate([[0], np.cumsum(np.bincount(row_of, minlength=n))]),
        centres=np.array([x.centres for x in lists], dtype=np.float32),
        list_starts=np.array([x.starts for x in lists], dtype=np.int32),
        list_order=np.array([x.order for x in lists], dtype=np.int32),
        digests=np.frombuffer(b"".join(_digest(t) for t in shelf.texts), dtype=np.uint8).reshape(n, 16),
    )
