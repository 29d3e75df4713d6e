"""``proact dataset describe``: what recordings hold, one by one and pooled, in numbers and in figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, counted, facts, plain
from simulator.core.errors import Exit, InputError, UsageError
from simulator.core.folders import ensure_apart

if TYPE_CHECKING:
    from simulator.session.describe_parts import Part
    from simulator.session.play import Play

__all__ = ["describe"]

_ONE_BY_ONE = 3  # more sessions than these are a line each


def describe(
    paths: Annotated[
        list[Path], Parameter(help="Sessions, scenario files or folders, event tables, or folders of many.")
    ],
    /,
    *,
    figures: Annotated[Path | None, Parameter(help="Draw figure-2.svg and figure-3.svg into this folder.")] = None,
    pictures: Annotated[
        bool,
        Parameter(help="Look how long before a request the most similar screens were shown: slow.", negative=""),
    ] = False,
    image_embedder: Annotated[
        str, Parameter(help="By what screens are compared: luminance, or path.py:Class.")
    ] = "luminance",
    window: Annotated[str, Parameter(help="With --pictures: how far to look back.")] = "5min",
    timezone: Annotated[str, Parameter(help="IANA zone in which weekdays and hours of event tables are told.")] = "UTC",
    json: AsJson = False,
) -> int:
    """Say in numbers and figures what recordings hold.

    Session by session and pooled, by user and in all.

    Hours, applications, events, assistants, intentions, weekdays and hours, rhythm of requests, pictures. Needs that
    only a scenario states count where its session records no request. A session that cannot be read is told; the others
    are described all the same.
    """
    if not paths:
        raise UsageError("name a session, a scenario, an event table, or a folder of many")
    if window != "5min" and not pictures:
        raise UsageError("--window belongs to --pictures")
    if figures is not None:
        for path in paths:
            ensure_apart(path, figures)
    voice = Voice(as_json=json)
    found = _Found(voice, timezone)
    for path in paths:
        found.take(path)
    if figures is not None:
        from simulator.figures import Sheet

        Sheet([["a"]])  # says at once if it cannot be drawn
    _tell_each(voice, found)
    if found.parts:
        numbers = _numbers(voice, found, (pictures, image_embedder, window))
        if figures is not None:
            from simulator.figures import draw_corpus

            drawn = [str(file) for file in draw_corpus(numbers, figures)]
            voice.record("figures", files=drawn)
            if not json:
                voice.say(plain("drawn: " + ", ".join(drawn)))
    n = len(found.sessions)
    voice.record("done", described=n, unreadable=found.n_unreadable)
    return Exit.USAGE if found.n_unreadable else Exit.DONE


@dataclass(slots=True)
class _Found:
    """What the paths hold: each session once, and once a user in what is pooled."""

    voice: Voice
    zone: str
    sessions: dict[Path, Path] = field(default_factory=dict)
    facts: dict[Path, Mapping[str, Any]] = field(default_factory=dict)
    parts: dict[tuple[Path, str], Part] = field(default_factory=dict)
    n_unreadable: int = 0

    def unreadable(self, place: Path, error: InputError) -> None:
        self.n_unreadable += 1
        self.voice.record("unreadable", path=str(place), said=str(error))
        self.voice.tell(f"proact: {error}")

    def take(self, path: Path) -> None:
        """Raises InputError only for a path that is not there."""
        from simulator.cli.dataset import found_at, wanted
        from simulator.session.describe_parts import is_table, of_table
        from simulator.sources.recording import header_of

        wanted([path])
        try:
            if path.is_file() and is_table(path):
                for part in of_table(path, self.zone):
                    self.parts.setdefault((path.resolve(), part.user), part)
                return
            found = found_at(path)
        except InputError as error:
            self.unreadable(path, error)
            return
        played: set[Path] = set()
        for file in found.scenarios:
            outside = not any(session.is_relative_to(file.parent) for session in found.sessions)
            for play in self._plays(file, told=outside):
                played.add(folder := header_of(play.source).folder)
                self._session(folder, play)
        for session in found.sessions:
            if session.resolve() not in {p.resolve() for p in played}:
                self._session(session, None)

    def _plays(self, file: Path, *, told: bool) -> Iterator[Play]:
        from simulator.session.scenario import plays
        from simulator.sources.recording import Recording

        try:
            yield from (play for play in plays([file]) if isinstance(play.source, Recording))
        except InputError as error:
            if told:  # else its session is found below it, and described as it is
                self.unreadable(file, error)

    def _session(self, folder: Path, play: Play | None) -> None:
        from simulator.session.describe import describe as described
        from simulator.session.describe_parts import of_session

        place = folder.resolve()
        truth = None if play is None else play.truth
        try:
            if place not in self.sessions:
                self.facts[place] = described(folder)
                self.sessions[place] = folder
            rule = "app_title" if play is None else play.segmentation
            user = play.user if play is not None else str(self.facts[place]["user"])
            if (place, user) not in self.parts:
                self.parts[place, user] = of_session(folder, truth, rule=rule)
        except InputError as error:
            if place not in self.sessions or play is not None:
                self.unreadable(folder, error)


def _tell_each(voice: Voice, found: _Found) -> None:
    for place, folder in found.sessions.items():
        voice.record("described", path=str(folder), **found.facts[place])
    if voice.as_json:
        return
    if len(found.sessions) <= _ONE_BY_ONE:
        for place, folder in found.sessions.items():
            voice.say(_facts(folder, found.facts[place]))
    elif found.parts:
        voice.say(_lines("sessions and event tables", [_line(part) for part in found.parts.values()]))


def _numbers(voice: Voice, found: _Found, looking: tuple[bool, str, str]) -> dict[str, Any]:
    """Tell each user's numbers and those of all; the latter come back."""
    from simulator.session.describe_corpus import pooled

    parts = list(found.parts.values())
    by_user: dict[str, list[Part]] = {}
    for part in parts:
        by_user.setdefault(part.user, []).append(part)
    pictures = looking[0]
    embedder = _embedder(looking[1]) if pictures else None
    for user, own in sorted(by_user.items()):
        if len(by_user) > 1:
            numbers = pooled(own)
            voice.record("pooled", user=user, **numbers)
            if not voice.as_json:
                voice.say(_pooled(f"user {user}", numbers, brief=True))
    numbers = pooled(parts)
    if pictures:
        numbers["time_to_event"] = _looked(voice, parts, embedder, looking)
    voice.record("pooled", user=None, **numbers)
    if not voice.as_json:
        voice.say(_pooled("all together", numbers, brief=False))
    return numbers


