"""Rules over all distinct pictures of a session: look, look around, fill, look again.

1. *Look*: each picture is read twice, in two ways, and the rules take the union of what they find, with what is left of
   values at the edges of masks (``cut``). What was found is kept as places and kinds, so a scan that is stopped goes on
   where it was. Where rules find something in the title of the window in front, its title bar is filled, whether OCR
   reads it there or not (``titles``). Where much that looks like text was not read (``unread``), a third reading at
   three times the size adds what it finds, and the picture waits for a person.
2. *Look around*: what was found is looked for at the same place in the pictures before and after (``spread``).
3. *Fill*: the boxes are filled, and the result is read again, twice; what is found now is filled too. Then the new
   picture takes the place of the old one everywhere (``states``).
4. Texts that people or models wrote go through the rules, and the OCR text of rows is removed.

A picture has passed when both readings found nothing. One that could not be read, one with text that was not read, one
with a private title nobody knows where, and one of which the window's title or a screener says that it is private,
waits for a person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image

from simulator.core.errors import InputError
from simulator.privacy.cut import cut_off
from simulator.privacy.layout import Box, boxes
from simulator.privacy.picture import grey, paint, uncovered
from simulator.privacy.rules import Rules
from simulator.privacy.spread import spread
from simulator.privacy.states import BY_PERSON, Picture, Shelf, State, inside
from simulator.privacy.titles import FLAG, STRIP, Titled, bars, kind_of, overlaps, still_marked, strip
from simulator.privacy.unread import has_unread_text
from simulator.screen.ocr import Ocr, OcrFailed, Tesseract, Word
from simulator.screen.pixels import decode
from simulator.timing.clock import real_ns

__all__ = ["UNREAD", "Options", "Report", "readings", "scan"]

UNREAD = "text that was not read"
"""Why a picture waits on which OCR missed much: that nothing was found there says nothing."""

_FAILED = "could not be read"
_ROUNDS = 3  # of filling what a reading of the filled picture still finds
_T = TypeVar("_T")


def readings(language: str = "eng") -> list[Ocr]:
    """The two readings of a scan: at twice the size by paragraphs, and at its own size every bit of text for itself;
    then the one for what both leave unread, at three times the size.

    Raises:
        OcrAbsent: tesseract, or the language, is not installed.
    """
    return [
        Tesseract(language, mode=3, scale=2),
        Tesseract(language, mode=11, scale=1),
        Tesseract(language, mode=11, scale=3),
    ]


@dataclass(frozen=True, slots=True)
class Options:
    """How to scan.

    Attributes:
        dry: look and count, and change nothing but the notes of what was found.
        again: look also at what was looked at before by the same readings and rules, or is reviewed.
        only_sure: fill what leaves no doubt; pictures with more on them wait for a person.
        keep_text: OCR text of rows goes through the rules instead of being removed.
        jobs: pictures at once.
    """

    dry: bool = False
    again: bool = False
    only_sure: bool = False
    keep_text: bool = False
    jobs: int = 2


@dataclass(slots=True)
class Report:
    """What a scan did.

    Attributes:
        n_pictures: distinct pictures of the session before anything was filled; ``n_merged``: so many fewer there
            are now, since filling made some the same.
        n_looked: of them, read now; ``n_known``: looked at earlier, by the same readings and rules.
        n_redacted: filled; ``n_passed``: nothing found; ``n_waiting``: for a person, by reason in ``waiting``.
        found: boxes by kind; ``n_spread``: of them, found by the letters of a neighbour alone.
        n_texts: texts changed by the rules; ``n_ocr_texts``: rows whose OCR text was removed. Of a dry run, those that
            would be.
        n_outside: pictures outside of the session's folder; rows name a redacted copy now, the original is not touched.
        look_ms: average time of looking at one picture, all readings and rules.
    """

    n_pictures: int = 0
    n_merged: int = 0
    n_looked: int = 0
    n_known: int = 0
    n_passed: int = 0
    n_redacted: int = 0
    n_waiting: int = 0
    n_spread: int = 0
    n_texts: int = 0
    n_ocr_texts: int = 0
    n_outside: int = 0
    look_ms: float | None = None
    found: Counter[str] = field(default_factory=Counter)
    waiting: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        """For a JSON record."""
        return {
            **asdict(self),
            "found": dict(sorted(self.found.items())),
            "waiting": dict(sorted(self.waiting.items())),
        }


def scan(
    folder: Path,
    ocr: Sequence[Ocr],
    rules: Rules,
    options: Options | None = None,
    *,
    progress: Callable[[str, int, int], None] | None = None,
    step: Callable[[str], None] | None = None,
) -> Report:
    """Look through a closed session and redact it; blocking, for minutes.

    Args:
        folder: the session.
        ocr: the readings, at least two, see ``readings``; those after the second read what both left unread.
        rules: see ``load_rules``.
        options: how.
        progress: called with what is being done, how many pictures are done, of how many.
        step: see ``Shelf``.

    Raises:
        InputError: no session, or one that is open elsewhere.
    """
    with Shelf(folder, step=step) as shelf:
        return _Scan(shelf, ocr, rules, options or Options(), progress or (lambda what, n, of: None)).run()


@dataclass(frozen=True, slots=True)
class _Look:
    boxes: list[Box]
    flags: list[str]
    spent_ns: int


@dataclass(frozen=True, slots=True)
class _Filled:
    image: Image.Image
    boxes: list[Box]
    flags: list[str]


class _Scan:
    def __init__(
        self,
        shelf: Shelf,
        ocr: Sequence[Ocr],
        rules: Rules,
        options: Options,
        progress: Callable[[str, int, int], None],
    ) -> None:
        if len(ocr) < 2:
            raise ValueError("one reading alone misses too much: give two")
        self._shelf, self._ocr, self._rules, self._options, self._progress = shelf, ocr, rules, options, progress
        self._reading = "; ".join([*(one.name for one in ocr), f"rules {rules.name}", "cut values", "unread text"])
        self._masks, self._monitors = shelf.masks(), shelf.monitors()
        self._kinds: dict[str, str | None] = {}  # of titles
        self._report = Report()

    def run(self) -> Report:
        pictures, n_texts = self._shelf.pictures(), self._shelf.n_texts()
        self._report.n_pictures = len(pictures)
        known = self._shelf.looks()
        ours = [p for p in pictures if known.get(p.path) != BY_PERSON or p.state is State.UNREVIEWED]
        due = [p for p in ours if self._options.again or p.state is State.UNREVIEWED]
        fresh = [p for p in due if self._options.again or known.get(p.path) != self._reading]
        self._report.n_known = len(due) - len(fresh)
        with ThreadPoolExecutor(max(1, self._options.jobs)) as pool:
            self._look(pool, fresh)
            self._title_bars(ours)
            self._spread(ours)
            waiting, flags = self._shelf.boxes(filled=False), self._shelf.flags()
            asked = {p.path for p in due}
            # Passed; a neighbour, or a title by other rules, says otherwise.
            due += [p for p in ours if (p.path in waiting or p.path in flags) and p.path not in asked]
            for picture in due:
                self._report.found.update(box.kind for box in waiting.get(picture.path, ()) if box.kind != STRIP)
            if not self._options.dry:
                self._fill(pool, due)
        if not self._options.dry:
            self._texts()
            self._report.n_ocr_texts = n_texts - self._shelf.n_texts()
            self._report.n_merged = len(pictures) - len(self._shelf.pictures())
        else:
            with self._shelf.rehearsal():
                self._shelf.drop_texts(p.path for p in due if self._to_fill(waiting.get(p.path, ())))
                self._texts()
                self._report.n_ocr_texts = n_texts - self._shelf.n_texts()
        return self._report

    def _look(self, pool: ThreadPoolExecutor, fresh: Sequence[Picture]) -> None:
        spent = 0
        flags = {p.path: self._flags(p) for p in fresh}  # before anything is noted, for it replaces the older ones
        for n, (picture, look) in enumerate(_in_turn(pool, self._look_at, fresh, self._options.jobs * 2), 1):
            reading = "failed" if _FAILED in look.flags else self._reading  # and is tried again by the next scan
            self._shelf.keep_look(picture.path, reading, look.boxes, [*look.flags, *flags[picture.path]])
            spent += look.spent_ns
            self._progress("looking", n, len(fresh))
        self._report.n_looked = len(fresh)
        self._report.look_ms = round(spent / len(fresh) / 1e6, 1) if fresh else None

    def _look_at(self, picture: Picture) -> _Look:
        """In a thread: both readings of one picture, and the further ones where they left much unread."""
        started = real_ns()
        try:
            image = decode(self._shelf.folder / picture.path)
            seen = [one.words(image) for one in self._ocr[:2]]
            unread = has_unread_text(grey(image), [word for words in seen for word in words])
            seen += [one.words(image) for one in self._ocr[2:]] if unread else []
            return _Look(self._found(seen, picture), [UNREAD] if unread else [], real_ns() - started)
        except (InputError, OcrFailed):
            return _Look([], [_FAILED], real_ns() - started)

    def _found(self, readings: Sequence[Sequence[Word]], picture: Picture) -> list[Box]:
        """What is private among the words of all readings of a picture."""
        masks = self._masks.get(picture.path, ())
        return _largest([b for words in readings for b in (*boxes(words, self._rules), *cut_off(words, masks))])

    def _flags(self, picture: Picture) -> list[str]:
        """What makes a picture wait for a person, apart from what is read on it."""
        kinds = [self._rules.title(title) for _, title in self._shelf.windows(picture.path) if title]
        windows = {f"window: {kind}" for kind in kinds if kind is not None}
        titles = [window.title for window in self._shelf.titles(picture.path)]
        return sorted(
            {*windows, *self._shelf.serious(picture.path), *still_marked(self._shelf.flags_of(picture.path), titles)}
        )

    def _title_bars(self, ours: Sequence[Picture]) -> None:
        """The title bars of windows in whose title the rules find something; where none is known, a person looks."""
        monitors = {monitor for monitor, _ in self._shelf.sequence()}
        alone = len(monitors) == 1 and max(monitors) <= 1  # else nobody knows where a monitor begins on the desktop
        done = self._shelf.boxes(filled=True)
        for picture in ours:
            hits = [(w, kind) for w in self._shelf.titles(picture.path) if (kind := self._kind(w.title)) is not None]
            if not hits:
                continue
            try:
                image = decode(self._shelf.folder / picture.path)
            except InputError:  # it waits for that, and whoever makes it readable looks
                image = None
            known_places = [w.is_placed or alone for w, _ in hits]
            strips = [strip(w, image.size) if image is not None and known else None
                      for (w, _), known in zip(hits, known_places, strict=True)]  # fmt: skip
            for (window, kind), place in zip(hits, strips, strict=True):
                if place is None and not (image is not None and self._is_elsewhere(window)):
                    self._shelf.note(picture.path, f"{FLAG}{kind}")
            known = list(dict.fromkeys(place for place in strips if place is not None))
            if image is not None and known:
                known += bars(grey(image), known)
                mine = {picture.path: [*done.get(picture.path, ()), *self._shelf.boxes_of(picture.path)]}
                self._shelf.add_boxes([(picture.path, [b for b in known if uncovered(mine, picture.path, b)])])

    def _is_elsewhere(self, window: Titled) -> bool:
        """Whether a window is known to be on other monitors alone, whose pictures are here too."""
        seen = [number for number, place in self._monitors if overlaps(window, place)]
        return bool(seen) and window.is_placed and window.monitor not in seen

    def _kind(self, title: str) -> str | None:
        if title not in self._kinds:
            self._kinds[title] = kind_of(title, self._rules)
        return self._kinds[title]

    def _to_fill(self, found: Sequence[Box]) -> list[Box]:
        return [box for box in found if box.sure or not self._options.only_sure]

    def _spread(self, ours: Sequence[Picture]) -> None:
        """Boxes of neighbours whose letters stand here too; all are noted before the first picture changes."""
        wanted = {p.path for p in ours}
        noted = self._shelf.boxes(filled=False)
        found = {path: [box for box in mine if box.kind != STRIP] for path, mine in noted.items()}
        by_monitor: dict[int, list[str]] = {}
        for monitor, path in self._shelf.sequence():
            by_monitor.setdefault(monitor, []).append(path)
        for order in by_monitor.values():
            more = spread(order, found, lambda path: grey(decode(self._shelf.folder / path)))
            more = {path: boxes for path, boxes in more.items() if path in wanted}
            self._shelf.add_boxes(more.items())
            self._report.n_spread += sum(map(len, more.values()))

    def _fill(self, pool: ThreadPoolExecutor, due: Sequence[Picture]) -> None:
        waiting, before = self._shelf.boxes(filled=False), self._shelf.boxes(filled=True)
        jobs: list[tuple[Picture, list[Box]]] = []
        for picture in due:
            found = waiting.get(picture.path, [])
            to_fill = self._to_fill(found)
            if len(to_fill) < len(found):
                self._shelf.flag(picture.path, "doubtful")
            if to_fill:
                jobs.append((picture, to_fill))
            else:
                state = State.REDACTED if picture.path in before else State.PASSED
                self._tally(picture.path, self._shelf.settle(picture.path, state))
        for n, ((picture, filled), done) in enumerate(_in_turn(pool, self._filled, jobs, self._options.jobs * 2), 1):
            left = [box for box in waiting[picture.path] if box not in filled]
            self._report.n_outside += not inside(picture.path)
            self._tally(
                *self._shelf.replace(
                    picture.path, done.image, State.REDACTED, filled=done.boxes, left=left, flags=done.flags
                )
            )
            self._progress("filling", n, len(jobs))

    def _filled(self, job: tuple[Picture, list[Box]]) -> _Filled:
        """In a thread: fill, and read what was filled until nothing is found in it any more."""
        picture, to_fill = job
        done = list(to_fill)
        image = paint(decode(self._shelf.folder / picture.path), done)
        for _ in range(_ROUNDS):
            try:
                found = self._to_fill(self._found([one.words(image) for one in self._ocr[:2]], picture))
            except OcrFailed:
                return _Filled(image, done, [_FAILED])
            new = [b for b in found if not any(old.covers(b) for old in done)]
            if not new:
                return _Filled(image, done, [])
            done += new
            image = paint(image, new)
        return _Filled(image, done, ["still something to be found"])

    def _tally(self, path: str, state: State) -> None:
        self._report.n_redacted += state is State.REDACTED
        self._report.n_passed += state is State.PASSED
        if state is State.UNREVIEWED:
            self._report.n_waiting += 1
            self._report.waiting.update(self._shelf.flags_of(path))

    def _texts(self) -> None:
        """Rules over what people or models wrote; what OCR read is removed, whoever had it read."""

        def clean(text: str) -> str:
            return self._rules.clean(text)[0]

        self._report.n_texts = self._shelf.rewrite(clean)
        if self._options.keep_text:
            self._report.n_texts += self._shelf.rewrite(clean, [("screenshots", "text")])
        else:
            self._shelf.drop_texts()


def _largest(found: Sequence[Box]) -> list[Box]:
    """Boxes without those that another one covers."""
    distinct = list(dict.fromkeys(found))
    return [b for b in distinct if not any(o != b and o.covers(b) and (o.sure or not b.sure) for o in distinct)]


def _in_turn(
    pool: ThreadPoolExecutor, work: Callable[[_T], Any], items: Sequence[_T], ahead: int
) -> Iterator[tuple[_T, Any]]:
    """Work through items in the pool, results as they come; no more than some in hand, for a picture takes 6 MB."""
    running: dict[Future[Any], _T] = {}
    rest = iter(items)
    while True:
        while len(running) < ahead and (item := next(rest, None)) is not None:
            running[pool.submit(work, item)] = item
        if not running:
            return
        for done in wait(running, return_when=FIRST_COMPLETED).done:
            yield running.pop(done), done.result()
