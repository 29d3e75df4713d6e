"""What the review page shows and what it may ask for. Decisions are those of ``simulator.privacy.review``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from simulator.core.errors import ProactError, UsageError
from simulator.core.faults import told
from simulator.core.types import SECOND
from simulator.privacy.made_of import made_of
from simulator.privacy.recorded import Recorded
from simulator.privacy.review import Closed, Decision, Waiting, alike, close, decide, decision, queue, record
from simulator.privacy.standing import standing
from simulator.privacy.states import Shelf, State
from simulator.session.reader import Reader, connect
from simulator.session.schema import FILE_NAME
from simulator.web.pictures import read
from simulator.web.place import NotHere, Place
from simulator.web.turns import Turns

__all__ = ["Reviews"]

MOST_KEPT = 32


def _key(path: str) -> str:
    """What a page calls a picture: no path is made of what it sends."""
    return sha256(path.encode(errors="surrogatepass")).hexdigest()[:24]


class Reviews:
    """Reviews of the recordings of a place; each call reads or writes the session, so make it in a thread."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._turns = Turns()
        self._lock = Lock()
        self._paths: dict[str, dict[str, str]] = {}
        self._going: dict[str, dict[str, Any]] = {}

    @contextmanager
    def _shelf(self, id_: str) -> Iterator[Shelf]:
        self._place.ensure_editable()
        folder = self._place.session(id_)
        if self._going.get(id_, {}).get("going"):
            raise UsageError("the decisions are being carried out; wait until that is done")
        with self._turns.at(folder), Shelf(folder) as shelf:
            yield shelf

    def state(self, id_: str) -> dict[str, Any]:
        """Every picture with where it stands; where nothing may be changed only how many there are of each state."""
        folder = self._place.session(id_)
        with Reader(folder) as reader:
            said = {"session": reader.header.session, "editable": self._place.editable}
        if not self._place.editable or self._going.get(id_, {}).get("going"):
            return {**said, "standing": standing(folder), "going": self._going.get(id_, {}).get("going", False)}
        with self._shelf(id_) as shelf:
            pictures = queue(shelf, everything=True)
            decided, newest = _decided(shelf), _marks(shelf)[-1:]
            masks = shelf.masks()
        with self._lock:
            self._paths[id_] = {_key(one.picture.path): one.picture.path for one in pictures}
            while len(self._paths) > MOST_KEPT:
                self._paths.pop(next(iter(self._paths)))
        first = min((one.picture.captured_ns for one in pictures), default=0)
        shown = [
            {
                **_line(one),
                "at_s": (one.picture.captured_ns - first) / SECOND,
                "masked": len(masks.get(one.picture.path, ())),
            }
            for one in pictures
        ]
        return {**said, "pictures": shown, "decided": decided, "closing": _closing(decided.values()),
                "newest": newest, "standing": standing(folder)}  # fmt: skip

    def picture(self, id_: str, key: str) -> tuple[bytes, str]:
        """A picture as it is now, and its media type."""
        self._place.ensure_editable()
        folder = self._place.session(id_)
        return read(folder / self._path(id_, key), folder)

    def about(self, id_: str, key: str) -> dict[str, Any]:
        """The windows that a picture was taken of, and which pictures are nearly the same."""
        self._place.ensure_editable()
        folder, path = self._place.session(id_), self._path(id_, key)
        with closing(connect(folder / FILE_NAME)) as db, told(folder / FILE_NAME):
            recorded = Recorded(db)
            same = alike(recorded, folder, path)
            return {"windows": recorded.windows(path)[:20], "alike": [_key(one) for one in same]}

    def _path(self, id_: str, key: str) -> str:
        with self._lock:
            paths = self._paths.get(id_)
        if paths is None:
            with closing(connect(self._place.session(id_) / FILE_NAME)) as db:
                paths = {_key(one.path): one.path for one in Recorded(db).pictures()}
            with self._lock:
                self._paths[id_] = paths
        if key not in paths:
            raise NotHere("this picture is not there any more; load the page again")
        return paths[key]

    def tell(self, id_: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Decide, undo or close.

        Raises:
            UsageError: it is not understood, or cannot be done.
        """
        do = given.get("do")
        if do == "decide":
            return self._decide(id_, given)
        if do == "undo":
            return self._undo(id_, given)
        if do == "close":
            return self._close(id_, given)
        raise UsageError("decide, undo or close is wanted")

    def _decide(self, id_: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Note decisions; refused where one of the pictures has a decision that the page has not ``seen``."""
        keys, seen = given.get("pictures"), given.get("seen", {})
        if not isinstance(keys, list) or not 0 < len(keys) <= 1000:
            raise UsageError("pictures: which are meant?")
        if not isinstance(seen, Mapping):
            raise UsageError(
                "seen: the decision that the page shows of each picture is wanted, nothing for those without"
            )
        paths = [self._path(id_, str(key)) for key in keys]
        with self._shelf(id_) as shelf:
            known = {path for path in paths if shelf.has(path)}  # it may be gone since the page was loaded
            rows = [{"picture": path, "decision": given.get("decision"), "boxes": given.get("boxes")} for path in paths]
            made = [decision("the review", row, known, shelf.folder) for row in rows]
            wanted: list[Decision] = [one for one in made if one is not None]
            if not wanted:
                raise UsageError("decision: retain, blur or delete is wanted")
            decided = _decided(shelf)
            if any(decided.get(key) != seen.get(key) for key in keys):
                raise UsageError("it was decided about elsewhere; load the page again and look at it first")
            decide(shelf, wanted)
            return {**_now(shelf), "made": _marks(shelf)[-len(wanted) :]}

    def _undo(self, id_: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Take back the decisions that the page names by their marks: the newest ones, or it has not seen what is."""
        made = given.get("made")
        if not isinstance(made, list):
            raise UsageError("made: which decisions are meant?")
        with self._shelf(id_) as shelf:
            there = shelf.decisions()
            if not there or not made:
                raise UsageError("nothing that this page shows is left to undo")
            if _marks(shelf)[-len(made) :] != made:
                raise UsageError("this is not the newest decision any more; load the page again and look at it first")
            meant = there[-len(made) :]
            shelf.undo([number for number, *_ in meant])
            return {**_now(shelf), "undone": [_key(path) for _, path, *_ in meant]}

    def _close(self, id_: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Begin to carry the decisions out; ``progress`` tells how far it is."""
        with self._shelf(id_) as shelf:
            n = len(_decided(shelf))
        if n == 0:
            raise UsageError("nothing was decided, so there is nothing to carry out")
        if given.get("n") != n:
            raise UsageError("decisions were made elsewhere; load the page again and look at them first")
        folder = self._place.session(id_)
        with self._lock:
            if self._going.get(id_, {}).get("going"):
                raise UsageError("the decisions are being carried out already")
            going = self._going[id_] = {"going": True, "done": 0, "of": n}
        together = given.get("neighbours") is True
        Thread(target=self._carry_out, args=(id_, folder, going, together), name="proact-review").start()
        return dict(going)

    def _carry_out(self, id_: str, folder: Path, going: dict[str, Any], together: bool) -> None:
        def progress(doing: str, done: int, of: int) -> None:
            going.update(done=done, of=of)

        try:
            with self._turns.at(folder), Shelf(folder) as shelf:
                done = close(shelf, neighbours=together, progress=progress)
            going["result"] = {**_result(done), "beside": made_of(folder).sentence}
        except (ProactError, OSError) as error:
            going["error"] = str(error) if isinstance(error, UsageError) else f"it failed ({type(error).__name__})"
        finally:
            self._place.pictures.forget()
            with self._lock:
                self._paths.pop(id_, None)
            going["going"] = False

    def progress(self, id_: str) -> dict[str, Any]:
        """How far the carrying out is, and at its end what came of it."""
        return dict(self._going.get(id_, {"going": False}))


def _line(one: Waiting) -> dict[str, Any]:
    said = record(one)
    del said["picture"], said["boxes"], said["decision"]
    return {"key": _key(one.picture.path), **said, "waits": one.picture.state is State.UNREVIEWED,
            "monitor": one.picture.monitor}  # fmt: skip


def _now(shelf: Shelf) -> dict[str, Any]:
    decided = _decided(shelf)
    return {"decided": decided, "closing": _closing(decided.values()), "newest": _marks(shelf)[-1:]}


def _marks(shelf: Shelf) -> list[str]:
    """What a page calls each decision, in order. A number alone is given again once its decision was taken back."""
    return [sha256(repr(one).encode(errors="surrogatepass")).hexdigest()[:24] for one in shelf.decisions()]


def _decided(shelf: Shelf) -> dict[str, dict[str, Any]]:
    """The last decision on each picture."""
    return {
        _key(path): {"decision": word, "boxes": [list(box) for box in boxes]}
        for _, path, word, boxes in shelf.decisions()
    }


def _closing(decided: Any) -> dict[str, Any]:
    """How many of each there are, and in sentences what carrying them out does."""
    words = [one["decision"] for one in decided]
    counts = {word: words.count(word) for word in ("retain", "blur", "delete")}
    says = []
    if counts["delete"]:
        says.append(f"{_n(counts['delete'])} deleted for good: the file goes, and the text read on it; the row stays.")
    if counts["blur"]:
        says.append(f"{_n(counts['blur'])} filled where the boxes are (all of it where there is none), and replaced by "
                    "that; the same letters are filled in the pictures around.")  # fmt: skip
    if counts["retain"]:
        says.append(f"{_n(counts['retain'])} kept, and no later scan changes that.")
    if says:
        lost = (
            "Nothing brings back what is deleted or filled, and nothing" if counts["delete"] + counts["blur"] else "It"
        )
        says.append(f"{lost} can{'' if counts['delete'] + counts['blur'] else 'not'} be undone afterwards.")
    return {"n": len(words), **counts, "says": says}


def _n(n: int) -> str:
    return "1 picture is" if n == 1 else f"{n} pictures are"


def _result(done: Closed) -> dict[str, int]:
    return {"retained": done.n_retained, "blurred": done.n_blurred, "deleted": done.n_deleted,
            "spread": done.n_spread, "like": done.n_like, "waiting": done.n_waiting}  # fmt: skip
