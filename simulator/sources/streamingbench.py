"""StreamingBench's proactive-output questions: "when the score changes to 113, output 113", asked of a video.

Each question becomes one scenario that begins when it is asked. The question stands in the profile, the required output
is the need's own words, and its window opens at the true time. With ``--videos`` the pictures come from the videos;
without them the session holds no pictures at all and says so: then only agents that need none can be played, such as
those a scorer is compared with.

The published evaluation polls once a second from one second after the question until four seconds after the true time,
and takes the first answer as on time within two seconds of the truth; that rule belongs to the scorer. Here the window
is where their polls can still be answered after the event: from the true time until four seconds later.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PureWindowsPath
from typing import Any

from simulator.core.errors import InputError
from simulator.core.names import plain
from simulator.core.types import SECOND
from simulator.sources.foreign import Foreign, ForeignEvent, Ledger, Shot, natural
from simulator.sources.formats import Case, Cases, Wanted
from simulator.sources.loose_rows import digest_of, json_files, load, start_of, words
from simulator.sources.video import frames

__all__ = ["CATEGORY", "NO_PICTURES", "RULE", "cases", "clock_s", "looked_at", "sniff"]

CATEGORY = "Uncategorized"
NO_PICTURES = "no pictures: the video was not given"
POLLED_S = 4
LONGEST_S = 3600
RULE = (
    "StreamingBench: the window opens at the true time of a question and closes 4 s later, at the last published poll; "
    "on time within 2 s of the true time, before or after, is the rule of its scorer"
)
_INSIDE = (Path(), Path("data"), Path("src/data"))
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:\.(\d{1,6}))?")
_VIDEOS = frozenset({".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v", ".gif"})


@dataclass(frozen=True, slots=True)
class _Question:
    """Times in seconds of the video; ``video`` is the name of its file, whatever folder the publisher had it in."""

    name: str
    where: str
    video: str
    question: str
    output: str
    ask_s: float
    true_s: float


def sniff(src: Path) -> bool:
    """Whether it is a file of such questions, or a folder that holds one."""
    return any('"ground_truth_time_stamp"' in start_of(file) for file in json_files(src, _INSIDE)[:8])


def cases(wanted: Wanted) -> Cases:
    """Each question as a scenario.

    Raises:
        InputError: no file of questions; it cannot be read; the folder of videos does not exist.
    """
    files = json_files(wanted.src, _INSIDE)
    if not files:
        raise InputError(wanted.src, "there is no file of questions (.json) here")
    if wanted.videos is not None and not wanted.videos.is_dir():
        raise InputError(wanted.videos, "there is no such folder of videos")
    ledger = Ledger()
    questions = _named([q for file in files for q in _questions(load(file), file, ledger)], ledger)
    notes = {"pictures": "from the videos" if wanted.videos else NO_PICTURES, "rule": RULE}
    digest = sha256("\n".join([digest_of(files), *_sizes(questions, wanted.videos)]).encode()).hexdigest()
    return Cases(digest, ledger, _each(questions, wanted, ledger, digest), notes)


def looked_at(src: Path) -> Iterable[Path]:
    """The files of questions."""
    return json_files(src, _INSIDE)


def _sizes(questions: Sequence[_Question], videos: Path | None) -> Iterator[str]:
    """Names and sizes of the videos in use: with another set of them it is another import."""
    for name in dict.fromkeys(q.video for q in questions):
        file = None if videos is None else _video(videos, name)
        if file is not None:
            yield f"{name} {file.stat().st_size}"


def clock_s(value: Any) -> float | None:
    """Seconds of a time such as ``0:10:18``, ``00:10:18`` or ``10:18.5``; None for what is none."""
    found = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    hours, minutes, seconds = int(found[1] or 0), int(found[2]), int(found[3])
    if seconds > 59 or (found[1] is not None and minutes > 59):
        return None
    return hours * 3600 + minutes * 60 + seconds + float(f"0.{found[4] or 0}")


def _questions(raw: Any, file: Path, ledger: Ledger) -> Iterator[_Question]:
    if not isinstance(raw, list):
        raise InputError(file, "a list of videos with their questions is wanted")
    for i, entry in enumerate(raw):
        where = f"{file.name}[{i}]"
        asked = entry.get("questions") if isinstance(entry, dict) else None
        video = words(entry.get("video_path")) if isinstance(entry, dict) else None
        if not isinstance(asked, list) or video is None:
            ledger.add("left out", "entries without a video or a list of questions", where)
            continue
        for k, one in enumerate(asked):
            question = _question(one, f"{where}.questions[{k}]", video, ledger)
            if question is not None:
                _look_at(question, entry.get("time"), ledger)
                yield question


def _question(one: Any, where: str, video: str, ledger: Ledger) -> _Question | None:
    said = one if isinstance(one, dict) else {}
    text, output = words(said.get("question")), words(said.get("ground_truth_output"))
    ask, true = clock_s(said.get("time_stamp")), clock_s(said.get("ground_truth_time_stamp"))
    name = PureWindowsPath(video).name  # splits at both kinds of slash, so nothing of a path is left
    if text is None or output is None:
        ledger.add("left out", "questions without a text or a required output", where)
    elif ask is None or true is None:
        ledger.add("left out", "questions without a time of asking or a true time", where)
    elif true <= ask:
        ledger.add("left out", "questions asked at or after the true time", where)
    elif true - ask > LONGEST_S:
        ledger.add("left out", "questions asked over an hour before the true time", where)
    else:
        return _Question(plain(Path(name).stem), where, name, text, output, ask, true)
    return None


def _look_at(question: _Question, stated: Any, ledger: Ledger) -> None:
    """Count what is odd and taken all the same."""
    if question.output.casefold() not in question.question.casefold():
        ledger.add("noted", "required outputs that the question does not name", question.where)
    span = [clock_s(part) for part in stated.strip("[] ").split("-")] if isinstance(stated, str) else []
    if len(span) == 2 and span[0] is not None and span[1] is not None:
        if not span[0] <= question.ask_s <= span[1]:
            ledger.add("noted", "questions asked outside the stated stretch of the video", question.where)
        if not span[0] <= question.true_s <= span[1]:
            ledger.add("noted", "true times outside the stated stretch of the video", question.where)


def _named(questions: Sequence[_Question], ledger: Ledger) -> list[_Question]:
    """Each with a name of its own: that of the video, numbered where it has several."""
    many = Counter(q.name.casefold() for q in questions)
    taken: Counter[str] = Counter()
    used: set[str] = set()
    out: list[_Question] = []
    for q in questions:
        name = q.name
        if many[q.name.casefold()] > 1:
            taken[q.name.casefold()] += 1
            name = f"{q.name}-{taken[q.name.casefold()]}"
        while name.casefold() in used:
            name += "-again"
        used.add(name.casefold())
        out.append(_Question(name, q.where, q.video, q.question, q.output, q.ask_s, q.true_s))
    ledger.add("kept", "questions", n=len(out))
    return out


def _each(questions: Sequence[_Question], wanted: Wanted, ledger: Ledger, digest: str) -> Iterator[Case]:
    period = round(SECOND / wanted.rate_hz) if wanted.rate_hz else SECOND
    for q in questions:
        shots = _pictured(q, wanted, period, ledger)
        pictured = bool(shots)
        opens, closes = q.true_s - q.ask_s, q.true_s - q.ask_s + POLLED_S
        end = round(closes * SECOND) + period  # the last poll is a snapshot too
        title = q.video if pictured else NO_PICTURES
        shots = shots or [Shot(0, title=title)]
        for shot in shots:
            shot.title, shot.event = title, 1
        foreign = Foreign(
            wanted.user or q.name, wanted.src, shots, [ForeignEvent(1, 0, end, title=title)], ledger, digest,
            period_ns=period, anchored=False, notes={"pictures": "from the video" if pictured else NO_PICTURES},
            recording=f"StreamingBench {q.video}",
        )  # fmt: skip
        need = {"opens_s": opens, "closes_s": closes, "intention": CATEGORY, "query": q.output}
        yield Case(
            q.name,
            foreign,
            {
                "description": f"StreamingBench, proactive output, asked at {q.ask_s:g} s of {q.video}",
                "profile": {"standing request": q.question},
                "intentions": [CATEGORY],
                "truth": {"rule": RULE, "opportunities": [need]},
            },
            remarks=() if pictured else (f"The session holds {NO_PICTURES}.",),
        )


def _pictured(q: _Question, wanted: Wanted, period: int, ledger: Ledger) -> list[Shot]:
    """The frames of the video from the question until the last poll; none where there is no video."""
    if wanted.videos is None or not wanted.pictures:
        return []
    file = _video(wanted.videos, q.video)
    if file is None:
        ledger.add("noted", "questions whose video is not in the folder (no pictures)", q.video)
        return []
    start, end = round(q.ask_s * SECOND), round((q.true_s + POLLED_S) * SECOND) + period
    into = wanted.scratch() / q.name
    into.mkdir(exist_ok=True)
    try:
        found = frames(file, into, start_ns=start, end_ns=end, period_ns=period)
    except InputError as error:
        ledger.add("noted", "questions whose video cannot be read (no pictures)", f"{file.name}: {error.want}")
        return []
    if not found:
        ledger.add("noted", "questions asked after their video ended (no pictures)", q.video)
    return [Shot(t - start, file=picture) for t, picture in found]


def _video(folder: Path, name: str) -> Path | None:
    """The video of that name anywhere below the folder; links that lead out of it are not followed."""
    root = folder.resolve()
    for file in natural(folder.rglob("*")):
        known = file.name == name or (file.stem == Path(name).stem and file.suffix.lower() in _VIDEOS)
        if known and file.is_file() and file.resolve().is_relative_to(root):
            return file
    return None
