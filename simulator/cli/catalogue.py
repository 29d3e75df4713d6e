"""``proact list``: the words that other commands understand."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from cyclopts import Parameter

from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit, UsageError, nearest, quote
from simulator.core.registry import typed
from simulator.core.traits import trait

__all__ = ["KINDS", "items", "listing"]

Item = Mapping[str, Any]


def items(kind: str) -> list[Item]:
    """What is known of one kind, each with ``name`` and ``about`` at least, in the order in which it is shown.

    Raises:
        UsageError: no such kind.
    """
    if kind not in KINDS:
        raise UsageError(f"nothing is listed under {quote(kind)}; {nearest(kind, KINDS)}")
    return KINDS[kind][1]()


def listing(
    kind: Annotated[
        str | None, Parameter(help="agents, memories, scorers, metrics, sources, policies, clocks, ….")
    ] = None,
    word: Annotated[str | None, Parameter(help="Only those with this in their name or description.")] = None,
    /,
    *,
    json: AsJson = False,
) -> int:
    """List agents, memories, scorers, sources, policies and the like.

    Those of other distributions are among them. Without a KIND the names of every kind; with a WORD only what has it in
    its name or description.
    """
    voice = Voice(as_json=json)
    kinds = list(KINDS) if kind is None else [kind]
    found = {name: items(name) for name in kinds}
    if kind is not None and word is not None:
        found = {kind: [item for item in found[kind] if _has(item, word)]}
        if not found[kind]:
            raise UsageError(f"no {kind} with {quote(word)} in name or description; 'proact list {kind}' lists all")
    for name, all_ in found.items():
        for item in all_:
            voice.record("item", kind=name, **item)
    if not json:
        voice.say(_overview(found) if kind is None else _shown(kind, found[kind]))
    voice.record("done", n={name: len(all_) for name, all_ in found.items()})
    return Exit.DONE


def _has(item: Item, word: str) -> bool:
    texts = (item.get(key, "") for key in ("name", "about", "formula"))
    return any(word.casefold() in text.casefold() for text in texts)


def _registered(registry: Callable[[], Any]) -> Callable[[], list[Item]]:
    """The classes of a registry. One of another distribution that fails to load is listed with the reason."""

    def look() -> list[Item]:
        listed: list[Item] = []
        known = registry()
        for name in known.names():
            try:
                cls = known.get(name)
            except UsageError as error:  # somebody else's module
                listed.append({"name": name, "about": str(error), "parameters": {}})
                continue
            also = sorted(alias for alias, of in known.aliases.items() if of == name)
            about = _about(cls) + (f" Also called {', '.join(also)}." if also else "")
            listed.append({"name": name, "about": about, "parameters": _parameters(cls), **_traits(cls)})
        return listed

    return look


def _about(cls: Any) -> str:
    return (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")


def _parameters(cls: Any) -> dict[str, Any]:
    """What one may write after the colon, with defaults; ``required`` where there is none."""
    plain_ = {k: p for k, p in typed(cls).items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return {k: "required" if p.default is p.empty else _jsonable(p.default) for k, p in plain_.items()}


def _jsonable(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _traits(cls: Any) -> dict[str, Any]:
    traits = {name: trait(cls, name) for name in ("inline", "background", "concurrent", "protocols", "licence")}
    plain_ = {k: list(v) if isinstance(v, tuple) else v for k, v in traits.items()}
    return {k: v for k, v in plain_.items() if isinstance(v, bool | str | list) and v}


def _agents() -> Any:
    from agents.base import agents

    return agents


def _memories() -> Any:
    from memory.base import memories

    return memories


def _embedders() -> Any:
    from memory.embedders.base import embedders

    return embedders


def _scorers() -> list[Item]:
    from scorers.base import catalogue, scorers

    metrics = catalogue()
    listed: list[Item] = []
    for item in _registered(lambda: scorers)():
        own = [_metric(m) for name, m in metrics if name == item["name"]]
        listed.append({**item, "metrics": own})
    return listed


def _metrics() -> list[Item]:
    from scorers.base import catalogue

    return [_metric(metric) | {"scorer": name} for name, metric in catalogue()]


def _metric(metric: Any) -> dict[str, Any]:
    said = ("name", "formula", "unit", "range", "direction", "version")
    return {key: getattr(metric, key) for key in said} | {"protocols": list(metric.protocols)}


def _words(table: Callable[[], Mapping[str, str]]) -> Callable[[], list[Item]]:
    return lambda: [{"name": name, "about": about} for name, about in table().items()]


def _policies() -> Mapping[str, str]:
    from simulator.timing.mailbox import POLICIES

    return {f"{name}:n" if number else name: about for name, (number, about) in POLICIES.items()}


def _clocks() -> Mapping[str, str]:
    from simulator.runs.config import CLOCKS

    return CLOCKS


def _protocols() -> Mapping[str, str]:
    from simulator.runs.config import PROTOCOLS

    return PROTOCOLS


def _latencies() -> Mapping[str, str]:
    from simulator.core.durations import show_duration
    from simulator.timing.latency import PROFILES

    forms = {
        "fixed:350ms": "every decision costs this; fixed:350ms+20ms: and every memory write that",
        "token:rtt=200ms,prefill=100us,image=80ms,decode=20ms": "round trip, each input token, image, output token",
        "from:RUN": "resampled from the decisions of an earlier run",
    }
    told = {p.text: f"median {show_duration(p.median_ns)}; {p.source}" for p in PROFILES.values()}
    return forms | told


def _gates() -> Mapping[str, str]:
    return {
        "standard": "window:60s, the default",
        "off": "every offer surfaces",
        "window:30s": "an offer like the last one is held back until so long after that one surfaced",
    }


def _intentions() -> Mapping[str, str]:
    from simulator.core.intentions import ALIASES, INTENTIONS

    other = {name: [a for a, known in ALIASES.items() if known == name] for name in INTENTIONS}
    return {name: f"also: {', '.join(other[name])}" if other[name] else "" for name in INTENTIONS}


def _sources() -> Mapping[str, str]:
    from simulator.sources.formats import FORMATS

    return {format.name: format.about for format in FORMATS.values()}


def _presets() -> Mapping[str, str]:
    from simulator.sweep.named import about

    return about()


KINDS: dict[str, tuple[str, Callable[[], list[Item]]]] = {
    "agents": ("--agent", _registered(_agents)),
    "memories": ("--memory", _registered(_memories)),
    "embedders": ("--embedder", _registered(_embedders)),
    "scorers": ("score --scorer", _scorers),
    "metrics": ("names in scores.json", _metrics),
    "sources": ("dataset import --format", _words(_sources)),
    "policies": ("--policy", _words(_policies)),
    "clocks": ("--clock", _words(_clocks)),
    "latencies": ("--latency", _words(_latencies)),
    "protocols": ("--protocol", _words(_protocols)),
    "gates": ("--gate", _words(_gates)),
    "intentions": ("in scenario files", _words(_intentions)),
    "presets": ("sweep", _words(_presets)),
}
"""By kind: where its names are written, and how to list them."""


def _overview(found: Mapping[str, list[Item]]) -> Any:
    table = _table("kind", "where", "names")
    for kind, all_ in found.items():
        names = ", ".join(i["name"] for i in all_)
        told = f"{len(all_)} metrics, see 'proact list metrics'" if kind == "metrics" else names
        table.add_row(plain(kind), plain(KINDS[kind][0]), plain(told))
    return table


def _shown(kind: str, all_: list[Item]) -> Any:
    from rich.console import Group
    from rich.text import Text

    if kind == "metrics":
        return Group(*map(_metric_lines, all_))
    if kind == "scorers":
        parts: list[Any] = []
        for item in all_:
            parts += [Text(item["name"], "bold"), plain(item["about"]), *map(_metric_lines, item["metrics"]), Text()]
        return Group(*parts)
    if any(len(item["name"]) > 20 for item in all_):
        return Group(*(_lines(item["name"], "", item["about"]) for item in all_))
    table = _table("name", "what it is", *(["parameters"] if any("parameters" in i for i in all_) else []))
    for item in all_:
        told = [", ".join(f"{k}={_short(v)}" for k, v in item["parameters"].items())] if "parameters" in item else []
        table.add_row(plain(item["name"]), plain(item["about"]), *map(plain, told))
    return table


def _metric_lines(item: Item) -> Any:
    better = {"up": "more is better", "down": "less is better"}.get(item["direction"], "a diagnosis")
    facts = f"  [{item['unit']}] {item['range']}, {better}, version {item['version']}"
    return _lines(item["name"], facts, item["formula"])


def _lines(name: str, facts: str, below: str) -> Any:
    """A name and what is said of it, indented, so that 80 columns are enough."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    return Group(Text.assemble((name, "bold"), (facts, "dim")), Padding(plain(below), (0, 0, 0, 4)))


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _table(*columns: str) -> Any:
    from rich.table import Table

    table = Table(box=None, show_edge=False, pad_edge=False)
    for i, name in enumerate(columns):
        table.add_column(name, overflow="fold", no_wrap=i == 0)
    return table