def _embedder(name: str) -> Any:
    from simulator.session.describe_pictures import IMAGE_EMBEDDERS

    return IMAGE_EMBEDDERS.make(name)


def _looked(voice: Voice, parts: Sequence[Part], embedder: Any, looking: tuple[bool, str, str]) -> dict[str, Any]:
    from simulator.core.durations import duration
    from simulator.session.describe_pictures import look_back

    window_ns = duration("window", looking[2])
    n = sum(len(part.requests) for part in parts if part.session is not None)
    voice.tell(f"looking back from {counted(n, 'request')}", "dim")
    return look_back(parts, embedder, looking[1], window_ns=window_ns).as_dict()


def _line(part: Part) -> tuple[str, ...]:
    requests = "" if part.requests_from == "none" else part.requests_from
    return (
        part.user,
        part.name,
        f"{part.recorded_ns / 3.6e12:.2f} h",
        counted(part.pictured.n_rows, "row"),
        counted(len(part.events), "event"),
        counted(len(part.requests), "request"),
        requests,
    )


def _lines(title: str, rows: Sequence[tuple[str, ...]]) -> Any:
    table = facts(title)
    for row in rows:
        table.add_row(*map(plain, row))
    return table


def _pooled(title: str, numbers: Mapping[str, Any], *, brief: bool) -> Any:
    """The numbers as a table; what is long is cut to what a person reads."""
    named = {k: v["n"] for k, v in numbers["requests"]["intentions"].items() if v["n"]}
    rhythm = {name.replace("_", " "): _rhythm(one) for name, one in numbers["rhythm"].items()}
    by_hour = numbers["by_hour"]
    told: dict[str, Any] = {
        "sessions": numbers["sessions"], "event tables": numbers["tables"], "users": numbers["users"],
        "hours": numbers["hours"], "events": numbers["events"], "assistance share": numbers["assistance_share"],
        "requests": numbers["requests"]["n"], "intentions": named,
    }  # fmt: skip
    if not brief:
        pictures = numbers["pictures"]
        told |= {
            "median event (s)": numbers["median_event_s"],
            "rows": pictures["n_rows"],
            "pictures": f"{pictures['n_distinct']} distinct, {pictures['n_gone']} of them gone; "
            f"{pictures['n_described']} rows described instead, {pictures['n_without']} rows without",
            "hours by class": numbers["classes_hours"], "assistants": numbers["platforms"],
            "busiest hours": _busiest(by_hour), "without calendar": by_hour["left_out_without_calendar"],
        }  # fmt: skip
    told |= rhythm
    if "time_to_event" in numbers:
        found = numbers["time_to_event"]
        told["similar screens"] = (
            f"median {_words(found['median_time_to_event_s'])} s before {found['requests_looked_at']} requests "
            f"({found['embedder']}); {found['requests_without_picture']} requests without a picture, "
            f"{found['requests_with_nothing_before']} with no other before"
        )
    return facts(title, {key: _words(value) for key, value in told.items()})


def _rhythm(one: Mapping[str, Any]) -> str:
    law = one["power_law_cut"]
    said = f"n {one['n']}, burstiness {_words(one['burstiness'])}"
    if law["exponent"] is None:
        return f"{said}, no power law: {law['reason']}"
    return (
        f"{said}, power law {law['exponent']:.2f} ± {law['error']:.2f} from {law['xmin']:g} to {law['xmax']:g} s "
        f"(n {law['n_tail']}), log-likelihood against the exponential {law['llr']:+.1f} (p {_words(law['p'])})"
    )


def _busiest(by_hour: Mapping[str, Any]) -> str:
    days = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    cells = [
        (n, f"{days[d]} {h:02d}:00 {n} events, {by_hour['assistance'][d][h]} with an assistant")
        for d, row in enumerate(by_hour["events"])
        for h, n in enumerate(row)
        if n
    ]
    return "; ".join(text for _, text in sorted(cells, key=lambda c: -c[0])[:3])


def _facts(session: Path, told: Mapping[str, Any]) -> Any:
    """Facts as a table; unknown is a dash."""
    rows: dict[str, str] = {}
    for key, value in told.items():
        if isinstance(value, Mapping) and any(isinstance(v, Mapping) for v in value.values()):
            rows |= {f"{key} {inner}": _words(one) for inner, one in value.items()}
        else:
            rows[key] = _words(value)
    return facts(session, rows)


def _words(value: Any) -> str:
    if value is None or value in ({}, [], ""):
        return "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_words(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
