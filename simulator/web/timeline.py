"""Page 3: one session as one or several runs of it saw it, on one axis of time."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

from aiohttp import web

from simulator.core.errors import UsageError, quote
from simulator.runs.folder import read_run
from simulator.runs.lock import status_now
from simulator.runs.runlog import no_collection
from simulator.runs.stored import stored
from simulator.session.schema import FILE_NAME
from simulator.web.index import index_of, runs_of
from simulator.web.index_data import session_of
from simulator.web.pages import answered, html
from simulator.web.place import NotHere, Place
from simulator.web.stamps import Stamp, stamp
from simulator.web.timeline_data import UnitView
from simulator.web.timeline_opening import open_unit
from simulator.web.timeline_recording import Found, read_recording

__all__ = ["routes"]

T = TypeVar("T")
Stamps = tuple[Stamp, ...]
HELD = 24  # units and recordings that stay read
HELD_BYTES = 256_000_000  # of the files that they were read from; the one read last stays in any case
MOST_HITS = 2000
MOST_BESIDE = 8
LONGEST_QUERY = 200
_OF_A_UNIT = ("decisions.jsonl", "truth.json", "feedback.jsonl")
_OF_A_RUN = ("run.json", "scores.json")
_SCENARIO = "scenario.yaml"


def routes(place: Place) -> list[web.AbstractRouteDef]:
    """``/run/ID`` and ``/run/ID/UNIT``, and what they ask for below ``/api/run/ID``."""
    sheets = _Sheets(place)
    of = "/api/run/{id}"

    async def units(request: web.Request) -> web.Response:
        return await answered(sheets.units, request.match_info["id"])

    async def timeline(request: web.Request) -> web.Response:
        beside = request.query.get("with", "").split(",")[:MOST_BESIDE]
        return await answered(sheets.timeline, *_named(request), beside)

    async def recording(request: web.Request) -> web.Response:
        return await answered(sheets.recording, *_named(request))

    async def decision(request: web.Request) -> web.Response:
        return await answered(sheets.decision, *_named(request), int(request.match_info["seq"]))

    async def search(request: web.Request) -> web.Response:
        return await answered(sheets.search, *_named(request), request.query.get("q", ""))

    return [
        web.get("/run/{id}", html("timeline.html")),  # whatever it says: the page tells that there is no such run
        web.get("/run/{id}/{unit}", html("timeline.html")),
        web.get(f"{of}/units", units),
        web.get(f"{of}/unit/{{unit}}/timeline", timeline),
        web.get(f"{of}/unit/{{unit}}/recording", recording),
        web.get(f"{of}/unit/{{unit}}/decision/{{seq:[0-9]{{1,15}}}}", decision),
        web.get(f"{of}/unit/{{unit}}/search", search),
    ]


def _named(request: web.Request) -> tuple[str, str]:
    return request.match_info["id"], request.match_info["unit"]


class _Sheets:
    """What the page asks for, read in threads and kept while the files stay as they are."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._views = _Kept[UnitView]()
        self._drawn = _Kept[tuple[UnitView, dict[str, Any]]]()
        self._recordings = _Kept[Found]()

    def units(self, id_: str) -> dict[str, Any]:
        """The units of a run that can be opened."""
        run = self._place.run(id_)
        told = read_run(run)
        begun = [key for key in sorted(told["resolved"]) if (run / "units" / key / _OF_A_UNIT[0]).is_file()]
        return {
            "name": run.name,
            "status": status_now(told["status"], run),
            "units": begun,
            "n_units": len(told["resolved"]),
        }

    def view(self, id_: str, key: str) -> UnitView:
        """One unit, read and explained."""
        run = self._place.run(id_)
        _ensure_unit(run, key)
        files = [run / name for name in _OF_A_RUN] + [run / "units" / key / name for name in _OF_A_UNIT]
        files += _scenarios(run)
        going_on = status_now(read_run(run)["status"], run) == "running"
        kept = self._views.get((run, key), files)
        if kept is not None and (going_on or not kept.going_on):
            return kept
        before = _stamp(files)
        with stored(run), no_collection():
            made = open_unit(run, key, going_on=going_on)
        self._views.put((run, key), before, made)
        return made

    def decision(self, id_: str, key: str, seq: int) -> dict[str, Any]:
        """One decision whole."""
        view = self.view(id_, key)
        with stored(view.run):
            found = view.decision(seq)
            json.dumps(found, allow_nan=False)  # 1e999 in a field that nobody knows
        return found

    def timeline(self, id_: str, key: str, beside: Sequence[str] = ()) -> dict[str, Any]:
        """A unit's lanes, those of other runs of the session beside it, and which others there are."""
        view = self.view(id_, key)
        index, runs = index_of(self._place), runs_of(self._place)
        index.rows(runs, budget_s=0.2)
        others = [one for one in index.same_session(runs, view.run, key) if one["id"] != id_]
        names = {one: name for one, _, name in runs}  # those of one folder name say what they lie in
        more = [self._beside(other, view, names) for other in beside if other and other != id_]
        return {"id": id_, **self._lanes(view), "name": names.get(id_, view.run.name), "others": others, "beside": more}

    def _beside(self, id_: str, first: UnitView, names: Mapping[str, str]) -> dict[str, Any]:
        """The lanes of another run, or why they cannot be shown."""
        try:
            run = self._place.run(id_)
            name = names.get(id_, run.name)
            view = self.view(id_, _same_session(run, name, first))
            return {"id": id_, **self._lanes(view), "name": name, "others": []}
        except UsageError as error:
            return {"id": id_, "problem": f"A run beside this one cannot be shown: {error}"}

    def _lanes(self, view: UnitView) -> dict[str, Any]:
        """A view as JSON, made once."""
        kept = self._drawn.peek((view.run, view.key))
        if kept is None or kept[0] is not view:
            with stored(view.run), no_collection():
                kept = (view, view.as_json())
            log = _stamp([view.run / "units" / view.key / _OF_A_UNIT[0]])
            self._drawn.put((view.run, view.key), log, kept)
        return {**kept[1], "status": status_now(view.status, view.run)}

    def recording(self, id_: str, key: str) -> dict[str, Any]:
        """What was on the screen; pictures by id."""
        found = self._found(id_, key)
        if found.columns is None or found.folder is None:
            return {"notes": list(found.notes), "there": False}
        ids = self._place.pictures.add([(ref.path, ref.pixels_hash) for ref in found.pictures], found.folder)
        return {
            "notes": list(found.notes),
            "there": True,
            **found.columns,
            "pictures": ids,
            "sheets": self._place.pictures.sheets(ids),
        }

    def search(self, id_: str, key: str, query: str) -> dict[str, Any]:
        """Where a text stands in titles, texts on the screen, offers or needs: seconds and kinds, in order of time."""
        wanted = query.strip().casefold()[:LONGEST_QUERY]
        if not wanted:
            raise UsageError("nothing to search for")
        recorded, view = self._found(id_, key).words, self.view(id_, key)
        with stored(view.run):
            words = [*recorded, *view.words()]
        hits = sorted({(t, kind) for t, kind, text in words if wanted in text.casefold()})
        return {"hits": hits[:MOST_HITS], "n": len(hits)}

    def _found(self, id_: str, key: str) -> Found:
        run = self._place.run(id_)
        _ensure_unit(run, key)
        kept = self._recordings.peek((run, key))
        if kept is not None and kept.folder is not None:
            fresh = self._recordings.get((run, key), _watched(run, kept))
            if fresh is not None:
                return fresh
        with stored(run), no_collection():
            found = read_recording(run, read_run(run), key)
        self._recordings.put((run, key), _stamp(_watched(run, found)), found)
        return found


def _watched(run: Path, found: Found) -> list[Path]:
    """The files whose change makes a recording stale."""
    session = [] if found.folder is None else [found.folder / FILE_NAME, found.folder / f"{FILE_NAME}-wal"]
    return [run / _OF_A_RUN[0], *session]


def _scenarios(run: Path) -> list[Path]:
    """The files in which it may be told later what was needed in a run's sessions."""
    given = read_run(run).get("given", {})
    named = [Path(one) for one in (*given.get("scenarios", ()), *filter(None, [given.get("live")]))]
    return [run.parent / _SCENARIO, *named, *(path / _SCENARIO for path in named)]


def _same_session(run: Path, name: str, first: UnitView) -> str:
    """The unit in which a run played the session of another run's unit; the one of the same name, if there is one.

    Raises:
        UsageError: there is none.
    """
    wanted = session_of(read_run(first.run)["resolved"][first.key])
    there = [key for key, header in sorted(read_run(run)["resolved"].items()) if session_of(header) == wanted]
    if not there:
        raise UsageError(f"{quote(name)} did not play this session")
    return first.key if first.key in there else there[0]


def _ensure_unit(run: Path, key: str) -> None:
    if key not in read_run(run)["resolved"]:
        raise NotHere("there is no unit of that name in this run")


class _Kept(Generic[T]):
    """The newest used, each as long as its files stay as they are. May be used from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[tuple[Path, str], tuple[Stamps, T]] = OrderedDict()

    def peek(self, of: tuple[Path, str]) -> T | None:
        """What is kept, whether or not it still holds."""
        with self._lock:
            entry = self._kept.get(of)
        return None if entry is None else entry[1]

    def get(self, of: tuple[Path, str], files: Iterable[Path]) -> T | None:
        """What is kept and still holds."""
        now = _stamp(files)
        with self._lock:
            entry = self._kept.get(of)
            if entry is None or entry[0] != now:
                return None
            self._kept.move_to_end(of)
            return entry[1]

    def put(self, of: tuple[Path, str], before: Stamps, made: T) -> None:
        """Keep it; ``before`` is what its files were like before they were read."""
        with self._lock:
            self._kept[of] = (before, made)
            self._kept.move_to_end(of)
            while len(self._kept) > 1 and (len(self._kept) > HELD or self._bytes() > HELD_BYTES):
                self._kept.popitem(last=False)

    def _bytes(self) -> int:
        return sum(file[1] for files, _ in self._kept.values() for file in files if file is not None)


def _stamp(files: Iterable[Path]) -> Stamps:
    return tuple(map(stamp, files))
